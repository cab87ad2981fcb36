"""A rubric filled in by judges, from Python: any dialogues, or questions and answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from frontdesk.report.sections.scores.document import document
from frontdesk.report.sections.scores.outcome import ScoreTeller
from frontdesk.report.writers.html import fragment
from frontdesk.runner import scoring
from frontdesk.runner.runfolder import default_folder
from frontdesk.runner.score_files import ScoreResults
from frontdesk.runner.score_plan import Plan, Wishes, check_plan, gather
from frontdesk.runner.session import opened
from gateway import sync
from runstore.records import Language
from tutor_arena.frames import Frame, as_file
from tutor_arena.notebook import progress
from tutor_arena.running import Configured, settings_of


@dataclass(frozen=True)
class Scores(ScoreResults):
    """What a scoring run found, which a notebook shows as its report does."""

    language: Language = "en"

    def __repr__(self) -> str:
        return f"<scores: {len(self.rows)} of {len(self.judges)} judges together>"

    def _repr_html_(self) -> str:
        return fragment(document(self, self.language))


async def ascore(
    source: Frame | Path | str,
    rubric: str,
    judges: Sequence[str],
    config: Configured,
    run_dir: Path | str,
    *,
    repeats: int = 1,
    reask: int = 2,
    wishes: Wishes | None = None,
    change: bool = False,
) -> Scores:
    """Score every row with every judge, an endpoint of ``config``; records and report go to ``run_dir``.

    ``rubric`` is the name of a shipped one or a YAML file; ``repeats`` the sheets of a judge for a subject;
    ``wishes`` what tables are asked for. Finished calls of the folder are not made again. Raises Problem before
    anything is called, and Stopping where a cap or a refusal ended the run.
    """
    settings = settings_of(config)
    with as_file(source) as path:
        plan = Plan(
            source=path.name,
            judges=tuple(judges),
            repeats=repeats,
            reask=reask,
            wishes=wishes or Wishes(seed=settings.run.seed),
        )
        check_plan(plan, settings)
        material = gather(path, rubric, plan, settings)
    folder = default_folder(settings, str(run_dir))
    async with opened(folder, settings, judges, change=change, progress=progress()) as pipeline:
        results = await scoring.perform(pipeline, plan, material, ScoreTeller(settings.run.language))
    values: dict[str, Any] = {field.name: getattr(results, field.name) for field in fields(results)}
    return Scores(**values, language=settings.run.language)


score = sync.twin(ascore)
