"""What is known of the students' quality: a section of a run's report, and ``quality.md`` by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from frontdesk.report.blocks import Block, Column, Document, Section, Table, Text, cells
from frontdesk.report.figures import p_text, percent, plain, span
from frontdesk.report.sections.run.names import factor_name
from frontdesk.report.sentences import spoken
from frontdesk.report.writers.markdown import markdown
from frontdesk.runner import published
from frontdesk.runner.config import Config
from frontdesk.runner.quality import STAGE, RunQuality
from frontdesk.runner.runfolder import RunFolder
from runstore.languages import words
from runstore.publish import write_text
from runstore.records import Language
from simulator.realism.result import FailureRate, Fidelity, Gate, Group, NoRealism, Quality, Realism


def quality(assessed: Quality | None, config: Config, language: Language) -> Section | None:
    """The section of a run's report; None where quality has not been assessed."""
    if assessed is None:
        return None
    blocks = [_lead(assessed.gate, language), _profile(assessed, language), *_distance(assessed.realism, language)]
    blocks += [_failures(assessed.failures, language), *_fidelity(assessed.fidelity, config, language)]
    return Section("quality", _say("students", language), blocks)


def document(assessed: Quality, config: Config) -> Document:
    """The whole of ``quality.md``."""
    language = config.run.language
    near = assessed.realism
    sections = [
        Section(
            "gate", _say("gate", language), [_lead(assessed.gate, language), _checks(assessed.gate, language)]
        ),
        Section("profile", _say("profile", language), [_profile(assessed, language), _turns(assessed, language)]),
        Section(
            "realism",
            _say("realism", language),
            [*_distance(near, language), *_groups(near.levels, language), *_groups(near.personas, language)],
        ),
        Section("fidelity", _say("fidelity", language), _fidelity(assessed.fidelity, config, language)),
        Section("failures", _say("failures", language), [_failures(assessed.failures, language, rules=True)]),
        *_steered(assessed, language),
        Section("diversity", _say("diversity", language), [_diversity(assessed, language)]),
    ]
    return Document(_say("title", language, name=config.run.name), language, None, [], sections, "", "")


def _steered(assessed: Quality, language: Language) -> list[Section]:
    """Planned acts, and typing beside its profile, where there were any."""
    sections: list[Section] = []
    if (acts := assessed.acts) is not None and acts.checked:
        told = _say(
            "acts_said", language, done=acts.done, checked=acts.checked, missed=acts.missed, unknown=acts.unknown,
            again=acts.asked_again,
        )  # fmt: skip
        sections.append(Section("acts", _say("acts", language), [Text(told)]))
    if (style := assessed.style) is not None:
        told = _say(
            "style_said", language, distance=_number(style.distance), n=style.utterances, source=style.source,
            steered=style.steered, candidates=style.candidates, edits=sum(style.edits.values()),
        )  # fmt: skip
        rows = [] if style.words is None else [("words_head", style.words, 1)]
        rows += [(trait, beside, 2) for trait, beside in style.traits.items()]
        shown = [
            (_say(name, language), plain(row.value, places), plain(row.target, places), _number(row.apart))
            for name, row, places in rows
        ]
        table = _table(("trait", "value", "target", "apart"), shown, language)
        sections.append(Section("style", _say("style", language), [Text(told), table]))
    return sections


def console(assessed: Quality, config: Config) -> list[Block]:
    """What a terminal shows: the gate, the profile beside people's, and what went wrong."""
    language = config.run.language
    return [
        _profile(assessed, language),
        *_fidelity(assessed.fidelity, config, language),
        _failures(assessed.failures, language),
        _checks(assessed.gate, language, brief=True),
        _lead(assessed.gate, language),
    ]


def _lead(gate: Gate, language: Language) -> Text:
    state = {True: "passed", False: "failed", None: "undecided"}[gate.passed]
    names = ", ".join(gate.failed if state == "failed" else gate.undecided)
    return Text(_say(state, language, names=names), "lead")


def _checks(gate: Gate, language: Language, *, brief: bool = False) -> Table:
    states = {True: "yes", False: "no", None: "unknown"}
    rows = [
        (
            check.name if brief else f"{check.name}: {spoken(check.what, language)}",
            _number(check.value) if check.value is not None else f"– ({spoken(check.reason, language)})",
            _say(check.at, language, value=check.limit),
            _say(states[check.passed], language),
        )
        for check in gate.checks
    ]
    return _table(("check", "value", "limit", "state"), rows, language, title="gate" if brief else "")


def _profile(assessed: Quality, language: Language) -> Table:
    profile = assessed.profile
    references = profile.references
    known = words("frontdesk.report", "quality", language).texts
    names = [name for name in type(references[0]).model_fields if name in known and name != "utterances"]
    rows = [
        (
            _say(name, language),
            _with_interval(name, getattr(profile, name), profile.intervals.get(name)),
            *(_feature(name, getattr(reference, name)) for reference in references),
        )
        for name in names
    ]
    heads = (
        Column(_say("feature", language), number=False),
        Column(_say("run", language)),
        *(Column(f"{spoken(reference.source, language)}, n {reference.utterances}") for reference in references),
    )
    caption = _say("profile_caption", language, n=assessed.profile.utterances)
    if assessed.sampled is not None:
        caption += " " + _say("sampled", language, n=assessed.sampled.dialogues, of=assessed.sampled.of)
    return Table(heads, [cells(*row) for row in rows], caption, _say("profile", language))


def _turns(assessed: Quality, language: Language) -> Table:
    rows = [
        (str(row.turn), str(row.utterances), plain(row.median_words, 1)) for row in assessed.profile.length_by_turn
    ]
    return _table(("turn", "utterances", "median_words"), rows, language, title="turns")


def _distance(near: Realism | NoRealism, language: Language) -> list[Block]:
    if near.distance is None:
        return [Text(_say("no_distance", language, reason=spoken(near.reason, language)), "soft")]
    interval = _interval(near.lower, near.upper)
    return [Text(_say("distance", language, value=_number(near.distance), interval=interval))]


def _groups(groups: Mapping[str, Group], language: Language) -> list[Block]:
    states = {True: "yes", False: "no", None: "unknown"}
    rows = [
        (
            name,
            str(group.dialogues),
            _number(group.distance),
            _interval(group.lower, group.upper).strip() or "–",
            _say(states[group.passed], language)
            + (f" ({spoken(group.reason, language)})" if group.reason else ""),
        )
        for name, group in groups.items()
    ]
    return [_table(("group", "dialogues", "distance_head", "interval", "state"), rows, language)] if rows else []


def _failures(failures: Mapping[str, FailureRate], language: Language, *, rules: bool = False) -> Table:
    rows = [
        (
            _say(f"kind_{kind}", language),
            f"{row.count} / {row.of}",
            percent(row.rate) + (f" [{span(row.lower, row.upper)}]" if row.rate is not None else ""),
            *((spoken(row.rule, language),) if rules else ()),
        )
        for kind, row in failures.items()
    ]
    heads = ("kind", "count", "rate", *(("rule",) if rules else ()))
    return _table(heads, rows, language, title="" if rules else "failures")


def _fidelity(fidelity: Fidelity, config: Config, language: Language) -> list[Block]:
    directions = [
        (
            factor_name(config, row.factor, language),
            spoken(row.measure, language),
            spoken(row.expected, language),
            _number(row.difference) + _interval(row.lower, row.upper),
            spoken(row.found, language) or f"– ({spoken(row.reason, language)})",
        )
        for row in fidelity.directions
    ]
    recovered = [
        (
            name,
            str(row.dialogues),
            percent(row.recall),
            percent(row.chance),
            p_text(row.p) if row.p is not None else f"– ({spoken(row.reason, language)})",
        )
        for name, row in [
            *((factor_name(config, key, language), row) for key, row in fidelity.recoverability.factors.items()),
            (_say("persona", language), fidelity.recoverability.persona),
        ]
    ]
    blocks: list[Block] = []
    if directions:
        heads = ("factor", "measure", "expected", "difference", "found")
        blocks.append(_table(heads, directions, language, title="directions"))
    heads = ("factor", "dialogues", "recall", "chance", "found")
    blocks.append(_table(heads, recovered, language, title="recover", caption="recover_caption"))
    turns = [
        (
            factor_name(config, name, language),
            str(row.turn),
            percent(row.recall),
            f"{percent(row.lower)}–{percent(row.upper)}",
            percent(row.chance),
        )
        for name, rows in fidelity.recoverability.by_turn.items()
        for row in rows
        if row.recall is not None
    ]
    if turns:
        heads = ("factor", "turn", "recall", "interval", "chance")
        blocks.append(_table(heads, turns, language, title="by_turn", caption="by_turn_caption"))
    return [*blocks, *_judged(fidelity, config, language)]


def _judged(fidelity: Fidelity, config: Config, language: Language) -> list[Block]:
    blocks: list[Block] = []
    rows = [
        (
            each.judge,
            factor_name(config, name, language),
            f"{each.dialogues} / {each.of}",
            percent(row.recall),
            percent(row.chance),
            p_text(row.p) if row.p is not None else f"– ({spoken(row.reason, language)})",
        )
        for each in fidelity.judged or ()
        for name, row in each.factors.items()
    ]
    if rows:
        heads = ("judge", "factor", "dialogues", "recall", "chance", "found")
        blocks.append(_table(heads, rows, language, title="judged", caption="judged_caption"))
    if (kept := fidelity.state) is not None:
        told = _say("state_said", language, n=kept.utterances, known=kept.knows_too_much, lost=kept.unlearns)
        blocks.append(Text(told))
    return blocks


def _diversity(assessed: Quality, language: Language) -> Table:
    varied, spread = assessed.diversity, assessed.balance.spread
    rows: list[tuple[str, str]] = []
    for n, row in varied.distinct.items():
        rows.append((_say("distinct", language, n=n, grams=row.ngrams), _number(row.all)))
        shown = _number(row.matched) if row.matched is not None else f"– ({spoken(row.reason, language)})"
        rows.append((_say("distinct_matched", language, n=n, at=row.matched_at), shown))
    openers, similar = varied.openers, varied.self_similarity
    rows.append((_say("openers", language), f"{openers.different} / {openers.dialogues}"))
    if (topics := varied.topics) is not None:
        name = _say("topics", language, subjects=topics.subjects, questions=topics.questions)
        rows.append((name, _number(topics.evenness)))
    rows.append((_say("near_openers", language), str(len(openers.near_duplicates))))
    shown = _number(similar.all) if similar.all is not None else f"– ({spoken(similar.reason, language)})"
    rows.append((_say("similar", language), shown))
    rows.append((_say("similar_own", language), _number(similar.same_persona)))
    rows += [
        (_say("spread", language, what=_say(f"spread_{name}", language)), plain(value))
        for name, value in spread.items()
    ]
    return _table(("figure", "value"), rows, language)


def _table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], language: Language, *, title: str = "", caption: str = ""
) -> Table:
    titles = tuple(Column(_say(head, language), number=head in _NUMBERS) for head in heads)
    about, name = (_say(key, language) if key else "" for key in (caption, title))
    return Table(titles, [cells(*row) for row in rows], about, name)


_NUMBERS = frozenset(
    {"value", "utterances", "median_words", "dialogues", "distance_head", "interval", "count", "rate"}
    | {"difference", "recall", "chance"}
)


def _with_interval(name: str, value: float | None, interval: Sequence[float] | None) -> str:
    shown = _feature(name, value)
    return f"{shown} [{_feature(name, interval[0])}–{_feature(name, interval[1])}]" if interval else shown


def _feature(name: str, value: float | None) -> str:
    return (
        plain(value, 1) if name == "median_words" else _number(value) if name == "distinct_2" else percent(value)
    )


def _number(value: float | None) -> str:
    return plain(value, 2)


def _interval(lower: float | None, upper: float | None) -> str:
    return f" [{_number(lower)}, {_number(upper)}]" if lower is not None else ""


def _say(key: str, language: Language, **values: object) -> str:
    return words("frontdesk.report", "quality", language)(key, **values)


def write_quality(folder: RunFolder, quality: RunQuality) -> None:
    """``quality.md`` of a run whose students were assessed, in the run's language."""
    write_text(folder.file("quality.md"), markdown(document(quality.found, quality.config)))
    published.record(folder.path, "quality.md")
    published.end(folder.path, STAGE)
