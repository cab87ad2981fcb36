"""What is found in tables of agent runs, typed: these models write ``agent_runs.json`` and read it again.

Figures stand beside their counts; one that can't be known is None. Counts by a name (a reason, an origin, a speed
score) are mappings.
"""

from __future__ import annotations

from collections.abc import Mapping

from arena.agreement.result import TestRow
from runstore.publish import Cell
from runstore.results import Number, Result


class Method(Result):
    """How it was scored."""

    accuracy: str
    rounds_by: tuple[str, ...]
    form: str
    speed_bands_s: tuple[int, ...]
    set: str


class InputTable(Result):
    """A file and how it was read; ``columns``: header by field."""

    file: str
    format: str
    encoding: str | None
    delimiter: str | None
    form: str
    columns: Mapping[str, str]
    unused_columns: tuple[str, ...]


class Intent(Result):
    """Mean intent score, and where the scores came from."""

    score: Number | None
    origin: Mapping[str, int]
    scored: Number


class Accuracy(Result):
    """Mean accuracy and rate of success of the ``scored`` items; ``basis``: why they got their score."""

    score: Number | None
    success: int
    fail: int
    rate: Number | None
    scored: int
    not_applicable: int
    basis: Mapping[str, int]


class Speed(Result):
    """Mean seconds of the ``timed`` items, and the scores made of them."""

    mean_s: Number | None
    score: Number | None
    distribution: Mapping[str, int]
    scored: int
    missing: int
    timed: int


class Stability(Result):
    """Items that ended as they should, and those that did not."""

    score: Number | None
    ok: int
    bad: int


class Figures(Result):
    """The figures of all rounds."""

    items: int
    intent: Intent
    accuracy: Accuracy
    speed: Speed
    stability: Stability


class _Round(Result):
    round: str
    index: int


class RoundFigures(Figures, _Round):
    """The figures of one round; ``index`` counts rounds from 1."""


class RoundPair(Result):
    """Questions that were scored in both of two rounds."""

    a: str
    b: str
    both_success: int
    both_fail: int
    only_a: int
    only_b: int
    queries: int
    rate: Number | None
    score: Number | None


class Consistency(Result):
    """How often rounds of one question agree; ``pass_at_k`` and ``pass_hat_k`` by k, of ``pass_queries``."""

    both_success: int
    both_fail: int
    differ: int
    queries: int
    rate: Number | None
    score: Number | None
    comparisons: int
    unmatched: int
    reason: str | None
    pairs: tuple[RoundPair, ...]
    pass_at_k: Mapping[str, Number]
    pass_hat_k: Mapping[str, Number]
    pass_queries: int


class Duplicate(Result):
    """A row whose question and round stood in an earlier row."""

    id: str
    round: str
    row: int | str
    first_row: int | str


class Check(Result):
    """Can the figures be trusted? ``share`` = ``count`` / ``of``; a check without a ``limit`` is a note."""

    name: str
    passed: bool | None
    count: int
    of: int
    share: Number
    limit: Number | None = None
    rounds: Mapping[str, int] = {}
    rows: tuple[Duplicate | int | str, ...] = ()
    queries: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


class PathFailures(Result):
    """Failed items of a path."""

    path: str | None
    items: int
    fail: int
    rate: Number
    no_url: int


class Pattern(Result):
    """Items of a track and category that failed for one reason."""

    track: str | None
    category: str | None
    reason: str
    fail: int
    items: int
    rate: Number


class Cause(Result):
    """A cause of instability."""

    cause: str
    items: int


class Questions(Result):
    """Questions of two sets."""

    both: int
    only_before: int
    only_after: int


class _Means(Result):
    figure: str
    before: Number | None
    after: Number | None
    difference: Number | None
    queries: int


class FigureTest(TestRow, _Means):
    """The paired test of one figure; ``p_holm`` corrects for all tests of the comparison."""

    p_holm: Number | None


class BeforeAfter(Result):
    """Two sets of runs over the same questions; ``gained`` and ``lost`` count questions."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    queries: Questions
    gained: int
    lost: int
    tests: tuple[FigureTest, ...]


class AgentRuns(Result):
    """The whole of ``agent_runs.json``; ``judge``: how the judge's questions ended, where one was asked."""

    method: Method
    inputs: tuple[InputTable, ...]
    rows: int
    counted: int
    rounds: tuple[RoundFigures, ...]
    set: Figures
    consistency: Consistency
    checks: tuple[Check, ...]
    failures_by_path: tuple[PathFailures, ...]
    patterns: tuple[Pattern, ...]
    instability: tuple[Cause, ...]
    judge: Mapping[str, int] | None = None
    comparison: BeforeAfter | None = None


class ShownItem(Result):
    """A row of ``items.csv``: the few that the report shows."""

    file: str
    row: int
    run_id: str
    item_id: str
    query_id: str
    round: str
    track: str
    category: str
    query: str
    expected: str
    response: str
    response_state: str
    intent: Number | None
    intent_origin: str
    accuracy: Number | None
    accuracy_basis: str
    seconds: Number | None
    speed: Number | None
    speed_reason: str
    stability: Number | None
    stability_reason: str
    error: str
    expected_keys: Cell
    urls: str
    path: str
    scored_text: str
    consistency: str
    duplicate_of: int | str | None
