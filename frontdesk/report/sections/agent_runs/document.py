"""The report of agent runs as blocks: the outline of the scoring document, with pictures where a page can draw."""

from __future__ import annotations

from collections.abc import Sequence

from arena.agent_runs.result import AgentRuns, Figures, InputTable, RoundPair
from arena.agent_runs.scoring import Analysis
from frontdesk.report.blocks import (
    Block,
    Cell,
    Column,
    Document,
    Either,
    Heading,
    Point,
    Section,
    Table,
    Text,
    cells,
    columns,
    points,
)
from frontdesk.report.figures import percent, plain
from frontdesk.report.sections.agent_runs.risks import question_tables, risks
from frontdesk.report.sections.agent_runs.texts import DIGITS, brief, check_line, counts_line, test_line
from frontdesk.report.sentences import spoken
from runstore.languages import Words, words
from runstore.records import Language


def document(analysis: Analysis, language: Language) -> Document:
    """Summary and checks, how it is scored, the five figures, what to look at, and every item's judgment."""
    say, figures = words("frontdesk.report", "agent_runs", language), analysis.figures
    sections = [
        _summary(figures, say),
        _criteria(figures, say),
        Section(
            "figures",
            say("figures"),
            [
                Either(page=(_overview(figures, say),)),
                *_intent(figures, say),
                *_consistency(figures, say),
                *_accuracy(figures, say),
                *_speed(figures, say),
                *_stability(figures, say),
            ],
        ),
        risks(analysis, say),
        _comparison(analysis, say),
        _appendix(analysis, say),
    ]
    return Document(
        title=say("title"),
        language=language,
        demonstration=None,
        banner=[],
        sections=[section for section in sections if section is not None],
    )


def _summary(figures: AgentRuns, say: Words) -> Section:
    failed = sum(check.passed is False for check in figures.checks)
    blocks: list[Block] = [Text(f"⚠ {say('failed_checks', n=failed)}", "warn")] if failed else []
    if figures.method.form == "plain":
        blocks.append(Text(say("plain_form"), "warn"))
    counted, rows = figures.counted, figures.rows
    total = str(counted) if counted == rows else f"{counted} ({say('of', n=counted, m=rows)})"
    runs = ", ".join(f"{say('round_n', n=row.index)} = {brief(row.round)} ({row.items})" for row in figures.rounds)
    states = {True: "good", False: "bad", None: ""}
    checks = [
        Point(f"{say('checks')}: {check_line(check, say)}", state=states[check.passed]) for check in figures.checks
    ]
    data = ", ".join(brief(_input_line(each, say.language), 200) for each in figures.inputs)
    blocks.append(points(f"{say('data')}: {data}", f"{say('total')}: {total}", f"{say('runs')}: {runs}", *checks))
    return Section("summary", "", blocks)


def _input_line(described: InputTable, language: Language) -> str:
    """A file with how it was read: format, encoding, delimiter."""
    how = [spoken(part, language) for part in (described.encoding, described.delimiter)]
    return f"{described.file} ({', '.join(part for part in how if part)})"


def _criteria(figures: AgentRuns, say: Words) -> Section:
    levels = "by_key_two" if figures.method.accuracy == "two-level" else "by_key_three"
    keys = ("matched_by", "stable_by", "speed_by", "no_sum")
    listed = points(f"{say('by_key')}, {say(levels)}", *(say(key) for key in keys))
    return Section("criteria", say("criteria"), [listed])


def _named(figures: AgentRuns, say: Words) -> list[tuple[str, Figures]]:
    return [*((say("round_n", n=row.index), row) for row in figures.rounds), (say("set"), figures.set)]


def _overview(figures: AgentRuns, say: Words) -> Table:
    keys = ("round", "items", "intent", "accuracy", "rate", "speed_short", "seconds", "stability")
    rows = [
        cells(
            name,
            str(row.items),
            plain(row.intent.score, 2),
            plain(row.accuracy.score, 2),
            percent(row.accuracy.rate, DIGITS),
            plain(row.speed.score, 2),
            plain(row.speed.mean_s, 2),
            plain(row.stability.score, 2),
        )
        for name, row in _named(figures, say)
    ]
    return Table(columns(*(say(key) for key in keys)), rows)


def _intent(figures: AgentRuns, say: Words) -> list[Block]:
    lines = [
        f"{name}: {plain(row.intent.score, 2)} ({say('of', n=row.intent.scored, m=row.items)})"
        for name, row in _named(figures, say)
    ]
    origins = counts_line(figures.set.intent.origin, "origin_", say)
    return [Heading(f"1. {say('intent')}"), points(*lines, f"{say('basis')}: {origins or say('none')}")]


def _consistency(figures: AgentRuns, say: Words) -> list[Block]:
    consistency = figures.consistency
    heading = Heading(f"2. {say('consistency')}")
    if consistency.rate is None:
        return [heading, points(f"{say('not_estimable')}: {say('needs_two')}")]
    ways = " / ".join(map(str, (consistency.both_success, consistency.both_fail, consistency.differ)))
    blocks: list[Block] = [
        heading,
        points(
            f"{say('three_ways')}: {ways}",
            f"{say('agreement_rate')}: {percent(consistency.rate, DIGITS)}",
            f"{say('score')}: {plain(consistency.score, 2)}",
            f"{say('queries')}: {consistency.queries}, {say('unmatched')}: {consistency.unmatched}",
        ),
    ]
    pairs = consistency.pairs
    if len(pairs) == 1:
        blocks.append(Either(page=(_two_rounds(pairs[0], say),)))
    elif pairs:
        names = [row.round for row in figures.rounds]
        blocks.append(Either(text=(_pairs(pairs, say),), page=(_rounds(names, pairs, say),)))
    if len(consistency.pass_at_k) > 1:
        rows = [
            cells(say(key), *(percent(value, DIGITS) for value in values.values()))
            for key, values in (("any_of_k", consistency.pass_at_k), ("all_of_k", consistency.pass_hat_k))
        ]
        head = columns(f"n = {consistency.pass_queries}", *(f"k = {k}" for k in consistency.pass_at_k))
        blocks.append(Table(head, rows))
    return blocks


def _pairs(pairs: Sequence[RoundPair], say: Words) -> Table:
    rows = [
        cells(
            f"{brief(pair.a)} · {brief(pair.b)}",
            str(pair.both_success),
            str(pair.both_fail),
            str(pair.only_a + pair.only_b),
            percent(pair.rate, DIGITS),
        )
        for pair in pairs
    ]
    return Table(columns(say("pairs"), say("both_ok"), say("both_fail"), "≠", say("agreement_rate")), rows)


def _two_rounds(pair: RoundPair, say: Words) -> Table:
    """Success and failure of one round against another's, shaded by the share of the questions."""
    a, b = brief(pair.a), brief(pair.b)

    def row(name: str, *counts: int) -> tuple[Cell, ...]:
        heats = (count / pair.queries if pair.queries else 0.0 for count in counts)
        shaded = (Cell(str(count), heat=heat) for count, heat in zip(counts, heats, strict=True))
        return Cell(f"{a}: {name}"), *shaded

    rows = [
        row(say("ok"), pair.both_success, pair.only_a),
        row(say("fail"), pair.only_b, pair.both_fail),
    ]
    return Table(columns("", f"{b}: {say('ok')}", f"{b}: {say('fail')}"), rows, title=say("round_matrix"))


def _rounds(names: Sequence[str], pairs: Sequence[RoundPair], say: Words) -> Table:
    """Agreement rates round against round, 1 on the diagonal."""
    rates: dict[tuple[str, str], float | None] = {(name, name): 1.0 for name in names}
    for pair in pairs:
        rates[pair.a, pair.b] = rates[pair.b, pair.a] = pair.rate
    rows = [
        (Cell(brief(a)), *(Cell(percent(rates.get((a, b))), lean=rates.get((a, b))) for b in names)) for a in names
    ]
    return Table(columns("", *map(brief, names)), rows, title=say("round_matrix"))


def _accuracy(figures: AgentRuns, say: Words) -> list[Block]:
    rows: list[tuple[Cell, ...]] = []
    for name, row in _named(figures, say):
        accuracy = row.accuracy
        counts = str(accuracy.success), str(accuracy.fail)
        rows.append(cells(name, percent(accuracy.rate, DIGITS), *counts, plain(accuracy.score, 2)))
    head = columns(*(say(key) for key in ("round", "rate", "ok", "fail", "item_mean")))
    basis = counts_line(figures.set.accuracy.basis, "basis_", say)
    return [Heading(f"3. {say('accuracy')}"), Table(head, rows), points(basis or say("none"))]


def _speed(figures: AgentRuns, say: Words) -> list[Block]:
    means: list[str] = []
    for name, row in _named(figures, say):
        speed, n = row.speed, say("of", n=row.speed.scored, m=row.items)
        means.append(f"{name}: {plain(speed.mean_s, 2)}{say('sec')} / {plain(speed.score, 2)} ({n})")
    speed = figures.set.speed
    bands = " , ".join(f"{band}{say('points')}({count})" for band, count in speed.distribution.items())
    spread = Point(f"{say('distribution')}:", code=bands, rest=f", {say('missing_time')} {speed.missing}")
    by_round = Point(f"{say('mean_by_round')}:", tuple(means))
    return [
        Heading(f"4. {say('speed')}"),
        Either(text=(points(by_round, spread),), page=(points(by_round), _speed_scores(figures, say))),
    ]


def _speed_scores(figures: AgentRuns, say: Words) -> Table:
    """How many items have each speed score, with a bar for their share of the items that have one."""
    named = _named(figures, say)
    rows: list[tuple[Cell, ...]] = []
    for band in figures.set.speed.distribution:
        row = [Cell(f"{band}{say('points')}")]
        for _, each in named:
            speed = each.speed
            count = speed.distribution[band]
            row.append(Cell(str(count), share=count / speed.scored if speed.scored else 0.0, colour=0))
        rows.append(tuple(row))
    rows.append(cells(say("missing_time"), *(str(each.speed.missing) for _, each in named)))
    return Table(columns(say("score"), *(name for name, _ in named)), rows, title=say("speed_distribution"))


def _stability(figures: AgentRuns, say: Words) -> list[Block]:
    stability = figures.set.stability
    by_round = tuple(f"{name}: {plain(row.stability.score, 2)}" for name, row in _named(figures, say)[:-1])
    return [
        Heading(f"5. {say('stability')}"),
        points(
            f"{say('normal')}: {stability.ok}",
            f"{say('abnormal')}: {stability.bad}",
            Point(f"{say('score')}: {plain(stability.score, 2)}", by_round),
        ),
    ]


def _comparison(analysis: Analysis, say: Words) -> Section | None:
    comparison = analysis.figures.comparison
    if comparison is None:
        return None
    names = " → ".join(brief(", ".join(side)) for side in (comparison.before, comparison.after))
    lines = [f"{say('data')}: {names}"]
    for key in ("gained", "lost"):
        listed = ", ".join(brief(row.query_id) for row in analysis.shown.get(key, []))
        lines.append(f"{say(key)}: {getattr(comparison, key)}" + (f" ({listed})" if listed else ""))
    rows = [
        cells(
            say(test.figure),
            str(test.queries),
            *(plain(value, 3) for value in (test.before, test.after, test.difference)),
            test_line(test, say),
        )
        for test in comparison.tests
    ]
    head = columns(*(say(key) for key in ("figure", "queries", "before", "after", "difference")))
    tests = Table((*head, Column(say("test"), number=False)), rows)
    changed = question_tables(analysis, [key for key in ("lost", "gained") if analysis.shown.get(key)], say)
    return Section("comparison", say("comparison"), [points(*lines), tests, Either(page=changed)])


def _appendix(analysis: Analysis, say: Words) -> Section:
    rows = analysis.shown["appendix"]
    scores = ("intent", "accuracy", "speed", "stability")
    listed = [
        cells(
            *(_known(getattr(row, name)) for name in ("row", "query_id", "round", *scores)),
            say(f"item_{row.consistency}") if row.consistency else "",
        )
        for row in rows
    ]
    head = (
        *(Column(title, number=False) for title in (say("row"), "Query ID", say("round"))),
        *(Column(say(key)) for key in ("intent", "accuracy", "speed_short", "stability")),
        Column(say("consistency"), number=False),
    )
    blocks: list[Block] = [Table(head, listed, row_heads=False)]
    if (total := analysis.figures.counted) != len(rows):
        blocks.append(Text(say("see_items", n=total, m=len(rows))))
    return Section("appendix", say("appendix"), blocks)


def _known(value: object) -> str:
    return "–" if value is None else brief(value, 40)
