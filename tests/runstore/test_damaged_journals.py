"""Journals damaged in every way we know: no paid call is destroyed, and each way on is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from frontdesk.cli import main
from runstore.journal import Journal
from runstore.problems import InputProblem
from runstore.segments import repair, segments

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
}
TORN: dict[str, Callable[[bytes], bytes]] = {
    "the last line cut": lambda data: data[:-9],
    "the last line cut to three letters": lambda data: data[: data.rindex(b"{") + 3],
    "the last line cut in a copy with CRLF": lambda data: data.replace(b"\n", b"\r\n")[:-9],
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
