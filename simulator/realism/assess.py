"""Dialogues -> everything that ``quality.json`` says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from runstore.languages import words
from runstore.records import Dialogue, Language
from simulator.realism.distance import realism
from simulator.realism.diversity import balance, diversity
from simulator.realism.failures import Material, failures
from simulator.realism.features import FEATURES, REFERENCES
from simulator.realism.fidelity import fidelity
from simulator.realism.gate import LIMITS, Limit, gate
from simulator.realism.profile import as_numbers, counts_of, distinct, length_by_turn, limits, point, resampled
from simulator.realism.result import Quality
from simulator.realism.talk import Talk, talks_of

__all__ = ["Material", "assess"]


def assess(
    dialogues: Sequence[Dialogue],
    material: Material,
    table: Mapping[str, Limit] = LIMITS,
    *,
    language: Language = "en",
    seed: int = 0,
) -> Quality:
    """Profile, realism, fidelity, failures, diversity, balance and gate, deterministic.

    Dialogues that broke off take part: leaving them out would hide what went wrong; their order changes nothing.
    ``utterances`` counts the student's after the opener.
    """
    talks = talks_of(sorted(dialogues, key=lambda each: each.id))
    near = realism(talks, language, table["realism_distance"].value, seed)
    faithful = fidelity(talks, seed)
    failed = failures(talks, material)
    quality: dict[str, Any] = {
        "dialogues": len(talks),
        "utterances": sum(len(talk.said) for talk in talks),
        "seed": seed,
        "language": language,
        "ends": dict(sorted(Counter(dialogue.end for dialogue in dialogues).items())),
        "planned_turns": material.planned_turns,
        "profile": _profile(talks, language, seed),
        "realism": near,
        "fidelity": faithful,
        "failures": failed,
        "prompts_checked": {"passed": material.prompts_reason is None, "reason": material.prompts_reason},
        "diversity": diversity(talks, seed),
        "balance": balance(talks),
        "gate": gate(near, faithful, failed, table),
    }
    return Quality.model_validate(quality)


def _profile(talks: Sequence[Talk], language: Language, seed: int) -> dict[str, Any]:
    """The features as numbers, their intervals, and the reference profiles beside them."""
    counts = counts_of(talks)
    intervals: dict[str, list[float] | None] = dict.fromkeys(FEATURES)
    reasons: dict[str, str] = {}
    if counts.total:
        values: dict[str, float | None] = {**as_numbers(point(counts))}
        if (draws := resampled(counts, seed, "all")) is not None:
            intervals = {name: list(limits(draws[:, at])) for at, name in enumerate(FEATURES)}
    else:
        values = dict.fromkeys(FEATURES)
        reasons = dict.fromkeys(FEATURES, "no student utterance after an opener")
    if words("runstore", "language", language)("cased") == "no":
        values["lower_case_start"], intervals["lower_case_start"] = None, None
        reasons["lower_case_start"] = "this language has no lower case"
    return {
        **values,
        "distinct_2": distinct([said.text for talk in talks for said in talk.said], 2),
        "utterances": counts.total,
        "intervals": intervals,
        "reasons": reasons,
        "length_by_turn": length_by_turn(talks),
        "references": [asdict(reference) for reference in REFERENCES],
    }
