"""The HTML page of agent runs: bars and matrices in plain HTML and CSS; text from the tables stays text."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from arena.agent_runs.scoring import Analysis
from frontdesk.report.sections.agent_runs.report import brief, check_line, input_line, number, p_text, percent
from frontdesk.report.writers.html import render
from runstore.languages import words
from runstore.records import Language


def page(analysis: Analysis, language: Language) -> str:
    """The page as text, self-contained: no script, nothing fetched."""
    say, figures, shown = words("frontdesk.report", "agent_runs", language), analysis.figures, analysis.shown
    checks = [{"passed": check["passed"], "line": check_line(check, say)} for check in figures["checks"]]
    origin = figures["set"]["intent"]["origin"]
    names = [row["round"] for row in figures["rounds"]]
    lists = [(say(key), shown[key]) for key in ("differing", "slowest")]
    lists += [(say(key), shown[key]) for key in ("lost", "gained") if key in shown]
    return render(
        "agent_runs.html.j2",
        language=language,
        say=say,
        title=say("title"),
        figures=figures,
        comparison=figures.get("comparison"),
        failed=sum(check["passed"] is False for check in checks),
        checks=checks,
        inputs=[input_line(each) for each in figures["inputs"]],
        rows=[*((say("round_n", n=row["index"]), row) for row in figures["rounds"]), (say("set"), figures["set"])],
        origins=[(say(f"origin_{name}"), count) for name, count in origin.items() if count],
        matrix=_matrix(names, figures["consistency"]["pairs"]),
        round_names=[brief(name) for name in names],
        brief=brief,
        lists=lists,
        number=number,
        percent=percent,
        p_text=p_text,
        cell=_cell,
    )


def _matrix(names: list[str], pairs: list[dict[str, Any]]) -> list[list[float | None]]:
    """Agreement rates round against round, symmetric, 1 on the diagonal; empty where pairs are not listed."""
    if not pairs:
        return []
    place = {name: at for at, name in enumerate(names)}
    rates: list[list[float | None]] = [[1.0 if a == b else None for b in names] for a in names]
    for pair in pairs:
        a, b = place[pair["a"]], place[pair["b"]]
        rates[a][b] = rates[b][a] = pair["rate"]
    return rates


def _cell(count: int, of: int) -> Markup:
    share = count / of if of else 0.0
    style = f"background: color-mix(in srgb, var(--accent) {60 * share:.0f}%, transparent)"
    return Markup('<td class="heat" style="{}">{}</td>').format(style, count)
