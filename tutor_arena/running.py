"""Runs from Python: the stages of the commands, awaited or not, in a script or a notebook."""

from __future__ import annotations

from pathlib import Path

from frontdesk.report.run import write_report, write_reports_again
from frontdesk.runner import config_file as configuration
from frontdesk.runner.config import Config
from frontdesk.runner.prepare import prompts_of
from frontdesk.runner.runfolder import RunFolder, default_folder
from frontdesk.runner.session import opened
from frontdesk.runner.student import StudentStage, with_section
from gateway import sync
from tutor_arena.notebook import progress
from tutor_arena.opened import Run

Configured = Config | Path | str


async def arun(config: Configured, run_dir: Path | str | None = None, *, change: bool = False) -> Run:
    """Every stage in order, from personas to the report (the dialogues of a data set alone);
    finished calls of the folder are not made again.

    ``config`` is a TOML file or a configuration; ``run_dir`` is ``runs/<name>`` unless given; ``change`` lets a
    changed configuration recompute the folder. Progress is said on stderr. Raises Problem before anything is
    called, and Stopping where a cap or a refusal ended a stage.
    """
    settings = settings_of(config)
    settings.require_whole()
    folder = default_folder(settings, _text(run_dir))
    async with opened(folder, settings, settings.used_endpoints(), change=change, progress=progress()) as pipeline:
        await pipeline.whole()
    if not settings.is_data_set:
        write_report(folder)
    return Run(folder.path)


async def asimulate(config: Configured, run_dir: Path | str | None = None, *, change: bool = False) -> Run:
    """Only the dialogues of a run; otherwise as :func:`arun`."""
    settings = settings_of(config)
    how = settings.require_simulate()
    folder = default_folder(settings, _text(run_dir))
    endpoints = list(dict.fromkeys([how.student, how.teacher]))
    async with opened(folder, settings, endpoints, change=change, progress=progress()) as pipeline:
        await pipeline.simulate()
    return Run(folder.path)


async def astudent(run_dir: Path | str, config: Configured | None = None) -> Run:
    """The student's side of a run that has its replies: ``config`` is the run's own unless given.

    Finished calls are not made again. Raises Problem, and Stopping as :func:`arun` does.
    """
    folder = RunFolder(Path(run_dir))
    given = folder.config() if config is None else settings_of(config)
    settings = with_section(given)
    stage = StudentStage.prepared(settings, prompts_of(settings))
    async with opened(
        folder, settings, stage.endpoints, change=given.student is None, progress=progress()
    ) as pipeline:
        await pipeline.student(folder.subsets(), folder.replies())
    write_reports_again(folder)
    return Run(folder.path)


student = sync.twin(astudent)
run = sync.twin(arun)
simulate = sync.twin(asimulate)


def settings_of(config: Configured) -> Config:
    """The configuration itself, or the one of a TOML file. Raises Problem."""
    return config if isinstance(config, Config) else configuration.load(Path(config))


def _text(path: Path | str | None) -> str | None:
    return None if path is None else str(path)
