"""A run as it goes, read from its folder: never from the process that makes it, never written to.

The run tells its log (``log.jsonl``) where it stands, once a second at most, and every match as it is judged;
each look reads on where the last one ended.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from arena.ratings.leaderboard import build
from arena.ratings.result import Leaderboard, read_leaderboard
from arena.ratings.verdicts import from_verdicts
from frontdesk.runner.config import Config
from frontdesk.runner.outcome import EndpointDone
from frontdesk.runner.rating import settings_of
from frontdesk.runner.runfolder import RunFolder
from runstore.problems import Problem
from runstore.records import Language, Verdict
from runstore.results import Result

MOST_TEXTS = 20
"""So many unreadable replies and failures are kept, the latest."""
State = Literal["waiting", "under way", "ended"]


class Stage(Result):
    """A stage: of ``of`` items ``done`` are finished; ``failed`` is known at its end.

    ``per_minute`` items since it began; ``left_s`` seconds at that rate, null once it has ended, or not yet known.
    """

    stage: str
    done: int
    of: int
    failed: int | None
    is_ended: bool
    per_minute: float | None
    left_s: float | None


class Unreadable(Result):
    """What a judge wrote that could not be read, its beginning, and why."""

    judge: str
    item: str
    reason: str
    text: str


class Failed(Result):
    """A call that came to no answer."""

    endpoint: str
    stage: str
    item: str
    kind: str
    message: str


class Live(Result):
    """The run at a moment. ``last_at``: when it last said anything (seconds since 1970).

    ``board`` is made of the ``judged`` verdicts there are so far while it is ``provisional``, else the run's own.
    """

    name: str
    language: Language
    state: State
    last_at: float | None
    stages: tuple[Stage, ...]
    endpoints: tuple[EndpointDone, ...]
    unreadable: tuple[Unreadable, ...]
    failures: tuple[Failed, ...]
    judged: int
    board: Leaderboard | None
    provisional: bool


class Watched:
    """A run's log, read on. ``folder`` may hold nothing yet: then the run is waited for."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self._log = folder.file("log.jsonl")
        self._read = 0
        self._rated: tuple[int, Leaderboard | None] = (0, None)
        self._begin({})

    def look(self) -> Live:
        """The run as it stands now."""
        for event in self._events():
            self._take(event)
        config = self._config()
        board, provisional = self._board(config)
        return Live(
            name=self.folder.path.name if config is None else config.run.name,
            language="en" if config is None else config.run.language,
            state=self._state,
            last_at=self._last_at,
            stages=tuple(self._stages.values()),
            endpoints=self._endpoints,
            unreadable=tuple(self._unreadable),
            failures=tuple(self._failures),
            judged=len(self._verdicts),
            board=board,
            provisional=provisional,
        )

    def _config(self) -> Config | None:
        try:
            return self.folder.config()
        except Problem:
            return None

    def _events(self) -> Iterator[Mapping[str, Any]]:
        """Whole lines that were written since; a line that is no event is passed over."""
        if not self._log.is_file():
            return
        with self._log.open("rb") as log:
            if log.seek(0, 2) < self._read:
                self._read = 0
            log.seek(self._read)
            for line in log:
                if not line.endswith(b"\n"):
                    return
                self._read += len(line)
                try:
                    yield json.loads(line)
                except ValueError:
                    continue

    def _begin(self, event: Mapping[str, Any]) -> None:
        """A session: what it does is told from its own beginning."""
        self._state: State = "under way" if event else "waiting"
        self._last_at: float | None = event.get("at")
        self._stages: dict[str, Stage] = {}
        self._began: dict[str, float] = {}
        self._endpoints: tuple[EndpointDone, ...] = ()
        self._unreadable: deque[Unreadable] = deque(maxlen=MOST_TEXTS)
        self._failures: deque[Failed] = deque(maxlen=MOST_TEXTS)
        self._verdicts: dict[tuple[str, ...], Verdict] = {}

    def _take(self, event: Mapping[str, Any]) -> None:
        self._last_at = event["at"]
        match event["event"]:
            case "session_started":
                self._begin(event)
            case "stage_started":
                self._began[event["stage"]] = event["at"]
                self._stage(event["stage"], 0, event["items"], event["at"])
            case "progress":
                self._stage(event["stage"], event["done"], event["of"], event["at"])
                self._endpoints = tuple(EndpointDone.model_validate(each) for each in event["endpoints"])
            case "stage_ended":
                self._stage(event["stage"], event["done"], event["of"], event["at"], event["failed"])
                self._endpoints = tuple(EndpointDone.model_validate(each) for each in event.get("endpoints", ()))
            case "judged":
                verdict = Verdict.model_validate({**event, "votes": ()})
                self._verdicts[verdict.subset, *verdict.endpoints, verdict.criterion] = verdict
            case "unreadable":
                told = {name: str(event[name] or "") for name in Unreadable.model_fields}
                self._unreadable.append(Unreadable(**told))
            case "call_failed":
                self._failures.append(Failed(**{name: str(event[name]) for name in Failed.model_fields}))
            case "session_ended":
                self._state = "ended"
            case _:
                pass  # what later versions may log

    def _stage(self, stage: str, done: int, of: int, at: float, failed: int | None = None) -> None:
        took = at - self._began.get(stage, at)
        rate = done / took if took > 0 and done else None
        is_ended = failed is not None
        self._stages[stage] = Stage(
            stage=stage,
            done=done,
            of=of,
            failed=failed,
            is_ended=is_ended,
            per_minute=None if rate is None else 60 * rate,
            left_s=None if rate is None or is_ended else (of - done) / rate,
        )

    def _board(self, config: Config | None) -> tuple[Leaderboard | None, bool]:
        """The run's own ratings once it has ended, else those of the verdicts so far, which are provisional."""
        file = self.folder.file("leaderboard.json")
        if self._state != "under way" and file.is_file():
            return read_leaderboard(file), False
        if config is None or not self._verdicts:
            return None, True
        if self._rated[0] != len(self._verdicts):
            self._rated = (len(self._verdicts), _rated(list(self._verdicts.values()), config))
        return self._rated[1], True


def _rated(verdicts: list[Verdict], config: Config) -> Leaderboard | None:
    if all(verdict.outcome == "invalid" for verdict in verdicts):
        return None
    return build(from_verdicts(verdicts), settings_of(config))


def watched(path: Path) -> Watched:
    """The run in a folder. Raises Problem where there is none."""
    folder = RunFolder(path)
    folder.config()
    return Watched(folder)
