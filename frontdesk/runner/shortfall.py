"""How much of what was asked for there is to rate, and what became of the rest; all files with ratings say it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from arena.criteria import OVERALL
from arena.sequential.result import GoalAccount, read_goal
from frontdesk.runner import plan
from frontdesk.runner.config import Config
from frontdesk.runner.runfolder import RunFolder
from runstore.problems import Problem
from runstore.records import Verdict

NO_MATCH = "no_match"
"""The kind of a match that nobody was asked about: a reply is missing."""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """``valid`` of ``asked`` verdicts; a verdict is a match on a criterion.

    ``why``: calls that failed, by kind; one match lacks as many as it has rounds, and one reply several matches.
    ``unmatched``: verdicts that nobody was asked for, since a reply is missing.
    """

    valid: int
    asked: int
    criteria: int
    invalid: int
    why: dict[str, int]
    unmatched: int = 0

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
        failed = sum(self.why.values())
        kinds = "; ".join(f"{times} x {kind}" for kind, times in sorted(self.why.items()))
        reasons = [f"{failed} {'call' if failed == 1 else 'calls'} failed ({kinds})"] if failed else []
        reasons += [f"{self.unmatched} without a reply"] if self.unmatched else []
        reasons += [f"{self.invalid} without a majority"] if self.invalid else []
        because = ", ".join(reasons) or "no failure is recorded"
        return f"rated from {self.counted} that were asked for; the others have no verdict: {because}"


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
    why = Counter(failure.kind for failure in folder.failures() if failure.stage in ("collect", "judge"))
    unmatched = why.pop(NO_MATCH, 0) * len(load.criteria)
    return Shortfall(valid, load.verdicts, len(load.criteria), len(verdicts) - valid, dict(why), unmatched)
