"""What sways the judges, how far they agree, and what a panel weighed by reliability would say."""

from __future__ import annotations

from arena.judges.result import Agreement, EffectRow, JudgesResult, PanelResult, ShareRow
from frontdesk.report.blocks import Block, Section, Table, Text, cells, columns
from frontdesk.report.figures import count, percent, span
from runstore.records import Language

_WORDS: dict[str, tuple[str, str]] = {
    "panel": ("What sways the judges", "심판을 움직이는 것"),
    "habits": ("Preferences", "선호"),
    "habits_caption": (
        "Log-odds [{level} interval], with the endpoints' strengths held fixed; 0 is no preference.",
        "로그 오즈 [{level} 구간]. 엔드포인트의 실력을 고정하고 추정했으며 0이면 선호 없음.",
    ),
    "judge": ("Judge", "심판"),
    "family": ("Family", "계열"),
    "first": ("Shown first", "먼저 보임"),
    "length": ("Twice as long", "두 배 길이"),
    "longer": ("Longer reply won", "긴 응답의 승률"),
    "own": ("Own family", "같은 계열"),
    "common": ("Own family, all judges alike: {figure}.", "모든 심판에 공통인 같은 계열 선호: {figure}."),
    "why": ("{judge}, {what}: not estimable, {reason}.", "{judge}, {what}: 추정 불가({reason})."),
    "agreement": ("Agreement of all judges", "모든 심판의 일치"),
    "agreement_caption": (
        "Each judge's own majority per match: one category of three (first wins, tie, second wins).",
        "경기마다 각 심판의 다수 의견: 세 범주(앞 승, 무승부, 뒤 승) 중 하나.",
    ),
    "statistic": ("Statistic", "통계량"),
    "value": ("Value", "값"),
    "interval": ("Interval", "구간"),
    "used": ("Used", "사용"),
    "n_of": ("{n} of {of}", "{of} 중 {n}"),
    "weighed": ("A panel weighed by reliability", "신뢰도로 가중한 심판단"),
    "weighed_caption": (
        "{method}. Prior: {prior}. Reliability: how probably the judge says what the strengths say.",
        "{method}. 사전분포: {prior}. 신뢰도: 심판이 실력대로 말할 확률.",
    ),
    "reliability": ("Reliability", "신뢰도"),
    "ranking": ("The ranking by vote and by reliability", "투표 순위와 신뢰도 가중 순위"),
    "endpoint": ("Endpoint", "엔드포인트"),
    "by_vote": ("Rating by vote", "투표 평점"),
    "by_model": ("Rating by reliability", "신뢰도 가중 평점"),
    "rank_by_vote": ("Rank by vote", "투표 순위"),
    "rank": ("Rank by reliability", "신뢰도 가중 순위"),
    "moved": ("Moved", "이동"),
    "same_ranking": ("The ranking is the same either way", "어느 쪽이든 순위가 같습니다"),
    "other_ranking": ("{n} of {of} endpoints change their rank", "엔드포인트 {of}개 중 {n}개의 순위가 바뀝니다"),
    "kendall": ("{name} between the two: {value}", "두 순위의 {name}: {value}"),
    "no_panel": ("No panel to weigh: {reason}.", "가중할 심판단이 없습니다: {reason}."),
    "note": ("Note: {note}.", "참고: {note}."),
}


def panel(found: JudgesResult | None, language: Language) -> Section | None:
    """The section of a run's report, of ``judges.json``; None where that has not been made."""
    if found is None:
        return None
    blocks = [*_habits(found, language), *_agreement(found.agreement, language)]
    return Section("panel", _say("panel", language), [*blocks, *_weighed(found.panel, language)])


def _habits(found: JudgesResult, language: Language) -> list[Block]:
    heads = [_say(key, language) for key in ("family", "first", "length", "longer", "own")]
    rows = [
        cells(
            judge.name,
            judge.family or "–",
            _log_odds(judge.position.log_odds),
            _log_odds(judge.length[0].log_odds_per_doubling),
            _share(judge.length[0].longer_won),
            _log_odds(judge.own_family.log_odds),
        )
        for judge in found.judges
    ]
    caption = _say("habits_caption", language, level=f"{100 * found.level:g}%")
    table = Table(columns(_say("judge", language), *heads), rows, caption, _say("habits", language))
    blocks: list[Block] = [table, *(Text(line, "soft") for line in _reasons(found, language))]
    if found.own_family.value is not None:
        blocks.append(Text(_say("common", language, figure=_log_odds(found.own_family))))
    return blocks


def _reasons(found: JudgesResult, language: Language) -> list[str]:
    lines: list[str] = []
    for judge in found.judges:
        for key, effect in (
            ("first", judge.position.log_odds),
            ("length", judge.length[0].log_odds_per_doubling),
            ("own", judge.own_family.log_odds),
        ):
            if effect.value is None:
                what = _say(key, language)
                lines.append(_say("why", language, judge=judge.name, what=what, reason=effect.reason))
    return lines


def _agreement(found: Agreement, language: Language) -> list[Block]:
    if not found.pairs:
        return []
    rows = [
        cells(
            one.name,
            (one.reason or "–") if one.value is None else f"{one.value:.2f}",
            "–" if one.interval is None else "[{:.2f}, {:.2f}]".format(*one.interval),
            _say("n_of", language, n=one.n_used, of=one.n),
        )
        for one in found.all
    ]
    head = columns(_say("statistic", language), *(_say(key, language) for key in ("value", "interval", "used")))
    return [Table(head, rows, _say("agreement_caption", language), _say("agreement", language))]


def _weighed(found: PanelResult, language: Language) -> list[Block]:
    if not found.judges:
        return [Text(_say("no_panel", language, reason=found.reason), "soft")]
    judges = [cells(one.name, percent(one.value), span(one.lower, one.upper)) for one in found.judges]
    caption = _say("weighed_caption", language, method=found.method, prior=found.prior)
    head = columns(*(_say(key, language) for key in ("judge", "reliability", "interval")))
    blocks: list[Block] = [Table(head, judges, caption, _say("weighed", language)), _ranking(found, language)]
    moved = sum(bool(one.moved) for one in found.models)
    said = [
        _say("other_ranking", language, n=moved, of=len(found.models)) if moved else _say("same_ranking", language)
    ]
    tau = found.kendall
    if tau is not None and tau.value is not None:
        said.append(_say("kendall", language, name=tau.name, value=f"{tau.value:.2f}"))
    blocks.append(Text("; ".join(said) + "."))
    notes = [note for note in (found.note, found.reason) if note]
    return [*blocks, *(Text(_say("note", language, note=note), "soft") for note in notes)]


def _ranking(weighed: PanelResult, language: Language) -> Table:
    rows = [
        cells(
            endpoint.name,
            _whole(endpoint.rank_by_vote),
            _whole(endpoint.rank),
            "–" if endpoint.moved is None else f"{endpoint.moved:+d}" if endpoint.moved else "0",
            _whole(endpoint.rating_by_vote),
            _whole(endpoint.value),
            "–" if endpoint.lower is None else f"{endpoint.lower:.0f}–{endpoint.upper:.0f}",
        )
        for endpoint in weighed.models
    ]
    heads = ("rank_by_vote", "rank", "moved", "by_vote", "by_model", "interval")
    head = columns(_say("endpoint", language), *(_say(key, language) for key in heads))
    return Table(head, rows, "", _say("ranking", language))


def _log_odds(effect: EffectRow) -> str:
    if effect.value is None:
        return "–"
    limits = "" if effect.lower is None else f" [{effect.lower:+.2f}, {effect.upper:+.2f}]"
    return f"{effect.value:+.2f}{limits}"


def _share(share: ShareRow) -> str:
    return "–" if share.value is None else f"{percent(share.value)} ({count(share.hits)}/{share.of})"


def _whole(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"


def _say(key: str, language: Language, **values: object) -> str:
    text = _WORDS[key][1 if language == "ko" else 0]
    return text.format(**values) if values else text
