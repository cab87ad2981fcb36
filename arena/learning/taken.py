"""What a quiz taken by a model must show before it counts: that it is this student who answers, not the model.

A model that knows the subject answers right what the student knows nothing of; one that agrees with whoever
speaks is set right by any feedback. Both show on the panel's students, whose states and tutors are known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

from arena.learning.leaves import Forest
from arena.learning.paired import clustered_mean
from arena.learning.result import OptionOrderRow
from knowledge.rules import Gate
from knowledge.topic import ABSENT, Item, misconception_of
from runstore.student_records import CONTROL_ARM, ROOT_ARM, Node, QuizRow

Side = Literal["above", "below"]
Answers = Mapping[str, Sequence[QuizRow]]
"""Item -> its answers, one a leaf."""


@dataclass(frozen=True, slots=True)
class Taken:
    """``gates``: (name, one value a student, limit, side). ``option_order``: what the order of options does."""

    gates: tuple[tuple[str, tuple[float, ...], float, Side], ...]
    option_order: OptionOrderRow


@dataclass(frozen=True, slots=True)
class _Student:
    root: Node
    items: Mapping[str, Item]
    answers: Mapping[str, Answers]
    """By arm."""
    reversed: Answers

    def before(self, item: str) -> QuizRow | None:
        rows = self.answers.get(ROOT_ARM, {}).get(item, ())
        return rows[0] if rows else None

    def after(self, control: str, item: str) -> Sequence[QuizRow]:
        return self.answers.get(f"{CONTROL_ARM}{control}", {}).get(item, ())


def taken_by_model(forest: Forest, students: Sequence[str], gate: Gate) -> Taken:
    """The values of each gate: one a student, where it can be had at all."""
    panel = list(_students(forest, students))
    return Taken(
        gates=(
            ("guess", _each(panel, _above_guessing), gate.guess_within, "below"),
            ("distractor", _each(panel, _distracted), gate.distractor_above, "above"),
            ("selective", _each(panel, _selective), gate.selective_above, "above"),
        ),
        option_order=_option_order(panel),
    )


def _students(forest: Forest, students: Sequence[str]) -> Iterator[_Student]:
    nodes = {node.id: node for node in forest.nodes}
    roots = {node.subset: node for node in forest.nodes if node.arm == ROOT_ARM}
    answers: dict[str, dict[str, dict[str, list[QuizRow]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    again: dict[str, dict[str, list[QuizRow]]] = defaultdict(lambda: defaultdict(list))
    for row in forest.quiz:
        node = nodes[row.leaf]
        kept = answers[node.subset][node.arm] if row.order == "drawn" else again[node.subset]
        kept[row.item].append(row)
    for who in students:
        if who in roots:
            items = {item.id: item for item in forest.topic_of(who).items}
            yield _Student(roots[who], items, answers[who], again[who])


def _each(panel: Sequence[_Student], values: Callable[[_Student], Iterable[float]]) -> tuple[float, ...]:
    means = (list(values(student)) for student in panel)
    return tuple(sum(mean) / len(mean) for mean in means if mean)


def _above_guessing(student: _Student) -> Iterator[float]:
    """Credit on items whose components are all absent, above what guessing each tier would give."""
    state = student.root.state or {}
    for name, item in student.items.items():
        before = student.before(name)
        if (
            before is not None
            and before.p is not None
            and all(state[component] == ABSENT for component in item.components)
        ):
            yield before.p - prod(1 / len(tier) for tier in item.tiers)


def _distracted(student: _Student) -> Iterator[float]:
    """Whether an item on something misconceived was answered by that misconception, where that is an option."""
    state = student.root.state or {}
    for name, item in student.items.items():
        held = {misconception_of(state[component]) for component in item.components} - {None}
        before = student.before(name)
        if before is not None and held & {option.misconception for option in item.options}:
            yield float(before.misconception in held)


def _selective(student: _Student) -> Iterator[float]:
    """Of what was not right: set right after the aimed question, minus set right after the misaligned one."""
    for name, item in student.items.items():
        before = student.before(name)
        if item.kind not in ("diagnostic", "transfer") or before is None or before.p != 0:
            continue
        after = [
            student.answers.get(f"{CONTROL_ARM}{arm}", {}).get(name, ()) for arm in ("contrast", "misaligned")
        ]
        if all(after):
            aimed, beside = (sum(row.p or 0.0 for row in rows) / len(rows) for rows in after)
            yield aimed - beside


def _option_order(panel: Sequence[_Student]) -> OptionOrderRow:
    shifts: list[float] = []
    items = changed = 0
    for student in panel:
        own: list[float] = []
        for name, rows in student.reversed.items():
            before = student.before(name)
            if before is not None and before.p is not None and rows[0].p is not None:
                own.append(rows[0].p - before.p)
                changed += (rows[0].answer, rows[0].reason) != (before.answer, before.reason)
        items += len(own)
        shifts += [sum(own) / len(own)] if own else []
    return OptionOrderRow(
        items=items, changed=changed, shift=clustered_mean(shifts, [str(at) for at in range(len(shifts))])
    )
