"""Battles out of a run's own records: one battle a verdict, clustered by dialogue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from sys import intern

import numpy as np
from numpy.typing import NDArray

from arena.ratings.battles import Battles, from_columns
from arena.ratings.style import FEATURES, features, relative
from runstore.problems import Problem
from runstore.records import Judgment, Reply, Subset, Verdict

Labels = Mapping[str, Mapping[str, str]]
Styles = Mapping[tuple[str, str], Mapping[str, float]]
AGREEMENTS = ("unanimous", "majority", "split", "invalid")


def from_verdicts(
    verdicts: Sequence[Verdict],
    judgments: Sequence[Judgment] = (),
    labels: Labels | None = None,
    styles: Styles | None = None,
) -> Battles:
    """One battle a verdict that has an outcome; invalid ones are counted per pair and take no part.

    ``judgments`` become ``rounds``: one battle a readable round, with who was shown first. ``labels`` gives each
    subset's categories (:func:`subset_labels`); ``criterion`` is always one. ``styles`` gives the features of
    style of each (subset, endpoint). Raises Problem for a verdict that occurs twice or whose winner is neither
    endpoint.
    """
    seen: set[tuple[str, str, tuple[str, str]]] = set()
    names: set[str] = set()
    agreement: Counter[str] = Counter()
    columns = _Columns()
    for verdict in verdicts:
        key = (intern(verdict.subset), intern(verdict.criterion), _pair(*map(intern, verdict.endpoints)))
        _check(verdict, key, seen)
        seen.add(key)
        names.update(verdict.endpoints)
        is_invalid = verdict.outcome == "invalid"
        agreement["invalid" if is_invalid else verdict.agreement] += 1
        columns.add(verdict, verdict.endpoints, is_valid=not is_invalid)
    battles = columns.battles(_categories(columns.items, labels), names, _covariates(columns, styles))
    return replace(
        battles,
        agreement={kind: agreement[kind] for kind in AGREEMENTS},
        rounds=from_judgments(judgments, labels) if judgments else None,
    )


def from_judgments(judgments: Sequence[Judgment], labels: Labels | None = None) -> Battles:
    """One battle a readable round, the endpoint in slot A shown first, clustered by dialogue."""
    columns, judges, names = _Columns(), list[str](), set[str]()
    for judgment in judgments:
        sides = (judgment.slot_a, judgment.slot_b)
        names.update(sides)
        columns.add(judgment, sides, is_valid=judgment.outcome != "unreadable")
        if judgment.outcome != "unreadable":
            judges.append(intern(judgment.judge))
    categories = _categories(columns.items, labels)
    categories["judge"] = list[str | None](judges)
    return columns.battles(categories, names, first=["model_a"] * len(judges))


class _Columns:
    """Battles as columns while records go by: none of them is kept, and each name once."""

    def __init__(self) -> None:
        self.sides: tuple[list[str], list[str]] = ([], [])
        self.items: list[tuple[str, str]] = []
        self._winners: list[str] = []
        self._dialogues: list[str] = []
        self._invalid: Counter[tuple[str, str]] = Counter()

    def add(self, record: Verdict | Judgment, sides: tuple[str, str], *, is_valid: bool) -> None:
        if not is_valid:
            self._invalid[_pair(*sides)] += 1
            return
        for column, name in zip(self.sides, sides, strict=True):
            column.append(intern(name))
        self.items.append((intern(record.subset), intern(record.criterion)))
        self._winners.append(_word(record.winner, sides[0]))
        self._dialogues.append(intern(record.dialogue))

    def battles(
        self,
        categories: Mapping[str, list[str | None]],
        names: Iterable[str],
        covariates: Mapping[str, NDArray[np.float64]] | None = None,
        first: list[str] | None = None,
    ) -> Battles:
        """``names`` of all who met, also where nothing came of it."""
        battles = from_columns(
            *self.sides,
            self._winners,
            first=first,
            cluster=self._dialogues,
            cluster_name="dialogue",
            categories=categories,
            covariates=covariates,
            names=sorted(names),
        )
        return replace(battles, cluster_name="dialogue", invalid=dict(self._invalid))


def subset_labels(subsets: Iterable[Subset]) -> dict[str, dict[str, str]]:
    """Categories of each subset: persona, persona.<factor>, subject, depth, language."""
    return {
        subset.id: {
            "persona": subset.persona,
            **{f"persona.{factor}": level for factor, level in subset.levels.items()},
            "subject": subset.subject,
            "depth": str(subset.depth),
            "language": subset.language,
        }
        for subset in subsets
    }


def reply_styles(replies: Iterable[Reply]) -> dict[tuple[str, str], dict[str, float]]:
    """Features of style of each (subset, endpoint)'s reply."""
    return {(reply.subset, reply.endpoint): features(reply.text) for reply in replies}


def _covariates(columns: _Columns, styles: Styles | None) -> dict[str, NDArray[np.float64]] | None:
    if styles is None:
        return None
    sides: list[NDArray[np.float64]] = []
    for column in columns.sides:
        keys = [(subset, name) for (subset, _), name in zip(columns.items, column, strict=True)]
        missing = next((key for key in keys if key not in styles), None)
        if missing is not None:
            raise Problem(f"style: found no reply of {missing[1]!r} to subset {missing[0]!r}")
        sides.append(
            np.array([[styles[key][name] for name in FEATURES] for key in keys]).reshape(-1, len(FEATURES))
        )
    return {name: relative(sides[0][:, k], sides[1][:, k]) for k, name in enumerate(FEATURES)}


def _categories(items: Sequence[tuple[str, str]], labels: Labels | None) -> dict[str, list[str | None]]:
    columns: dict[str, list[str | None]] = {"criterion": [criterion for _, criterion in items]}
    known = labels or {}
    for name in sorted({name for subset, _ in items for name in known.get(subset, {})} - {"criterion"}):
        columns[name] = [known.get(subset, {}).get(name) for subset, _ in items]
    return columns


def _word(winner: str | None, model_a: str) -> str:
    return "tie" if winner is None else "model_a" if winner == model_a else "model_b"


def _pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a <= b else (b, a)


def _check(
    verdict: Verdict, key: tuple[str, str, tuple[str, str]], seen: set[tuple[str, str, tuple[str, str]]]
) -> None:
    where = f"verdict of subset {verdict.subset!r}, {verdict.criterion}, {' against '.join(key[2])}"
    if key in seen:
        raise Problem(f"{where}: found twice, expected once")
    if (verdict.outcome == "win") != (verdict.winner in verdict.endpoints):
        raise Problem(f"{where}: found winner {verdict.winner!r} for outcome {verdict.outcome!r}")
