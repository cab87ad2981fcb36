"""How long to wait before another attempt, or that there is none. One place for every endpoint."""

from __future__ import annotations

from collections import Counter

from gateway.errors import Fault, Retry

FIRST_BACKOFF_S = 0.5
LONGEST_BACKOFF_S = 30.0
JITTER_SHARE = 0.1


class GiveUp(Exception):
    """No further attempt; the text says why, for the failure's message."""


def wait_before(
    retry: Retry, attempt: int, *, retries: int, longest_wait_s: float, left_s: float, chance: float
) -> float:
    """Seconds to wait before attempt number ``attempt + 1`` (attempts count from 1).

    Without a word from the server: full jitter, uniform between 0 and 0.5 s * 2^(attempt-1), at most 30 s
    (AWS Architecture Blog, "Exponential Backoff and Jitter"). With one: what it asked for and up to a tenth
    more, never less. A wait longer than ``longest_wait_s`` or than what is left of the call's time gives up
    instead of asking early. ``chance`` is a uniform number in [0, 1).

    Raises GiveUp.
    """
    if retry.again == "no":
        raise GiveUp("")
    if attempt > retries:
        raise GiveUp(f"gave up after {attempt} attempts" if attempt > 1 else "")
    if retry.wait_s is None:
        wait = chance * min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2.0 ** min(attempt - 1, 16))
    else:
        if retry.wait_s > longest_wait_s:
            raise GiveUp(f"server asks for {retry.wait_s:g} s, longer than the ceiling of {longest_wait_s:g} s")
        wait = retry.wait_s * (1 + JITTER_SHARE * chance)
    if wait >= left_s:
        raise GiveUp(f"no time left for another attempt after {attempt}")
    return wait


PERMANENT_FOR_ALL = frozenset({"auth", "unknown_model", "quota", "forbidden"})
"""Faults that say nothing about the one request: every other call would meet them too."""
PERMANENT_FOR_MANY = frozenset({"bad_request"})
"""Faults that do so only where no call ever worked: a setting that the endpoint does not take."""

NOTHING_CAME = frozenset({"empty", "malformed", "tool_call", "truncated", "blocked", "refused"})
"""Kinds of replies that are paid for and may bring nothing at all."""
ADVICE = "mend its settings (check shows what comes), or set budget.trial_calls = 0"


class EndpointHealth:
    """Notices an endpoint whose calls all fail for one permanent reason, from the start or from now on, and one
    that answers and has never said anything."""

    def __init__(self, patience: int = 5) -> None:
        self.patience = patience
        self.reason: str | None = None
        self._has_worked = False
        self._in_a_row: Counter[str] = Counter()
        self._brought_nothing = 0

    def worked(self) -> None:
        self._has_worked = True
        if self._in_a_row:
            self._in_a_row.clear()

    def failed(self, fault: Fault) -> bool:
        """True if this fault is the one that stops the endpoint; ``reason`` says so from then on."""
        known = PERMANENT_FOR_ALL if self._has_worked else PERMANENT_FOR_ALL | PERMANENT_FOR_MANY
        if self.reason is not None or fault.retry.again != "no" or fault.kind not in known:
            return False
        self._in_a_row[fault.kind] += 1
        if self._in_a_row[fault.kind] < self.patience:
            return False
        calls = f"{self.patience} calls in a row" if self._has_worked else f"its first {self.patience} calls"
        self.reason = f"stopped after {calls} failed: {fault.message}"
        return True

    def brought_nothing(self, kind: str, message: str, most: int) -> bool:
        """True if this call, which ended without a word of a reply, is the one that stops the endpoint.

        That is the last of its first ``most`` (0: none is) where none ever brought anything, retries and all.
        """
        if self._has_worked or self.reason is not None or kind not in NOTHING_CAME:
            return False
        self._brought_nothing += 1
        if not 0 < most <= self._brought_nothing:
            return False
        self.reason = f"stopped after its first {most} calls brought nothing: {message}; {ADVICE}"
        return True
