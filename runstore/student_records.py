"""The records of the student's side: what a rollout said and did, what it was read as, and what came of it.

They meet by the id of a node: one utterance of a branch. The root of a subset's branches is its own last student
utterance, with the state that the student brings.
"""

from __future__ import annotations

from typing import Literal

from runstore.records import Act, Record, Role, VerdictOutcome

CONTROLS = ("null", "misaligned", "wrong", "leak", "lecture", "contrast")
"""Tutors with fixed words: what each must do to a student is known."""
CONTROL_ARM = "control:"
ROOT_ARM = ""

MoveName = Literal["none", "mention", "ask", "hint", "contrast", "tell", "wrong"]


class Node(Record):
    """One utterance of a branch. ``arm``: the endpoint, ``control:NAME``, or empty for the root.

    ``path`` names the samples taken so far (``0.1``), ``state`` is the student's when it speaks (component ->
    state). ``component`` is what the utterance is about, ``attempted`` whether the student tried it (None: not
    meant to). ``text`` is None where nothing had to be said, as in controls.
    """

    id: str
    subset: str
    dialogue: str
    arm: str
    path: str
    speaker: Role
    text: str | None
    act: Act | None = None
    parent: str | None
    component: str | None = None
    attempted: bool | None = None
    state: dict[str, str] | None = None


class MoveLabel(Record):
    """What a labeller read in a tutor's utterance about one component; ``none`` where it read nothing at all.

    ``target`` is the misconception it is aimed at. Only where its quote stands in the text (``found``) it counts.
    """

    node: str
    component: str | None
    move: MoveName
    target: str | None = None
    quote: str = ""
    found: bool = False
    labeller: str = ""


class StateChange(Record):
    """A component that a tutor's utterance could move: with probability ``p``, decided by ``draw``."""

    node: str
    component: str
    before: str
    after: str
    p: float
    draw: float


OptionOrder = Literal["drawn", "reversed"]
OWN_RATING = "own_rating"
"""The item under which the student's own rating of its tutor (1 to 5) stands, as its ``answer``."""


class QuizRow(Record):
    """One item at one leaf: the probability of full credit (``p``), and what a model student answered.

    ``answer`` and ``reason`` are the options' texts or ``?``; a choice whose ``support`` was not ``found`` in what
    the student knew or heard is ``?`` too. ``misconception`` is what the answer stands for. ``order`` is that of
    the options; answers in the reversed one are only compared with the others.
    """

    leaf: str
    item: str
    p: float | None = None
    answer: str | None = None
    reason: str | None = None
    support: str | None = None
    found: bool | None = None
    misconception: str | None = None
    order: OptionOrder = "drawn"


class StudentVerdict(Record):
    """One subset and two endpoints: whose branches left more transfer credit. ``delta``: first minus second.

    ``capped``: a win that became a tie because the winner gave the answer away. ``leaves``: leaf ids behind it.
    """

    subset: str
    dialogue: str
    endpoints: tuple[str, str]
    outcome: VerdictOutcome
    winner: str | None
    delta: float | None
    capped: bool
    reason: str | None
    leaves: tuple[tuple[str, ...], tuple[str, ...]]
