"""All that a run's report is made of, read once from its folder. Nothing here depends on the clock."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from arena.human.result import HumanVotes, read_human
from arena.judges.result import JudgesResult, read_judges
from arena.learning.result import StudentSide, read_student
from arena.ratings.result import Leaderboard, read_leaderboard
from arena.sequential.result import GoalAccount, read_goal
from frontdesk.report.sections.run.spending import NOTHING, Spending, spending_of
from frontdesk.runner import leaderboard_history as history
from frontdesk.runner import plan
from frontdesk.runner.config import Config
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.shortfall import absent, workload_of
from runstore.problems import InputProblem, Problem
from runstore.publish import read_json
from runstore.records import Dialogue, Failure, Judgment, Reply, Subset, Verdict
from simulator.realism.result import Quality, read_quality

JsonObject = dict[str, Any]


@dataclass(frozen=True)
class Coverage:
    """One stage: how many of the things asked for are there and usable."""

    what: str
    done: int
    of: int


@dataclass(frozen=True)
class RunData:
    """A judged and rated run. ``dialogues`` is None where the subsets came from elsewhere.

    ``human`` is what a human study on its matches found, where there was one; ``refreshes`` the lines of the
    leaderboard's history; ``panel`` the analysis of its judges (``judges.json``) and ``quality`` that of its
    students (``quality.json``), where they have been made.
    """

    config: Config
    manifest: JsonObject
    board: Leaderboard
    dialogues: list[Dialogue] | None
    subsets: list[Subset]
    replies: list[Reply]
    judgments: list[Judgment]
    verdicts: list[Verdict]
    failures: list[Failure]
    spending: Spending
    human: HumanVotes | None = None
    refreshes: tuple[history.Refresh, ...] = ()
    panel: JudgesResult | None = None
    quality: Quality | None = None
    goal: GoalAccount | None = None
    student: StudentSide | None = None

    @cached_property
    def names(self) -> list[str]:
        """The endpoints compared, best first."""
        return [model.name for model in self.board.models]

    @cached_property
    def judges(self) -> list[str]:
        return sorted({judgment.judge for judgment in self.judgments})

    @cached_property
    def criteria(self) -> list[str]:
        return list(dict.fromkeys(verdict.criterion for verdict in self.verdicts))

    @cached_property
    def subset(self) -> dict[str, Subset]:
        return {subset.id: subset for subset in self.subsets}

    @cached_property
    def valid(self) -> list[Verdict]:
        """The verdicts that take part in ratings."""
        return [verdict for verdict in self.verdicts if verdict.outcome != "invalid"]

    @property
    def refreshed(self) -> history.Refresh | None:
        """The last refresh."""
        return self.refreshes[-1] if self.refreshes else None

    @property
    def level(self) -> float:
        return self.config.rate.level

    @cached_property
    def small_judges(self) -> list[str]:
        """Judges that are the embedded model: their verdicts demonstrate, they don't prove."""
        kinds = self.config.endpoints
        return [name for name in self.judges if kinds.get(name, {}).get("kind") == "local"]

    @cached_property
    def unreadable(self) -> int:
        return sum(judgment.outcome == "unreadable" for judgment in self.judgments)

    @cached_property
    def workload(self) -> plan.Workload:
        """What was asked for: of the criteria that there are verdicts on, where their own file is gone."""
        replied = sorted({reply.endpoint for reply in self.replies})
        return workload_of(self.config, len(self.subsets), replied, self.criteria, self.goal)

    @cached_property
    def absent(self) -> tuple[str, ...]:
        """A sentence for each endpoint that was to be compared and has no verdict."""
        return absent(self.workload, self.verdicts, self.failures)

    @cached_property
    def coverage(self) -> list[Coverage]:
        """Done and usable, of asked for, stage by stage."""
        load = self.workload
        rows: list[Coverage] = []
        if self.dialogues is not None:
            whole = sum(dialogue.complete for dialogue in self.dialogues)
            rows.append(Coverage("dialogues", whole, load.dialogues or len(self.dialogues)))
            rows.append(Coverage("subsets", len(self.subsets), load.subsets_wanted))
        rows.append(Coverage("replies", len(self.replies), load.replies))
        rounds = load.rounds
        if "decisive" in load.assumed:
            rounds = len(self.judgments) + sum(failure.stage == "judge" for failure in self.failures)
        rows.append(Coverage("rounds", len(self.judgments) - self.unreadable, rounds))
        rows.append(Coverage("verdicts", len(self.valid), load.verdicts))
        return rows

    @cached_property
    def lost(self) -> float:
        """The largest share that a stage lacks of what was asked of it."""
        return max((max(0, row.of - row.done) / row.of for row in self.coverage if row.of), default=0.0)

    @cached_property
    def incomplete(self) -> bool:
        return bool(self.failures) or any(row.done < row.of for row in self.coverage)


def load(folder: RunFolder, *, journal: bool = True) -> RunData:
    """Read a run folder, with or without counting its journal.

    Raises InputProblem where it has not been judged and rated yet.
    """
    config = folder.config()
    for name in ("subsets.jsonl", "replies.jsonl", "judgments.jsonl", "verdicts.jsonl", "leaderboard.json"):
        if not folder.file(name).is_file():
            if config.is_data_set:
                raise Problem(
                    f"{folder.path}: a data set of dialogues has no report; how its students write: "
                    f"tutor-arena quality {folder.path}"
                )
            raise InputProblem(
                folder.path, f"a finished run (with {name}): tutor-arena run makes it", found="none"
            )
    manifest = folder.file("manifest.json")
    return RunData(
        config=config,
        manifest=read_json(manifest) if manifest.is_file() else {},
        board=read_leaderboard(folder.file("leaderboard.json")),
        dialogues=list(folder.dialogues()) if folder.file("dialogues.jsonl").is_file() else None,
        subsets=list(folder.subsets()),
        replies=list(folder.replies()),
        judgments=list(folder.judgments()),
        verdicts=list(folder.verdicts()),
        failures=folder.failures(),
        spending=spending_of(folder.journal) if journal else NOTHING,
        human=read_human(folder.file("human.json")) if folder.file("human.json").is_file() else None,
        refreshes=tuple(history.lines(folder)),
        panel=read_judges(folder.file("judges.json")) if folder.file("judges.json").is_file() else None,
        quality=read_quality(folder.file("quality.json")) if folder.file("quality.json").is_file() else None,
        goal=read_goal(folder.file("goal.json")) if folder.file("goal.json").is_file() else None,
        student=read_student(folder.file("student.json")) if folder.file("student.json").is_file() else None,
    )
