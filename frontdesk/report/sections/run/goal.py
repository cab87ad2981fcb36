"""What a run with a goal found out, from how many of the matches, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from frontdesk.report.blocks import Block, Section, Table, Text, cells, columns
from runstore.languages import words
from runstore.records import JsonObject, Language


def pursued(goal: JsonObject | None, language: Language) -> Section | None:
    """The section of a run's report; None where the run had no goal. ``goal`` is the content of goal.json."""
    if goal is None:
        return None
    kind, error = goal["goal"], goal["error"]
    sure = "sure_place" if kind == "place" else "sure"
    blocks: list[Block] = [
        Text(_outcome(goal, language), "lead"),
        *_details(goal, language),
        Text(_say("used", language, **goal["matches"])),
        Text(_say(sure, language, error=error, level=1 - error), "soft"),
        Text(_say("lean", language), "soft"),
    ]
    return Section("goal", _say("goal", language), blocks)


def _outcome(goal: JsonObject, language: Language) -> str:
    result = goal["result"]
    if result is None:
        return _say("undecided", language)
    if not result:
        return _say("circle", language)
    if "winner" in result:
        return _say("winner", language, winner=result["winner"])
    if "order" in result:
        return _say("order", language, order=", ".join(result["order"]))
    return _say("placed", language, **{key: goal[key] for key in ("newcomer", "rating", "lower", "upper")})


def _details(goal: JsonObject, language: Language) -> Iterator[Block]:
    if goal["result"] is None and len(goal.get("candidates", ())) > 1:
        yield Text(_say("left", language, names=", ".join(goal["candidates"])))
    if "value" in goal.get("win_rate", {}):
        yield Text(_say("win_rate", language, **goal["win_rate"]))
    if "endpoints" in goal:
        yield _candidates(goal, language)
    if "pairs" in goal:
        yield _pairs(goal, language)
    if goal["goal"] == "place":
        lowest, highest = goal["rank_range"]
        above, below = (_names(goal[key], language) for key in ("certainly_above", "certainly_below"))
        yield Text(_say("neighbours", language, above=above, below=below, lowest=lowest, highest=highest))


def _candidates(goal: JsonObject, language: Language) -> Table:
    rows = [
        cells(
            one["name"],
            f"{one['evidence_against']:.3g}",
            "–" if one["ruled_out_after"] is None else f"{one['ruled_out_after']}",
        )
        for one in goal["endpoints"]
    ]
    head = columns(*(_say(key, language) for key in ("endpoint", "evidence_against", "ruled_out")))
    return Table(head, rows, _say("needed", language, needed=goal["evidence_needed"]))


def _pairs(goal: JsonObject, language: Language) -> Table:
    rows = [
        cells(
            f"{one['a']} – {one['b']}",
            one["better"] or "–",
            f"{one['matches']}",
            _say(f"how_{one['how']}", language) if one["how"] else "–",
        )
        for one in goal["pairs"]
    ]
    return Table(columns(*(_say(key, language) for key in ("pair", "better", "matches", "shown_by"))), rows)


def _names(names: Sequence[str], language: Language) -> str:
    return ", ".join(names) or _say("none", language)


def _say(key: str, language: Language, **values: object) -> str:
    return words("frontdesk.report", "goal", language)(key, **values)
