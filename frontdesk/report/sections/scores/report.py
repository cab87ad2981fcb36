"""The report of scored subjects: one set of tables, as Markdown and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from arena.rubrics.rubric import Rubric
from arena.scoring.combine import Combined
from arena.scoring.compare import GroupComparison
from arena.scoring.disagreement import Disagreement, disagreements
from arena.scoring.tables import ALL, JudgeRecord, Spread, judges_of, measures
from frontdesk.report.sections.scores.plots import pair_plots
from frontdesk.report.writers.html import render
from runstore.languages import Words, words
from runstore.records import Language

HEADLINES = ("icc_2_1", "icc_2_k", "cronbach_alpha", "krippendorff_interval", "percent_agreement")


@dataclass(frozen=True, slots=True)
class Results:
    """Everything a report shows. ``notes`` come first: what is incomplete, and what the scores are not."""

    rubric: Rubric
    rows: Sequence[Combined]
    judges: Sequence[JudgeRecord]
    summary: Sequence[Spread]
    agreement: Sequence[dict[str, Any]]
    comparisons: Sequence[GroupComparison]
    notes: Sequence[str]
    provenance: str
    language: Language = "en"

    @property
    def say(self) -> Words:
        return words("frontdesk.report", "scores", self.language)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts; the first column names the row."""

    title: str
    header: list[str]
    rows: list[list[str]]
    note: str = ""


def tables(results: Results) -> list[Table]:
    found = [_judges(results), _scores(results)]
    columns = dict.fromkeys(one.column for one in results.summary if one.column != ALL)
    found += [_by(results, column) for column in columns]
    found += [_comparison(results.say, one) for one in results.comparisons]
    if len(results.judges) > 1:
        found.append(_agreement(results))
    return found


def _judges(results: Results) -> Table:
    say = results.say
    header = [say(key) for key in ("judge", "sheets", "no_reply", "values", "asked_again", "quotes", "steady")]
    rows = [
        [
            one.judge,
            say("readable", n=one.readable, of=one.asked),
            str(one.failed),
            say("of", n=one.values - one.values_missing, of=one.values),
            str(one.asked_again),
            _share(say, one.quotes_found, one.quotes),
            _share(say, one.steady, one.repeated),
        ]
        for one in results.judges
    ]
    return Table(say("judges"), header, rows)


def _scores(results: Results) -> Table:
    return _spreads(results.say("scores"), results, [one for one in results.summary if one.column == ALL])


def _by(results: Results, column: str) -> Table:
    chosen = [one for one in results.summary if one.column == column]
    return _spreads(results.say("scores_by", column=column), results, chosen)


def _spreads(title: str, results: Results, chosen: Sequence[Spread]) -> Table:
    names = [measure.name for measure in measures(results.rubric)]
    groups = dict.fromkeys((one.value, one.judge) for one in chosen)
    cells = {(one.value, one.judge, one.measure): one for one in chosen}
    rows = [
        [
            judge if value == ALL else f"{value or results.say('blank')}: {judge}",
            *(_mean(results.say, cells[value, judge, name]) for name in names),
        ]
        for value, judge in groups
    ]
    return Table(title, [results.say("judge"), *names], rows, results.say("means"))


def _comparison(say: Words, one: GroupComparison) -> Table:
    (n_first, of_first), (n_second, of_second) = one.scored
    rows = [
        [
            compared.label,
            number(compared.mean_first),
            number(compared.mean_second),
            _with_interval(compared.difference.value, compared.difference.interval),
            number(compared.welch.p_value, 4),
            number(compared.adjusted_p, 4),
            number(compared.mann_whitney.p_value, 4),
            number(compared.effect.value),
        ]
        for compared in one.comparisons
    ]
    notes = [say("scored", first=one.first, a=n_first, b=of_first, second=one.second, c=n_second, d=of_second)]
    if (n_first, n_second) != (of_first, of_second):
        notes.append(say("flattering"))
    for name, test, pairs in one.common:
        if name == "total":
            p = f"p {number(test.p_value, 4)}" if test.reason is None else test.reason
            notes.append(say("common", pairs=pairs, column=one.matched, test=test.name, p=p))
    title = say("groups", column=one.column, first=one.first, second=one.second, judge=one.judge)
    tests = ["Welch p", "Holm p", "Mann-Whitney p", "Hedges' g"]
    return Table(title, [say("measure"), one.first, one.second, say("difference"), *tests], rows, " ".join(notes))


def _agreement(results: Results) -> Table:
    rows: list[list[str]] = []
    names: dict[str, str] = {}
    for measure in results.agreement:
        if measure["kind"] == "element":
            continue
        found = {one["key"]: one for one in measure["statistics"]}
        names |= {key: found[key]["name"] for key in HEADLINES if key in found}
        rows.append(
            [measure["measure"], *(_statistic(results.say, found[key]) for key in HEADLINES if key in found)]
        )
    header = [results.say("measure"), *names.values()]
    return Table(results.say("agreement"), header, rows, results.say("all_in_file"))


def _statistic(say: Words, one: dict[str, Any]) -> str:
    if one["value"] is None:
        return say("not_estimable", reason=one["reason"])
    return f"{_with_interval(one['value'], one['interval'])} ({say('of', n=one['n_used'], of=one['n'])})"


def heat(results: Results) -> dict[str, Any]:
    """Elements by judge: share met (0 to 1, for the colour) and the text."""
    judges = [judge for judge in judges_of(results.rows) if any(row.judge == judge for row in results.rows)]
    rows: list[tuple[str, list[tuple[float | None, str]]]] = []
    for item in results.rubric.items:
        low, high = (item.scale.low, item.scale.high) if item.scale else (0, 1)
        for slot in item.slots:
            cells: list[tuple[float | None, str]] = []
            for judge in judges:
                given = [row.values[item.key][slot] for row in results.rows if row.judge == judge]
                known = [value for value in given if value is not None]
                mean = sum(known) / len(known) if known else None
                share = None if mean is None else (mean - low) / (high - low)
                cells.append((share, f"{number(mean)} ({results.say('of', n=len(known), of=len(given))})"))
            rows.append((item.name if item.scale else f"{item.name} {slot}", cells))
    return {"columns": judges, "rows": rows}


def apart(results: Results) -> list[tuple[str, str, str]]:
    return [
        (one.subject, _totals(one), _values(results.say, one))
        for one in disagreements(results.rubric, results.rows)
    ]


def _totals(one: Disagreement) -> str:
    return ", ".join(f"{judge} {_plain(total)}" for judge, total in one.totals.items())


def _values(say: Words, one: Disagreement, limit: int = 8) -> str:
    shown = [
        f"{item} {slot} ({', '.join(f'{judge} {_plain(value)}' for judge, value in given.items())})"
        for (item, slot), given in one.values.items()
    ]
    more = [say("more", n=len(shown) - limit)] if len(shown) > limit else []
    return "; ".join([*shown[:limit], *more])


def page(results: Results) -> str:
    """One self-contained HTML page."""
    return render(
        "score.html.j2",
        title=_title(results),
        language=results.language,
        say=results.say,
        notes=results.notes,
        provenance=results.provenance,
        tables=tables(results),
        heat=heat(results),
        plots=pair_plots(results.rubric, results.rows),
        apart=apart(results),
    )


def markdown(results: Results) -> str:
    lines = [f"> {_cell(note)}" for note in results.notes]
    lines = [part for pair in pairwise([*lines, ""]) for part in (pair[0], ">" if pair[1] else "")]
    say = results.say
    lines += [f"# {_cell(_title(results))}", "", _cell(results.provenance)]
    elements = heat(results)
    for table in [
        *tables(results),
        Table(
            say("elements"),
            [say("element"), *elements["columns"]],
            [[n, *(t for _, t in c)] for n, c in elements["rows"]],
        ),
        Table(
            say("apart"),
            [say("subject"), say("totals"), say("differing")],
            [list(row) for row in apart(results)],
        ),
    ]:
        if table.rows:
            lines += ["", f"## {_cell(table.title)}", "", *([table.note, ""] if table.note else [])]
            lines += [_line(table.header), _line(["---"] * len(table.header)), *(_line(row) for row in table.rows)]
    return "\n".join(lines) + "\n"


def _title(results: Results) -> str:
    return f"{results.rubric.title[results.language]} ({results.rubric.name} {results.rubric.version})"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell if cell == '---' else _cell(cell) for cell in cells)} |"


def _cell(text: str) -> str:
    flat = " ".join(text.split())
    for sign in "\\`*_[]<>|#":
        flat = flat.replace(sign, f"\\{sign}")
    return flat


def number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def _mean(say: Words, one: Spread) -> str:
    return f"{number(one.mean)} ({say('of', n=one.n, of=one.of)})"


def _share(say: Words, count: int, of: int) -> str:
    return f"{say('of', n=count, of=of)} ({count / of:.0%})" if of else say("none")


def _with_interval(value: float | None, interval: Sequence[float] | None) -> str:
    return f"{number(value)} [{number(interval[0])}, {number(interval[1])}]" if interval else number(value)
