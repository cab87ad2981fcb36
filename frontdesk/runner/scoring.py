"""One scoring run, from its plan to its files: made by ``score``, and made again by ``verify``."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import replace

from arena.scoring.sheets import Sitting, fill_in, sheets_of, sittings
from arena.trial import tried_ahead
from frontdesk.runner import published
from frontdesk.runner.config import Config
from frontdesk.runner.plan import Calls, sheets_asked
from frontdesk.runner.score_files import Scored, ScoreResults, Teller, publish
from frontdesk.runner.score_plan import Material, Plan, form_of
from frontdesk.runner.stagework import Heard, StageWork
from gateway.adapters.catalog import settings_of
from gateway.batches.catalog import service_of
from gateway.prompt import Ask
from gateway.tokens import estimator
from runstore.records import Sheet

FILES = (
    "sheets.jsonl",
    "scores.csv",
    "scores_wide.csv",
    "summary.csv",
    "agreement.json",
    "comparison.json",
    "score.json",
    "score.md",
    "score.html",
)
"""What a scoring run publishes beside its plan and material."""


SAMPLED = 100


def check_batches(judges: Sequence[str], config: Config) -> None:
    """Every judge is of a provider with a batch interface. Raises Problem."""
    for name in judges:
        service_of(name, settings_of(name, config.endpoints[name]))


def asked(plan: Plan, material: Material, config: Config, *, by_batch: bool) -> list[Calls]:
    """What a scoring run will ask, before anything is asked; texts are counted in a sample of the subjects."""
    form = form_of(material.rubric, config)
    sample = material.sessions[:: 1 + len(material.sessions) // SAMPLED]
    texts = ["\n".join(said.content for said in form.prompt(session).messages) for session in sample]
    tried = tried_ahead(config.budget.trial_rounds, len(material.sessions), 1) if by_batch else 0
    parts: list[Calls] = []
    for part in sheets_asked(plan.judges, len(material.sessions), plan.repeats):
        count = estimator(settings_of(part.endpoint, config.endpoints[part.endpoint]).model or "")
        whole = replace(part, input=sum(map(count, texts)) / max(1, len(texts)))
        parts += [replace(whole, calls=tried), replace(whole, calls=part.calls - tried, by_batch=by_batch)]
    return [part for part in parts if part.calls]


async def perform(pipeline: StageWork, plan: Plan, material: Material, teller: Teller) -> ScoreResults:
    """Score everything and write every record; ``teller`` then reports it.

    Raises Stopping where the run was stopped; what was finished is written.
    """
    folder, config, sessions = pipeline.folder, pipeline.config, material.sessions
    form = form_of(material.rubric, config)
    inputs = {"file": plan.source, "subjects": len(sessions), "rubric": material.rubric.identity}
    published.begin(folder.path, "score")
    folder.write_manifest(config, form.hashes, {"score": inputs})
    material.write(folder.path, plan)
    work = sittings(sessions, plan.judges, plan.repeats)

    def fill(ask: Ask, sitting: Sitting) -> Awaitable[Sheet]:
        return fill_in(ask, form, *sitting, reask=plan.reask)

    gathered = await pipeline.ask_each("score", work, fill, plan.judges, _on_trial(pipeline, work, len(sessions)))
    filled = sheets_of(gathered)
    folder.replace_failures("score", filled.failures)
    kinds = {judge: settings_of(judge, config.endpoints[judge]).kind for judge in plan.judges}
    results = publish(folder.path, Scored(plan, material, filled.sheets, filled.failures, kinds), teller)
    teller.report(folder.path, results)
    published.record(folder.path, *FILES, "failures.jsonl")
    pipeline.end("score", gathered.flow(), len(work), f"{len(filled.sheets)} of {len(work)} sheets")
    return results


def _on_trial(pipeline: StageWork, work: Sequence[Sitting], subjects: int) -> Heard[Sheet]:
    """The judges' trial; before a batch, each fills in its first sheet of as many subjects as a trial takes."""
    trial = pipeline.trial("sheets")

    def hear(sheet: Sheet, decides: bool, before: Sheet | None) -> None:
        if not sheet.readable and (before is None or before.readable):
            pipeline.could_not_read(sheet.judge, sheet.subject, sheet.raw, sheet.reason)
        if decides:
            failed = trial.saw(sheet.judge, sheet.raw, sheet.reason, is_readable=sheet.readable)
            pipeline.tried(trial, failed)

    if pipeline.batch_poll_s is None:
        return Heard(hear)
    trial.rounds = tried_ahead(trial.rounds, subjects, 1)
    first = len(work) // max(1, subjects) * trial.rounds
    return Heard(hear, [at for at, (_, _, repeat) in enumerate(work[:first]) if repeat == 1])
