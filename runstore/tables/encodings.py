"""Which encoding a text file is in: found out over the whole file, reported, and never guessed at."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path

from runstore.problems import InputProblem, Problem

_BLOCK = 1 << 20
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32 LE with mark"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32 BE with mark"),
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8 with mark"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16 LE with mark"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16 BE with mark"),
)
# Fewer whole multi-byte characters than this before the first bad byte may be an accident of another encoding.
_SURELY_UTF8 = 8


@dataclass(frozen=True)
class Encoding:
    """``codec`` is Python's name, ``name`` what is reported."""

    codec: str
    name: str


def named(name: str) -> Encoding:
    """The encoding a user names. Raises Problem for a name that Python does not know."""
    try:
        return Encoding(codecs.lookup(name).name, name)
    except LookupError as error:
        raise Problem(
            f"--encoding: found {name!r}, expected a name such as utf-8, cp949, utf-16, cp1252"
        ) from error


def detect_encoding(path: Path) -> Encoding:
    """A mark decides; else UTF-16 by its zero bytes, else UTF-8 or CP949, whichever the whole file is.

    Nothing is replaced or guessed at: a file that is none of them is refused with the line of the bad byte.
    """
    try:
        with path.open("rb") as file:
            head = file.read(1 << 12)
    except OSError as error:
        raise InputProblem(path, "a readable file", found=error.strerror or str(error)) from error
    for mark, codec, name in _MARKS:
        if head.startswith(mark):
            return Encoding(codec, name)
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if max(even, odd) * 5 > len(head) // 2 and min(even, odd) * 5 < max(even, odd):
        return Encoding("utf-16-le", "UTF-16 LE") if odd > even else Encoding("utf-16-be", "UTF-16 BE")
    bad = _first_bad(path, "utf-8")
    if bad is None:
        return Encoding("utf-8", "UTF-8")
    line, byte, wide = bad
    if wide < _SURELY_UTF8 and _first_bad(path, "cp949") is None:
        return Encoding("cp949", "CP949")
    expected = "UTF-8 text, or UTF-16 or CP949 (agent-runs takes any other with --encoding)"
    raise InputProblem(path, expected, found=f"byte {byte:#04x}", line=line)


def _first_bad(path: Path, codec: str) -> tuple[int, int, int] | None:
    """(line, byte, non-ASCII characters before it) of the first byte that is not text in this encoding."""
    decoder = codecs.getincrementaldecoder(codec)()
    line, wide = 1, 0
    with path.open("rb") as file:
        while True:
            block = file.read(_BLOCK)
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                before = error.object[: error.start]
                good = before.decode(codec, "ignore")
                wide += sum(ord(character) > 127 for character in good)
                return line + before.count(b"\n"), error.object[error.start], wide
            if not block:
                return None
            line += block.count(b"\n")
            if wide < _SURELY_UTF8 and not text.isascii():
                wide += sum(ord(character) > 127 for character in text)


def undecodable(path: Path, encoding: Encoding, error: UnicodeDecodeError) -> InputProblem:
    """The problem to raise where a file turned out not to be in its encoding, with the line of the bad byte."""
    bad = _first_bad(path, encoding.codec)
    return InputProblem(path, f"{encoding.name} text", found=error.reason, line=bad[0] if bad else None)


def read_text(path: Path) -> str:
    """A whole file's text without a mark, its encoding found out. Raises InputProblem."""
    encoding = detect_encoding(path)
    return path.read_bytes().decode(encoding.codec).removeprefix("\ufeff")
