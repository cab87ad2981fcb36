"""What a run with a goal found out, from how many of the matches, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from frontdesk.report.blocks import Block, Section, Table, Text, cells, columns
from runstore.records import JsonObject, Language

_WORDS: dict[str, tuple[str, str]] = {
    "goal": ("The goal, and the matches it took", "목표와 그에 쓰인 경기"),
    "winner": ("{winner} is the best.", "{winner}이(가) 최고입니다."),
    "order": ("The order is {order}.", "순서는 {order}입니다."),
    "placed": (
        "{newcomer} stands at {rating:.0f}, {lower:.0f} to {upper:.0f}, where the board's mean is 1000.",
        "{newcomer}의 위치는 {rating:.0f} ({lower:.0f}–{upper:.0f}), 다른 엔드포인트의 평균은 1000입니다.",
    ),
    "circle": (
        "The certain results contradict each other: endpoints beat each other in a circle.",
        "확실한 결과가 서로 모순됩니다: 엔드포인트들이 돌아가며 서로를 이깁니다.",
    ),
    "undecided": (
        "Not decided: the matches ran out before the goal was reached.",
        "결정되지 않음: 목표에 이르기 전에 경기가 소진되었습니다.",
    ),
    "left": ("Still possible as the best: {names}.", "아직 최고일 수 있는 것: {names}."),
    "used": (
        "{used} of {possible} possible matches were asked for, {valid} of them with a verdict.",
        "가능한 경기 {possible}개 중 {used}개를 물었고, 그중 {valid}개에 판결이 있습니다.",
    ),
    "sure": (
        (
            "A wrong decision has a probability of {error:g} at most, however often it was looked at. "
            "Whole dialogues are the unit, so subsets of one dialogue may depend on each other."
        ),
        (
            "결과를 아무리 자주 들여다보아도 잘못된 결정의 확률은 최대 {error:g}입니다. "
            "대화 전체가 단위이므로 같은 대화의 부분집합은 서로 의존해도 됩니다."
        ),
    ),
    "sure_place": (
        (
            "The interval is for a level of {level:.0%}, clustered by dialogue. That any neighbour called certain "
            "is wrong has a probability of {error:g} at most, however often it was looked at, if the board's own "
            "order is right."
        ),
        (
            "구간은 대화별로 묶은 {level:.0%} 수준입니다. 다른 엔드포인트의 순서가 맞다면, 확실하다고 한 이웃이 "
            "틀릴 확률은 아무리 자주 보아도 최대 {error:g}입니다."
        ),
    ),
    "lean": (
        "Matches were chosen by what had been seen, so ratings of endpoints that left early rest on few matches.",
        "이미 본 결과에 따라 경기를 골랐으므로 일찍 빠진 엔드포인트의 평점은 적은 경기에 근거합니다.",
    ),
    "neighbours": (
        "Certainly above: {above}. Certainly below: {below}. Possible places: {lowest} to {highest}.",
        "확실히 위: {above}. 확실히 아래: {below}. 가능한 순위: {lowest}–{highest}.",
    ),
    "none": ("none", "없음"),
    "endpoint": ("Endpoint", "엔드포인트"),
    "evidence_against": ("Evidence against being the best", "최고가 아니라는 증거"),
    "ruled_out": ("Ruled out after matches", "제외 시점 (경기 수)"),
    "needed": ("{needed:.0f} rules out.", "{needed:.0f} 이상이면 제외."),
    "win_rate": (
        "Mean score of {of}: {value:.1%}, {lower:.1%} to {upper:.1%} at every look, over {dialogues} dialogues.",
        "{of}의 평균 점수: {value:.1%} (언제 보아도 {lower:.1%}–{upper:.1%}), 대화 {dialogues}개.",
    ),
    "pair": ("Pair", "쌍"),
    "better": ("Better", "더 나은 쪽"),
    "matches": ("Matches", "경기"),
    "shown_by": ("Shown by", "근거"),
    "how_matches": ("its matches", "직접 경기"),
    "how_follows": ("what follows from others", "다른 쌍에서 따라 나옴"),
}


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
    text = _WORDS[key][1 if language == "ko" else 0]
    return text.format(**values) if values else text
