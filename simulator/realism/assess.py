"""Dialogues -> everything that ``quality.json`` says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from runstore.languages import words
from runstore.records import Dialogue, Language
from simulator.realism.distance import realism
from simulator.realism.diversity import diversity
from simulator.realism.failures import Material
from simulator.realism.features import FEATURES, REFERENCES
from simulator.realism.fidelity import fidelity
from simulator.realism.gate import LIMITS, Limit, gate
from simulator.realism.gathering import SAMPLE, Gathering
from simulator.realism.held_against import held_against
from simulator.realism.profile import as_numbers, counts_of, distinct, length_by_turn, limits, point, resampled
from simulator.realism.result import Quality
from simulator.realism.talk import Talk
from simulator.style.profile import StyleProfile

__all__ = ["Material", "assess"]


def assess(
    dialogues: Iterable[Dialogue],
    material: Material,
    table: Mapping[str, Limit] = LIMITS,
    *,
    language: Language = "en",
    seed: int = 0,
    style: StyleProfile | None = None,
    judged: Sequence[Mapping[str, Any]] = (),
    sample: int = SAMPLE,
) -> Quality:
    """Profile, realism, fidelity, failures, diversity, balance and gate, deterministic.

    Dialogues are gone through once; that they broke off does not leave them out, which would hide what went wrong;
    their order changes nothing. ``utterances`` counts the student's after the opener. Of more than ``sample``
    dialogues, those measures that hold texts side by side are of so many, drawn by id. ``style``: the profile that
    typing is held against; ``judged``: what judges could tell of the levels.
    """
    gathered = Gathering.of(dialogues, material, seed, sample)
    talks, failed = gathered.talks, gathered.failures()
    near = realism(talks, language, table["realism_distance"].value, seed)
    faithful = fidelity(talks, seed)
    if gathered.state is not None:
        faithful["state"] = gathered.state
    if judged:
        faithful["judged"] = list(judged)
    varied = {**diversity(talks, seed), "topics": gathered.balance.topics(material.subjects)}
    quality: dict[str, Any] = {
        "dialogues": gathered.count,
        "utterances": gathered.utterances,
        "seed": seed,
        "language": language,
        "ends": dict(sorted(gathered.ends.items())),
        "planned_turns": material.planned_turns,
        "profile": _profile(talks, language, seed),
        "realism": near,
        "fidelity": faithful,
        "failures": failed,
        "prompts_checked": {"passed": material.prompts_reason is None, "reason": material.prompts_reason},
        "diversity": varied,
        "balance": gathered.balance.result(),
        "acts": acts_of(talks),
        "style": style_of(talks, style, language),
        "gate": gate(near, faithful, failed, varied, table),
    }
    if gathered.count > len(talks):
        quality["sampled"] = {"dialogues": len(talks), "of": gathered.count}
    return Quality.model_validate(quality)


def acts_of(talks: Sequence[Talk]) -> dict[str, Any]:
    """Planned acts and whether they were done: by act, counts of yes, no, unknown, and not looked at."""
    by_act: dict[str, Counter[str]] = {}
    again = 0
    for talk in talks:
        again += talk.dialogue.notes.get("act_asked_again", 0)
        for said in talk.dialogue.utterances:
            if said.act is not None:
                by_act.setdefault(said.act, Counter())[said.realised or "not_checked"] += 1
    total = sum((counts for counts in by_act.values()), Counter[str]())
    checked = total["yes"] + total["no"] + total["unknown"]
    return {
        "planned": total.total(),
        "checked": checked,
        "done": total["yes"],
        "missed": total["no"],
        "unknown": total["unknown"],
        "asked_again": again,
        "share_done": total["yes"] / (total["yes"] + total["no"]) if total["yes"] + total["no"] else None,
        "by_act": {act: dict(sorted(counts.items())) for act, counts in sorted(by_act.items())},
    }


def style_of(talks: Sequence[Talk], profile: StyleProfile | None, language: Language) -> dict[str, Any] | None:
    """How far typing is from the profile it was steered to, and what steering did; None where there is none."""
    if profile is None:
        return None
    held = held_against(profile, talks, language)
    steered = [said.steered for talk in talks for said in talk.dialogue.utterances if said.steered is not None]
    edits = Counter(edit for each in steered for edit in each.edits)
    return {
        "source": profile.source,
        "distance": held.distance,
        "utterances": held.utterances,
        "words": None if held.words is None else asdict(held.words),
        "traits": {trait: asdict(beside) for trait, beside in held.traits.items()},
        "steered": len(steered),
        "candidates": sum(each.of for each in steered),
        "edits": dict(sorted(edits.items())),
    }


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
