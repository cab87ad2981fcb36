"""The tree of failures at the door to the models.

    Fault           one attempt went wrong; raised by adapters and the wire, classified, seen only by the engine
    CallFailed      a call is over without an answer, after all its attempts; raised to the stages
    ├── EndpointStopped   the endpoint was given up: the same permanent failure on its first calls
    └── Forbidden         real model calls are switched off (tests)
    Stopped         no new calls are made: the run is stopping
    ├── BudgetReached     a cap on dollars, calls or tokens (exit code 3)
    ├── NotReadable       what is paid for cannot be read (exit code 3)
    ├── JournalLost       calls can no longer be recorded (exit code 1)
    └── Interrupted       the user asked (exit code 130)
        └── NotAsked          made again offline: a run under way has not got this answer yet

Whether to try again is a value that travels with the fault, not something the loop works out.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from runstore.publish import clean_unicode
from runstore.records import Failure, Usage

FaultKind = Literal[
    "auth",
    "bad_request",
    "context_length",
    "unknown_model",
    "blocked",
    "refused",
    "truncated",
    "empty",
    "tool_call",
    "malformed",
    "rate_limit",
    "quota",
    "server",
    "timeout",
    "connection",
    "forbidden",
    "endpoint_stopped",
    "unexpected",
]


@dataclass(frozen=True, slots=True)
class Retry:
    """Whether another attempt makes sense. ``wait_s``: what the server asked for, in seconds from now."""

    again: Literal["no", "transient", "rate_limited"]
    wait_s: float | None = None


NO = Retry("no")
TRANSIENT = Retry("transient")


class Fault(Exception):
    """One attempt went wrong.

    ``text`` is what came of the reply before it was cut or blocked, ``usage`` what was paid for it;
    ``request_id`` is whatever the server says of itself, and None unless that is a text.
    """

    def __init__(
        self,
        kind: FaultKind,
        message: str,
        retry: Retry = NO,
        *,
        status: int | None = None,
        text: str = "",
        usage: Usage | None = None,
        request_id: object = None,
    ) -> None:
        super().__init__(message)
        self.kind: FaultKind = kind
        self.message, self.retry, self.status = clean_unicode(message), retry, status
        self.text, self.usage = text, usage
        self.request_id = clean_unicode(request_id) if isinstance(request_id, str) else None

    def at_rest(self) -> Fault:
        """The fault to be kept: without the frames that it passed, for they hold the whole response."""
        self.__traceback__ = self.__context__ = self.__cause__ = None
        return self


class CallFailed(Exception):
    """A call ended without an answer. ``partial`` is the text that came before it was cut off, if any."""

    def __init__(self, endpoint: str, kind: str, message: str, attempts: int, partial: str = "") -> None:
        super().__init__(f"{endpoint}: {message}")
        self.endpoint, self.kind, self.message = endpoint, kind, message
        self.attempts, self.partial = attempts, partial

    def record(self, stage: str, item: str) -> Failure:
        return Failure(
            stage=stage,
            item=item,
            endpoint=self.endpoint,
            kind=self.kind,
            message=self.message,
            attempts=self.attempts,
        )


class EndpointStopped(CallFailed):
    """The endpoint refused its first calls for one permanent reason; the rest were not sent."""


class Forbidden(CallFailed):
    """Model calls are switched off in this process (``TUTOR_ARENA_FORBID_CALLS=1``)."""


def failure_named(kind: str) -> type[CallFailed]:
    """The failure of that kind."""
    return {"forbidden": Forbidden, "endpoint_stopped": EndpointStopped}.get(kind, CallFailed)


class Stopped(Exception):
    """No new calls are made. What is finished is kept; the run can be resumed."""

    exit_code = 130


class BudgetReached(Stopped):
    """A cap of the ``[budget]`` section was reached."""

    exit_code = 3


class NotReadable(Stopped):
    """A judge's first replies could not be read: the rest is not paid for."""

    exit_code = 3


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What a system says of a place that takes no more."""


class JournalLost(Stopped):
    """The journal cannot be written, for want of space perhaps: no call is made that could not be kept."""

    exit_code = 1

    @classmethod
    def of(cls, error: OSError, where: str = "") -> JournalLost:
        """``where``: on which machine, if not on this one."""
        return cls(f"the journal cannot be written: {error.strerror or error}{where}")


class Interrupted(Stopped):
    """The user asked to stop."""


class NotAsked(Interrupted):
    """The journal has no answer to this call yet, and none is asked for now: offline, of a run that is under way;
    or ``because`` the run is stopping while what came elsewhere is still taken in."""

    def __init__(self, message: str, because: Stopped | None = None) -> None:
        super().__init__(message)
        self.because = because


def as_failed(endpoint: str, error: Exception) -> CallFailed:
    """Any exception of one item's work as a failure that can be recorded beside the results."""
    if isinstance(error, CallFailed):
        return error
    return CallFailed(endpoint, "unexpected", f"{type(error).__name__}: {error}", 0)


def explained(error: Exception) -> str:
    """An adapter's own error in one line, with its place: it is not chained, for it may hold what was sent."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" (at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})" if trace is not None else ""
    return f"{type(error).__name__}: {error}{place}"
