"""A goal chosen for a run beside its configuration: the main job stays, judging stops sooner or later."""

from __future__ import annotations

from frontdesk.runner import config_file as configuration
from frontdesk.runner.config import Config
from frontdesk.runner.runfolder import RunFolder

GOAL_KEYS = ("goal", "error", "batch", "newcomer", "width_elo")


def with_goal(config: Config, goal: str | None, newcomer: str | None = None, error: float | None = None) -> Config:
    """The configuration with another goal (``all``: every match) and another error, where they are given.

    What belongs to the goal before it goes. Raises Problem, InputProblem for one that does not fit.
    """
    if goal is None and error is None:
        return config
    dropped = () if goal is None else _outdated(goal)
    judge = config.require_judge().model_dump(mode="json", exclude_none=True, exclude=set(dropped))
    given = {"goal": None if goal == "all" else goal, "newcomer": newcomer, "error": error}
    judge |= {key: value for key, value in given.items() if value is not None}
    data = config.model_dump(mode="json", exclude_none=True)
    return configuration.parse({**data, "judge": judge}, "command line")


def _outdated(goal: str) -> tuple[str, ...]:
    """The keys of the goal before that the new one does not take over."""
    if goal == "all":
        return GOAL_KEYS
    return ("goal", "newcomer") if goal == "place" else ("goal", "newcomer", "width_elo")


def only_the_goal_differs(folder: RunFolder, config: Config) -> bool:
    """Whether a run that was not judged yet was made with the same configuration but for its goal."""
    if not folder.file("run.toml").is_file() or folder.file("verdicts.jsonl").is_file():
        return False
    old, new = (configuration.settled(either) for either in (folder.config(), config))
    different = configuration.differences(old, new)
    return all(line.split(":")[0] in {f"judge.{key}" for key in GOAL_KEYS} for line in different)
