"""What sways the judges, how far they agree, and what a panel weighed by reliability would say."""

from __future__ import annotations

from arena.judges.result import Agreement, EffectRow, JudgesResult, PanelResult, ShareRow
from frontdesk.report.blocks import Block, Section, Table, Text, cells, columns
from frontdesk.report.figures import count, percent, plain, span
from frontdesk.report.marks import SURE
from frontdesk.report.plots.dots import Dot, dot_chart
from frontdesk.report.sentences import spoken
from runstore.languages import words
from runstore.records import Language


def panel(judging: JudgesResult | None, language: Language) -> Section | None:
    """The section of a run's report, of ``judges.json``; None where that has not been made."""
    if judging is None:
        return None
    blocks = [*_habits(judging, language), *_agreement(judging.agreement, language)]
    return Section("panel", _say("panel", language), [*blocks, *_weighed(judging.panel, language)])


def _habits(judging: JudgesResult, language: Language) -> list[Block]:
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
        for judge in judging.judges
    ]
    caption = _say("habits_caption", language, level=f"{100 * judging.level:g}%")
    table = Table(columns(_say("judge", language), *heads), rows, caption, _say("habits", language))
    blocks: list[Block] = [
        *_pictures(judging, language),
        table,
        *(Text(line, "soft") for line in _reasons(judging, language)),
    ]
    if judging.own_family.value is not None:
        blocks.append(Text(_say("common", language, figure=_log_odds(judging.own_family))))
    return blocks


def _pictures(judging: JudgesResult, language: Language) -> list[Block]:
    """What being shown first and being longer do to each judge's votes; nothing at 0."""
    blocks: list[Block] = []
    for key in ("first", "length"):
        effects = {
            judge.name: judge.position.log_odds if key == "first" else judge.length[0].log_odds_per_doubling
            for judge in judging.judges
        }
        rows = [
            Dot(name, effect.value, effect.lower, effect.upper, SURE, plain(effect.value, 2), "–")
            for name, effect in effects.items()
        ]
        if any(row.value is not None for row in rows):
            title = _say(f"{key}_chart", language)
            axis = _say("log_odds_axis", language)
            blocks.append(dot_chart(rows, title, reference=0.0, axis=axis, key=f"{key}-effect"))
    return blocks


def _reasons(judging: JudgesResult, language: Language) -> list[str]:
    lines: list[str] = []
    for judge in judging.judges:
        for key, effect in (
            ("first", judge.position.log_odds),
            ("length", judge.length[0].log_odds_per_doubling),
            ("own", judge.own_family.log_odds),
        ):
            if effect.value is None:
                what = _say(key, language)
                lines.append(
                    _say("why", language, judge=judge.name, what=what, reason=spoken(effect.reason, language))
                )
    return lines


def _agreement(agreement: Agreement, language: Language) -> list[Block]:
    if not agreement.pairs:
        return []
    rows = [
        cells(
            spoken(statistic.name, language),
            (spoken(statistic.reason, language) or "–") if statistic.value is None else f"{statistic.value:.2f}",
            "–" if statistic.interval is None else "[{:.2f}, {:.2f}]".format(*statistic.interval),
            _say("n_of", language, n=statistic.n_used, of=statistic.n),
        )
        for statistic in agreement.all
    ]
    head = columns(_say("statistic", language), *(_say(key, language) for key in ("value", "interval", "used")))
    return [Table(head, rows, _say("agreement_caption", language), _say("agreement", language))]


def _weighed(weighed: PanelResult, language: Language) -> list[Block]:
    if not weighed.judges:
        return [Text(_say("no_panel", language, reason=spoken(weighed.reason, language)), "soft")]
    judges = [cells(judge.name, percent(judge.value), span(judge.lower, judge.upper)) for judge in weighed.judges]
    caption = _say(
        "weighed_caption", language, method=spoken(weighed.method, language), prior=spoken(weighed.prior, language)
    )
    head = columns(*(_say(key, language) for key in ("judge", "reliability", "interval")))
    blocks: list[Block] = [Table(head, judges, caption, _say("weighed", language)), _ranking(weighed, language)]
    moved = sum(bool(model.moved) for model in weighed.models)
    said = [
        _say("other_ranking", language, n=moved, of=len(weighed.models))
        if moved
        else _say("same_ranking", language)
    ]
    tau = weighed.kendall
    if tau is not None and tau.value is not None:
        said.append(_say("kendall", language, name=spoken(tau.name, language), value=f"{tau.value:.2f}"))
    blocks.append(Text("; ".join(said) + "."))
    notes = [note for note in (weighed.note, weighed.reason) if note]
    return [*blocks, *(Text(_say("note", language, note=spoken(note, language)), "soft") for note in notes)]


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
    return words("frontdesk.report", "panel", language)(key, **values)
