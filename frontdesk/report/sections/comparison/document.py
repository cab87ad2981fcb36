"""A comparison of two runs as blocks: moves with their intervals, decisions, and the verdicts that flipped."""

from __future__ import annotations

from pathlib import Path

from frontdesk.report.blocks import (
    Block,
    Column,
    Document,
    Example,
    Folded,
    Section,
    Speech,
    Table,
    Text,
    cells,
    columns,
    shown,
)
from frontdesk.report.figures import rounded, signed, span_of_points
from frontdesk.report.writers.html import html
from frontdesk.report.writers.markdown import markdown
from frontdesk.runner.comparing import Comparison, Flip, PairDecision, Texts
from runstore.languages import Words, words
from runstore.publish import write_json, write_text

MOST_FLIPS = 50
"""Flips whose texts a report shows; ``compare.json`` lists all."""
OPEN_FLIPS = 3
"""Flips that stand open; the others are folded under their titles."""


def document(comparison: Comparison, texts: tuple[Texts, Texts] | None = None, language: str = "en") -> Document:
    """The whole comparison; with ``texts``, flipped verdicts with what was said and judged in each run."""
    say = words("frontdesk.report", "comparison", language)
    sections = [
        Section("result", say("result"), [Text(_lead(comparison, say), "lead"), _moves(comparison, say)]),
        Section("reliability", say("decisions"), [_decisions(comparison, say)]),
    ]
    if texts is not None and comparison.flips:
        shown = comparison.flips[:MOST_FLIPS]
        about = say("flips_about", n=len(comparison.flips), of=comparison.shared, shown=len(shown))
        whole = [_flip(flip, comparison, texts, say) for flip in shown]
        examples: list[Block] = [
            *whole[:OPEN_FLIPS],
            *(Folded(each.title, (each,)) for each in whole[OPEN_FLIPS:]),
        ]
        sections.append(Section("flips", say("flips"), [Text(about, "soft"), *examples]))
    return Document(
        say("title", before=comparison.runs[0], after=comparison.runs[1]), language, None, [], sections
    )


def write_comparison(out: Path, comparison: Comparison, texts: tuple[Texts, Texts], language: str) -> list[Path]:
    """``compare.json``, ``compare.md`` and ``compare.html``; the paths."""
    out.mkdir(parents=True, exist_ok=True)
    paths = [out / f"compare.{ending}" for ending in ("json", "md", "html")]
    report = document(comparison, texts, language)
    write_json(paths[0], comparison)
    write_text(paths[1], markdown(report))
    write_text(paths[2], html(report))
    return paths


def _lead(comparison: Comparison, say: Words) -> str:
    moved = [
        move.name
        for move in comparison.moves
        if move.lower is not None and move.upper is not None and not move.lower <= 0 <= move.upper
    ]
    said = say("moved", names=", ".join(moved)) if moved else say("nothing_moved")
    return f"{said} {say('flipped', n=len(comparison.flips), of=comparison.shared)}"


def _moves(comparison: Comparison, say: Words) -> Table:
    heads = columns(
        say("endpoint"), *comparison.runs, say("move"), say("interval", level=f"{comparison.level:.0%}")
    )
    rows = [
        cells(
            move.name,
            rounded(move.before),
            rounded(move.after),
            signed(move.moved),
            "–" if move.lower is None else span_of_points(move.lower, move.upper),
        )
        for move in comparison.moves
    ]
    return Table(heads, rows, say("moves_about", n=len(comparison.moves)))


def _decisions(comparison: Comparison, say: Words) -> Table:
    heads = tuple(Column(title, number=False) for title in (say("pair"), *comparison.runs, ""))
    rows = [
        cells(
            f"{pair.a} – {pair.b}",
            _decided(pair, pair.before, say),
            _decided(pair, pair.after, say),
            say("other") if pair.before != pair.after else "",
        )
        for pair in comparison.decisions
    ]
    return Table(heads, rows)


def _decided(pair: PairDecision, decision: str | None, say: Words) -> str:
    match decision:
        case None:
            return "–"
        case "a" | "b":
            return say("better", name=pair.a if decision == "a" else pair.b)
        case _:
            return say("not_apart" if decision == "not told apart" else "not_enough")


def _flip(flip: Flip, comparison: Comparison, texts: tuple[Texts, Texts], say: Words) -> Example:
    outcomes = [say(winner) if winner in ("tie", "invalid") else winner for winner in flip.winners]
    replies = [
        Speech(
            f"{name} ({run})" if _differ(texts, flip, name) else name,
            shown(reply),
            None,
            say("won") if wins else "",
        )
        for name in flip.endpoints
        for at, run in enumerate(comparison.runs)
        if at == 0 or _differ(texts, flip, name)
        if (reply := texts[at].reply(flip.subset, name)) is not None
        for wins in [flip.winners[at] == name and _differ(texts, flip, name)]
    ]
    reasons = [
        Speech(f"{run} {number}", shown(text))
        for run, told in zip(comparison.runs, texts, strict=True)
        for number, text in enumerate(told.judges(flip), 1)
    ]
    heads = tuple(Column(title, number=False) for title in comparison.runs)
    return Example(
        title=f"{flip.endpoints[0]} – {flip.endpoints[1]}: {outcomes[0]} → {outcomes[1]}",
        about=f"{flip.subset} · {say.texts.get(flip.criterion, flip.criterion)}",
        earlier=[],
        latest=[Speech(say(part.role), shown(part.text)) for part in texts[0].history(flip.subset)],
        replies=replies,
        votes=Table(heads, [cells(*outcomes)], row_heads=False),
        reasons=reasons,
        earlier_label="",
        reasons_label=say("judges_wrote"),
    )


def _differ(texts: tuple[Texts, Texts], flip: Flip, name: str) -> bool:
    return texts[0].reply(flip.subset, name) != texts[1].reply(flip.subset, name)
