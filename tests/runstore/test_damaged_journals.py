"""Journals damaged in every way we know: no paid call is destroyed, and each way on is said."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from frontdesk.cli import main
from runstore.journal import Journal
from runstore.problems import InputProblem
from runstore.segments import header, repair, sealed, segments

CALLS = 12


def key(number: int) -> str:
    return f"{number:016x}" * 2


def written(folder: Path) -> Path:
    """A run folder whose journal holds twelve answered calls in one segment; the segment."""
    journal = Journal(folder / "journal")
    for number in range(1, CALLS + 1):
        journal.put(key(number), "sent", b"")
        journal.put(key(number), "ok", b',"answer":"line %d"' % number)
    journal.close()
    return segments(folder / "journal")[0]


def answered(folder: Path) -> set[int]:
    journal = Journal(folder / "journal", read_only=True)
    known = {number for number in range(1, CALLS + 1) if journal.has(key(number))}
    journal.close()
    return known


def _flip(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def _line(data: bytes, number: int, change: Callable[[bytes], bytes]) -> bytes:
    lines = data.split(b"\n")
    lines[number - 1] = change(lines[number - 1])
    return b"\n".join(lines)


HARMLESS: dict[str, Callable[[bytes], bytes]] = {
    "line ends changed to CRLF by a copy": lambda data: data.replace(b"\n", b"\r\n"),
    "the last line end lost": lambda data: data[:-1],
    "the last line end lost in a copy with CRLF": lambda data: data.replace(b"\n", b"\r\n")[:-2],
    "blank lines at the end": lambda data: data + b"\n\n",
    "blank lines between": lambda data: data.replace(b"\n", b"\n\n"),
    "blanks at the ends of lines": lambda data: data.replace(b"\n", b" \t\n"),
    "a mark of UTF-8 before it": lambda data: b"\xef\xbb\xbf" + data,
    "a carriage return at its end": lambda data: data + b"\r",
}
TORN: dict[str, Callable[[bytes], bytes]] = {
    "the last line cut": lambda data: data[:-9],
    "the last line cut to three letters": lambda data: data[: data.rindex(b"{") + 3],
    "the last line cut in a copy with CRLF": lambda data: data.replace(b"\n", b"\r\n")[:-9],
    "the last line cut within a letter": lambda data: data[: data.rindex(b"line 12")] + "줄".encode()[:2],
}
DAMAGED: dict[str, Callable[[bytes], bytes]] = {
    "one bit of the last complete line": lambda data: _flip(data, len(data) - 40),
    "one bit of the first line": lambda data: _flip(data, 60),
    "one bit in the middle": lambda data: _flip(data, len(data) // 2),
    "the last two thirds zeroed": lambda data: data[: len(data) // 3] + bytes(len(data) - len(data) // 3),
    "zeros at the end": lambda data: data + bytes(64),
    "the last two fifths of the lines overwritten": lambda data: b"\n".join(
        line if at < 15 else b"x" * len(line) for at, line in enumerate(data.split(b"\n"))
    ),
    "the header gone": lambda data: data.split(b"\n", 1)[1],
    "a line edited by hand": lambda data: _line(data, 9, lambda line: line.replace(b"line", b"Line")),
    "a line broken in two": lambda data: _line(data, 9, lambda line: line[:40] + b"\n" + line[40:]),
    "two lines joined": lambda data: _line(data, 9, lambda line: line + b"?"),
    "merge marks": lambda data: data.replace(b"\n", b"\n<<<<<<< mine\n", 3),
    "a half line and more behind it": lambda data: data[:-9] + b"\n",
    "everything in another encoding": lambda data: data.decode().encode("utf-16"),
    "a byte of a line zeroed": lambda data: data.replace(b"line 5", b"lin\0 5"),
    "a hundred bytes gone": lambda data: data[:200] + data[300:],
    "another program's words at the end": lambda data: data + b"Disk quota exceeded\n",
    "emptied": lambda data: b"",
    "everything zeroed": lambda data: bytes(len(data)),
}


@pytest.mark.parametrize("way", HARMLESS)
def test_what_only_changed_line_ends_is_read_as_it_is(way: str, tmp_path: Path) -> None:
    segment = written(tmp_path)
    changed = HARMLESS[way](segment.read_bytes())
    segment.write_bytes(changed)
    assert answered(tmp_path) == set(range(1, CALLS + 1))
    Journal(tmp_path / "journal").close()
    assert segment.read_bytes() == changed
    assert repair(tmp_path / "journal") == []


@pytest.mark.parametrize("way", TORN)
def test_a_torn_tail_costs_the_call_in_flight_and_nothing_else(way: str, tmp_path: Path) -> None:
    segment = written(tmp_path)
    torn = TORN[way](segment.read_bytes())
    segment.write_bytes(torn)
    Journal(tmp_path / "journal").close()
    assert answered(tmp_path) == set(range(1, CALLS))
    assert segment.read_bytes() == torn


@pytest.mark.parametrize("way", DAMAGED)
def test_damage_stops_and_is_set_aside_whole(way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    segment = written(tmp_path)
    whole = {line for line in segment.read_bytes().split(b"\n") if b'"ok"' in line}
    damaged = DAMAGED[way](segment.read_bytes())
    segment.write_bytes(damaged)
    for read_only in (False, True):
        with pytest.raises(InputProblem, match=r"calls --repair RUN") as caught:
            Journal(tmp_path / "journal", read_only=read_only)
        assert caught.value.file == str(segment) and caught.value.line is not None
        assert segment.read_bytes() == damaged
    assert main(["calls", "--repair", str(tmp_path)]) == 0
    assert segment.with_name(f"{segment.name}.damaged-1").read_bytes() == damaged
    assert "asked again" in capsys.readouterr().out
    intact = sum(line.rstrip(b"\r") in whole for line in damaged.split(b"\n"))
    assert len(answered(tmp_path)) == intact
    assert main(["calls", "--repair", str(tmp_path)]) == 0
    assert "nothing is damaged" in capsys.readouterr().out


@pytest.mark.parametrize("fields", [{"program": "tutor-arena 9.9", "host": "gpu3"}, {"host": "gpu3"}, {}])
def test_a_segment_of_another_format_says_who_wrote_it_and_what_to_do(
    fields: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path)
    newer = tmp_path / "journal" / "000002-7.jsonl"
    head = header(**fields).split(b',"crc"')[0].replace(b'"journal":1', b'"journal":2')
    newer.write_bytes(sealed(head))
    before = newer.read_bytes()
    with pytest.raises(InputProblem, match="format 2 of"):
        Journal(tmp_path / "journal")
    assert main(["calls", "--repair", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert f"{newer}:1: found format 2 of {fields.get('program', 'a program that does not say')}" in said
    assert ("on gpu3" in said) == ("host" in fields)
    assert "expected format 1: go on with the version that wrote it" in said and "--repair RUN" in said
    assert newer.read_bytes() == before
    newer.rename(tmp_path / newer.name)
    assert main(["calls", "--repair", str(tmp_path)]) == 0
    assert answered(tmp_path) == set(range(1, CALLS + 1))


def test_a_segment_says_what_wrote_it(tmp_path: Path) -> None:
    assert json.loads(written(tmp_path).read_bytes().split(b"\n")[0])["program"].startswith("tutor-arena ")


def test_somebodys_file_in_the_folder_is_left_alone(tmp_path: Path) -> None:
    written(tmp_path)
    for name in ("202411-notes.jsonl", "notes.jsonl"):
        (tmp_path / "journal" / name).write_text('{"my": "notes"}\nnot even JSON')
    Journal(tmp_path / "journal").close()
    assert answered(tmp_path) == set(range(1, CALLS + 1))
    assert (tmp_path / "journal" / "202411-notes.jsonl").read_text() == '{"my": "notes"}\nnot even JSON'
    assert repair(tmp_path / "journal") == []


def test_a_segment_under_another_name_is_known_by_its_header(tmp_path: Path) -> None:
    segment = written(tmp_path)
    segment.rename(segment.with_name("from-the-other-machine.jsonl"))
    assert answered(tmp_path) == set(range(1, CALLS + 1))


def beside(name: str, change: Callable[[bytes], bytes] = lambda data: data) -> Callable[[Path], object]:
    return lambda segment: segment.with_name(name).write_bytes(change(segment.read_bytes()))


def renamed(end: str) -> Callable[[Path], object]:
    return lambda segment: segment.rename(segment.with_name(segment.name + end))


def lies_elsewhere(segment: Path) -> None:
    target = segment.rename(segment.parents[1] / "elsewhere")
    segment.symlink_to(target)


ELSEWHERE: dict[str, Callable[[Path], object]] = {
    "a copy beside it": beside("000002-9.jsonl"),
    "a copy with CRLF": beside("copy.jsonl", lambda data: data.replace(b"\n", b"\r\n")),
    "a copy of its beginning": beside("copy.jsonl", lambda data: b"".join(data.splitlines(keepends=True)[:9])),
    "a link to it": lambda segment: segment.with_name("000002-9.jsonl").symlink_to(segment),
    "only a link": lies_elsewhere,
    "as a backup": renamed(".bak"),
    "as a text": renamed(".txt"),
    "half downloaded by name": renamed(".download"),
    "in capitals": lambda segment: segment.rename(segment.with_name(segment.name.upper())),
    "counted as a copy": lambda segment: segment.rename(segment.with_name("000001-5 (1).jsonl")),
    "a damaged copy beside it": beside("000002-9.jsonl", lambda data: _flip(data, 600)),
}


@pytest.mark.parametrize("way", ELSEWHERE)
def test_a_segment_is_read_once_whatever_it_is_called(way: str, tmp_path: Path) -> None:
    ELSEWHERE[way](written(tmp_path))
    if "damaged" in way:
        assert main(["calls", "--repair", str(tmp_path)]) == 0
    assert answered(tmp_path) == set(range(1, CALLS + 1))
    journal = Journal(tmp_path / "journal")
    assert journal.states["ok"] == CALLS
    journal.close()


def packed(name: str, data: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    def pack(segment: Path) -> None:
        held = data(segment.read_bytes())
        segment.unlink()
        segment.with_name(segment.name.replace(".jsonl", name)).write_bytes(held)

    return pack


def to_nowhere(segment: Path) -> None:
    segment.unlink()
    segment.symlink_to("nowhere")


GONE: dict[str, Callable[[Path], object]] = {
    "packed": packed(".jsonl.gz", gzip.compress),
    "packed under its own name": packed(".jsonl", gzip.compress),
    "in an archive": packed(".zip", lambda data: b"PK\x03\x04" + data),
    "a link to nowhere": to_nowhere,
}


@pytest.mark.parametrize("way", GONE)
def test_a_segment_that_is_there_and_cannot_be_read_is_not_taken_for_none(way: str, tmp_path: Path) -> None:
    segment = written(tmp_path)
    GONE[way](segment)
    for read_only in (False, True):
        with pytest.raises(InputProblem, match=r"a segment of the journal"):
            Journal(tmp_path / "journal", read_only=read_only)
    assert main(["calls", "--repair", str(tmp_path)]) == 2


def test_line_ends_of_old_machines_are_set_right_without_a_loss(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segment = written(tmp_path)
    segment.write_bytes(segment.read_bytes().replace(b"\n", b"\r"))
    with pytest.raises(InputProblem, match="undamaged journal line"):
        Journal(tmp_path / "journal", read_only=True)
    assert main(["calls", "--repair", str(tmp_path)]) == 0
    assert "line ends set right" in capsys.readouterr().out
    assert answered(tmp_path) == set(range(1, CALLS + 1))


def test_copies_that_each_hold_more_are_refused(tmp_path: Path) -> None:
    segment = written(tmp_path)
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(lines[:20]))
    segment.with_name("copy.jsonl").write_bytes(b"".join([lines[0], *lines[3:]]))
    with pytest.raises(InputProblem, match="no other lines than its copy"):
        Journal(tmp_path / "journal", read_only=True)
