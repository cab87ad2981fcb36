"""The sections on judges and the example matches."""

from __future__ import annotations

from arena.judges import behaviour
from frontdesk.report.blocks import (
    Block,
    Cell,
    Column,
    Document,
    Example,
    Section,
    Speech,
    Table,
    Text,
    cells,
    columns,
    shown,
)
from frontdesk.report.figures import count, level_text, percent, plain, span
from frontdesk.report.marks import SURE
from frontdesk.report.plots.dots import Dot, dot_chart
from frontdesk.report.sections.run import pictures
from frontdesk.report.sections.run.data import RunData
from frontdesk.report.sections.run.names import criterion_name
from frontdesk.report.sections.run.pictures import colour_of
from frontdesk.report.sentences import spoken
from runstore.ids import draw
from runstore.languages import Words, words
from runstore.records import Judgment, Language, Subset, Utterance, Verdict
from seed_questions.banks import subject_name

_LATEST = 3
_EXAMPLES = {"unanimous": 2, "majority": 1, "split": 1, "invalid": 1}


def judging(data: RunData, say: Words) -> Section:
    """Position effect, agreement with themselves and with each other, per judge."""
    blocks = [*_position(data, say), *_consistency(data, say), *_between(data, say)]
    return Section("judging", say("judging"), blocks)


def _position(data: RunData, say: Words) -> list[Block]:
    level = level_text(data.level)
    interval = say("interval", level=level)
    rows = behaviour.position(data.judgments, data.judges, data.level)
    keys = ("shown_first", "shown_second", "ties", "unreadable", "first_share")
    table = Table(
        columns(say("judge"), *map(say, keys), interval),
        [
            cells(
                row.judge,
                *map(str, (row.first, row.second, row.ties, row.unreadable)),
                percent(row.share.value),
                span(row.share.lower, row.share.upper),
            )
            for row in rows
        ],
        say("position_caption"),
        say("position"),
    )
    effect = data.board.position
    if effect.log_odds is None:
        sentence = say("position_unknown", reason=spoken(effect.reason, say.language))
    else:
        limits = {
            key: "–" if limit is None else f"{limit:+.2f}"
            for key, limit in (("lower", effect.lower), ("upper", effect.upper))
        }
        sentence = say("position_effect", log_odds=f"{effect.log_odds:+.2f}", interval=interval, **limits)
    title = say("position_chart")
    chart = dot_chart(
        [
            Dot(row.judge, row.share.value, row.share.lower, row.share.upper, SURE, percent(row.share.value), "–")
            for row in rows
        ],
        title,
        reference=0.5,
        percent=True,
        axis=say("first_share"),
        key="slots",
    )
    return [chart, table, Text(sentence)]


def _consistency(data: RunData, say: Words) -> list[Block]:
    rows = behaviour.consistency(data.judgments, data.judges, data.level)
    interval = say("interval", level=level_text(data.level))
    keys = ("rounds", "unreadable", "all_alike", "share")
    table = Table(
        columns(say("judge"), *map(say, keys), interval, say("pairs_alike")),
        [
            cells(
                row.judge,
                str(row.rounds),
                str(row.unreadable),
                say("n_of", n=count(row.same.hits), of=row.same.of),
                percent(row.same.value),
                span(row.same.lower, row.same.upper),
                say("n_of", n=row.pairs_alike, of=row.pairs),
            )
            for row in rows
        ],
        say("consistency_caption"),
        say("consistency"),
    )
    return [table]


def _between(data: RunData, say: Words) -> list[Block]:
    if len(data.judges) < 2:
        return [Text(say("one_judge"), "soft")]
    rows = behaviour.between_judges(data.judgments, data.judges, data.level)
    interval = say("interval", level=level_text(data.level))
    body: list[tuple[Cell, ...]] = []
    for row in rows:
        kappa = row.kappa
        limits = "–" if kappa.interval is None else "[{:+.2f}, {:+.2f}]".format(*kappa.interval)
        body.append(
            cells(
                f"{row.a} : {row.b}",
                say("n_of", n=row.alike.of, of=row.matches),
                say("n_of", n=count(row.alike.hits), of=row.alike.of),
                percent(row.alike.value),
                span(row.alike.lower, row.alike.upper),
                spoken(kappa.reason, say.language) if kappa.value is None else plain(kappa.value, 2),
                limits,
            )
        )
    head = columns(say("pair"), say("compared"), say("alike"), say("share"), interval, say("kappa"), interval)
    return [
        *pictures.judges(data, say),
        Table(head, body, say("between_caption", kappa=spoken(rows[0].kappa.name, say.language)), say("between")),
    ]


def examples(data: RunData, say: Words) -> Section | None:
    """A few matches whole: what was said, both replies, and every vote."""
    chosen = choose(data.verdicts, data.config.run.seed)
    if not chosen:
        return None
    blocks: list[Block] = [Text(say("examples_about"), "soft")]
    return Section("examples", say("examples"), [*blocks, *(example(data, say, verdict) for verdict in chosen)])


def choose(verdicts: list[Verdict], seed: int) -> list[Verdict]:
    """Up to two unanimous matches and one each of majority, split and invalid, drawn by identity."""
    keyed = sorted(verdicts, key=lambda v: (draw(seed, "example", v.subset, *v.endpoints, v.criterion), v.subset))
    chosen: list[Verdict] = []
    for kind, most in _EXAMPLES.items():
        own = [v for v in keyed if ("invalid" if v.outcome == "invalid" else v.agreement) == kind]
        chosen += own[:most]
    return chosen


def example(data: RunData, say: Words, verdict: Verdict) -> Example:
    """One match whole."""
    a, b = verdict.endpoints
    subset = data.subset.get(verdict.subset)
    history = list(subset.history) if subset is not None else []
    texts = {reply.endpoint: reply.text for reply in data.replies if reply.subset == verdict.subset}
    rounds = [
        judgment
        for judgment in data.judgments
        if judgment.subset == verdict.subset
        and judgment.criterion == verdict.criterion
        and {judgment.slot_a, judgment.slot_b} == {a, b}
    ]
    outcome = say(f"example_outcome_{verdict.outcome}", winner=verdict.winner)
    kind = "invalid" if verdict.outcome == "invalid" else verdict.agreement
    earlier, latest = history[:-_LATEST], history[-_LATEST:]
    return Example(
        title=f"{say('example_title', a=a, b=b)}: {outcome}"
        + (f", {say(kind).lower()}" if kind != "invalid" else ""),
        about=_about(data, verdict, subset, say.language),
        earlier=[_speech(say, utterance) for utterance in earlier],
        latest=[_speech(say, utterance) for utterance in latest],
        replies=[
            Speech(name, shown(texts.get(name, say("no_reply"))), colour_of(data, name), _mark(say, verdict, name))
            for name in (a, b)
        ],
        votes=_votes(say, rounds),
        reasons=[Speech(f"{each.judge}, {say('round')} {each.round}", shown(each.raw)) for each in rounds],
        earlier_label=say("earlier", n=len(earlier)),
        reasons_label=say("what_judges_wrote"),
    )


def _mark(say: Words, verdict: Verdict, name: str) -> str:
    return say("winner") if verdict.winner == name else ""


def _about(data: RunData, verdict: Verdict, subset: Subset | None, language: Language) -> str:
    parts = [verdict.subset, criterion_name(data.config, verdict.criterion, language)]
    if subset is not None:
        parts += [subset.persona, subject_name(subset.subject, language), subset.question]
    return " · ".join(parts)


def _speech(say: Words, utterance: Utterance) -> Speech:
    return Speech(say(utterance.role), shown(utterance.text))


def _votes(say: Words, rounds: list[Judgment]) -> Table:
    head = tuple(
        Column(say(key), number=key == "round")
        for key in ("round", "judge", "shown_as_a", "shown_as_b", "letter", "vote")
    )
    rows = [
        cells(
            str(each.round),
            each.judge,
            each.slot_a,
            each.slot_b,
            each.letter or "–",
            each.winner
            or (
                say("tie")
                if each.outcome == "tie"
                else f"{say('unreadable')}: {spoken(each.reason, say.language)}"
            ),
        )
        for each in rounds
    ]
    return Table(head, rows, row_heads=False)


def match_document(data: RunData, verdict: Verdict) -> Document:
    """One match by itself, for whoever looks a single one up."""
    say = words("frontdesk.report", "run", data.config.run.language)
    shown = example(data, say, verdict)
    return Document(shown.title, say.language, None, [], [Section("match", "", [shown])])
