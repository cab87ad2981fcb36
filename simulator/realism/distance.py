"""How far students are from people: 0 writes as people do, LLM students come out between 0.6 and 1.1.

One feature's place is 0 between the profiles of the two groups of people (terse students are people too). Outside
it is what lies beyond the nearer profile, in units of the gap between people at an LLM tutor and LLM students (the
mean of their two references), positive towards LLM students; a median of words is taken as its log2. The distance
of a group is the mean of the places' sizes over the features. Distinct-2 takes no part: alone it ranks an LLM
student above people.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runstore.records import Language
from simulator.realism.features import FEATURES, REFERENCES, TARGET, Reference
from simulator.realism.profile import Floats, counts_of, limits, point, resampled
from simulator.realism.talk import Talk

FEWEST_DIALOGUES = 5
NO_REFERENCE = "the reference profiles are English; these dialogues are Korean"


def realism(talks: Sequence[Talk], language: Language, limit: float, seed: int) -> dict[str, Any]:
    """Distances of the whole, of each level and of each persona, with intervals over dialogues, and their gates.

    A group passes where its whole interval is at most ``limit``, fails where all of it is above, and is undecided
    (null) in between or with fewer than :data:`FEWEST_DIALOGUES` dialogues.
    """
    if language != "en":
        return {
            "distance": None,
            "reason": NO_REFERENCE,
            "limit": limit,
            "features": {},
            "personas": {},
            "levels": {},
        }
    whole = _group(talks, limit, seed, "all")
    personas: dict[str, list[Talk]] = {}
    levels: dict[str, list[Talk]] = {}
    for talk in talks:
        personas.setdefault(talk.dialogue.persona, []).append(talk)
        for factor, level in talk.dialogue.levels.items():
            levels.setdefault(f"{factor}-{level}", []).append(talk)
    own = {name: _group(group, limit, seed, "persona", name) for name, group in sorted(personas.items())}
    return {
        **whole,
        "limit": limit,
        "features": _features(talks, seed),
        "references": _references(talks),
        "levels": {name: _group(group, limit, seed, "level", name) for name, group in sorted(levels.items())},
        "personas": own,
        "gate": {
            state: sum(group["passed"] is value for group in own.values())
            for state, value in (("passed", True), ("failed", False), ("undecided", None))
        },
    }


def _group(talks: Sequence[Talk], limit: float, seed: int, *identity: str) -> dict[str, Any]:
    counts = counts_of(talks)
    about: dict[str, Any] = {"dialogues": len(counts.utterances), "of": len(talks), "utterances": counts.total}
    if not counts.total:
        reason = "no student utterance after an opener"
        return {**about, "distance": None, "lower": None, "upper": None, "passed": None, "reason": reason}
    value = float(np.abs(places(point(counts))).mean())
    draws = resampled(counts, seed, *identity)
    lower, upper = (None, None) if draws is None else limits(np.abs(places(draws)).mean(axis=1))
    passed, reason = None, None
    if lower is None or upper is None or len(counts.utterances) < FEWEST_DIALOGUES:
        reason = f"{len(counts.utterances)} dialogues, {FEWEST_DIALOGUES} needed"
    elif lower <= limit < upper:
        reason = "the limit is inside the interval"
    else:
        passed = upper <= limit
    return {**about, "distance": value, "lower": lower, "upper": upper, "passed": passed, "reason": reason}


def _features(talks: Sequence[Talk], seed: int) -> dict[str, Any]:
    counts = counts_of(talks)
    if not counts.total:
        return {}
    value, place = point(counts), places(point(counts))
    draws = resampled(counts, seed, "all")
    rows: dict[str, Any] = {}
    for at, name in enumerate(FEATURES):
        lower, upper = (None, None) if draws is None else limits(draws[:, at])
        people = [getattr(reference, name) for reference in REFERENCES if reference.human]
        rows[name] = {
            "value": float(value[at]),
            "lower": lower,
            "upper": upper,
            "people": [min(people), max(people)],
            "place": float(place[at]),
        }
    return rows


def _references(talks: Sequence[Talk]) -> dict[str, dict[str, float | None]]:
    """Each reference profile's own distance from people, and the run's to it, in the same unit."""
    counts = counts_of(talks)
    here = _scaled(point(counts)) if counts.total else None
    unit = _unit()
    return {
        each.source: {
            "from_people": float(np.abs(places(_vector(each))).mean()),
            "from_run": float(np.abs((here - _scaled(_vector(each))) / unit).mean()) if here is not None else None,
        }
        for each in REFERENCES
    }


def places(features: Floats) -> Floats:
    """Features (... x features) as places; see the module's docstring."""
    people = np.stack([_scaled(_vector(each)) for each in REFERENCES if each.human])
    scaled = _scaled(features)
    return (scaled - np.clip(scaled, people.min(axis=0), people.max(axis=0))) / _unit()


def _unit() -> Floats:
    target = next(_scaled(_vector(each)) for each in REFERENCES if each.source == TARGET)
    return np.mean([_scaled(_vector(each)) for each in REFERENCES if not each.human], axis=0) - target


def _vector(reference: Reference) -> Floats:
    return np.asarray([getattr(reference, name) for name in FEATURES], dtype=np.float64)


def _scaled(features: Floats) -> Floats:
    scaled = np.array(features, dtype=np.float64)
    scaled[..., 0] = np.log2(scaled[..., 0])
    return scaled
