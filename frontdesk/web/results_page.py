"""The analysis as a page: the protocol's table first, then everything it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from arena.human import tables
from arena.human.analysis import Analysis, Cell, Comparison
from frontdesk.report.blocks import Block, Column, Section, Table, Text, cells
from frontdesk.report.blocks import Document as Page
from frontdesk.report.sections.run.people import vote_blocks
from frontdesk.report.writers.markdown import markdown


def results_page(
    title: str,
    language: str,
    found: Analysis,
    done: Mapping[str, int],
    careful: Sequence[Mapping[str, Any]],
    votes: Mapping[str, Any] | None,
) -> Page:
    """The whole page; its banner says how much of the plan is finished where some is not."""
    return Page(
        title=title,
        language=language,
        demonstration=None,
        banner=[f"{done['finished']} of {done['planned']} planned items are finished"] if done["missing"] else [],
        sections=[*_main_section(found), *_sections(found, careful), *_vote_sections(votes, language)],
        contents_label="Contents",
        skip_label="To the result",
    )


def results_markdown(page: Page, found: Analysis) -> str:
    """The page as Markdown, with the main table just as the protocol prints it."""
    rest = Page(page.title, page.language, None, page.banner, page.sections[1:] if found.table else page.sections,
                page.contents_label, page.skip_label)  # fmt: skip
    text = markdown(rest)
    if not found.table:
        return text
    title = text.index("# ")
    end = text.index("\n", title) + 1
    main = f"\n## Human Evaluation Results\n\n{tables.markdown_table(found)}\n"
    return text[:end] + main + text[end:].lstrip("\n")


def _main_section(found: Analysis) -> list[Section]:
    if not found.table:
        return []
    head = (Column("Metric", number=False), *(Column(name) for name in tables.header(found)[1:]))
    table = Table(head, [cells(*row) for row in tables.rows(found.table)])
    notes: list[Block] = [Text(line, "soft") for line in (tables.NOTE, *tables.remarks(found.table))]
    return [Section("result", "Human Evaluation Results", [table, *notes])]


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> Table:
    return Table(
        tuple(Column(head, number=place > 0) for place, head in enumerate(heads)),
        [cells(*row) for row in rows],
        caption,
    )


def _sections(found: Analysis, careful: Sequence[Mapping[str, Any]]) -> list[Section]:
    names = [key for key, _ in found.conditions]
    sections: list[Section] = []
    if found.table:
        sections.append(Section("tests", "Tests and effect sizes", [_tests(found.table, names)]))
        sections.append(Section("questions", "Question by question", [_tests(found.items, names)]))
    agreement = [
        (
            f"{group}: {key}",
            _number(one.value),
            _interval(one.interval),
            f"{one.n_used} of {one.n}",
            one.reason or "",
        )
        for group, key, one in found.agreement
    ]
    if agreement:
        table = _table(("of", "alpha", "95% interval", "units", "note"), agreement,
                       "Krippendorff's alpha, ordinal; a unit is a document in a condition")  # fmt: skip
        sections.append(Section("agreement", "Agreement between raters", [table]))
    if found.strata:
        strata = [(f"{m}: {s}", c, *_cell(cell)) for m, s, c, cell in found.strata]
        head = ("metric: stratum", "condition", "mean (sd)", "median", "ratings")
        sections.append(Section("strata", "By stratum", [_table(head, strata)]))
    if found.money:
        sections.append(Section("money", "Estimates of money", [_money(found)]))
    if found.choices:
        choices = [(q, c, ", ".join(f"{a} {n}" for a, n in counts.items())) for q, c, counts in found.choices]
        sections.append(Section("choices", "Choices", [_table(("question", "condition", "counts"), choices)]))
    sections.append(Section("answers", "Answers and time", _answers(found, careful)))
    return sections


def _tests(rows: Sequence[Comparison], names: Sequence[str]) -> Table:
    head = ("of", f"median {names[0]}", f"median {names[1]}", "pairs", "p", "Holm p", "d pooled", "d_av", "d_z",
            "rank-biserial")  # fmt: skip
    lines: list[tuple[str, ...]] = []
    hows: dict[str, list[str]] = {}
    for row in rows:
        effects = [*row.effects, *((row.test.effect,) if row.test.effect else ())]
        medians = (_number(row.first.median), _number(row.second.median))
        ps = (tables.p_value(row.test.p_value), tables.p_value(row.holm_p))
        sizes = [_number(effect.value) for effect in effects]
        lines.append((row.label, *medians, f"{row.test.n_used} of {row.test.n}", *ps, *sizes))
        method = (
            row.test.reason or f"pairs by {row.pairing}; {row.test.method.split(':')[0]}; {row.test.zero_rule}"
        )
        hows.setdefault(method, []).append(row.key)
    said = "; ".join(f"{how}: {', '.join(keys)}" for how, keys in hows.items())
    return _table(head, lines, f"Wilcoxon's signed-rank test, two-sided; Holm's correction over the rows. {said}")


def _money(found: Analysis) -> Table:
    heads = ("condition", *(name for name, _ in found.money[0].bands), "median error", "compared", "no estimate",
             "no amount")  # fmt: skip
    rows = [
        (one.condition, *(str(n) for _, n in one.bands), _number(one.median_error), f"{one.n} of {one.of}",
         str(one.no_estimate), str(one.no_amount))
        for one in found.money
    ]  # fmt: skip
    return _table(heads, rows, "Relative error of the system's estimate against the rater's amount")


def _answers(found: Analysis, careful: Sequence[Mapping[str, Any]]) -> list[Block]:
    answered = [
        (f"{group}: {question}", str(n), str(na), str(of - n - na), str(of))
        for group, question, n, na, of in found.answered
    ]
    seconds = [(f"{group}, {condition}", *_cell(cell)) for group, condition, cell in found.seconds]
    flags = [(row["rater"], ", ".join(row["flags"]), str(row["items"])) for row in careful if row["flags"]]
    blocks: list[Block] = [_table(("question", "answered", "not applicable", "missing", "items"), answered)]
    if seconds:
        blocks.append(
            _table(("group, condition", "mean (sd) s", "median", "items"), seconds, "Active seconds per item")
        )
    if flags:
        blocks.append(_table(("rater", "signs", "items"), flags, "Signs of inattention; nobody was left out"))
    return blocks


def _cell(cell: Cell) -> tuple[str, str, str]:
    return tables.mean_sd(cell), _number(cell.median), f"{cell.n} of {cell.of}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _interval(bounds: tuple[float, float] | None) -> str:
    return "-" if bounds is None else f"{bounds[0]:.2f} to {bounds[1]:.2f}"


def _vote_sections(votes: Mapping[str, Any] | None, language: str) -> list[Section]:
    return [] if votes is None else [Section("votes", "People's votes", vote_blocks(votes, language))]
