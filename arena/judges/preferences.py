"""What sways a judge besides the replies' worth: the place they stand in, their length, their family.

Each is a covariate of a Bradley-Terry model of the single readable rounds (ties as half a win each way), so that
the endpoints' strengths are held fixed: longer replies may win because better tutors write them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arena.agreement.shares import Share, share_of
from arena.ratings.battles import Battles, from_columns
from arena.ratings.covariates import CONFOUNDED, Adjusted, Effect, adjusted
from arena.ratings.settings import Settings
from runstore.records import Judgment, Reply

Floats = NDArray[np.float64]
PERSON = "person:"
PEOPLE = "people"
_ALONE = "it can't be told from the endpoints' strength without judges of other families on the same matches"

LENGTHS: Mapping[str, Callable[[str], int]] = {"characters": len, "words": lambda text: len(text.split())}


def is_person(judge: str) -> bool:
    """Whether a judgment was a person's."""
    return judge.startswith(PERSON)


@dataclass(frozen=True)
class LengthPreference:
    """``effect``: log-odds per doubling of the length; ``longer_won``: of the rounds that somebody won."""

    unit: str
    effect: Effect
    longer_won: Share


@dataclass(frozen=True)
class SelfPreference:
    """``effect``: log-odds for a reply of the judge's own family; ``own``: the endpoints of that family."""

    judge: str
    family: str | None
    own: tuple[str, ...]
    effect: Effect


def first_slot(judgments: Sequence[Judgment], settings: Settings) -> Effect:
    """The log-odds that standing first is worth with the judge (or judges) of these judgments."""
    readable = _readable(judgments)
    if not readable:
        return Effect("position", None, reason="no round could be read")
    return adjusted(_battles(readable, {}), settings, {}).effect("position")


def length_preference(
    judgments: Sequence[Judgment], replies: Mapping[tuple[str, str], Reply], settings: Settings
) -> list[LengthPreference]:
    """How much the judge (or judges) of these judgments favours the longer reply, in characters and in words.

    ``replies`` by (subset, endpoint); rounds of which a reply's text is not at hand say nothing.
    """
    return [_length(unit, size, _readable(judgments), replies, settings) for unit, size in LENGTHS.items()]


def _length(
    unit: str,
    size: Callable[[str], int],
    readable: Sequence[Judgment],
    replies: Mapping[tuple[str, str], Reply],
    settings: Settings,
) -> LengthPreference:
    known = [j for j in readable if (j.subset, j.slot_a) in replies and (j.subset, j.slot_b) in replies]
    sizes = [[max(1, size(replies[j.subset, slot].text)) for slot in (j.slot_a, j.slot_b)] for j in known]
    ratio = np.log2(np.asarray(sizes, dtype=np.float64).reshape(-1, 2)) @ np.array([1.0, -1.0])
    decided = [
        (float((gap > 0) == (j.winner == j.slot_a)), j.dialogue)
        for j, gap in zip(known, ratio.tolist(), strict=True)
        if j.winner is not None and gap
    ]
    share = share_of([hit for hit, _ in decided], [dialogue for _, dialogue in decided], settings.level)
    name = f"log2 of {unit}"
    if not known:
        return LengthPreference(unit, Effect(name, None, reason="no round whose replies are at hand"), share)
    if not ratio.any():
        return LengthPreference(unit, Effect(name, None, reason="all replies are equally long"), share)
    told = "each endpoint's replies are all of one length, so length can't be told from strength"
    return LengthPreference(unit, _effect(_fit(known, {name: ratio}, settings), name, told), share)


def self_preference(
    judgments: Sequence[Judgment], families: Mapping[str, str | None], settings: Settings
) -> tuple[list[SelfPreference], Effect]:
    """How much each judge favours endpoints of its own family, and how much all of them do alike.

    Judged against how the other judges, people among them, rate the same endpoints: one judge alone can't be told
    to favour an endpoint that may just be better. ``families`` of judges and endpoints by name; people have none.
    """
    readable = _readable(judgments)
    names = sorted({name for j in readable for name in (j.slot_a, j.slot_b)})
    judges = sorted({j.judge for j in readable if not is_person(j.judge)})
    own = {judge: tuple(name for name in names if _is_own(families, judge, name)) for judge in judges}
    leaning = {judge: _leaning(readable, judge, own[judge]) for judge in judges if own[judge]}
    swayed = {judge: column for judge, column in leaning.items() if column.any()}
    shown = _shown_first(readable)
    common = Effect("own family", None, reason=_no_family(judges, families, own))
    if swayed:
        together = np.sum(list(swayed.values()), axis=0)
        fitted = _fit(readable, {"own family": together, **shown}, settings, position=False)
        common = _effect(fitted, "own family", _ALONE)
    self_preferences: list[SelfPreference] = []
    for judge in judges:
        if judge in swayed:
            columns = {f"own family of {name}": column for name, column in swayed.items()}
            fitted = _fit(readable, {**columns, **shown}, settings, position=False)
            effect = _effect(fitted, f"own family of {judge}", _ALONE)
        else:
            effect = Effect("own family", None, reason=_no_family([judge], families, own))
        self_preferences.append(SelfPreference(judge, families.get(judge), own[judge], effect))
    return self_preferences, common


def _is_own(families: Mapping[str, str | None], judge: str, name: str) -> bool:
    return families.get(judge) is not None and families.get(judge) == families.get(name)


def _leaning(readable: Sequence[Judgment], judge: str, own: Sequence[str]) -> Floats:
    members = frozenset(own)
    return np.array([(j.judge == judge) * (float(j.slot_a in members) - (j.slot_b in members)) for j in readable])


def _shown_first(readable: Sequence[Judgment]) -> dict[str, Floats]:
    """A column a judge: what standing first is worth with that one; people share a column."""
    whose = [PEOPLE if is_person(j.judge) else j.judge for j in readable]
    return {
        f"first with {shown}": np.array([float(name == shown) for name in whose]) for shown in sorted(set(whose))
    }


def _no_family(judges: Sequence[str], families: Mapping[str, str | None], own: Mapping[str, Sequence[str]]) -> str:
    if all(families.get(judge) is None for judge in judges):
        return "the family is not known"
    if not any(own[judge] for judge in judges):
        return "no endpoint is of the same family"
    return "every match was within the family or outside of it"


def _effect(fitted: Adjusted, name: str, if_confounded: str) -> Effect:
    effect = fitted.effect(name)
    return replace(effect, reason=if_confounded) if effect.reason == CONFOUNDED else effect


def _readable(judgments: Sequence[Judgment]) -> list[Judgment]:
    return [judgment for judgment in judgments if judgment.outcome != "unreadable"]


def _battles(readable: Sequence[Judgment], columns: Mapping[str, Floats]) -> Battles:
    """One battle a round, the reply in slot A as model_a and shown first; columns are A minus B."""
    return from_columns(
        [j.slot_a for j in readable],
        [j.slot_b for j in readable],
        ["tie" if j.winner is None else "model_a" if j.winner == j.slot_a else "model_b" for j in readable],
        first=["model_a"] * len(readable),
        cluster=[j.dialogue for j in readable],
        cluster_name="dialogue",
        covariates=columns,
        keep_rows=True,
    )


def _fit(
    readable: Sequence[Judgment], columns: Mapping[str, Floats], settings: Settings, *, position: bool = True
) -> Adjusted:
    battles = _battles(readable, columns)
    how = settings if position else replace(settings, position="ignore")
    rows = battles.rows
    return adjusted(battles, how, rows.covariates if rows is not None else {})
