"""How much of what was asked for there is to rate, and what became of the rest; all files with ratings say it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.criteria import OVERALL
from arena.sequential.result import GoalAccount, read_goal
from frontdesk.runner import plan
from frontdesk.runner.config import Config
from frontdesk.runner.runfolder import RunFolder
from runstore.problems import Problem
from runstore.records import Failure, Verdict

NO_MATCH = "no_match"
"""The kind of a match that nobody was asked about: a reply is missing."""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """``valid`` of ``asked`` verdicts; a verdict is a match on a criterion.

    ``why``: calls that failed, by kind; one match lacks as many as it has rounds, and one reply several matches.
    ``unmatched``: verdicts that nobody was asked for, since a reply is missing. ``absent``: a sentence for each
    endpoint without any verdict.
    """

    valid: int
    asked: int
    criteria: int
    invalid: int
    why: dict[str, int]
    unmatched: int = 0
    absent: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """What is missing or invalid, of what was asked for."""
        return max(0, self.asked - self.valid) / self.asked if self.asked else 0.0

    @property
    def counted(self) -> str:
        """``6 of 20 matches``, or verdicts where a match has several."""
        unit = "matches" if self.criteria == 1 else f"verdicts ({self.criteria} criteria a match)"
        return f"{self.valid} of {self.asked} {unit}"

    @property
    def note(self) -> str | None:
        """What a reader of ratings must know first; None where nothing is missing."""
        if self.valid >= self.asked:
            return None
        reasons = _calls_failed(self.why)
        reasons += [f"{self.unmatched} without a reply"] if self.unmatched else []
        reasons += [f"{self.invalid} without a majority"] if self.invalid else []
        because = ", ".join(reasons) or "no failure is recorded"
        return f"rated from {self.counted} that were asked for; the others have no verdict: {because}"


def _calls_failed(why: Mapping[str, int]) -> list[str]:
    failed = sum(why.values())
    kinds = "; ".join(f"{times} x {kind}" for kind, times in sorted(why.items()))
    return [f"{failed} calls failed ({kinds})"] if failed else []


def absent(load: plan.Workload, verdicts: Sequence[Verdict], failures: Sequence[Failure]) -> tuple[str, ...]:
    """A sentence for each endpoint that was to be compared and has no verdict: of how many matches, and why."""
    if not load.pairs or "goal" in load.assumed:
        return ()
    rated = {name for verdict in verdicts if verdict.outcome != "invalid" for name in verdict.endpoints}
    what = "matches have a verdict" if len(load.criteria) == 1 else "verdicts are there"
    own: dict[str, Counter[str]] = defaultdict(Counter)
    for failure in failures:
        if failure.stage == "collect":
            own[failure.endpoint][failure.kind] += 1
    said: list[str] = []
    for name in dict.fromkeys(name for pair in load.pairs for name in pair):
        if name in rated:
            continue
        asked = load.subsets * len(load.criteria) * sum(name in pair for pair in load.pairs)
        invalid = sum(name in verdict.endpoints for verdict in verdicts)
        reasons = [*_calls_failed(own[name]), *([f"{invalid} without a majority"] if invalid else [])]
        because = ", ".join(reasons) or "no failure of its own is recorded"
        said.append(f"{name}: 0 of {asked} {what}: {because}")
    return tuple(said)


def workload_of(
    config: Config, subsets: int, replied: Sequence[str], criteria: Sequence[str], goal: GoalAccount | None
) -> plan.Workload:
    """What a run asked for: of the criteria that there are verdicts on, where their own file is gone."""
    try:
        load = plan.workload(config, subsets=subsets, replied=replied)
    except Problem:
        load = plan.workload(config, subsets=subsets, replied=replied, criteria=list(criteria) or [OVERALL])
    return load if goal is None else load.narrowed(goal.matches.used * len(load.criteria))


def shortfall(folder: RunFolder, config: Config, verdicts: Sequence[Verdict]) -> Shortfall | None:
    """Of a run folder; None where it can't be known, since subsets or replies are elsewhere."""
    if not all(folder.file(name).is_file() for name in ("subsets.jsonl", "replies.jsonl")) or config.judge is None:
        return None
    replied = sorted({reply.endpoint for reply in folder.replies()})
    criteria = list(dict.fromkeys(verdict.criterion for verdict in verdicts))
    goal = read_goal(folder.file("goal.json")) if folder.file("goal.json").is_file() else None
    load = workload_of(config, len(folder.subsets()), replied, criteria, goal)
    valid = sum(verdict.outcome != "invalid" for verdict in verdicts)
    failures = folder.failures()
    why = Counter(failure.kind for failure in failures if failure.stage in ("collect", "judge"))
    unmatched = why.pop(NO_MATCH, 0) * len(load.criteria)
    return Shortfall(
        valid,
        load.verdicts,
        len(load.criteria),
        len(verdicts) - valid,
        dict(why),
        unmatched,
        absent(load, verdicts, failures),
    )
