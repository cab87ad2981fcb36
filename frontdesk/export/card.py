"""The data card: what a data set is, made from the run alone, so that it says nothing the run does not hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from frontdesk.export.rows import Rows
from frontdesk.report.blocks import Block, Column, Document, Section, Table, Text, cells, columns
from frontdesk.report.figures import percent
from frontdesk.report.sections.run.made import roles_of
from frontdesk.report.sections.run.outcomes import natural
from frontdesk.report.sections.run.spending import spending_of
from frontdesk.report.writers.markdown import markdown
from frontdesk.runner.shortfall import shortfall
from frontdesk.runner.source import Source
from runstore.english import in_number
from runstore.languages import name_of

TO_FILL = "(to be filled in by whoever publishes this data set)"
_FORMS = {
    "openai": "chat fine-tuning rows (messages)",
    "sharegpt": "ShareGPT rows (conversations)",
    "preference": "preference rows (prompt, chosen, rejected)",
    "lmarena": "battles (model_a, model_b, winner, both conversations)",
    "inspect": "Inspect logs, one an endpoint (replies as samples, verdicts as scores)",
    "parquet": "the run's stage files as Parquet tables",
    "hf": "the run's stage files as a dataset folder with Parquet data",
    "csv": "a table for spreadsheets, a row an utterance",
    "page": "a few dialogues to look at",
}


def card(source: Source, form: str, sets: Sequence[Rows], sizes: Mapping[str, int], licence: str | None) -> str:
    """The card as Markdown. ``sizes``: rows by file as written."""
    local = [name for name, raw in _used(source).items() if raw.get("kind") == "local"]
    warning = (
        f"Made with a small model that runs inside the program ({', '.join(local)}): its students, replies and "
        "verdicts demonstrate the pipeline and are evidence of nothing."
    )
    sections = [
        _summary(source, form, sets, licence),
        _contents(sets, sizes),
        _students(source),
        _making(source),
        *_uses(source, form),
    ]
    name = source.config.run.name
    return markdown(Document(f"Data card: {name}", "en", warning if local else None, [], sections, "", ""))


def _summary(source: Source, form: str, sets: Sequence[Rows], licence: str | None) -> Section:
    run = source.config.run
    facts = [
        ("form", _FORMS[form]),
        ("size", ", ".join(f"{len(each.rows)} {each.name}" for each in sets)),
        ("dialogues in the run", str(source.overview.dialogues)),
        ("language", name_of(run.language)),
        ("licence", licence or TO_FILL),
    ]
    domain = f" ({source.domain})" if source.domain else ""
    text = (
        f"Synthetic tutoring dialogues{domain}: simulated students talk to tutors. "
        "No human learner wrote any of the student utterances."
    )
    return Section("summary", "Summary", [Text(text), _facts(facts)])


def _contents(sets: Sequence[Rows], sizes: Mapping[str, int]) -> Section:
    files = Table(columns("file", "rows"), [cells(name, str(rows)) for name, rows in sizes.items()], title="Files")
    rows = [
        cells(each.name, reason, f"{times} of {each.of} {each.unit}")
        for each in sets
        for reason, times in [*sorted(each.left_out.items()), *sorted(each.changed.items())]
    ]
    words = tuple(Column(title, number=False) for title in ("data", "what", "count"))
    blocks: list[Block] = [files]
    if rows:
        blocks.append(Table(words, rows, title="Left out or changed"))
    else:
        blocks.append(Text("Nothing was left out and nothing changed.", "soft"))
    text = (
        "Rows of one dialogue belong together: split, sample and count by dialogue (every row, or its line in the "
        "index file, carries the dialogue's id). Dialogues that share a seed question open alike."
    )
    return Section("contents", "What is in it", [*blocks, Text(text)])


def _students(source: Source) -> Section:
    overview = source.overview
    of = overview.spoken
    rows = [
        cells(factor, level, str(times), percent(times / of if of else None))
        for (factor, level), times in sorted(
            overview.levels.items(), key=lambda item: (item[0][0], natural(item[0][1]))
        )
    ]
    what = "dialogues" if source.has("dialogues.jsonl") else "subsets"
    head = (Column("factor", number=False), Column("level", number=False), Column(what), Column("share"))
    table = [cells(name, str(times), percent(times / of)) for name, times in sorted(overview.subjects.items())]
    text = (
        f"{len(overview.personas)} personas (combinations of levels) and "
        f"{len(overview.questions)} seed questions in {of} {what}."
    )
    blocks: list[Block] = [Text(text), Table(head, rows, title="Who the students are")]
    return Section("students", "Students", [*blocks, Table(columns("subject", what, "share"), table)])


def _making(source: Source) -> Section:
    manifest, run = source.manifest, source.config.run
    answered = spending_of(source.folder.journal).answered_by
    head = tuple(Column(title, number=False) for title in ("endpoint", "roles", "kind", "model", "answered as"))
    endpoints = [
        cells(
            name,
            ", ".join(roles_of(source.config, name)),
            str(raw.get("kind", "")),
            str(raw.get("model") or "provider's default"),
            ", ".join(answered.get(name, [])) or "–",
        )
        for name, raw in _used(source).items()
    ]
    facts = [
        ("program", f"{manifest.get('program', 'tutor-arena')} {manifest.get('version', '(version unknown)')}"),
        ("seed", str(run.seed)),
    ]
    facts += [
        (f"input: {name}", f"{value.get('count', '')} (hash {value.get('hash', '')})")
        for name, value in manifest.get("inputs", {}).items()
    ]
    facts += [
        (f"prompt: {name}", f"hash {hashed}") for name, hashed in sorted(manifest.get("prompts", {}).items())
    ]
    if (how := source.config.simulate) is not None:
        facts += [
            ("turns", f"{how.turns} {'exactly' if how.ends == 'fixed' else 'at most: students may leave'}"),
            ("questions", "of each student's level" if how.match_level else "of any level"),
            ("openings", "in the student's own words" if how.rephrase_openings else "as in the question bank"),
        ]
    if source.has("dialogues.jsonl"):
        overview = source.overview
        facts += [
            (f"end: {end}", f"{times} of {overview.dialogues}") for end, times in sorted(overview.ends.items())
        ]
    if source.has("verdicts.jsonl"):
        short = shortfall(source.folder, source.config, source.folder.verdicts())
        if short is not None:
            facts.append(("verdicts", in_number(short.note or f"all {short.asked} that were asked for")))
            facts += [("without a verdict", in_number(sentence)) for sentence in short.absent]
    failures = Counter(failure.stage for failure in source.failures)
    facts += [(f"failures: {stage}", str(times)) for stage, times in sorted(failures.items())]
    return Section("making", "How it was made", [Table(head, endpoints, title="Models"), _facts(facts)])


def _uses(source: Source, form: str) -> list[Section]:
    use = [
        Text(
            "Comparing tutors, studying tutoring dialogue, and training or testing tutors or simulated students."
        ),
        Text("Not for claims about how people learn, for marking real students, or in place of talking to them."),
    ]
    limits = [
        Text(
            "Language models play the students. Such students tend to write longer, cleaner and more willingly "
            "than people do; tutor-arena quality measures how far this run's students are from people."
        ),
        Text(
            "What models say about the subjects has not been checked: rows may hold wrong, biased or unsafe text, "
            "also where a judge preferred it."
        ),
    ]
    if form == "preference":
        limits.append(
            Text(
                "The preferences are model judges' verdicts; ties and invalid verdicts are not in it, so shares "
                "of wins must be taken from the run's report."
            )
        )
    terms = Text("The providers of the models above may restrict what may be trained on their output.", "plain")
    quality = Text("quality.json of this run has the figures." if source.has("quality.json") else "", "soft")
    shown: list[Block] = [*limits, terms, *([quality] if quality.text else [])]
    return [Section("use", "Intended use", [*use]), Section("limits", "Known limits", shown)]


def _used(source: Source) -> dict[str, Mapping[str, Any]]:
    return {name: source.config.endpoints.get(name, {}) for name in source.config.used_endpoints()}


def _facts(facts: Sequence[tuple[str, str]]) -> Table:
    head = (Column("item", number=False), Column("value", number=False))
    return Table(head, [cells(*fact) for fact in facts])
