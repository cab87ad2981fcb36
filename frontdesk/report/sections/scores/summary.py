"""What a scoring run says first: the headline, scores with the total in front, and how each item was scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from arena.rubrics.rubric import Rubric
from arena.scoring.tables import ALL, ALL_JUDGES, Measure, Spread, judges_of, measures
from frontdesk.report.blocks import Block, Cell, Column, Folded, Section, Table, Text
from frontdesk.report.figures import plain
from frontdesk.report.plots.panels import Counts, count_panels
from frontdesk.runner.score_files import ScoreResults
from runstore.languages import Words

MOST_PANELS = 24
MOST_VALUES = 12
MOST_JUDGES = 6


def headline(results: ScoreResults, say: Words) -> list[Block]:
    """The mean total in one sentence, and the difference of each pair of groups."""
    low, high = results.scored.rubric.bounds
    spoken: list[Block] = []
    for spread in results.spreads:
        is_whole = spread.column == ALL and spread.measure == "total"
        if is_whole and spread.judge == lead_judge(results):
            key = "headline" if spread.n == spread.of else "headline_some"
            told = {"mean": plain(spread.mean, 1), "low": f"{low:g}", "high": f"{high:g}", "n": spread.n}
            spoken.append(Text(say(key, **told, of=spread.of, judge=judge_name(spread.judge, say)), "lead"))
    for groups in results.compared:
        for compared in groups.comparisons:
            if compared.label == "total" and compared.difference.value is not None:
                interval = compared.difference.interval
                limits = "–" if not interval else f"[{interval[0]:+.1f}, {interval[1]:+.1f}]"
                spoken.append(
                    Text(
                        say(
                            "headline_groups",
                            judge=judge_name(groups.judge, say),
                            first=groups.first,
                            second=groups.second,
                            a=plain(compared.mean_first, 1),
                            b=plain(compared.mean_second, 1),
                            difference=f"{compared.difference.value:+.1f}",
                            limits=limits,
                        )
                    )
                )
    return spoken


def lead_judge(results: ScoreResults) -> str:
    """Whose mean stands for the run: that of all judges, or the only one's."""
    known = [spread.judge for spread in results.spreads if spread.column == ALL]
    return ALL_JUDGES if ALL_JUDGES in known or not known else known[0]


def judge_name(name: str, say: Words) -> str:
    return say("all_judges") if name == ALL_JUDGES else name


def total_first(rubric: Rubric) -> list[Measure]:
    """The total, then the areas, then the items."""
    order = {"total": 0, "area": 1, "item": 2}
    return sorted(measures(rubric), key=lambda measure: order[measure.kind])


def titled(name: str, rubric: Rubric, say: Words) -> str:
    """A measure by its label and its title: ``A1 Place in the curriculum``."""
    if name == "total":
        return say("total")
    titles = {item.name: item.title[say.language] for item in rubric.items}
    titles |= {area.key: area.title[say.language] for area in rubric.areas}
    title = titles.get(name, "")
    labels = {item.name for item in rubric.items if item.label is not None} | {area.key for area in rubric.areas}
    return f"{name} {title}".strip() if name in labels else title or name


def scores(results: ScoreResults, say: Words) -> Section:
    """Means by judge; how many subjects have a score where not all have it; and how values are spread."""
    own = [spread for spread in results.spreads if spread.column == ALL]
    judges = list(dict.fromkeys(spread.judge for spread in own))
    heads = [judge_name(judge, say) for judge in judges]
    table = _means(results, own, [(ALL, judge) for judge in judges], heads, say)
    return Section("scores", say("scores"), [table, *_distributions(results, say)])


def by_column(key: str, column: str, results: ScoreResults, say: Words) -> Section:
    """Means by the values of a column: those of all judges, and each judge's folded."""
    own = [spread for spread in results.spreads if spread.column == column]
    values = list(dict.fromkeys(spread.value for spread in own))
    lead = lead_judge(results)
    blocks: list[Block] = [_means_of(lead, results, own, values, say)]
    others = [judge for judge in dict.fromkeys(spread.judge for spread in own) if judge != lead]
    blocks += [Folded(judge_name(each, say), (_means_of(each, results, own, values, say),)) for each in others]
    return Section(key, say("scores_by", column=column), blocks)


def _means_of(
    judge: str, results: ScoreResults, own: Iterable[Spread], values: Sequence[str], say: Words
) -> Table:
    heads = [value or say("blank") for value in values]
    table = _means(results, own, [(value, judge) for value in values], heads, say)
    return replace(table, caption=f"{judge_name(judge, say)}. {table.caption}".strip())


def _means(
    results: ScoreResults,
    own: Iterable[Spread],
    wanted: Sequence[tuple[str, str]],
    heads: Sequence[str],
    say: Words,
) -> Table:
    rubric = results.scored.rubric
    known = {(spread.value, spread.judge, spread.measure): spread for spread in own}
    rows: list[tuple[Cell, ...]] = []
    for measure in total_first(rubric):
        spreads = [known.get((value, judge, measure.name)) for value, judge in wanted]
        bounds = f"{measure.bounds[0]:g}–{measure.bounds[1]:g}"
        rows.append(
            (Cell(titled(measure.name, rubric, say)), Cell(bounds), *(_mean(say, each) for each in spreads))
        )
    every = {spread.of for spread in known.values()}
    caption = [say("means_of", n="–".join(str(n) for n in sorted({min(every), max(every)}))) if every else ""]
    caption += [say("floored")] if rubric.floors else []
    head = (Column(say("measure"), number=False), Column(say("range")), *map(Column, heads))
    return Table(head, rows, " ".join(part for part in caption if part))


def _mean(say: Words, spread: Spread | None) -> Cell:
    if spread is None:
        return Cell("–")
    soft = "" if spread.n == spread.of else f"({say('of', n=spread.n, of=spread.of)})"
    return Cell(plain(spread.mean, 2), soft=soft)


def _distributions(results: ScoreResults, say: Words) -> list[Block]:
    """How often each judge gave each score, a panel an item."""
    judges = [judge for judge in judges_of(results.rows) if judge != ALL_JUDGES]
    items = [measure for measure in measures(results.scored.rubric) if measure.kind == "item"]
    if not 0 < len(items) <= MOST_PANELS or len(judges) > MOST_JUDGES:
        return []
    panels: list[Counts] = []
    for item in items:
        given = {
            judge: [value for row in results.rows if row.judge == judge and (value := item.get(row)) is not None]
            for judge in judges
        }
        values = sorted({value for own in given.values() for value in own})
        if not 0 < len(values) <= MOST_VALUES:
            return []
        if (
            all(float(value).is_integer() for value in item.bounds)
            and item.bounds[1] - item.bounds[0] < MOST_VALUES
        ):
            whole = range(int(item.bounds[0]), int(item.bounds[1]) + 1)
            values = sorted({*values, *map(float, whole)})
        counted = {judge: Counter(own) for judge, own in given.items()}
        shown = tuple(f"{value:g}" for value in values)
        bars = {judge: [counted[judge][value] for value in values] for judge in judges}
        panels.append(Counts(titled(item.name, results.scored.rubric, say), shown, bars))
    return [count_panels(say("distributions"), say("score_axis"), panels, judges, "distributions")]
