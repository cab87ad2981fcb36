"""Inspect logs (https://inspect.aisi.org.uk) as battles: models that answered the same sample meet on it.

A score that names an ``opponent`` in its metadata is a verdict between the two, as ``export --as inspect`` writes
them; any other score compares the models that have it: the higher value wins, equal ones tie. ``C``, ``I``, ``P``
and ``N`` are 1, 0, 0.5 and 0, as Inspect has it. A score without a value is an invalid match.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import orjson

from arena.ratings.columns import arrow
from arena.ratings.neighbours import Found
from runstore.problems import InputProblem, Problem

Json = Mapping[str, Any]
"""An object of a log."""
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_ZSTANDARD = 93


class _Key(NamedTuple):
    sample: str
    epoch: int
    scorer: str


def logs(path: Path) -> Found | None:
    """The battles of a log, or of a folder of them; None where there is none. Raises InputProblem, Problem."""
    files = sorted([*path.glob("*.eval"), *path.glob("*.json")]) if path.is_dir() else [path]
    if not files or not all(_is_log(file) for file in files):
        return None
    kept = Found()
    values: defaultdict[_Key, dict[str, float | None]] = defaultdict(dict)
    told: dict[tuple[object, ...], tuple[tuple[str, str], float, Json]] = {}
    invalid: set[tuple[object, ...]] = set()
    for file in files:
        model, samples = _read(file)
        for sample in samples:
            place = (str(sample["id"]), int(sample.get("epoch", 1)))
            about: Json = sample.get("metadata") or {}
            for each in about.get("invalid") or ():
                invalid.add((*place, each["criterion"], *sorted((model, each["opponent"]))))
            scores: Mapping[str, Json] = sample.get("scores") or {}
            for scorer, score in scores.items():
                meta: Json = score.get("metadata") or {}
                value = _value(file, scorer, score)
                if isinstance(meta.get("opponent"), str) and value is not None:
                    pair = (model, str(meta["opponent"]))
                    told.setdefault((*place, meta.get("criterion"), *sorted(pair)), (pair, value, meta))
                else:
                    values[_Key(*place, scorer)][model] = value
    for (sample, *_), (pair, value, meta) in told.items():
        _battle(kept, pair, value, 0.5, str(meta.get("cluster") or sample), str(meta.get("criterion") or ""))
    for key in invalid:
        kept.without(str(key[-2]), str(key[-1]))
    for key, by_model in values.items():
        _compare(kept, key, by_model)
    if not kept.columns["model_a"] and not kept.invalid:
        expected = "scores of two models at least on the same samples (give a folder with their logs)"
        raise InputProblem(path, expected, found=f"{len(files)} logs without")
    return kept


def _compare(kept: Found, key: _Key, by_model: Mapping[str, float | None]) -> None:
    for one, other in combinations(sorted(by_model), 2):
        first, second = by_model[one], by_model[other]
        if first is None or second is None:
            kept.without(one, other)
        else:
            _battle(kept, (one, other), first, second, key.sample, key.scorer)


def _battle(kept: Found, pair: tuple[str, str], one: float, other: float, cluster: str, criterion: str) -> None:
    """Nobody says in which order answers were shown: there was none, or a verdict holds several."""
    winner = None if one == other else pair[0] if one > other else pair[1]
    kept.battle(pair, winner, cluster=cluster, criterion=criterion, first=None)


def _value(file: Path, scorer: str, score: Json) -> float | None:
    value = score.get("value")
    if isinstance(value, bool | int | float):
        return None if isnan(value) else float(value)
    if value is None or value in _LETTERS:
        return None if value is None else _LETTERS[value]
    expected = "a number, or one of C, I, P and N"
    raise InputProblem(file, expected, found=repr(value)[:80], field=f"scores.{scorer}.value")


def _is_log(file: Path) -> bool:
    if file.suffix == ".eval":
        return True
    if file.suffix != ".json" or not file.is_file():
        return False
    with file.open("rb") as read:
        head = read.read(4096)
    return head.lstrip().startswith(b"{") and b'"eval"' in head and b'"status"' in head


def _read(file: Path) -> tuple[str, Iterator[Json]]:
    """The model that answered, and the samples. Raises InputProblem for what is no log."""
    try:
        if file.suffix == ".json":
            log = orjson.loads(_without_nan(file.read_bytes()))
            return str(log["eval"]["model"]), iter(log.get("samples") or ())
        with ZipFile(file) as archive:
            names = archive.namelist()
            header = orjson.loads(_member(file, archive, "header.json" if "header.json" in names else names[0]))
            samples = [
                orjson.loads(_without_nan(_member(file, archive, name)))
                for name in names
                if name.startswith("samples/")
            ]
        return str(header["eval"]["model"]), iter(cast("list[Json]", samples))
    except (orjson.JSONDecodeError, KeyError, BadZipFile, OSError, IndexError) as error:
        raise InputProblem(file, "an Inspect log", found=str(error) or type(error).__name__) from error


def _without_nan(text: bytes) -> bytes:
    """Inspect writes the value of an unscored sample as NaN, which no JSON has."""
    return text.replace(b'"value": NaN', b'"value": null').replace(b'"value":NaN', b'"value":null')


def _member(file: Path, archive: ZipFile, name: str) -> bytes:
    info = archive.getinfo(name)
    if info.compress_type in (ZIP_STORED, ZIP_DEFLATED):
        return archive.read(info)
    if info.compress_type != _ZSTANDARD:
        raise InputProblem(file, "a log that is stored, deflated or in Zstandard", found=str(info.compress_type))
    try:
        pa = arrow()
    except ImportError:
        raise Problem(
            f"{file}: reading a log in Zstandard needs pyarrow (install tutor-arena[parquet]), or a copy made by "
            "inspect log convert --to json"
        ) from None
    return pa.Codec("zstd").decompress(_packed(file, info), info.file_size, asbytes=True)


def _packed(file: Path, info: ZipInfo) -> bytes:
    """The bytes of a member as they lie in the file: the library of this Python cannot unpack them."""
    with file.open("rb") as read:
        read.seek(info.header_offset)
        name, extra = struct.unpack("<HH", read.read(30)[26:30])
        read.seek(info.header_offset + 30 + name + extra)
        return read.read(info.compress_size)
