"""Tables in many files: a folder, a pattern, or an object store's address, read one file after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from glob import glob
from importlib import import_module
from pathlib import Path
from typing import Any

from runstore.problems import InputProblem, Problem

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx", ".xlsm")
_PATTERN = frozenset("*?[")


@dataclass(frozen=True)
class Shard:
    """One file. ``opened``: gives a handle where it is not of this machine's file system."""

    path: Path
    opened: Callable[[], Any] | None = None

    @property
    def handle(self) -> Any:
        """What a reader of Parquet is given."""
        return self.path if self.opened is None else self.opened()


def is_one_file(source: Path | str) -> bool:
    """Whether a source names one file of this machine, and not a folder, a pattern or an address."""
    text = str(source)
    return "://" not in text and not Path(source).is_dir() and (Path(source).is_file() or not _PATTERN & set(text))


def shards_of(source: Path | str) -> list[Shard]:
    """The files of a source: itself where it is one, else all of its folder, pattern or address, sorted by name.

    Raises Problem, InputProblem where there are none.
    """
    if is_one_file(source):
        return [Shard(Path(source))]
    text = str(source)
    if "://" in text:
        return _remote(text)
    path = Path(source)
    if path.is_dir():
        files = [file for file in path.rglob("*") if file.is_file() and file.suffix.lower() in SUFFIXES]
        files = [file for file in files if not any(part.startswith(("_", ".")) for part in _below(file, path))]
    else:
        files = [Path(name) for name in glob(text, recursive=True) if Path(name).is_file()]  # noqa: PTH207 - a pattern
    if not files:
        raise InputProblem(path, f"files ending in {', '.join(SUFFIXES)}", found="none")
    if len({file.suffix.lower() for file in files}) > 1:
        kinds = ", ".join(sorted({file.suffix.lower() for file in files}))
        raise InputProblem(path, "files of one kind (or a pattern such as FOLDER/*.parquet)", found=kinds)
    return [Shard(file) for file in sorted(files)]


def _below(file: Path, folder: Path) -> tuple[str, ...]:
    return file.relative_to(folder).parts


def _remote(address: str) -> list[Shard]:
    """Parquet files of whatever fsspec reaches: ``s3://``, ``gs://``, ``file://``, ``memory://`` and others."""
    try:
        core = import_module("fsspec.core")
    except ImportError as error:
        raise Problem(
            f"{address}: reading it needs the extra [cluster]: pip install 'tutor-arena[cluster]'"
        ) from error
    try:
        system, place = core.url_to_fs(address)
        names: list[str] = system.glob(place) if _PATTERN & set(place) else system.find(place)
    except ImportError as error:
        raise Problem(f"{address}: {error} (pip install it beside tutor-arena)") from error
    except (OSError, ValueError) as error:
        raise Problem(f"{address}: cannot be read: {error}") from error
    parquets = sorted(name for name in names if name.endswith(".parquet"))
    if not parquets:
        raise InputProblem(address, "files ending in .parquet", found="none")

    def opening(name: str) -> Callable[[], Any]:
        return lambda: system.open(name, "rb")

    return [Shard(Path(name), opening(name)) for name in parquets]
