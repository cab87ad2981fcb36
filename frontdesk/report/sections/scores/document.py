"""The report of scored subjects as blocks: what judges delivered, the scores, groups, and how far judges agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from arena.agreement.bland_altman import LimitsOfAgreement, bland_altman
from arena.agreement.result import StatisticRow
from arena.agreement.rows import MeasureRow
from arena.rubrics.rubric import Rubric
from arena.scoring.compare import GroupComparison
from arena.scoring.disagreement import Disagreement, disagreements
from arena.scoring.tables import ALL, ALL_JUDGES, judges_of, measures
from frontdesk.report.blocks import Block, Cell, Column, Document, Section, Table, Text, cells, columns
from frontdesk.report.figures import plain
from frontdesk.report.plots.planes import differences_against_means, scatter
from frontdesk.report.sections.scores import summary
from frontdesk.report.sections.scores.notes import notes, provenance
from frontdesk.report.sentences import how_found, spoken
from frontdesk.runner.score_files import ScoreResults
from runstore.languages import Words, words
from runstore.records import Language

HEADLINES = ("icc_2_1", "icc_2_k", "cronbach_alpha", "krippendorff_interval", "percent_agreement")
AGAINST = ("pearson", "icc_2_1", "bias")
MOST_PAIRS = 6
MOST_VALUES = 8


def document(results: ScoreResults, language: Language) -> Document:
    """Every section in the order of questions: what came, what it says, and how far judges agree."""
    say = words("frontdesk.report", "scores", language)
    rubric = results.scored.rubric
    about = [Text(provenance(results.scored, say), "soft"), Text(_ranges(rubric, say), "soft")]
    by_column = dict.fromkeys(spread.column for spread in results.spreads if spread.column != ALL)
    sections = [
        Section("result", say("result"), [*summary.headline(results, say), *about]),
        summary.scores(results, say),
        *(summary.by_column(f"by-{at}", column, results, say) for at, column in enumerate(by_column)),
        *(_comparison(f"groups-{at}", groups, rubric, say) for at, groups in enumerate(results.compared)),
        _agreement(results, say),
        _elements(results, say),
        _against(results, say),
        _apart(results, say),
        _judges(results, say),
    ]
    return Document(
        title=f"{rubric.title[language]} ({rubric.name} {rubric.version})",
        language=language,
        demonstration=None,
        banner=[],
        sections=[section for section in sections if section is not None],
        contents_label=say("contents"),
        skip_label=say("skip"),
        notes=notes(results, say),
    )


def _ranges(rubric: Rubric, say: Words) -> str:
    """What the areas and the total can be at least and at most."""
    each = [measure for measure in measures(rubric) if measure.kind != "item"]
    shown = [f"{_measure(spread.name, rubric, say)} {spread.bounds[0]:g}–{spread.bounds[1]:g}" for spread in each]
    return say("ranges", what=", ".join(shown))


def _judges(results: ScoreResults, say: Words) -> Section:
    keys = ("judge", "sheets", "no_reply", "values", "asked_again", "quotes", "steady")
    rows = [
        cells(
            judge.judge,
            say("readable", n=judge.readable, of=judge.asked),
            str(judge.failed),
            say("of", n=judge.values - judge.values_missing, of=judge.values),
            str(judge.asked_again),
            _part(say, judge.quotes_found, judge.quotes),
            _part(say, judge.steady, judge.repeated),
        )
        for judge in results.judges
    ]
    return Section("judges", say("judges"), [Table(columns(*(say(key) for key in keys)), rows)])


def _comparison(key: str, groups: GroupComparison, rubric: Rubric, say: Words) -> Section:
    (n_first, of_first), (n_second, of_second) = groups.scored
    order = [measure.name for measure in summary.total_first(rubric)]
    rows = [
        cells(
            summary.titled(compared.label, rubric, say),
            plain(compared.mean_first, 2),
            plain(compared.mean_second, 2),
            _with_interval(compared.difference.value, compared.difference.interval),
            plain(compared.welch.p_value, 4),
            plain(compared.adjusted_p, 4),
            plain(compared.mann_whitney.p_value, 4),
            plain(compared.effect.value, 2),
        )
        for compared in sorted(groups.comparisons, key=lambda comparison: order.index(comparison.label))
    ]
    caption = [
        say("scored", first=groups.first, a=n_first, b=of_first, second=groups.second, c=n_second, d=of_second)
    ]
    if (n_first, n_second) != (of_first, of_second):
        caption.append(say("flattering"))
    for name, test, pairs in groups.common:
        if name == "total":
            found = f"p {plain(test.p_value, 4)} ({how_found(test, say.language)})"
            p = found if test.reason is None else spoken(test.reason, say.language)
            caption.append(say("common", pairs=pairs, column=groups.matched, test=say(f"test_{test.key}"), p=p))
    tests = [say(name) for name in ("welch_p", "holm_p", "mann_whitney_p", "hedges_g")]
    head = columns(say("measure"), groups.first, groups.second, say("difference"), *tests)
    title = say(
        "groups",
        column=groups.column,
        first=groups.first,
        second=groups.second,
        judge=summary.judge_name(groups.judge, say),
    )
    return Section(key, title, [Table(head, rows, " ".join(caption))])


def _agreement(results: ScoreResults, say: Words) -> Section | None:
    """Among the judges, among the people, and the judges' mean with the people's: never pooled."""
    agreed, blocks, rubric = results.agreed, list[Block](), results.scored.rubric
    if len(results.judges) > 1:
        blocks.append(_figures(agreed.judges, HEADLINES, say("among_judges"), rubric, say))
    if any(len(measure.raters) > 1 for measure in agreed.people):
        blocks.append(_figures(agreed.people, HEADLINES, say("among_people"), rubric, say))
    if agreed.against:
        blocks.append(_figures(agreed.against, AGAINST, say("judges_against_people"), rubric, say))
    return Section("agreement", say("agreement"), [*blocks, Text(say("all_in_file"), "soft")]) if blocks else None


def _figures(agreed: Sequence[MeasureRow], keys: Sequence[str], title: str, rubric: Rubric, say: Words) -> Table:
    """A measure a row; a key of two raters is looked for in their pair. Why there is no figure is said once."""
    rows: list[tuple[Cell, ...]] = []
    reasons: dict[str, int] = {}
    for measure in agreed:
        if measure.kind != "element":
            paired = [
                statistic for pair in measure.pairs for statistic in pair.statistics if len(measure.pairs) == 1
            ]
            by_key = {statistic.key: statistic for statistic in (*paired, *measure.statistics)}
            figures = (_statistic(say, by_key[key], reasons) if key in by_key else "" for key in keys)
            rows.append(cells(summary.titled(measure.measure, rubric, say), *figures))
    head = (Column(say("measure"), number=False), *(Column(say(f"statistic_{key}"), number=True) for key in keys))
    why = (f"({number}) {say('not_estimable', reason=reason)}" for reason, number in reasons.items())
    return Table(head, rows, caption="; ".join(why), title=title)


def _statistic(say: Words, statistic: StatisticRow, reasons: dict[str, int]) -> str:
    if statistic.value is None:
        return f"– ({reasons.setdefault(spoken(statistic.reason, say.language), len(reasons) + 1)})"
    n = "" if statistic.n_used == statistic.n else f" ({say('of', n=statistic.n_used, of=statistic.n)})"
    return _with_interval(statistic.value, statistic.interval) + n


def _elements(results: ScoreResults, say: Words) -> Section:
    """Elements by judge: the share met or the mean, shaded from the scale's low end to its high end."""
    judges = [judge for judge in judges_of(results.rows) if judge != ALL_JUDGES]
    rows: list[tuple[Cell, ...]] = []
    for item in results.scored.rubric.items:
        low, high = (item.scale.low, item.scale.high) if item.scale else (0, 1)
        for slot in item.slots:
            title = summary.titled(item.name, results.scored.rubric, say)
            row = [Cell(title if item.scale else f"{title}: {slot}")]
            for judge in judges:
                given = [scored.values[item.key][slot] for scored in results.rows if scored.judge == judge]
                known = [value for value in given if value is not None]
                mean = sum(known) / len(known) if known else None
                heat = None if mean is None else (mean - low) / (high - low)
                soft = "" if len(known) == len(given) else f"({say('of', n=len(known), of=len(given))})"
                row.append(Cell(plain(mean, 2), heat=heat, soft=soft))
            rows.append(tuple(row))
    return Section("elements", say("elements"), [Table(columns(say("element"), *judges), rows, say("heat"))])


@dataclass(frozen=True, slots=True)
class _Pair:
    """The totals of the subjects that two judges both scored."""

    first: str
    second: str
    totals: list[tuple[float, float]]
    limits: LimitsOfAgreement


def _against(results: ScoreResults, say: Words) -> Section | None:
    """Each who scored against each, people too: every pair as figures and, the first six, as two pictures."""
    pairs = list(_pairs(results))
    if not pairs:
        return None
    rows = [
        cells(
            f"{pair.first} − {pair.second}",
            str(len(pair.totals)),
            *(_with_interval(level.value, level.interval) for level in pair.limits.statistics),
        )
        for pair in pairs
    ]
    head = columns(*(say(key) for key in ("pair", "both_scored", "bias", "limit_lower", "limit_upper")))
    blocks: list[Block] = [Table(head, rows, say("limits"))]
    bounds = results.scored.rubric.bounds
    for pair in pairs[:MOST_PAIRS]:
        names = {"first": pair.first, "second": pair.second}
        levels = [
            (f"{say(level.key)} {level.value:+.2f}", level.value)
            for level in pair.limits.statistics
            if level.value is not None
        ]
        points = zip(pair.limits.means.tolist(), pair.limits.differences.tolist(), strict=True)
        axes = say("mean_of_both"), say("difference")
        blocks += [
            scatter(say("scatter", **names), (pair.first, pair.second), pair.totals, bounds),
            differences_against_means(say("difference_plot", **names), axes, list(points), levels, bounds),
        ]
    people = results.scored.material.people
    return Section("against", say("against_people") if people else say("against"), blocks)


def _pairs(results: ScoreResults) -> Iterator[_Pair]:
    totals: dict[str, dict[str, float]] = {}
    for row in results.rows:
        given = totals.setdefault(row.judge, {})
        if row.scores.total is not None:
            given[row.session] = row.scores.total
    for first, second in combinations(totals, 2):
        both = [(total, totals[second][name]) for name, total in totals[first].items() if name in totals[second]]
        if both:
            yield _Pair(first, second, both, bland_altman(*zip(*both, strict=True)))


def _apart(results: ScoreResults, say: Words) -> Section | None:
    rows = [
        cells(furthest.session, _totals(furthest), _values(furthest, say))
        for furthest in disagreements(results.scored.rubric, results.rows)
    ]
    head = tuple(Column(say(key), number=False) for key in ("subject", "totals", "differing"))
    title = say("apart_people") if results.scored.material.people else say("apart")
    return Section("apart", title, [Table(head, rows)]) if rows else None


def _totals(furthest: Disagreement) -> str:
    return ", ".join(f"{judge} {_short(total)}" for judge, total in furthest.totals.items())


def _values(furthest: Disagreement, say: Words) -> str:
    shown = [
        f"{item} {slot} ({', '.join(f'{judge} {_short(value)}' for judge, value in given.items())})"
        for (item, slot), given in furthest.values.items()
    ]
    more = [say("more", n=len(shown) - MOST_VALUES)] if len(shown) > MOST_VALUES else []
    return "; ".join([*shown[:MOST_VALUES], *more])


def _measure(name: str, rubric: Rubric, say: Words) -> str:
    """An area and an item with a label by that, one without by its title, as the form has it."""
    titles = {item.name: item.title[say.language] for item in rubric.items if item.label is None}
    return say("total") if name == "total" else titles.get(name, name)


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def _part(say: Words, count: int, of: int) -> str:
    return f"{say('of', n=count, of=of)} ({count / of:.0%})" if of else say("none")


def _with_interval(value: float | None, interval: Sequence[float] | None) -> str:
    return f"{plain(value, 2)} [{plain(interval[0], 2)}, {plain(interval[1], 2)}]" if interval else plain(value, 2)
