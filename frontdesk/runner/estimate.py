"""Tokens and dollars of planned calls, with assumed lengths, before anything is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from frontdesk.runner.config import Config
from frontdesk.runner.plan import Assumption, Calls, Workload
from gateway.adapters.catalog import settings_of
from gateway.budget import Budget
from gateway.prices import cost, price_of
from runstore.records import Usage
from runstore.results import Result

STUDENT_WORDS, TEACHER_WORDS, JUDGE_WORDS = 20, 90, 300
LABEL_TOKENS, LABEL_WORDS = 900, 60
TOKENS_PER_WORD = 1.4


@dataclass(frozen=True, slots=True)
class Line:
    """One endpoint's part in one stage, as ``role``, in calls and tokens; ``usd`` is None without a price."""

    stage: str
    role: str
    endpoint: str
    calls: int
    input: int
    output: int
    usd: float | None
    by_batch: bool = False


@dataclass(frozen=True, slots=True)
class Cap:
    """A cap of ``[budget]`` that is less than what is planned: it is reached in ``stage``, after stage ``after``
    (None: no stage is done by then). ``planned``, ``before``: of the whole, and of what comes before ``stage``,
    with what is spent already.
    """

    name: str
    cap: float
    planned: float
    stage: str
    after: str | None
    before: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """What planned calls will cost. ``usd_known_part`` adds up the lines whose price is known."""

    lines: tuple[Line, ...]
    assumed: tuple[Assumption, ...]
    caps: tuple[Cap, ...]

    @property
    def calls(self) -> int:
        return sum(line.calls for line in self.lines)

    @property
    def input(self) -> int:
        return sum(line.input for line in self.lines)

    @property
    def output(self) -> int:
        return sum(line.output for line in self.lines)

    @property
    def usd_known_part(self) -> float:
        return sum(line.usd for line in self.lines if line.usd is not None)

    @property
    def calls_priced(self) -> int:
        """Calls of the lines whose price is known."""
        return sum(line.calls for line in self.lines if line.usd is not None)

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The endpoints whose price is unknown."""
        return tuple(dict.fromkeys(line.endpoint for line in self.lines if line.usd is None))

    @property
    def usd(self) -> float | None:
        """The whole cost; None where a price is unknown."""
        return None if any(line.usd is None for line in self.lines) else self.usd_known_part


def estimate(config: Config, load: Workload) -> Estimate:
    """What a workload will cost. Raises Problem where a price table is wrong."""
    return estimate_calls(config, load.calls, load.assumed)


def estimate_calls(
    config: Config, calls: Sequence[Calls], assumed: Sequence[Assumption] = (), *, spent: Budget | None = None
) -> Estimate:
    """What these calls will cost, where caps count ``spent`` already. Raises Problem for a wrong price table."""
    lines = tuple(_line(config, part) for part in calls)
    budget = config.budget
    spent = spent or Budget()
    planned: list[tuple[str, float | None, float, list[float]]] = [
        ("calls", budget.calls, spent.total.calls, [line.calls for line in lines]),
        ("tokens", budget.tokens, spent.spent_tokens, [line.input + line.output for line in lines]),
        ("usd", budget.usd, spent.spent_usd, [line.usd or 0.0 for line in lines]),
    ]
    stages = [line.stage for line in lines]
    caps = [_cap(name, cap, before, stages, needed) for name, cap, before, needed in planned if cap is not None]
    return Estimate(lines, tuple(assumed), tuple(cap for cap in caps if cap is not None))


def _cap(name: str, cap: float, before: float, stages: Sequence[str], needed: Sequence[float]) -> Cap | None:
    """Where the cap is reached: in the first stage that does not fit under it whole; None where all do."""
    whole, after = before + sum(needed), None
    for stage in dict.fromkeys(stages):
        here = sum(need for at, need in zip(stages, needed, strict=True) if at == stage)
        if before + here > cap:
            return Cap(name, cap, whole, stage, after, before)
        before, after = before + here, stage
    return None


def _line(config: Config, part: Calls) -> Line:
    read_each, words = _lengths(part, config.simulate.turns if config.simulate is not None else 4)
    read_each = read_each if part.input is None else part.input
    read, written = round(part.calls * read_each), round(part.calls * words * TOKENS_PER_WORD)
    price = price_of(settings_of(part.endpoint, config.endpoints[part.endpoint]))
    usage = Usage(input=read, output=written, thinking=0, cached=0)
    usd = None if price is None else cost(price, usage, batch=part.by_batch)
    return Line(part.stage, part.role, part.endpoint, part.calls, read, written, usd, part.by_batch)


def _lengths(part: Calls, turns: int) -> tuple[float, int]:
    """Input tokens and output words of one call: a prompt, and a history that is half as long as a dialogue."""
    exchange = (STUDENT_WORDS + TEACHER_WORDS) * TOKENS_PER_WORD
    spoken = exchange * (turns - 1) / 2
    if part.role == "labeller":
        return LABEL_TOKENS + TEACHER_WORDS * TOKENS_PER_WORD, LABEL_WORDS
    if part.role == "student":
        return 600 + spoken, STUDENT_WORDS
    if part.stage == "simulate":
        return 250 + spoken, TEACHER_WORDS
    if part.stage in ("collect", "student"):
        return 250 + exchange * turns / 2, TEACHER_WORDS
    return 450 + exchange * turns / 2 + 2 * TEACHER_WORDS * TOKENS_PER_WORD, JUDGE_WORDS


class Total(Result):
    """All stages; ``usd`` is null where a price is unknown, ``usd_known_part`` what the others add up to."""

    calls: int
    input: int
    output: int
    usd: float | None
    usd_known_part: float
    calls_priced: int
    unpriced: tuple[str, ...]


class Counts(Result):
    """What the plan holds; ``subsets_wanted`` may be more than the dialogues hold."""

    dialogues: int
    subsets: int
    subsets_wanted: int
    replies: int
    matches: int
    verdicts: int
    rounds: int
    pairs: int
    criteria: int


class Told(Result):
    """What ``estimate --json`` prints; ``counts``, ``assumed`` and ``power`` where a whole plan is estimated.

    ``power``: the gap that the plan finds, and with what chance; null where nothing can be said of it.
    """

    calls: int
    stages: tuple[Line, ...]
    total: Total
    caps: tuple[Cap, ...]
    counts: Counts
    assumed: tuple[Assumption, ...]
    power: dict[str, Any] | None


def told(estimated: Estimate, load: Workload | None, power: dict[str, Any] | None) -> Told:
    """The estimate as it is printed for programs."""
    total = Total(**{name: getattr(estimated, name) for name in Total.model_fields})
    parts: dict[str, Any] = {
        "calls": total.calls,
        "stages": estimated.lines,
        "total": total,
        "caps": estimated.caps,
    }
    if load is not None:
        own = {name: getattr(load, name) for name in Counts.model_fields if name not in ("pairs", "criteria")}
        parts["counts"] = Counts(**own, pairs=len(load.pairs), criteria=len(load.criteria))
        parts |= {"assumed": tuple(load.assumed), "power": power}
    return Told.model_construct(**parts)
