"""The record of every call: append-only JSON lines, from which everything else of a run is computed.

A run's ``journal/`` holds one segment a process, named so that they sort by time. A segment starts with a header
line (format, program and its version, host); every other line is

    {"key": K, "state": "sent" | "ok" | "failed" | "truncated" | "note", ..., "crc": C}

``K`` is the hash of everything that was sent; ``crc`` is the CRC-32 of the line before it. Lines of one event-
loop tick are joined into one write. A line that says "sent" goes out before each attempt at a call (``attempt``
numbers those after the first), so that what was paid for but lost with the process can be counted. Only "ok" lines
are ever served again.

On opening, a torn tail (a last fragment without an end) is passed over and noted; any other damage stops with file
and line, and nothing is ever deleted (see :mod:`runstore.segments`). The index holds two integers a finished call,
not its text.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import itertools
import os
import socket
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, Literal

import orjson

from runstore.key_index import KeyIndex
from runstore.runlock import hold
from runstore.segments import NO_KEY, header, lines_in, sealed, segments

State = Literal["sent", "ok", "failed", "truncated", "note"]

_KEY_START, _KEY_END = len(b'{"key":"'), len(b'{"key":"') + 32
_STATE_START = _KEY_END + len(b'","state":"')
_ANOTHER_ATTEMPT = b'sent","attempt":'
_OFFSET_BITS = 44
_MOST_OPEN = 64
_OF_PLACE = frozenset({"interrupted", "connection"})
"""Failures that tell of the process that asked, not of the service: another process may have an answer."""


class Journal:
    """One run's journal, opened for writing by one process at a time (see :class:`RunLock`), or for reading only.

    ``durable``: sync to disk with every tick instead of once a second. ``notes`` says what was passed over,
    ``lost`` how many calls were sent by processes that died before the answer was written.
    """

    def __init__(
        self,
        folder: Path,
        *,
        durable: bool = False,
        read_only: bool = False,
        only: Callable[[str, str], bool] | None = None,
    ) -> None:
        """``only``: the stages and items whose calls are wanted; others are not looked for."""
        self.folder, self.durable, self.read_only = folder, durable, read_only
        self._only = only
        self._settled: set[int] = set()
        self._read: dict[Path, int] = {}
        self.notes: list[str] = []
        self.states: Counter[str] = Counter()
        self.lost = 0
        self._where = KeyIndex()
        self._failed: dict[int, int] = {}
        self._paths: list[Path] = []
        self._numbers: dict[Path, int] = {}
        self._open: OrderedDict[int, BinaryIO] = OrderedDict()
        self._broken: OSError | None = None
        self._pending: list[bytes] = []
        self._pending_size = 0
        self._tick: asyncio.Future[None] | None = None
        self._dirty = False
        self._syncing: asyncio.TimerHandle | None = None
        self._answers: Counter[int] = Counter()
        self._load()
        self._segment, self._size = -1, 0
        if not read_only:
            self.begin()

    # -- reading

    def find(self, key: str) -> dict[str, Any] | None:
        """The finished call with this key, or None. Reads one line from disk."""
        return self._row(self._where, key)

    def find_failure(self, key: str) -> dict[str, Any] | None:
        """The last call with this key that ended without an answer, or None: to replay a run as it was."""
        return self._row(self._failed, key)

    def settled_failure(self, key: str) -> dict[str, Any] | None:
        """The failure of a call that another process made for this session (see :meth:`catch_up`), or None."""
        return self.find_failure(key) if self._settled and int(key[:16], 16) in self._settled else None

    def _row(self, index: KeyIndex | dict[int, int], key: str) -> dict[str, Any] | None:
        place = index.get(int(key[:16], 16))
        if place is None:
            return None
        row = self._at(place)
        return row if row["key"] == key else None

    def _at(self, place: int) -> dict[str, Any]:
        number, offset = place >> _OFFSET_BITS, place & ((1 << _OFFSET_BITS) - 1)
        if number == self._segment and offset >= self._size - self._pending_size:
            self._write()
        file = self._file(number)
        file.seek(offset)
        return orjson.loads(file.readline())

    def _file(self, number: int) -> BinaryIO:
        """A segment, open for reading; of many segments the last used stay open."""
        file = self._open.pop(number, None)
        if file is None:
            if len(self._open) >= _MOST_OPEN:
                self._open.popitem(last=False)[1].close()
            file = self._paths[number].open("rb")
        self._open[number] = file
        return file

    def is_new(self, key: str) -> bool:
        """Whether the finished call with this key was made in this session, elsewhere: as it would be made now."""
        place = self._where.get(int(key[:16], 16))
        return place is not None and place >> _OFFSET_BITS > self._segment >= 0

    def knows(self, key: str) -> bool:
        """Whether a call with this key came to an end, with an answer or without."""
        short = int(key[:16], 16)
        return short in self._where or short in self._failed

    def has(self, key: str) -> bool:
        return int(key[:16], 16) in self._where

    def __len__(self) -> int:
        """Finished calls that can be served."""
        return len(self._where)

    def answers(self) -> dict[str, int]:
        """How many answers each segment holds, by its name; one that stands in two segments counts in both."""
        return {self._paths[number].name: count for number, count in sorted(self._answers.items())}

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every line of every segment, parsed, in order of writing; header lines left out."""
        self._write()
        yield from read_rows(self.folder)

    def _load(self) -> None:
        open_calls: dict[int, int] = {}
        for path in segments(self.folder):
            self._read_segment(path, open_calls)
        self.lost = sum(open_calls.values())

    def _read_segment(self, path: Path, open_calls: dict[int, int]) -> None:
        """Take in what a segment holds beyond what was read of it before."""
        number, begin = self._number(path), self._read.get(path, 0)
        for offset, line in lines_in(path, self.notes, begin):
            self._index(line, number << _OFFSET_BITS | offset, open_calls)
            self._read[path] = offset + len(line)

    def _number(self, path: Path) -> int:
        """Of a segment: by it calls are found again. There may be one of each worker and stage."""
        if path not in self._numbers:
            self._numbers[path] = len(self._paths)
            self._paths.append(path)
        return self._numbers[path]

    def catch_up(self) -> int:
        """Take in what other processes have added for this session; returns how many calls.

        What they failed at is settled: it is not tried again in this session.
        """
        before, known = self.states.total(), dict(self._failed)
        for path in segments(self.folder):
            if self._segment < 0 or path != self._paths[self._segment]:
                self._read_segment(path, {})
        new = [key for key, place in self._failed.items() if known.get(key) != place]
        self._settled.update(key for key in new if not self._is_of_place(self._failed[key]))
        return self.states.total() - before

    def _is_of_place(self, place: int) -> bool:
        return self._at(place)["failure"]["kind"] in _OF_PLACE

    def _index(self, line: bytes, place: int, open_calls: dict[int, int]) -> None:
        """Take in a line; ``open_calls`` counts, by key, those that were sent and have not ended."""
        state = line[_STATE_START : _STATE_START + 4]
        if state == b"note":
            return
        if self._only is not None and (state == b"sent" or not self._only(*_where_of(line))):
            return
        short = int(line[_KEY_START : _KEY_START + 16], 16)
        if state == b"sent":
            if not line.startswith(_ANOTHER_ATTEMPT, _STATE_START):
                open_calls[short] = open_calls.get(short, 0) + 1
            return
        others = open_calls.pop(short, 1) - 1
        if others:
            open_calls[short] = others
        if state == b'ok",':
            self.states["ok"] += 1
            self._answers[place >> _OFFSET_BITS] += 1
            self._where[short] = place
        else:
            self.states[line[_STATE_START : line.index(b'"', _STATE_START)].decode()] += 1
            self._failed[short] = place

    # -- writing

    def begin(self) -> None:
        """A segment of its own: what was opened for reading only is written from now on."""
        self.read_only = False
        self.folder.mkdir(parents=True, exist_ok=True)
        self._open_segment()

    def put(self, key: str, state: State, body: bytes) -> None:
        """Add one line; ``body`` is the rest of its JSON object, starting with a comma (or empty).

        The line is on its way to the kernel by the end of this event-loop tick: see :meth:`written`.
        Raises OSError once a write has failed: a line after a half one would be lost with it.
        """
        if self._broken is not None:
            raise self._broken
        head = b'{"key":"%b","state":"%b"%b' % (key.encode(), state.encode(), body)
        line = sealed(head)
        if state == "ok":
            self._answers[self._segment] += 1
            self._where[int(key[:16], 16)] = self._segment << _OFFSET_BITS | self._size
        elif state != "sent" and state != "note":
            self._failed[int(key[:16], 16)] = self._segment << _OFFSET_BITS | self._size
        self._pending.append(line)
        self._size += len(line)
        self._pending_size += len(line)
        if self._tick is None:
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:
                self._write()
                return
            self._tick = loop.create_future()
            loop.call_soon(self._write)

    def written(self) -> asyncio.Future[None] | None:
        """A future that is done when everything put so far has been written (or ends in OSError); None if it
        has been."""
        return self._tick

    @property
    def segment(self) -> Path:
        """The file that this process writes."""
        return self._path

    @property
    def size(self) -> int:
        """Bytes of it that have been written."""
        return self._size - self._pending_size

    @property
    def error(self) -> OSError | None:
        """Why nothing can be written any more, if so."""
        return self._broken

    def note(self, **fields: object) -> None:
        """A line that is not a call: a batch job that was submitted, a stage that ended."""
        self.put(NO_KEY, "note", b"," + orjson.dumps(fields)[1:-1])

    def _write(self) -> None:
        tick, self._tick = self._tick, None
        try:
            self._write_pending()
        except OSError as error:
            self._broken = error
            if tick is None:
                raise
            if not tick.done():
                tick.set_exception(error)
                tick.exception()
            return
        if tick is not None and not tick.done():
            tick.set_result(None)

    def _write_pending(self) -> None:
        if not self._pending:
            return
        view = memoryview(b"".join(self._pending))
        self._pending.clear()
        self._pending_size = 0
        while view:
            view = view[os.write(self._out, view) :]
        self._dirty = True
        if self.durable:
            self._sync()
        elif self._syncing is None:
            with contextlib.suppress(RuntimeError):  # outside of a loop it is synced when closed
                loop = asyncio.get_running_loop()
                self._syncing = loop.call_later(1.0, self._sync_in_background, loop)

    def _sync_in_background(self, loop: asyncio.AbstractEventLoop) -> None:
        self._syncing = None
        if self._dirty:
            self._dirty = False
            loop.run_in_executor(None, self._sync_quietly, self._out)

    def _sync_quietly(self, handle: int) -> None:
        try:
            os.fdatasync(handle)
        except OSError as error:
            if error.errno != errno.EBADF:  # closed, and synced, meanwhile
                self._broken = error

    def _sync(self) -> None:
        self._dirty = False
        os.fdatasync(self._out)

    def sync(self) -> None:
        """Write and sync to disk: at the end of a stage. Raises OSError."""
        self._write()
        if self._broken is not None:
            raise self._broken
        if self._dirty:
            self._sync()

    def close(self) -> None:
        """Write, sync and let go of the files; a segment without a call in it is removed."""
        for file in self._open.values():
            file.close()
        if self.read_only:
            return
        if self._syncing is not None:
            self._syncing.cancel()
        try:
            if self._broken is None:
                self.sync()
        finally:
            os.close(self._out)
        if self._size == self._header_size:
            self._path.unlink(missing_ok=True)

    def _open_segment(self) -> None:
        self._path, begun, self._out = new_segment(self.folder)
        hold(self._out)
        self._segment = self._number(self._path)
        by = {"program": f"tutor-arena {version('tutor-arena')}", "pid": os.getpid(), "host": socket.gethostname()}
        first = header(**by, at=round(time.time(), 3), name=self._path.stem)
        self._pending.append(first)
        self._header_size = self._size = self._pending_size = len(first)
        try:
            self._write()
            begun.rename(self._path)
        except OSError:
            begun.unlink(missing_ok=True)
            raise


def new_segment(folder: Path) -> tuple[Path, Path, int]:
    """A further segment's name, the file it is begun as, and that file open for writing.

    Until its header is written it has another name: without one it would look damaged. No process, of this machine
    or another, gets a name that is taken.
    """
    last = max((int(path.name[:6]) for path in segments(folder) if path.name[:6].isdecimal()), default=0)
    for number in itertools.count(last + 1):
        path = folder / f"{number:06d}-{os.getpid()}.jsonl"
        begun = folder / f".{path.name}.tmp"
        with contextlib.suppress(FileExistsError):
            out = os.open(begun, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o644)
            if not path.exists():
                return path, begun, out
            os.close(out)
            begun.unlink()
    raise AssertionError("numbers never end")


def _where_of(line: bytes) -> tuple[str, str]:
    """The stage and the item that a call's line names."""
    stage, item = orjson.loads(line)["where"]
    return stage, item


def read_rows(folder: Path, since: Mapping[Path, int] | None = None) -> Iterator[dict[str, Any]]:
    """Every line of a journal, parsed, without opening it for writing; header lines left out.

    ``since``: how many bytes of a segment to pass over. Raises InputProblem for damage, not for a torn tail.
    """
    for path in segments(folder):
        for _, line in lines_in(path, [], (since or {}).get(path, 0)):
            row = orjson.loads(line)
            if "journal" not in row:
                yield row
