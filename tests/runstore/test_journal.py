"""The journal: what was written is there again, whatever ended the process that wrote it."""

import asyncio
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import orjson
import pytest

from runstore import journal as journals
from runstore.journal import Journal, read_rows, segments
from runstore.problems import InputProblem, Problem
from runstore.runlock import RunLock


def key(number: int) -> str:
    return f"{number:032x}"[::-1]


def open_handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def write(folder: Path, numbers, *, body: bytes = b',"answer":"yes"', state="ok") -> None:
    journal = Journal(folder)
    for number in numbers:
        journal.put(key(number), "sent", b"")
        journal.put(key(number), state, body)
    journal.close()


def test_finished_calls_are_found_by_the_next_process_and_failures_are_not_answers(tmp_path):
    write(tmp_path, [1, 2])
    write(tmp_path, [3], state="failed", body=b',"failure":{"kind":"server"}')
    write(tmp_path, [4], state="truncated", body=b',"failure":{"kind":"truncated"}')
    journal = Journal(tmp_path)
    assert len(journal) == 2
    assert journal.find(key(1)) == {
        "key": key(1),
        "state": "ok",
        "answer": "yes",
        "crc": journal.find(key(1))["crc"],
    }
    assert journal.find(key(3)) is None
    assert not journal.has(key(4))
    assert journal.find_failure(key(3))["failure"] == {"kind": "server"}
    assert journal.states == {"ok": 2, "failed": 1, "truncated": 1}
    assert journal.lost == 0
    journal.close()


def test_a_line_can_be_read_back_before_it_was_written_out(tmp_path):
    async def inside() -> None:
        journal = Journal(tmp_path)
        journal.put(key(1), "ok", b',"n":1')
        assert journal.find(key(1))["n"] == 1
        journal.put(key(2), "ok", b',"n":2')
        await journal.written()
        assert journal.written() is None
        assert journal.find(key(2))["n"] == 2
        assert [row["n"] for row in journal.rows()] == [1, 2]
        journal.close()

    asyncio.run(inside())


def test_lines_of_one_tick_go_out_in_one_write(tmp_path, monkeypatch):
    writes = []
    real = os.write
    monkeypatch.setattr(journals.os, "write", lambda fd, data: (writes.append(len(data)), real(fd, data))[1])

    async def inside() -> None:
        journal = Journal(tmp_path)
        writes.clear()
        for number in range(50):
            journal.put(key(number), "ok", b"")
        await journal.written()
        assert len(writes) == 1
        journal.close()

    asyncio.run(inside())


@pytest.mark.parametrize("cut", [2, 7, 30])
def test_a_torn_tail_is_passed_over_and_named(tmp_path, cut):
    write(tmp_path, [1, 2, 3])
    path = segments(tmp_path)[0]
    data = path.read_bytes()
    path.write_bytes(data[:-cut])
    journal = Journal(tmp_path)
    assert journal.has(key(1)) and journal.has(key(2)) and not journal.has(key(3))
    assert len(journal.notes) == 1
    assert journal.notes[0].startswith(f"{path.name}:7: passed over an unfinished line: " + '{"key":"3')
    assert journal.lost == 1
    journal.put(key(3), "ok", b"")
    journal.close()
    again = Journal(tmp_path, read_only=True)
    assert len(again) == 3
    assert path.read_bytes() == data[:-cut]
    again.close()


def test_damage_in_the_middle_stops_with_file_and_line(tmp_path):
    write(tmp_path, [1, 2, 3])
    path = segments(tmp_path)[0]
    lines = path.read_bytes().split(b"\n")
    lines[4] = lines[4].replace(b"yes", b"yEs")
    path.write_bytes(b"\n".join(lines))
    for opening in (lambda: Journal(tmp_path), lambda: list(read_rows(tmp_path))):
        with pytest.raises(InputProblem) as caught:
            opening()
        assert caught.value.file == str(path)
        assert caught.value.line == 5
        assert "undamaged journal line" in str(caught.value)


def test_a_newer_format_and_a_segment_without_header_are_refused(tmp_path):
    write(tmp_path, [1])
    path = segments(tmp_path)[0]
    lines = path.read_bytes().split(b"\n", 1)
    path.write_bytes(lines[1])
    with pytest.raises(InputProblem, match="the header of a segment"):
        Journal(tmp_path)
    path.unlink()
    journal = Journal(tmp_path)
    journal.put(key(1), "ok", b"")
    journal.close()
    newer = path.read_bytes() if path.exists() else segments(tmp_path)[0].read_bytes()
    head, _, rest = newer.partition(b"\n")
    raised = head[: head.index(b',"crc"')].replace(b'"journal":1', b'"journal":2')
    crc = f"{__import__('zlib').crc32(raised):08x}".encode()
    segments(tmp_path)[0].write_bytes(raised + b',"crc":"' + crc + b'"}\n' + rest)
    with pytest.raises(InputProblem, match="found format 2"):
        Journal(tmp_path)


def test_members_that_this_version_does_not_know_are_left_alone(tmp_path):
    write(tmp_path, [1], body=b',"answer":"yes","mood":"sunny"')
    journal = Journal(tmp_path)
    assert journal.find(key(1))["mood"] == "sunny"
    journal.close()


def test_calls_that_were_sent_and_never_heard_of_are_counted(tmp_path):
    journal = Journal(tmp_path)
    for number in (1, 2, 3):
        journal.put(key(number), "sent", b"")
    journal.put(key(1), "ok", b"")
    journal.put(key(2), "failed", b"")
    journal.close()
    journal = Journal(tmp_path)
    assert journal.lost == 1
    journal.put(key(3), "sent", b"")
    journal.put(key(3), "ok", b"")
    journal.close()
    journal = Journal(tmp_path)
    assert journal.lost == 1
    journal.close()


def test_a_session_without_calls_leaves_no_segment_but_a_note_stays(tmp_path):
    write(tmp_path, [1])
    Journal(tmp_path).close()
    assert len(segments(tmp_path)) == 1
    journal = Journal(tmp_path)
    journal.note(batch="b-1")
    journal.close()
    assert [row.get("batch") for row in read_rows(tmp_path)][-1] == "b-1"


def test_many_segments_do_not_use_up_the_file_handles(tmp_path):
    for number in range(journals._MOST_OPEN + 20):
        write(tmp_path, [number])
    journal = Journal(tmp_path)
    before = open_handles()
    for number in range(journals._MOST_OPEN + 20):
        assert journal.find(key(number)) is not None
    assert open_handles() - before <= journals._MOST_OPEN
    journal.close()


def test_reading_only_changes_nothing(tmp_path):
    write(tmp_path, [1, 2])
    path = segments(tmp_path)[0]
    path.write_bytes(path.read_bytes()[:-4])
    before = path.read_bytes()
    journal = Journal(tmp_path, read_only=True)
    assert len(journal) == 1 and journal.notes
    journal.close()
    assert path.read_bytes() == before
    assert segments(tmp_path) == [path]


@pytest.mark.parametrize("durable", [True, False])
def test_durable_syncs_with_every_tick_and_otherwise_at_the_end(tmp_path, monkeypatch, durable):
    synced = []
    real = os.fdatasync
    monkeypatch.setattr(journals.os, "fdatasync", lambda fd: (synced.append(fd), real(fd))[1])

    async def inside() -> None:
        journal = Journal(tmp_path, durable=durable)
        synced.clear()
        for number in range(3):
            journal.put(key(number), "ok", b"")
            await journal.written()
        assert len(synced) == (3 if durable else 0)
        journal.sync()
        assert len(synced) == (3 if durable else 1)
        journal.close()

    asyncio.run(inside())


def test_a_failed_write_is_told_to_whoever_waits_and_nothing_is_written_after_it(tmp_path, monkeypatch):
    async def inside() -> None:
        journal = Journal(tmp_path)
        real = os.write

        def half(fd: int, data: memoryview) -> int:
            real(fd, data[:10])
            raise OSError(28, "No space left on device")

        journal.put(key(1), "ok", b"")
        await journal.written()
        monkeypatch.setattr(journals.os, "write", half)
        journal.put(key(2), "ok", b"")
        with pytest.raises(OSError, match="No space"):
            await journal.written()
        monkeypatch.setattr(journals.os, "write", real)
        with pytest.raises(OSError, match="No space"):
            journal.put(key(3), "ok", b"")
        journal.close()

    asyncio.run(inside())
    journal = Journal(tmp_path)
    assert journal.has(key(1)) and len(journal) == 1 and len(journal.notes) == 1
    journal.close()


HOLD = """
import sys
from pathlib import Path
from runstore.runlock import RunLock
with RunLock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_refused_by_name_and_a_dead_ones_lock_is_free(tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None and holder.stdin is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(Problem, match=rf"being written by process {holder.pid} on .+ since 20.+; wait for it"):
        RunLock(tmp_path)
    holder.kill()
    holder.wait()
    holder.stdout.close()
    holder.stdin.close()
    assert f"process {holder.pid}" in (tmp_path / "run.lock").read_text()
    with RunLock(tmp_path):
        assert f"process {os.getpid()}" in (tmp_path / "run.lock").read_text()
    assert (tmp_path / "run.lock").read_text() == ""


def test_a_folder_that_cannot_be_written_is_the_users_problem(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Problem, match="cannot be written"):
        RunLock(tmp_path / "file")


def test_the_index_does_not_hold_the_texts(tmp_path):
    write(tmp_path, range(2000), body=b',"answer":"' + b"x" * 4000 + b'"')
    tracemalloc.start()
    journal = Journal(tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(journal) == 2000
    assert peak < 2000 * 1000
    journal.close()


def test_lines_are_json_that_any_reader_can_read(tmp_path):
    write(tmp_path, [1])
    for line in segments(tmp_path)[0].read_bytes().splitlines():
        assert orjson.loads(line)["crc"]


def test_what_another_process_could_not_reach_or_end_is_not_settled_for_this_one(tmp_path):
    journal = Journal(tmp_path)
    for number, kind in enumerate((b"server", b"connection", b"interrupted")):
        write(tmp_path, [number], state="failed", body=b',"failure":{"kind":"%b"}' % kind)
    assert journal.catch_up() > 0
    assert [journal.settled_failure(key(number)) is not None for number in range(3)] == [True, False, False]
    journal.close()


CREATES_AND_REMOVES = """
import sys
from pathlib import Path
from runstore.journal import Journal
while True:
    Journal(Path(sys.argv[1])).close()
"""


def test_segments_that_others_take_away_again_are_passed_over(tmp_path):
    """A process that makes no call leaves no segment, and may end while another one begins."""
    write(tmp_path, [1])
    others = [subprocess.Popen([sys.executable, "-c", CREATES_AND_REMOVES, str(tmp_path)]) for _ in range(2)]
    try:
        seen = 0
        for _ in range(20_000):
            seen += len(segments(tmp_path)) > 1
            journal = Journal(tmp_path, read_only=True)
            assert journal.has(key(1))
            journal.close()
            if seen == 100:
                break
        assert seen, "there was never another segment"
        assert [other.poll() for other in others] == [None, None], "one of them failed"
    finally:
        for other in others:
            other.kill()
            other.wait()
