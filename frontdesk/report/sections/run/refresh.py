"""What the last refresh did: old figures beside the new, what moved and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frontdesk.report.blocks import Block, Section, Table, Text, cells, columns
from runstore.records import JsonObject, Language

_WORDS: dict[str, tuple[str, str]] = {
    "refreshed": ("What the last refresh changed", "최근 갱신에서 바뀐 것"),
    "did": ("Refresh {number} ({at}): {what}.", "갱신 {number} ({at}): {what}."),
    "add": ("added {names}", "{names} 추가"),
    "against": ("to meet {names}", "상대 {names}"),
    "drop": ("dropped {names}", "{names} 제외"),
    "rejudge": ("judged anew by {names}", "{names} 심판이 새로 판정"),
    "instead_of": ("instead of {names}", "{names} 대신"),
    "counts": (
        "Of all matches, then and now, {new} are new, {gone} gone, {changed} decided otherwise, {same} unchanged.",
        "이전과 지금의 모든 경기 중 새 경기 {new}, 빠진 경기 {gone}, 판결이 바뀐 경기 {changed}, 그대로 {same}.",
    ),
    "caption": (
        "Before → now. Scale: what everybody moved alike, since the mean of all is fixed; evidence: the rest.",
        "이전 → 현재. 척도: 평균을 고정하므로 모두가 함께 움직인 부분. 근거: 나머지.",
    ),
    "endpoint": ("Endpoint", "엔드포인트"),
    "rank": ("Rank", "순위"),
    "rating": ("Rating", "평점"),
    "interval": ("Interval", "구간"),
    "matches": ("Matches", "경기"),
    "moved": ("Moved", "변화"),
    "scale": ("Scale", "척도"),
    "evidence": ("Evidence", "근거"),
    "why": ("Why", "이유"),
    "why_added": ("new", "새로 추가"),
    "why_dropped": ("left out", "제외됨"),
    "why_rated_now": ("can be rated now", "이제 평점을 낼 수 있음"),
    "why_not_comparable": ("no rating before or now", "이전이나 지금 평점이 없음"),
    "why_scale": ("the scale moved for all", "척도가 모두 함께 이동"),
    "why_new_matches": ("{new_matches} new matches of its own", "새 경기 {new_matches}"),
    "why_gone_matches": ("{gone_matches} matches gone", "빠진 경기 {gone_matches}"),
    "why_changed_verdicts": ("{changed_verdicts} verdicts changed", "바뀐 판결 {changed_verdicts}"),
    "why_others": ("re-estimated from others' matches", "다른 엔드포인트의 경기로 다시 추정"),
    "why_unmoved": ("nothing moved it", "변화 없음"),
}


def refreshed(line: JsonObject | None, language: Language) -> Section | None:
    """The section of a run's report; None where the run was never refreshed."""
    if line is None:
        return None
    what = ", ".join(
        _say(key, language, names=", ".join(names))
        for key in ("add", "against", "drop", "rejudge", "instead_of")
        if (names := line["change"].get(key))
    )
    blocks: list[Block] = [
        Text(_say("did", language, number=line["number"], at=line["at"], what=what)),
        table(line, language),
        Text(_say("counts", language, **line["verdicts"]), "soft"),
    ]
    return Section("refreshed", _say("refreshed", language), blocks)


def table(line: Mapping[str, Any], language: Language) -> Table:
    """One row an endpoint, of a line of the history."""
    old = {model["name"]: model for model in line["before"]}
    new = {model["name"]: model for model in line["after"]}
    heads = ("rank", "rating", "interval", "matches", "moved", "scale", "evidence", "why")
    rows = [
        cells(
            move["name"],
            *(_then_now(old.get(move["name"]), new.get(move["name"]), key) for key in heads[:4]),
            *(_signed(move[key]) for key in ("moved", "scale", "evidence")),
            "; ".join(_say(f"why_{key}", language, **move) for key in move["why"]),
        )
        for move in line["moves"]
    ]
    head = columns(_say("endpoint", language), *(_say(key, language) for key in heads))
    return Table(head, rows, _say("caption", language))


def _then_now(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, key: str) -> str:
    before, after = (None if model is None else _figure(model, key) for model in (old, new))
    if before == after:
        return f"{after}"
    return f"{before or ''} → {after or ''}".strip()


def _figure(model: Mapping[str, Any], key: str) -> str:
    if key == "interval":
        return (
            "–"
            if model["lower"] is None or model["upper"] is None
            else f"{model['lower']:.0f}–{model['upper']:.0f}"
        )
    value = model[key]
    return "–" if value is None else f"{value:.0f}" if key == "rating" else f"{value:g}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.1f}" if abs(value) >= 0.05 else "0.0"


def _say(key: str, language: Language, **values: object) -> str:
    text = _WORDS[key][1 if language == "ko" else 0]
    return text.format(**values) if values else text
