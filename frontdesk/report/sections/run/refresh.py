"""What the last refresh did: old figures beside the new, what moved and why."""

from __future__ import annotations

from frontdesk.report.blocks import Block, Section, Table, Text, cells, columns
from frontdesk.report.figures import count, signed
from frontdesk.runner.leaderboard_history import Figures, Refresh
from runstore.languages import words
from runstore.records import Language


def refreshed(line: Refresh | None, language: Language) -> Section | None:
    """The section of a run's report; None where the run was never refreshed."""
    if line is None:
        return None
    what = ", ".join(
        _say(key, language, names=", ".join(names))
        for key in ("add", "against", "drop", "rejudge", "instead_of")
        if (names := line.change.get(key))
    )
    blocks: list[Block] = [
        Text(_say("did", language, number=line.number, at=line.at, what=what)),
        table(line, language),
        Text(_say("counts", language, **dict(line.verdicts)), "soft"),
    ]
    return Section("refreshed", _say("refreshed", language), blocks)


def table(line: Refresh, language: Language) -> Table:
    """One row an endpoint, of a line of the history."""
    old = {model.name: model for model in line.before}
    new = {model.name: model for model in line.after}
    heads = ("rank", "rating", "interval", "matches", "moved", "scale", "evidence", "why")
    rows = [
        cells(
            move.name,
            *(_then_now(old.get(move.name), new.get(move.name), key) for key in heads[:4]),
            *(signed(value, 1) for value in (move.moved, move.scale, move.evidence)),
            "; ".join(_say(f"why_{key}", language, **dict(move)) for key in move.why),
        )
        for move in line.moves
    ]
    titles = (_say(key, language) for key in ("endpoint", *heads))
    head = columns(*titles, worded=[_say("why", language)])
    return Table(head, rows, _say("caption", language))


def _then_now(old: Figures | None, new: Figures | None, key: str) -> str:
    before, after = (None if model is None else _figure(model, key) for model in (old, new))
    if before == after:
        return f"{after}"
    return f"{before or ''} → {after or ''}".strip()


def _figure(model: Figures, key: str) -> str:
    if key == "interval":
        return "–" if model.lower is None or model.upper is None else f"{model.lower:.0f}–{model.upper:.0f}"
    value = getattr(model, key)
    return "–" if value is None else f"{value:.0f}" if key == "rating" else count(value)


def _say(key: str, language: Language, **values: object) -> str:
    return words("frontdesk.report", "refresh", language)(key, **values)
