"""One export: the files of a data set, its card, and ``export.json`` with what was counted.

Made of stage files and configuration alone: the same run gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from frontdesk.export.battles import battles
from frontdesk.export.card import card
from frontdesk.export.chats import Side, openai, sharegpt
from frontdesk.export.flat import lines, utterances
from frontdesk.export.inspect_logs import inspect_logs, write_log
from frontdesk.export.page import write_page
from frontdesk.export.parts import FOLDER, Pieces, Target
from frontdesk.export.preference import preference
from frontdesk.export.rows import Rows
from frontdesk.export.split import Split, split_of
from frontdesk.export.tables import pyarrow, stage_rows
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.source import Source
from runstore.ids import digest
from runstore.problems import Problem
from runstore.publish import clean_unicode, read_json, write_json, write_text
from runstore.records import Dialogue
from runstore.yaml_file import yaml_text

Form = Literal["openai", "sharegpt", "preference", "lmarena", "inspect", "parquet", "hf", "csv", "page"]
FORMS: tuple[Form, ...] = get_args(Form)
_OWN = re.compile(
    r"(data/)?[a-z]+([-.][a-z]+)?(-\d{5}-of-\d{5})?\.(jsonl|parquet|csv|html)|logs/[A-Za-z0-9._-]+\.json"
)
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass(frozen=True)
class How:
    """What to export. ``split``: the test part's share of dialogues; ``licence`` goes into the card as it is."""

    form: Form
    side: Side = "teacher"
    split: float | None = None
    licence: str | None = None


@dataclass(frozen=True)
class Exported:
    """The folder, its files with their numbers of rows, the data sets they are made of, and the card's name."""

    folder: Path
    files: dict[str, int]
    sets: list[Rows]
    card: str


def export(run: RunFolder, how: How, out: Path | None = None) -> Exported:
    """Write the data set into ``out`` (by default ``export/FORM`` in the run folder).

    Raises InputProblem where a stage that the form needs has not been run, Problem for a split that is no share,
    a side that the form does not have, or Parquet without pyarrow.
    """
    if how.side != "teacher" and how.form != "openai":
        raise Problem(f"--side {how.side}: found --as {how.form}, expected --as openai")
    if how.form == "inspect" and how.split is not None:
        raise Problem("--split: found --as inspect, expected another form: a log is of one whole evaluation")
    if how.form in ("parquet", "hf"):
        pyarrow()
    source = Source(run)
    sets = _sets(source, how)
    split = split_of(source.overview, how.split)
    name = f"{how.form}-student" if how.side == "student" else how.form
    folder = out or run.path / "export" / name
    _clear(folder)
    files: dict[str, int] = {}
    for each in sets:
        if how.form == "inspect":
            files |= write_log(folder, source, each)
            continue
        made_of = source.file(each.file).stat()
        key = digest(asdict(how), split.last, source.config.run.seed, made_of.st_size, made_of.st_mtime_ns)
        targets = [target for part in split.parts for target in _targets(how, each, part)]
        files |= Pieces(folder, key, each, targets).write(split.part_of, lines)
    if how.form == "page":
        files["dialogues.html"] = write_page(folder / "dialogues.html", source)
    if (folder / FOLDER).is_dir() and not any(
        (folder / FOLDER).iterdir()
    ):  # another form may have been killed here
        (folder / FOLDER).rmdir()
    _write_about(folder, source, how, sets, files, split)
    return Exported(folder, files, sets, _card_name(how))


def _clear(folder: Path) -> None:
    """Take away the data files of an earlier export, by its own list: another split leaves no stale part."""
    earlier: dict[str, Any] = read_json(folder / "export.json") if (folder / "export.json").is_file() else {}
    for name in earlier.get("files", {}):
        if _OWN.fullmatch(name):
            (folder / name).unlink(missing_ok=True)


def _sets(source: Source, how: How) -> list[Rows]:
    match how.form:
        case "openai":
            return [openai(source, how.side)]
        case "sharegpt":
            return [sharegpt(source)]
        case "preference":
            return [preference(source)]
        case "lmarena":
            return [battles(source)]
        case "inspect":
            return inspect_logs(source)
        case "csv":
            return [utterances(source)]
        case "page":
            source.each("dialogues.jsonl", Dialogue)
            return []
        case "parquet" | "hf":
            return stage_rows(source)


def _targets(how: How, each: Rows, part: str) -> list[Target]:
    """The files of one part of a data set."""
    suffix = "" if how.split is None else f"-{part}"
    match how.form:
        case "hf":
            return [Target(f"data/{each.name}-{part}.parquet", part, "parquet", each.name)]
        case "parquet":
            return [Target(f"{each.name}{suffix}.parquet", part, "parquet", each.name)]
        case "csv":
            return [Target(f"utterances{suffix}.csv", part, "csv")]
        case "openai":
            return [Target(f"{part}.jsonl", part, "jsonl"), Target(f"{part}.index.jsonl", part, "index")]
        case "sharegpt" | "preference" | "lmarena" | "inspect" | "page":
            return [Target(f"{part}.jsonl", part, "jsonl")]


def _card_name(how: How) -> str:
    return "README.md" if how.form == "hf" else "data-card.md"


def _write_about(
    folder: Path, source: Source, how: How, sets: Sequence[Rows], files: dict[str, int], split: Split
) -> None:
    text = card(source, how.form, sets, files, how.licence)
    head = f"---\n{front_matter(source, how, sets, files)}---\n\n" if how.form == "hf" else ""
    write_text(folder / _card_name(how), head + text)
    about: dict[str, Any] = {
        "form": how.form,
        "side": how.side,
        "run": source.config.run.name,
        "seed": source.config.run.seed,
        "split": how.split,
        "dialogues": {"of": source.overview.dialogues, "test": split.test},
        "files": files,
        "sets": {
            each.name: {
                "rows": len(each.rows),
                "of": each.of,
                "unit": each.unit,
                "left_out": dict(sorted(each.left_out.items())),
                "changed": dict(sorted(each.changed.items())),
            }
            for each in sets
        },
    }
    write_json(folder / "export.json", about)


def front_matter(source: Source, how: How, sets: Sequence[Rows], files: Collection[str]) -> str:
    """The metadata that dataset hosts and loaders read: one configuration a table, its files by part."""
    parts = ("train",) if how.split is None else ("train", "test")
    most = max((len(each.rows) for each in sets), default=0)
    data: dict[str, Any] = {
        "pretty_name": clean_unicode(source.config.run.name),
        "license": clean_unicode(how.licence or "unknown"),
        "language": [source.config.run.language],
        "task_categories": ["text-generation"],
        "tags": ["synthetic", "tutoring", "education", "dialogue", "tutor-arena"],
        "size_categories": [next((name for limit, name in _SIZES if most < limit), "n>1M")],
        "configs": [
            {
                "config_name": each.name,
                **({"default": True} if at == 0 else {}),
                "data_files": [
                    {"split": part, "path": _path(f"data/{each.name}-{part}", files)} for part in parts
                ],
            }
            for at, each in enumerate(sets)
        ],
    }
    return yaml_text(data)


def _path(stem: str, files: Collection[str]) -> str:
    """The file, or the pattern of its shards."""
    return f"{stem}.parquet" if f"{stem}.parquet" in files else f"{stem}-*.parquet"
