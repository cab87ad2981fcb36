"""The student's side of a run: the claim, the panel, what each tutor's branches left, and what is assumed."""

from __future__ import annotations

from collections.abc import Iterator

from arena.learning.paired import Mean
from arena.learning.result import DifferenceRow, GateRow, StudentSide
from frontdesk.report.blocks import Block, Cell, Either, Section, Table, Text, cells, columns
from frontdesk.report.figures import count, percent, plain, rounded, signed
from frontdesk.report.plots.dots import Dot, dot_chart
from frontdesk.report.sections.run.names import criterion_name
from frontdesk.runner.config import RULES, Config
from runstore.languages import words
from runstore.records import Language


def student_side(side: StudentSide, config: Config, language: Language) -> Section:
    """The section of a run's report."""
    blocks: list[Block] = [
        *_claims(side, language),
        *_panel(side, language),
        *_differences(side, language),
        _arms(side, language),
        *_order(side, language),
        *_judges(side, config, language),
        *_assumed(side, language),
    ]
    return Section("student", _say("title", language), blocks)


def _claims(side: StudentSide, language: Language) -> Iterator[Block]:
    if not side.counts.with_topic:
        yield Text(_say("no_topics", language, subsets=side.counts.subsets), "warn")
        return
    if not side.panel.passed:
        yield Text(_say("refused", language, gates=", ".join(_failed(side, language))), "lead")
        yield Text(_say("refused_why", language), "warn")
        return
    for row in side.differences:
        if row.outcome == "transfer":
            yield Text(_claim(side, row, language), "lead")
    yield Text(_say("no_evidence", language))


def _claim(side: StudentSide, row: DifferenceRow, language: Language) -> str:
    mean, wide = row.by_dialogue, row.by_question
    values = {
        "rules": side.made.learning,
        "questions": side.counts.questions,
        "n": row.subsets,
        "by": _range(mean),
        "by_question": _range(wide),
        "level": f"{100 * side.made.level:g}",
    }
    if mean.value is None:
        return _say("nothing_compared", language, a=row.a, b=row.b)
    ahead, behind = (row.a, row.b) if mean.value >= 0 else (row.b, row.a)
    if mean.lower is None or mean.upper is None or mean.lower <= 0 <= mean.upper:
        return _say("not_apart", language, a=row.a, b=row.b, d=signed(mean.value, 3), **values)
    return _say("claim", language, a=ahead, b=behind, d=f"{abs(mean.value):.3f}", **values)


def _failed(side: StudentSide, language: Language) -> list[str]:
    return [_say(f"gate_{row.gate}", language) for row in side.panel.gates if not row.passed]


def _panel(side: StudentSide, language: Language) -> Iterator[Block]:
    panel = side.panel
    rows = [
        cells(
            _say(f"gate_{row.gate}", language),
            plain(row.value, 3),
            plain(row.edge, 3),
            _say(row.side, language, limit=f"{row.limit:g}"),
            Cell(_say("passed" if row.passed else "failed", language)),
        )
        for row in panel.gates
    ]
    titles = (_say(key, language) for key in ("gate", "value", "edge", "bound", "outcome"))
    head = columns(*titles, worded=[_say("outcome", language)])
    caption = _say("panel_caption", language, students=panel.students, missing=panel.missing)
    table = Table(head, rows, caption, _say("panel", language))
    title = _say("panel", language)
    bars = [_bar(row, language) for row in panel.gates]
    yield Either((table,), (table, dot_chart(bars, title, reference=0.0, axis=_say("value", language))))
    yield Table(
        columns(*(_say(key, language) for key in ("labeller", "precision", "recall", "given", "unfounded"))),
        [
            cells(
                row.labeller,
                percent(row.precision),
                percent(row.recall),
                f"{row.right} / {row.given} / {row.known}",
                str(row.unfounded),
            )
            for row in panel.labels
        ],
        _say("labels_caption", language),
        _say("labels", language),
    )
    yield from _option_order(side, language)


def _option_order(side: StudentSide, language: Language) -> Iterator[Block]:
    order = side.panel.option_order
    if order is not None:
        values = {"changed": order.changed, "items": order.items, "shift": signed(order.shift.value, 3)}
        yield Text(_say("option_order", language, range=_range(order.shift), **values), "soft")


def _bar(row: GateRow, language: Language) -> Dot:
    lower, upper = (row.edge, row.value) if row.side == "above" else (row.value, row.edge)
    return Dot(
        _say(f"gate_{row.gate}", language), row.value, lower, upper, 0 if row.passed else 1, plain(row.value, 3)
    )


def _differences(side: StudentSide, language: Language) -> Iterator[Block]:
    rows = [
        cells(
            f"{row.a} – {row.b}",
            _say(f"outcome_{row.outcome}", language),
            signed(row.by_dialogue.value, 3),
            _range(row.by_dialogue),
            _range(row.by_question),
            f"{row.subsets} / {row.subsets + row.missing}",
        )
        for row in side.differences
    ]
    if rows:
        titles = (_say(key, language) for key in ("pair", "what", "d", "by_dialogue", "by_question", "n"))
        head = columns(*titles, worded=[_say("what", language)])
        yield Table(head, rows, _say("differences_caption", language), _say("differences", language))


def _arms(side: StudentSide, language: Language) -> Table:
    is_rated = any(arm.own_ratings for arm in side.arms)
    rows = [
        cells(
            arm.name,
            plain(arm.transfer, 3),
            plain(arm.recall, 3),
            plain(arm.misconceptions, 3),
            plain(arm.gain, 3),
            percent(arm.leaks),
            percent(arm.told_after_attempt),
            percent(arm.first),
            f"{arm.kept} / {arm.attempts}",
            *([f"{plain(arm.own_rating, 2)} ({arm.own_ratings})"] if is_rated else []),
            f"{arm.complete} / {arm.subsets}",
        )
        for arm in side.arms
    ]
    heads = (
        "tutor",
        "transfer",
        "recall_credit",
        "misconceptions",
        "gain",
        "leaks",
        "told_late",
        "first",
        "kept",
        *(["own_rating"] if is_rated else []),
        "n",
    )
    head = columns(*(_say(key, language) for key in heads))
    caption = _say("arms_caption", language, leak=f"{side.made.leak:g}")
    if is_rated:
        caption += " " + _say("own_rating_caption", language)
    return Table(head, rows, caption, _say("arms", language))


def _order(side: StudentSide, language: Language) -> Iterator[Block]:
    board = side.leaderboard
    if board is None:
        return
    rows = [
        cells(model.name, rounded(model.rating), count(model.wins), count(model.ties), count(model.losses))
        for model in board.models
    ]
    head = columns(*(_say(key, language) for key in ("tutor", "rating", "wins", "ties", "losses")))
    counts = side.counts
    caption = _say(
        "order_caption",
        language,
        margin=f"{side.made.margin:g}",
        verdicts=counts.verdicts,
        invalid=counts.invalid,
        capped=counts.capped,
    )
    yield Table(head, rows, caption, _say("order", language))


def _judges(side: StudentSide, config: Config, language: Language) -> Iterator[Block]:
    if not side.judges:
        return
    named = {row.criterion: criterion_name(config, row.criterion, language) for row in side.judges}
    rows = [cells(named[row.criterion], f"{row.same} / {row.n}", plain(row.kappa.value, 2)) for row in side.judges]
    head = columns(*(_say(key, language) for key in ("criterion", "same", "kappa")))
    yield Table(head, rows, _say("judges_caption", language), _say("judges", language))
    if side.same_family:
        yield Text(_say("same_family", language), "warn")
    parted = [(named[row.criterion], *measured) for row in side.judges for measured in row.part]
    if parted:
        yield Table(
            columns(
                *(_say(key, language) for key in ("criterion", "subset", "judges_chose", "students_chose", "d"))
            ),
            [cells(*measured) for measured in parted],
            "",
            _say("parted", language),
        )


def _assumed(side: StudentSide, language: Language) -> Iterator[Block]:
    made, counts = side.made, side.counts
    yield Text(
        _say(
            "made",
            language,
            rules=made.learning,
            hash=made.learning_hash,
            topics=counts.questions,
            with_topic=counts.with_topic,
            subsets=counts.subsets,
            drafts=counts.drafts,
            turns=made.turns,
            branches=" x ".join(map(str, made.branches)),
            student=made.student,
            labellers=", ".join(made.labellers),
        ),
        "soft",
    )
    if made.quiz != RULES:
        yield Text(_say("quiz_by_model", language, name=made.quiz), "soft")
    yield Text(_say(f"continued_{made.continued}", language), "soft")
    if "phrases" in made.labellers[:1]:
        yield Text(_say("by_phrases", language), "soft")
    yield Text(_say("one_turn" if made.turns == 1 else "assumed", language), "soft")


def _range(mean: Mean) -> str:
    if mean.lower is None or mean.upper is None:
        return f"– ({mean.clusters})"
    return f"{mean.lower:+.3f} … {mean.upper:+.3f}"


def _say(key: str, language: Language, **values: object) -> str:
    return words("frontdesk.report", "student", language)(key, **values)
