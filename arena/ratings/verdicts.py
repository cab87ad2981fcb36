"""Battles out of a run's own records: one battle a verdict, clustered by dialogue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

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
    _check(verdicts)
    valid = [verdict for verdict in verdicts if verdict.outcome != "invalid"]
    sides = [verdict.endpoints for verdict in valid]
    battles = from_columns(
        [a for a, _ in sides],
        [b for _, b in sides],
        [_word(verdict.winner, a) for verdict, (a, _) in zip(valid, sides, strict=True)],
        cluster=[verdict.dialogue for verdict in valid],
        cluster_name="dialogue",
        categories=_categories([(verdict.subset, verdict.criterion) for verdict in valid], labels),
        covariates=None if styles is None else _covariates(valid, styles),
        names=sorted({name for verdict in verdicts for name in verdict.endpoints}),
    )
    invalid = Counter(_pair(*verdict.endpoints) for verdict in verdicts if verdict.outcome == "invalid")
    agreement = Counter("invalid" if v.outcome == "invalid" else v.agreement for v in verdicts)
    return replace(
        battles,
        cluster_name="dialogue",
        invalid=dict(invalid),
        agreement={kind: agreement[kind] for kind in AGREEMENTS},
        rounds=from_judgments(judgments, labels) if judgments else None,
    )


def from_judgments(judgments: Sequence[Judgment], labels: Labels | None = None) -> Battles:
    """One battle a readable round, the endpoint in slot A shown first, clustered by dialogue."""
    valid = [judgment for judgment in judgments if judgment.outcome != "unreadable"]
    categories = _categories([(j.subset, j.criterion) for j in valid], labels)
    categories["judge"] = [judgment.judge for judgment in valid]
    battles = from_columns(
        [judgment.slot_a for judgment in valid],
        [judgment.slot_b for judgment in valid],
        [_word(judgment.winner, judgment.slot_a) for judgment in valid],
        first=["model_a"] * len(valid),
        cluster=[judgment.dialogue for judgment in valid],
        cluster_name="dialogue",
        categories=categories,
        names=sorted({name for judgment in judgments for name in (judgment.slot_a, judgment.slot_b)}),
    )
    unread = Counter(_pair(j.slot_a, j.slot_b) for j in judgments if j.outcome == "unreadable")
    return replace(battles, cluster_name="dialogue", invalid=dict(unread))


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


def _covariates(verdicts: Sequence[Verdict], styles: Styles) -> dict[str, NDArray[np.float64]]:
    sides: list[NDArray[np.float64]] = []
    for side in (0, 1):
        keys = [(verdict.subset, verdict.endpoints[side]) for verdict in verdicts]
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


def _check(verdicts: Sequence[Verdict]) -> None:
    seen: set[tuple[str, str, tuple[str, str]]] = set()
    for verdict in verdicts:
        key = (verdict.subset, verdict.criterion, _pair(*verdict.endpoints))
        where = f"verdict of subset {verdict.subset!r}, {verdict.criterion}, {' against '.join(key[2])}"
        if key in seen:
            raise Problem(f"{where}: found twice, expected once")
        if (verdict.outcome == "win") != (verdict.winner in verdict.endpoints):
            raise Problem(f"{where}: found winner {verdict.winner!r} for outcome {verdict.outcome!r}")
        seen.add(key)
