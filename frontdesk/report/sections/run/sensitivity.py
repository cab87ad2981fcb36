"""How far the order of tutors hangs on the simulator, as a document of its own."""

from __future__ import annotations

from arena.learning.paired import Mean
from arena.learning.sensitivity import Sensitivity
from frontdesk.report.blocks import Block, Document, Section, Table, Text, cells, columns
from frontdesk.report.figures import p_text, plain
from frontdesk.report.sentences import spoken
from runstore.languages import words
from runstore.records import Language


def sensitivity_document(sensitivity: Sensitivity, language: Language) -> Document:
    """What may be said, the differences, the parts of variance and the halves."""
    blocks: list[Block] = [
        Text(_say(f"verdict_{sensitivity.verdict.replace(' ', '_')}", language), "lead"),
        *[
            Text(
                _say(
                    "reversal",
                    language,
                    a=row.a,
                    b=row.b,
                    first=spoken(row.simulators[0], language),
                    second=spoken(row.simulators[1], language),
                    p=p_text(row.p_holm),
                ),
                "warn",
            )
            for row in sensitivity.pairs
            if row.reversed
        ],
        _pairs(sensitivity, language),
        _parts(sensitivity, language),
        _halves(sensitivity, language),
        Text(_say("same_subsets", language), "soft"),
    ]
    title = _say("title", language)
    return Document(title, language, None, [], [Section("sensitivity", title, blocks)])


def _pairs(sensitivity: Sensitivity, language: Language) -> Table:
    rows = [
        cells(
            f"{row.a} – {row.b}",
            " | ".join(spoken(name, language) for name in row.simulators),
            *(_shown(mean) for mean in (row.first, row.second, row.difference)),
            p_text(row.p_holm),
        )
        for row in sensitivity.pairs
    ]
    titles = (_say(key, language) for key in ("pair", "simulators", "first", "second", "change", "holm"))
    head = columns(*titles, worded=[_say("simulators", language)])
    caption = _say("pairs_caption", language, subsets=sensitivity.subsets, dialogues=sensitivity.dialogues)
    return Table(head, rows, caption, _say("pairs", language))


def _parts(sensitivity: Sensitivity, language: Language) -> Table:
    rows = [
        cells(_say(f"part_{row.name.replace(' ', '_')}", language), plain(row.sd, 4), str(row.over))
        for row in sensitivity.components
    ]
    head = columns(*(_say(key, language) for key in ("part", "sd", "over")))
    return Table(
        head, rows, _say("reliability", language, value=plain(sensitivity.reliability, 2)), _say("parts", language)
    )


def _halves(sensitivity: Sensitivity, language: Language) -> Block:
    halves = sensitivity.halves
    if halves.within is None:
        return Text(_say("two_tutors", language))
    values = {key: plain(getattr(halves, key), 2) for key in ("across", "within", "whole")}
    return Text(_say("halves", language, splits=halves.splits, **values))


def _shown(mean: Mean) -> str:
    if mean.value is None:
        return "–"
    limits = "" if mean.lower is None or mean.upper is None else f" [{mean.lower:+.3f}, {mean.upper:+.3f}]"
    return f"{mean.value:+.3f}{limits}"


def _say(key: str, language: Language, **values: object) -> str:
    return words("frontdesk.report", "sensitivity", language)(key, **values)
