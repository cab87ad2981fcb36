"""The structured log of a run: JSON lines with what happened at the door, for machines and for later."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import BinaryIO

from gateway.secrets import Redactor
from runstore.publish import to_json


class EventLog:
    """Appends events to ``log.jsonl``; with no path it only keeps quiet. A log that cannot be written stops
    nothing: the journal is the record."""

    def __init__(self, path: Path | None, redactor: Redactor | None = None) -> None:
        self._redactor = redactor or Redactor()
        self._out: BinaryIO | None = None
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._out = path.open("ab", buffering=0)

    def emit(self, event: str, **fields: object) -> None:
        if self._out is not None:
            line = to_json({"at": round(time.time(), 3), "event": event, **fields})
            with contextlib.suppress(OSError):
                self._out.write(self._redactor.record(line) + b"\n")

    def close(self) -> None:
        if self._out is not None:
            self._out.close()
            self._out = None
