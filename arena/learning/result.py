"""``student.json``: the panel, what each tutor's branches left, differences, order, and how far to trust it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from arena.agreement.result import StatisticRow
from arena.learning.paired import Mean
from arena.ratings.result import Leaderboard
from runstore.publish import parse_record, read_json
from runstore.results import Number, Result


class GateRow(Result):
    """One bound: ``value`` with its one-sided limit, ``limit`` what it must keep, ``side`` on which side."""

    gate: str
    value: Number | None
    edge: Number | None
    limit: Number
    side: Literal["above", "below"]
    passed: bool
    n: int
    reason: str | None = None


class LabelRow(Result):
    """How well a labeller read the controls, whose moves are known. None of nothing."""

    labeller: str
    known: int
    given: int
    right: int
    precision: Number | None
    recall: Number | None
    f1: Number | None
    unfounded: int


class OptionOrderRow(Result):
    """A model student asked the panel's items again with the options reversed: how many answers became others
    (``changed`` of ``items``), and what that did to credit, reversed minus drawn."""

    items: int
    changed: int
    shift: Mean


class Panel(Result):
    """Whether the student and the labeller may carry verdicts. ``missing``: control branches that did not end."""

    passed: bool
    students: int
    gates: tuple[GateRow, ...]
    labels: tuple[LabelRow, ...]
    missing: int
    option_order: OptionOrderRow | None = None


class ArmRow(Result):
    """What a tutor's branches left, as means over subsets. ``complete`` of ``subsets`` had every leaf.

    ``gain``: normalised, the ratio of sums, for display only. ``leaks``: share of branches flagged; ``first``:
    components first said by the student, of those said at all. ``own_rating``: mean of ``own_ratings`` ratings,
    1 to 5, that students gave this tutor. ``acts``: share of each act, and ``acts_before``
    at the cut. ``kept``: attempts that spoke of their component.
    """

    name: str
    subsets: int
    complete: int
    transfer: Number | None
    recall: Number | None
    diagnostic: Number | None
    misconceptions: Number | None
    control: Number | None
    gain: Number | None
    leaks: Number | None
    told_after_attempt: Number | None
    first: Number | None
    acts: dict[str, Number]
    attempts: int
    kept: int
    own_rating: Number | None = None
    own_ratings: int = 0


class DifferenceRow(Result):
    """First minus second, per outcome: the mean over subsets, with intervals by dialogue and by question."""

    a: str
    b: str
    outcome: str
    by_dialogue: Mean
    by_question: Mean
    subsets: int
    missing: int


class JudgesRow(Result):
    """How far the judges' verdicts of one criterion agree with these; ``part``: some that name other winners."""

    criterion: str
    kappa: StatisticRow
    same: int
    n: int
    part: tuple[tuple[str, str, str, str], ...]
    """(subset, endpoint that judges chose, endpoint that the student's side chose, delta's sign) of some."""


class Made(Result):
    """What it was made with. Hashes name the files."""

    learning: str
    learning_hash: str
    outcomes_hash: str
    topics_hash: str
    turns: int
    branches: tuple[int, ...]
    continued: str
    labellers: tuple[str, ...]
    student: str
    quiz: str
    margin: Number
    leak: Number
    level: Number


class Counted(Result):
    """``subsets``: of the run; ``with_topic``: on a reviewed topic; ``drafts``: on one that is not reviewed."""

    subsets: int
    with_topic: int
    drafts: int
    questions: int
    branches: int
    branches_asked: int
    verdicts: int
    invalid: int
    capped: int


class StudentSide(Result):
    """All of ``student.json``."""

    made: Made
    counts: Counted
    panel: Panel
    arms: tuple[ArmRow, ...]
    differences: tuple[DifferenceRow, ...]
    order: dict[str, object] | None
    judges: tuple[JudgesRow, ...]
    same_family: bool
    notes: tuple[str, ...]

    @property
    def leaderboard(self) -> Leaderboard | None:
        """The order of the endpoints, by the same rating code as the judges'."""
        return None if self.order is None else Leaderboard.model_validate(self.order)


def read_student(path: Path) -> StudentSide:
    """Raises InputProblem."""
    return parse_record(StudentSide, read_json(path), path)
