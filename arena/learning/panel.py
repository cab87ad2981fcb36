"""Whether a simulated student, and who reads the moves, may carry verdicts: bounds on scripted tutors.

Bounds, not p-values: with enough students any tiny effect is significant, and with few nothing is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from arena.learning.paired import Mean, clustered_mean
from arena.learning.result import GateRow, LabelRow, Panel
from arena.learning.scores import Key, Outcome, Score, difference
from arena.learning.taken import Side, Taken
from knowledge.rules import Outcomes
from runstore.student_records import CONTROL_ARM, CONTROLS, ROOT_ARM, MoveLabel

Known = Mapping[str, tuple[str, str | None]]
"""Component -> (move, misconception it is aimed at)."""
_SAME_MOVE = {"contrast": "hint"}
"""A contrast is a hint that is aimed: what a rule does with the two is one thing."""
_ONE_SIDED = 0.90


def panel(
    known: Mapping[Key, Score],
    students: Sequence[str],
    labels: Sequence[LabelRow],
    outcomes: Outcomes,
    missing: int,
    taken: Taken | None = None,
) -> Panel:
    """Every gate. ``students`` are the panel's; ``missing`` branches of theirs did not end; ``taken`` is what a
    model student's quiz shows besides."""
    gate = outcomes.gate
    rows = [
        _bound(known, students, "contrast", "transfer", gate.contrast_transfer_above, "above"),
        _bound(known, students, "misaligned", "transfer", gate.misaligned_transfer_below, "below"),
        _bound(known, students, "leak", "transfer", gate.leak_transfer_below, "below"),
        _bound(known, students, "leak", "recall", gate.leak_recall_above, "above"),
        _bound(known, students, "lecture", "transfer", gate.lecture_transfer_below, "below"),
        _bound(known, students, "wrong", "transfer", gate.wrong_transfer_below, "below"),
        _bound(known, students, "wrong", "misconceptions", gate.wrong_misconceptions_above, "above"),
        _bound(known, students, "null", "transfer", gate.control_within, "below", against=ROOT_ARM),
        *(_bound(known, students, name, "control", gate.control_within, "below") for name in CONTROLS[1:]),
        *(_labels(row, gate.labels_right) for row in labels[:1]),
        *(_gate(*row) for row in (taken.gates if taken is not None else ())),
    ]
    return Panel(
        passed=all(row.passed for row in rows),
        students=len(students),
        gates=tuple(rows),
        labels=tuple(labels),
        missing=missing,
        option_order=taken.option_order if taken is not None else None,
    )


def _bound(
    known: Mapping[Key, Score],
    students: Sequence[str],
    control: str,
    outcome: Outcome,
    limit: float,
    side: Side,
    against: str = f"{CONTROL_ARM}null",
) -> GateRow:
    """Control minus null (or minus no dialogue), with the one-sided 95 % limit that the bound is held against."""
    measured = difference(known, students, f"{CONTROL_ARM}{control}", against, outcome)
    return _gate(f"{control}_{outcome}", measured.values, limit, side)


def _gate(gate: str, values: Sequence[float], limit: float, side: Side) -> GateRow:
    """The mean of one value a student, and whether its one-sided limit keeps the bound."""
    mean: Mean = clustered_mean(values, [str(at) for at in range(len(values))], _ONE_SIDED)
    edge = mean.lower if side == "above" else mean.upper
    passed = edge is not None and (edge > limit if side == "above" else edge < limit)
    return GateRow(
        gate=gate,
        value=_rounded(mean.value),
        edge=_rounded(edge),
        limit=limit,
        side=side,
        passed=passed,
        n=mean.n,
        reason=mean.reason,
    )


def _labels(row: LabelRow, limit: float) -> GateRow:
    passed = row.f1 is not None and row.f1 > limit
    return GateRow(gate="labels", value=row.f1, edge=row.f1, limit=limit, side="above", passed=passed, n=row.known)


def label_row(labeller: str, known: Mapping[str, Known], labels: Iterable[MoveLabel]) -> LabelRow:
    """How a labeller read nodes whose moves are known: component, move and target must be right.

    Labels without a found quote count as not given (``unfounded``), mentions as nothing.
    """
    own = [label for label in labels if label.labeller == labeller and label.node in known]
    given = {
        (label.node, label.component, _SAME_MOVE.get(label.move, label.move), label.target)
        for label in own
        if label.found and label.move not in ("none", "mention")
    }
    true = {
        (node, component, _SAME_MOVE.get(move, move), target)
        for node, moves in known.items()
        for component, (move, target) in moves.items()
    }
    right = len(given & true)
    precision = right / len(given) if given else None
    recall = right / len(true) if true else None
    total = len(given) + len(true)
    return LabelRow(
        labeller=labeller,
        known=len(true),
        given=len(given),
        right=right,
        precision=_rounded(precision),
        recall=_rounded(recall),
        f1=_rounded(2 * right / total) if total else None,
        unfounded=sum(not label.found and label.move != "none" for label in own),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
