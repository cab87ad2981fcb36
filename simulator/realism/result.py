"""What is known of a run's students, typed: these models write ``quality.json`` and read it again.

A figure that can't be known is None with a ``reason`` beside it; ``passed`` is None where nothing is decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from runstore.publish import parse_record, read_json
from runstore.results import Number, Result


class TurnLength(Result):
    """Median words of the student's utterances in one turn."""

    turn: int
    utterances: int
    median_words: Number


class ReferenceProfile(Result):
    """A profile counted elsewhere; ``human``: written by people."""

    source: str
    human: bool
    utterances: int
    median_words: Number
    at_most_3_words: Number
    question_mark: Number
    ends_sentence: Number
    lower_case_start: Number
    thanks: Number
    distinct_2: Number


class Profile(Result):
    """The features of the students' writing: a median and shares, with intervals over dialogues by feature."""

    median_words: Number | None
    at_most_3_words: Number | None
    question_mark: Number | None
    ends_sentence: Number | None
    lower_case_start: Number | None
    thanks: Number | None
    distinct_2: Number | None
    utterances: int
    intervals: Mapping[str, tuple[Number, Number] | None]
    reasons: Mapping[str, str]
    length_by_turn: tuple[TurnLength, ...]
    references: tuple[ReferenceProfile, ...]


class Group(Result):
    """A group's distance from people. In ``dialogues`` of all its ``of`` dialogues the student says something."""

    dialogues: int
    of: int
    utterances: int
    distance: Number | None
    lower: Number | None
    upper: Number | None
    passed: bool | None
    reason: str | None


class Place(Result):
    """One feature beside the range of people's; ``place`` is 0 inside, 1 where LLM students are."""

    value: Number
    lower: Number | None
    upper: Number | None
    people: tuple[Number, Number]
    place: Number


class ReferenceDistance(Result):
    """How far a reference profile is from people, and from this run."""

    from_people: Number
    from_run: Number | None


class Gates(Result):
    """Numbers of personas."""

    passed: int
    failed: int
    undecided: int


class Realism(Group):
    """Distances of the whole, of each level and of each persona."""

    limit: Number
    features: Mapping[str, Place]
    references: Mapping[str, ReferenceDistance]
    levels: Mapping[str, Group]
    personas: Mapping[str, Group]
    gate: Gates


class NoRealism(Result):
    """No distance, for the ``reason``: there are no references in this language."""

    distance: None
    reason: str
    limit: Number
    features: Mapping[str, Place]
    personas: Mapping[str, Group]
    levels: Mapping[str, Group]


class Direction(Result):
    """High minus low of a measure, which was ``expected`` to be more or less; ``dialogues`` by level."""

    factor: str
    measure: str
    why: str
    expected: str
    dialogues: Mapping[str, int]
    difference: Number | None
    lower: Number | None
    upper: Number | None
    found: str | None
    reason: str | None


class Recovered(Result):
    """How well levels can be told from the words: mean recall beside chance, and its p."""

    levels: int
    dialogues: int
    recall: Number | None
    chance: Number | None
    chance_upper: Number | None
    p: Number | None
    reason: str | None


class Recoverability(Result):
    """Each factor's, and the persona's."""

    method: str
    dialogues: int
    of: int
    factors: Mapping[str, Recovered]
    persona: Recovered


class Fidelity(Result):
    """Do the students behave as their levels ask? ``by_level``: measures by factor and level."""

    directions: tuple[Direction, ...]
    by_level: Mapping[str, Mapping[str, Mapping[str, Number | None]]]
    recoverability: Recoverability


class Struck(Result):
    """The beginning of an utterance that a rule struck, by its place in its dialogue."""

    dialogue: str
    utterance: int
    text: str


class FailureRate(Result):
    """Dialogues in which one kind of failure was found: ``rate`` = ``count`` / ``of``."""

    count: int
    of: int
    rate: Number | None
    lower: Number | None
    upper: Number | None
    dialogues: tuple[str, ...]
    where: tuple[Struck, ...]
    rule: str


class PromptsChecked(Result):
    """Whether texts of prompts and personas were searched for."""

    passed: bool
    reason: str | None


class Distinct(Result):
    """Different n-grams by all of them; ``matched`` of the first ``matched_at``."""

    all: Number | None
    ngrams: int
    matched_at: int
    matched: Number | None
    reason: str | None


class NearOpeners(Result):
    """Two dialogues whose openers are nearly the same."""

    dialogues: tuple[str, str]
    similarity: Number


class Openers(Result):
    """How many openers differ; ``shared``: dialogues whose opener another one has too; ``questions`` asked."""

    dialogues: int
    questions: int | None = None
    different: int
    shared: int
    near_duplicates: tuple[NearOpeners, ...]


class SelfSimilarity(Result):
    """Mean cosine of two students' first ``words`` words."""

    dialogues: int
    of: int
    words: int
    all: Number | None
    same_persona: Number | None
    reason: str | None


class Topics(Result):
    """Subjects and questions spoken of, of those in the bank, and how evenly dialogues spread over subjects."""

    subjects: int
    of_subjects: int | None
    questions: int
    of_questions: int | None
    coverage: Number | None
    evenness: Number | None
    reason: str | None


class Diversity(Result):
    """How varied the students are; ``distinct`` by n."""

    distinct: Mapping[str, Distinct]
    openers: Openers
    self_similarity: SelfSimilarity
    topics: Topics | None = None


class Balance(Result):
    """Dialogues by persona, subject, level and both; ``spread``: the most minus the fewest."""

    personas: Mapping[str, int]
    subjects: Mapping[str, int]
    levels: Mapping[str, Mapping[str, int]]
    persona_by_subject: Mapping[str, Mapping[str, int]]
    spread: Mapping[str, int | None]


class Check(Result):
    """One limit: ``at`` most or least ``limit``."""

    name: str
    value: Number | None
    at: str
    limit: Number
    what: str
    passed: bool | None
    reason: str | None


class Gate(Result):
    """All limits; ``failed`` and ``undecided`` are names of checks."""

    passed: bool | None
    failed: tuple[str, ...]
    undecided: tuple[str, ...]
    checks: tuple[Check, ...]


class Acts(Result):
    """Planned acts: of those ``checked`` how many were done, missed, or could not be told; ``by_act`` in full."""

    planned: int
    checked: int
    done: int
    missed: int
    unknown: int
    asked_again: int
    share_done: Number | None
    by_act: Mapping[str, Mapping[str, int]]


class StyleBeside(Result):
    """A feature of typing, the profile's, and how far they are apart (doublings of words, halves of a share)."""

    value: Number
    target: Number
    apart: Number


class Style(Result):
    """Typing beside the profile that it was steered to; ``edits`` by what code did to so many messages."""

    source: str
    distance: Number | None
    utterances: int
    words: StyleBeside | None
    traits: Mapping[str, StyleBeside]
    steered: int
    candidates: int
    edits: Mapping[str, int]


class Sampled(Result):
    """So many dialogues, of all, that what holds texts side by side was measured on."""

    dialogues: int
    of: int


class Quality(Result):
    """The whole of ``quality.json``; ``ends``: dialogues by why they ended."""

    dialogues: int
    utterances: int
    seed: int
    language: str
    ends: Mapping[str, int]
    planned_turns: int
    profile: Profile
    realism: Realism | NoRealism
    fidelity: Fidelity
    failures: Mapping[str, FailureRate]
    prompts_checked: PromptsChecked
    diversity: Diversity
    balance: Balance
    acts: Acts | None = None
    style: Style | None = None
    gate: Gate
    sampled: Sampled | None = None


def read_quality(path: Path) -> Quality:
    """The assessment in a file. Raises InputProblem naming the field that is missing or wrong."""
    return parse_record(Quality, read_json(path), path)
