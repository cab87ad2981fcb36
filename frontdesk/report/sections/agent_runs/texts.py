"""Agent runs in lines of text: names cut to a readable length, figures, and one check in words."""

from __future__ import annotations

from collections.abc import Mapping

from arena.agent_runs.result import Check, Duplicate, FigureTest
from frontdesk.report.figures import p_text, percent
from frontdesk.report.sentences import how_found, spoken
from runstore.languages import Words

_SHOWN = 80
DIGITS = 2
"""Decimals of a share, as the scoring document gives them."""


def brief(text: object, limit: int = _SHOWN) -> str:
    """A text of the table, its end left out where it is long."""
    line = "" if text is None else str(text).strip()
    return line if len(line) <= limit else f"{line[:limit]}…"


def check_line(check: Check, say: Words) -> str:
    """One check in words: what it found, n of m, its limit, and where."""
    state = {True: "passed", False: "not_passed", None: "noted"}[check.passed]
    line = f"{say('check_' + check.name)}: {say(state)}"
    if check.name == "items_per_round":
        line += " — " + ", ".join(f"{brief(name)} = {count}" for name, count in check.rounds.items())
    elif check.name != "single_round":
        line += f" — {say('of', n=check.count, m=check.of)} ({percent(check.share, DIGITS)}"
        line += f", {say('limit')} {percent(check.limit, DIGITS)})" if check.limit is not None else ")"
    return line + _where(check, say)


def _where(check: Check, say: Words) -> str:
    if check.columns:
        return f" [{', '.join(map(brief, check.columns))}]"
    if check.queries:
        return f" [{', '.join(map(brief, check.queries))}]"
    rows = check.rows
    if check.name == "duplicates":
        shown = [
            f"{brief(row.id)} @ {brief(row.round)}: {say('row')} {row.first_row}, {row.row}"
            for row in rows
            if isinstance(row, Duplicate)
        ]
    elif check.name == "rounds_look_like_dates":
        shown = [brief(row) for row in rows]
    else:
        shown = [f"{say('row')} {row}" for row in rows]
    return f" [{'; '.join(shown)}]" if shown else ""


def counts_line(counts: Mapping[str, int], prefix: str, say: Words) -> str:
    """How many came of each kind, those of none left out."""
    return ", ".join(f"{say(prefix + name)} {count}" for name, count in counts.items() if count)


def test_line(test: FigureTest, say: Words) -> str:
    """A test's name with p, Holm's p, and how it was found; or the reason why there is none."""
    name = say(f"test_{test.key}")
    if test.p_value is None:
        return f"{name}: {spoken(test.reason, say.language)}"
    holm = p_text(test.p_holm).removeprefix("p ").removeprefix("= ")
    p = f"{p_text(test.p_value)}, Holm {holm}"
    return f"{name}: {p} ({how_found(test, say.language)}; n = {test.n_used})"
