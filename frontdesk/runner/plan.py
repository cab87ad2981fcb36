"""What a configuration asks for, counted once: whatever says "so many calls" or "n of m" reads it here.

Counts are of calls that succeed at the first attempt: retries, further tries at blank or unreadable replies and
calls that the journal already answers are apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, product
from typing import Literal

from arena.judge import is_decided
from arena.kept import KeptRounds, round_item
from arena.trial import tried_ahead
from frontdesk.runner import prepare
from frontdesk.runner.config import PHRASES, RULES, Config
from gateway.adapters.catalog import settings_of
from gateway.batches.catalog import has_batches
from runstore.records import Failure, Reply
from runstore.student_records import CONTROLS

Stage = Literal["simulate", "collect", "judge", "student", "score", "quality"]
Role = Literal["student", "teacher", "judge", "labeller"]
Pair = tuple[str, str]
Assumption = Literal[
    "fewer subsets",
    "subsets given",
    "endpoints unknown",
    "goal",
    "decisive",
    "reask",
    "blank retries",
    "act retries",
]
"""Why real calls may differ from the count: fewer can be cut than asked for; subsets are given by the user, as
many as configured; who replied is known only from replies; a goal or decided verdicts end judging sooner; replies
that are unreadable or blank are asked for again, and messages that don't do the planned act; acts that rules can
tell are not read by a model."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a run already has and does not ask again: replies and failures by (subset, endpoint), and rounds."""

    replies: Mapping[tuple[str, str], Reply] = field(default_factory=dict[tuple[str, str], Reply])
    failures: Mapping[tuple[str, str], Failure] = field(default_factory=dict[tuple[str, str], Failure])
    rounds: KeptRounds = field(default_factory=KeptRounds)

    @property
    def is_empty(self) -> bool:
        """Whether no reply is known, neither that there is one nor that there is none."""
        return not self.replies and not self.failures


NOTHING_KEPT = Kept()


@dataclass(frozen=True, slots=True)
class Calls:
    """So many calls of one endpoint in one stage, speaking as ``role``.

    ``input``: tokens that each sends, where the texts are known; ``by_batch``: by a batch interface, at its price.
    """

    stage: Stage
    role: Role
    endpoint: str
    calls: int
    input: float | None = None
    by_batch: bool = False


@dataclass(frozen=True, slots=True)
class Workload:
    """What will be asked. Stages that the configuration lacks count nothing.

    ``subsets`` is what can be cut at most, ``subsets_wanted`` what was asked for; ``endpoints`` reply to each of
    them (replies that are given are not ``is_collected``). A match is a subset and a pair; a verdict a match and a
    criterion; a round one question to one judge.
    """

    dialogues: int = 0
    turns: int = 0
    rephrases: bool = False
    candidates: int = 1
    act_reader: str | None = None
    student: str | None = None
    teacher: str | None = None
    reader: str | None = None
    subsets: int = 0
    subsets_wanted: int = 0
    endpoints: tuple[str, ...] = ()
    is_collected: bool = False
    pairs: tuple[Pair, ...] = ()
    criteria: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    rounds_each: int = 0
    verdicts: int = 0
    rollouts: tuple[Calls, ...] = ()
    assumed: tuple[Assumption, ...] = ()

    @property
    def replies(self) -> int:
        return self.subsets * len(self.endpoints)

    @property
    def matches(self) -> int:
        return self.verdicts // max(1, len(self.criteria))

    @property
    def rounds(self) -> int:
        return self.verdicts * self.rounds_each * len(self.judges)

    @property
    def calls(self) -> tuple[Calls, ...]:
        """Each endpoint's calls, in order of stages; parts without a call are left out."""
        parts: list[Calls] = []
        if self.student is not None and self.teacher is not None:
            # The first utterance is the seed question (or one call for it), the last word is the teacher's.
            spoken = (self.turns - 1) * self.candidates + self.rephrases
            parts.append(Calls("simulate", "student", self.student, self.dialogues * spoken))
            parts.append(Calls("simulate", "teacher", self.teacher, self.dialogues * self.turns))
            if self.reader is not None:
                parts.append(Calls("simulate", "labeller", self.reader, self.dialogues * (self.turns - 1)))
            if self.act_reader is not None:
                parts.append(Calls("simulate", "labeller", self.act_reader, self.dialogues * (self.turns - 1)))
        if self.is_collected:
            parts += [Calls("collect", "teacher", name, self.subsets) for name in self.endpoints]
        parts += [Calls("judge", "judge", name, self.verdicts * self.rounds_each) for name in self.judges]
        return tuple(part for part in (*parts, *self.rollouts) if part.calls)

    def items(self, stage: Stage, config: Config) -> int:
        """What a stage works off one by one: dialogues, replies, verdicts, branches."""
        counts: dict[Stage, int] = {"simulate": self.dialogues, "collect": self.replies, "judge": self.verdicts}
        if config.student is not None:
            branches = self.subsets * (1 + len(self.endpoints)) + config.student.panel * (1 + len(CONTROLS))
            counts["student"] = branches if self.subsets else 0
        return counts.get(stage, 0)

    def narrowed(self, verdicts: int) -> Workload:
        """The same where only so many verdicts are asked for, as by a goal."""
        return replace(self, verdicts=verdicts)


def workload(
    config: Config,
    *,
    subsets: int | None = None,
    replied: Sequence[str] = (),
    criteria: Sequence[str] | None = None,
) -> Workload:
    """What the stages of a configuration ask for.

    ``subsets``: how many there are, where they have been made; otherwise as many as the dialogues hold at most.
    ``replied``: who replied, where replies are given instead of collected. ``criteria``: those judged by, where
    they are known without the criteria file. Raises Problem, InputProblem for what cannot be judged.
    """
    how, collect = config.simulate, config.collect
    possible = config.cut.subsets if how is None else min(config.cut.subsets, how.dialogues * how.turns)
    assumed: list[Assumption] = []
    if subsets is None and possible < config.cut.subsets and not config.is_data_set:
        assumed.append("fewer subsets")
    if subsets is None and how is None:
        assumed.append("subsets given")
    if how is not None and how.blank_retries:
        assumed.append("blank retries")
    is_planned = how is not None and how.acts == "planned"
    if is_planned and how is not None and (how.act_retries or how.act_reader):
        assumed.append("act retries")
    load = Workload(
        dialogues=how.dialogues if how is not None else 0,
        turns=how.turns if how is not None else 0,
        rephrases=how is not None and how.rephrase_openings,
        candidates=1 if config.style is None else config.style.candidates,
        act_reader=how.act_reader if is_planned and how is not None else None,
        student=how.student if how is not None else None,
        teacher=how.teacher if how is not None else None,
        reader=_reader(config),
        subsets=possible if subsets is None else subsets,
        subsets_wanted=config.cut.subsets,
        endpoints=collect.endpoints if collect is not None else tuple(replied),
        is_collected=collect is not None,
        assumed=tuple(assumed),
    )
    load = replace(load, rollouts=tuple(_rollouts(config, load.subsets, load.endpoints)))
    return _with_judging(config, load, replied, criteria)


def _reader(config: Config) -> str | None:
    """The endpoint that reads tutors' moves while students with a state are simulated."""
    if config.simulate is None or config.simulate.acts != "knowledge":
        return None
    first = config.labellers[0]
    return None if first == PHRASES else first


def _rollouts(config: Config, subsets: int, endpoints: Sequence[str]) -> list[Calls]:
    if config.student is None or not endpoints:
        return []
    return rollouts_asked(config, subsets, dict.fromkeys(endpoints, subsets))


def _with_judging(
    config: Config, load: Workload, replied: Sequence[str], criteria: Sequence[str] | None
) -> Workload:
    judge = config.judge
    if judge is None:
        return load
    if not load.endpoints:
        return replace(load, assumed=(*load.assumed, "endpoints unknown"))
    reasons: dict[Assumption, bool] = {
        "goal": judge.goal is not None,
        "decisive": judge.rounds_mode == "decisive",
        "reask": judge.reask > 0,
    }
    assumed = [reason for reason, holds in reasons.items() if holds]
    pairs = prepare.pairs(config, replied)
    names = prepare.judging(config).criterion_ids if criteria is None else criteria
    return replace(
        load,
        pairs=tuple(pairs),
        criteria=tuple(names),
        judges=judge.endpoints,
        rounds_each=judge.rounds,
        verdicts=load.subsets * len(pairs) * len(names),
        assumed=(*load.assumed, *assumed),
    )


def remaining(config: Config, subsets: Sequence[str], kept: Kept) -> tuple[Calls, ...]:
    """The calls of ``collect`` and ``judge`` that ``kept`` does not answer, endpoint by endpoint.

    ``subsets`` are ids. In ``decisive`` mode they are the most there can be.
    """
    names, judges = config.require_collect().endpoints, config.require_judge().endpoints
    replies = Counter(names[at % len(names)] for at in replies_asked(subsets, names, kept))
    rounds = Counter(_rounds_left(config, subsets, kept))
    parts = [Calls("collect", "teacher", name, replies[name]) for name in names]
    parts += [Calls("judge", "judge", name, rounds[name]) for name in judges]
    if config.student is not None:
        parts += rollouts_asked(config, 0, {name: replies[name] for name in names})
    return tuple(part for part in parts if part.calls)


def replies_asked(subsets: Sequence[str], endpoints: Sequence[str], kept: Kept = NOTHING_KEPT) -> list[int]:
    """Places among all replies wanted, each subset's in turn, of those neither kept nor recorded as failed."""
    known = kept.replies.keys() | kept.failures.keys()
    return [at for at, asked in enumerate(product(subsets, endpoints)) if asked not in known]


def _rounds_left(config: Config, subsets: Sequence[str], kept: Kept) -> Iterator[str]:
    """The judge of each round that is to be asked."""
    how, earlier = prepare.judging(config), kept.rounds
    rounds = list(product(how.judges, range(1, how.rounds + 1)))
    for subset, pair in product(subsets, prepare.pairs(config)):
        match = "/".join((subset, *pair))
        if match in earlier.failures or any((subset, name) in kept.failures for name in pair):
            continue
        for criterion in how.criterion_ids:
            known = {asked: earlier.judgments.get((subset, *pair, criterion, *asked)) for asked in rounds}
            if how.rounds_mode == "decisive" and is_decided([old for old in known.values() if old], how.asked):
                continue
            for judge, number in rounds:
                item = round_item(match, criterion, judge, number)
                if known[judge, number] is None and item not in earlier.failures:
                    yield judge


@dataclass(frozen=True, slots=True)
class Tree:
    """Calls of one branch tree: the first reply is there already, and each further turn is asked of each sample.

    With b1 ... br samples a turn and c_i = b1 * ... * b_i, a tree has ``leaves`` c_r, asks the student
    sum(c_1..c_r) times, the tutor sum(c_1..c_(r-1)), and each labeller once a tutor's utterance.
    """

    students: int
    tutors: int
    labels: int
    leaves: int


def tree_of(branches: Sequence[int]) -> Tree:
    """The calls of a tree with so many samples at each turn."""
    widths: list[int] = list(accumulate(branches, lambda width, more: width * more))
    return Tree(sum(widths), sum(widths[:-1]), 1 + sum(widths[:-1]), widths[-1])


def rollouts_asked(config: Config, subsets: int, replies: Mapping[str, int]) -> list[Calls]:
    """The calls of the student's side: ``replies`` trees of each endpoint, and the panel's labels.

    Replies that are alike share their students, which makes fewer. Scripted tutors are no call, and their students
    say nothing; but their utterances are labelled.
    """
    how = config.require_student()
    tree, trees = tree_of(how.branches), sum(replies.values())
    student, baseline = speakers(config)
    parts = [Calls("student", "student", student, trees * tree.students)] if student is not None else []
    for name, count in replies.items():
        tutor = baseline if how.continued == "baseline" and baseline is not None else name
        parts.append(Calls("student", "teacher", tutor, count * tree.tutors))
    # After their first utterance leak and lecture say what null says: the same words asked twice are one call.
    scripted = how.panel * ((len(CONTROLS) - 2) * tree.labels + 2) if subsets else 0
    parts += [Calls("student", "labeller", name, trees * tree.labels + scripted) for name in config.readers]
    parts += _taken(config, subsets, trees * tree.leaves, tree.leaves, student)
    return [part for part in parts if part.calls]


def _taken(config: Config, subsets: int, leaves: int, panel_leaves: int, student: str | None) -> Iterator[Calls]:
    """A model student's quiz, one call an item: before any reply (on the panel in both orders of the options) and
    at every leaf. And what the student says of its tutor, once a leaf."""
    how = config.require_student()
    if how.quiz != RULES:
        from frontdesk.runner.knowing import Knowledge  # topics are read only where they are used

        items = max((len(topic.items) for topic in Knowledge.load(config).bank.topics.values()), default=0)
        panel = how.panel * (2 + len(CONTROLS) * panel_leaves) if subsets else 0
        yield Calls("student", "student", how.quiz, items * (leaves + subsets + panel))
    rater = student if how.quiz == RULES else how.quiz
    if how.own_rating and rater is not None:
        yield Calls("student", "student", rater, leaves)


def speakers(config: Config) -> tuple[str | None, str | None]:
    """Who words the student's utterances, and the baseline tutor."""
    how, simulated = config.require_student(), config.simulate
    student = how.student or (simulated.student if simulated is not None else None)
    return student, simulated.teacher if simulated is not None else None


def guesses_asked(judge: str, dialogues: int) -> tuple[Calls, ...]:
    """A judge who guesses personas is asked once a dialogue."""
    return (Calls("quality", "judge", judge, dialogues),)


def turns_asked(student: str, judge: str | None, turns: int) -> tuple[Calls, ...]:
    """Students' turns written beside people's: one call each, and one of the judge who reads both."""
    own = (Calls("quality", "student", student, turns),)
    return own if judge is None else (*own, Calls("quality", "judge", judge, turns))


def ahead_of_batch(config: Config, stage: Stage, items: int) -> int:
    """How many items of a stage are asked in real time before a batch, to see whether answers can be read."""
    readings = _readings(config, stage)
    return tried_ahead(config.budget.trial_rounds, items, readings) if readings else 0


def _readings(config: Config, stage: Stage) -> int:
    """How many answers of one reader an item of a stage holds, at least; 0 where nobody is to be read."""
    if stage == "judge":
        how = prepare.judging(config)
        return how.needed // len(how.judges)
    if stage == "simulate":
        how = config.require_simulate()
        return how.turns - 1 if _reader(config) or (how.acts == "planned" and how.act_reader) else 0
    if stage == "student":
        how = config.require_student()
        return int(bool(config.readers) or how.quiz != RULES or how.own_rating)
    return 0


def in_batches(config: Config, load: Workload, calls: Iterable[Calls]) -> Iterator[Calls]:
    """The same calls with ``--batch``: by the batch interfaces of those endpoints that have one.

    Those of the items that are asked before it, and stay at the full price, are counted by their share.
    """
    for part in calls:
        if not has_batches(settings_of(part.endpoint, config.endpoints[part.endpoint])):
            yield part
            continue
        items = load.items(part.stage, config)
        tried = part.calls * ahead_of_batch(config, part.stage, items) // max(1, items)
        parts = (replace(part, calls=tried), replace(part, calls=part.calls - tried, by_batch=True))
        yield from (each for each in parts if each.calls)


def sheets_asked(judges: Sequence[str], subjects: int, repeats: int) -> tuple[Calls, ...]:
    """The sheets that a scoring run asks of each judge; values that are missing in one are asked for again."""
    return tuple(Calls("score", "judge", judge, subjects * repeats) for judge in judges)
