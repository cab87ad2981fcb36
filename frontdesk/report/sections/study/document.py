"""The analysis of a study as blocks: the protocol's table first, then everything it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from arena.agreement.result import StatisticRow
from arena.human.against import AgainstPeople
from arena.human.analysis import Analysis, Cell, Comparison
from arena.human.attention import Attention
from arena.human.result import Votes
from arena.human.themes import Themes
from frontdesk.report.blocks import Block, Column, Document, Section, Table, Text, cells, points
from frontdesk.report.plots.dots import Dot, dot_chart
from frontdesk.report.sections.run.people import vote_blocks
from frontdesk.report.sections.study import table
from frontdesk.report.sentences import spoken
from runstore.languages import Words, words


def document(
    title: str,
    language: str,
    analysis: Analysis,
    done: Mapping[str, int],
    careful: Sequence[tuple[str, Attention]],
    votes: Votes | None,
    judged: Sequence[AgainstPeople] = (),
) -> Document:
    """The whole report; its banner says how much of the plan is finished where some is not."""
    say = words("frontdesk.report", "study", language)
    return Document(
        title=title,
        language=language,
        demonstration=None,
        banner=[say("unfinished", **done)] if done["missing"] else [],
        sections=[
            *_main_section(analysis, say),
            *_sections(analysis, careful, say),
            *_judge_sections(judged, say),
            *_vote_sections(votes, language, say),
        ],
        contents_label=say("contents"),
        skip_label=say("skip"),
    )


def _main_section(analysis: Analysis, say: Words) -> list[Section]:
    if not analysis.table:
        return []
    notes = points(*table.remarks(analysis.table, say))
    said = Text(say("note_line", note=say("note")), "soft")
    return [Section("result", say("title"), [table.protocol_table(analysis, say), said, notes])]


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> Table:
    return Table(
        tuple(Column(head, number=place > 0) for place, head in enumerate(heads)),
        [cells(*row) for row in rows],
        caption,
    )


def _sections(analysis: Analysis, careful: Sequence[tuple[str, Attention]], say: Words) -> list[Section]:
    names = [key for key, _ in analysis.conditions]
    called = {row.key: row.label for row in analysis.table}
    sections: list[Section] = []
    if analysis.table:
        sections.append(Section("tests", say("tests"), [_tests(analysis.table, names, say)]))
        drawn = _means(analysis, say)
        sections.append(Section("questions", say("questions"), [*drawn, _tests(analysis.items, names, say)]))
    agreement = [
        (
            f"{group}: {called.get(key, key)}",
            _number(statistic.value),
            _interval(statistic.interval),
            say("n_of", n=statistic.n_used, of=statistic.n),
            spoken(statistic.reason, say.language),
        )
        for group, key, statistic in analysis.agreement
    ]
    if agreement:
        alphas = _table(_heads("of alpha interval units remark", say), agreement, say("alpha_caption"))
        sections.append(Section("agreement", say("agreement"), [alphas]))
    if analysis.strata:
        strata = [(f"{called.get(m, m)}: {s}", c, *_cell(cell, say)) for m, s, c, cell in analysis.strata]
        head = _heads("metric_stratum condition mean_sd median ratings", say)
        sections.append(Section("strata", say("strata"), [_table(head, strata)]))
    if analysis.money:
        sections.append(Section("money", say("money"), [_money(analysis, say)]))
    if analysis.choices:
        choices = [
            (question, condition, ", ".join(f"{answer} {n}" for answer, n in counts.items()))
            for question, condition, counts in analysis.choices
        ]
        sections.append(
            Section("choices", say("choices"), [_table(_heads("question condition counts", say), choices)])
        )
    sections.append(Section("answers", say("answers"), _answers(analysis, careful, say)))
    return sections


def _means(analysis: Analysis, say: Words) -> list[Block]:
    """Means of each question by condition, with a standard deviation to either side."""
    rows: list[Dot] = []
    for row in analysis.items:
        for at, (cell, (_, label)) in enumerate(zip((row.first, row.second), analysis.conditions, strict=False)):
            if cell.mean is not None:
                low, high = (None, None) if cell.sd is None else (cell.mean - cell.sd, cell.mean + cell.sd)
                rows.append(Dot(f"{row.label} · {label}", cell.mean, low, high, at, f"{cell.mean:.2f}"))
    return [dot_chart(rows, say("means_chart"), axis=say("means_axis"), key="means")] if rows else []


def _tests(rows: Sequence[Comparison], names: Sequence[str], say: Words) -> Table:
    medians = [say("median_of", name=name) for name in names[:2]]
    head = (say("of"), *medians, *_heads("pairs p holm_p d_pooled d_av d_z rank_biserial", say))
    lines: list[tuple[str, ...]] = []
    hows: dict[str, list[str]] = {}
    for row in rows:
        effects = [*row.effects, *((row.test.effect,) if row.test.effect else ())]
        middle = (_number(row.first.median), _number(row.second.median))
        ps = (table.p_value(row.test.p_value), table.p_value(row.holm_p))
        sizes = [_number(effect.value) for effect in effects]
        lines.append((row.label, *middle, say("n_of", n=row.test.n_used, of=row.test.n), *ps, *sizes))
        method = spoken(row.test.reason, say.language) or say(
            "paired_by",
            pairing=spoken(row.pairing, say.language),
            method=spoken(row.test.method.split(":")[0], say.language),
            rule=spoken(row.test.zero_rule, say.language),
        )
        hows.setdefault(method, []).append(row.label)
    said = "; ".join(f"{how}: {', '.join(labels)}" for how, labels in hows.items())
    return _table(head, lines, f"{say('tests_caption')} {said}")


def _money(analysis: Analysis, say: Words) -> Table:
    bands = [spoken(name, say.language) for name, _ in analysis.money[0].bands]
    heads = (say("condition"), *bands, *_heads("median_error compared no_estimate no_amount", say))
    rows = [
        (
            estimates.condition,
            *(str(n) for _, n in estimates.bands),
            _number(estimates.median_error),
            say("n_of", n=estimates.n, of=estimates.of),
            str(estimates.no_estimate),
            str(estimates.no_amount),
        )
        for estimates in analysis.money
    ]
    return _table(heads, rows, say("money_caption"))


def _answers(analysis: Analysis, careful: Sequence[tuple[str, Attention]], say: Words) -> list[Block]:
    answered = [
        (f"{group}: {question}", str(n), str(na), str(of - n - na), str(of))
        for group, question, n, na, of in analysis.answered
    ]
    seconds = [(f"{group}, {condition}", *_cell(cell, say)) for group, condition, cell in analysis.seconds]
    flags = [
        (rater, ", ".join(spoken(flag, say.language) for flag in signs.flags), str(signs.items))
        for rater, signs in careful
        if signs.flags
    ]
    blocks: list[Block] = [_table(_heads("question answered not_applicable missing items", say), answered)]
    if seconds:
        heads = _heads("group_condition mean_sd_s median items", say)
        blocks.append(_table(heads, seconds, say("seconds_caption")))
    if flags:
        blocks.append(_table(_heads("rater signs items", say), flags, say("signs_caption")))
    return blocks


def _cell(cell: Cell, say: Words) -> tuple[str, str, str]:
    return table.mean_sd(cell), _number(cell.median), say("n_of", n=cell.n, of=cell.of)


def _heads(keys: str, say: Words) -> tuple[str, ...]:
    return tuple(say(key) for key in keys.split())


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _interval(bounds: tuple[float, float] | None) -> str:
    return "-" if bounds is None else f"[{bounds[0]:.2f}, {bounds[1]:.2f}]"


def _judge_sections(judged: Sequence[AgainstPeople], say: Words) -> list[Section]:
    rows = [
        (
            against.judge,
            against.label,
            *(_figure(figure, say) for figure in against.statistics),
            _used(against, say),
        )
        for against in judged
    ]
    if not rows:
        return []
    names = [spoken(figure.name, say.language) for figure in judged[0].statistics]
    head = (say("judge"), say("metric"), *names, say("units"))
    return [Section("judges", say("judges_and_people"), [_table(head, rows, say("judges_caption"))])]


def _figure(figure: StatisticRow, say: Words) -> str:
    if figure.value is None:
        return spoken(figure.reason, say.language)
    return _number(figure.value) + (f" {_interval(figure.interval)}" if figure.interval else "")


def _used(against: AgainstPeople, say: Words) -> str:
    return say("n_of", n=against.statistics[0].n_used, of=against.statistics[0].n)


def themes_document(themes: Themes, language: str) -> Document:
    """Coded themes: how often, in which condition, and the table of two coders with their agreement."""
    say = words("frontdesk.report", "study", language)
    conditions = list(themes.texts)
    counted = [
        (theme.theme, *(say("n_of", n=theme.found_by_all[c], of=themes.texts[c]) for c in conditions),
         *(str(theme.found_by_any[c]) for c in conditions))
        for theme in themes.themes
    ]  # fmt: skip
    head = (say("theme"), *(f"{say('by_all')} {c}".strip() for c in conditions),
            *(f"{say('by_any')} {c}".strip() for c in conditions))  # fmt: skip
    pairs = [
        (theme.theme, f"{pair.first} · {pair.second}", str(pair.both), str(pair.first_only), str(pair.second_only),
         str(pair.neither), _figure(pair.kappa, say))
        for theme in themes.themes for pair in theme.pairs
    ]  # fmt: skip
    heads = (say("theme"), say("coders"), *_heads("both first_only second_only neither kappa", say))
    lead = Text(say("coded", n=themes.twice, of=sum(themes.texts.values()), coders=", ".join(themes.coders)))
    sections = [Section("themes", "", [lead, _table(head, counted, say("themes_caption"))])]
    if pairs:
        sections.append(Section("coders", say("coder_agreement"), [_table(heads, pairs)]))
    return Document(say("themes"), language, None, [], sections)


def _vote_sections(votes: Votes | None, language: str, say: Words) -> list[Section]:
    return [] if votes is None else [Section("votes", say("votes"), vote_blocks(votes, language))]
