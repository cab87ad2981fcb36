"""The files that a configuration names, kept in the run folder as ``inputs/HASH/NAME``.

So that a run can be verified and gone on with after its folder was moved or the files were lost. The hash
is of what a file holds: the same file has the same name in every run, wherever it lies.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

from runstore.publish import replacing

FOLDER = "inputs"
Tables = dict[str, object]
"""A configuration as TOML holds it, or a table of it."""
_PATH_KEYS = (
    ("run", "prompts"),
    ("personas", "file"),
    ("personas", "factors"),
    ("questions", "file"),
    ("judge", "criteria"),
    ("style", "profile"),
    ("style", "examples"),
    ("student", "style"),
    ("student", "topics"),
    ("student", "learning"),
    ("student", "outcomes"),
)
_NAMES_TOO = ("criteria", "profile", "style")
"""Keys whose value may be the name of something shipped; a file of such a kind is YAML."""
_LENGTH = 12


def is_table(value: object) -> TypeGuard[Tables]:
    return isinstance(value, dict)


def table_of(value: object) -> Tables:
    """The table that a value is; an empty one where it is none."""
    return value if is_table(value) else {}


def with_whole_paths(data: Tables, *folders: Path) -> Tables:
    """Files that the configuration names, found in the first of the folders that has them, as whole paths."""
    for table, key, value in _named(data):
        there = next((path for folder in folders if (path := folder / value).exists()), None)
        if there is not None:
            table[key] = str(there.resolve())
    return data


def contained(data: Tables) -> Tables:
    """The same with every file that is there named as a run folder keeps it."""
    for table, key, value in _named(data):
        if (kept := place_of(Path(value))) is not None:
            table[key] = kept
    return data


def contained_endpoint(settings: Tables) -> Tables:
    """The same of one endpoint's settings."""
    return table_of(table_of(contained({"endpoints": {"": dict(settings)}})["endpoints"])[""])


def keep(data: Tables, folder: Path) -> None:
    """Copy every file that the configuration names into the run folder, unless it is there already."""
    for _, _, value in _named(data):
        source = Path(value)
        kept = place_of(source)
        if kept is None or place_of(folder / kept) == kept:
            continue
        for part in _parts(source):
            with replacing(folder / kept / part.relative_to(source)) as temporary:
                shutil.copyfile(part, temporary)


def named(data: Tables) -> list[str]:
    """The files of a run folder's own that its configuration names."""
    return [value for _, _, value in _named(data) if value.startswith(f"{FOLDER}/")]


def place_of(path: Path) -> str | None:
    """Where a run folder keeps a file, or a folder of files, that holds this; None where there is none."""
    if not path.exists():
        return None
    whole = hashlib.sha256()
    for part in _parts(path):
        whole.update(part.relative_to(path).as_posix().encode() + b"\0")
        with part.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return f"{FOLDER}/{whole.hexdigest()[:_LENGTH]}/{path.name}"


def _parts(path: Path) -> list[Path]:
    """The file, or a folder's files without hidden ones."""
    if path.is_file():
        return [path]
    return sorted(part for part in path.iterdir() if part.is_file() and not part.name.startswith("."))


def _named(data: Tables) -> Iterator[tuple[Tables, str, str]]:
    """Every (table, key, value) that names a file."""
    places = [(table_of(data.get(section)), key) for section, key in _PATH_KEYS]
    places += [(table_of(table), "replies") for table in table_of(data.get("endpoints")).values()]
    for table, key in places:
        value = table.get(key)
        if not isinstance(value, str) or not value:
            continue
        if key not in _NAMES_TOO or value.endswith((".yaml", ".yml")):
            yield table, key, value
