"""One scoring run, from its plan to its files: made by ``score``, and made again by ``verify``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from arena.scoring.sheets import Sheets, score_all
from arena.trial import tried_ahead
from frontdesk.runner import published
from frontdesk.runner.config import Config
from frontdesk.runner.outcome import StageDone
from frontdesk.runner.plan import Calls, sheets_asked
from frontdesk.runner.score_files import Scored, ScoreResults, Teller, publish
from frontdesk.runner.score_plan import Material, Plan, form_of
from frontdesk.runner.stagework import MOST_AT_ONCE, StageWork, Stopping
from gateway.adapters.catalog import settings_of
from gateway.batches.catalog import service_of
from gateway.batches.runner import BatchRunner
from gateway.prompt import Ask
from gateway.tokens import estimator
from runstore.problems import Problem
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
    gateway, folder, config, batch_poll_s = (
        pipeline.gateway, pipeline.folder, pipeline.config, pipeline.batch_poll_s,
    )  # fmt: skip
    if gateway is None:
        raise Problem("scoring calls models, but none were opened")
    form = form_of(material.rubric, config)
    inputs = {"file": plan.source, "subjects": len(material.sessions), "rubric": material.rubric.identity}
    published.begin(folder.path, "score")
    folder.write_manifest(config, form.hashes, {"score": inputs})
    material.write(folder.path, plan)
    settings = {judge: gateway.endpoints[judge].adapter.settings for judge in plan.judges}
    asked = sum(part.calls for part in sheets_asked(plan.judges, len(material.sessions), plan.repeats))
    trial = pipeline.trial("sheets")
    if batch_poll_s is not None:
        trial.rounds = tried_ahead(trial.rounds, len(material.sessions), 1)
    heard: set[tuple[str, str, int]] = set()

    def hear(sheet: Sheet) -> None:
        heard.add((sheet.subject, sheet.judge, sheet.repeat))
        if not sheet.readable:
            pipeline.could_not_read(sheet.judge, sheet.subject, sheet.raw, sheet.reason)

    def on_trial(sheet: Sheet) -> None:
        hear(sheet)
        failed = trial.saw(sheet.judge, sheet.raw, sheet.reason, is_readable=sheet.readable)
        pipeline.tried(trial, failed)

    async def sheets(ask: Ask, most: int | None = None) -> Sheets:
        return await score_all(
            ask,
            form,
            material.sessions[:most],
            plan.judges,
            repeats=plan.repeats if most is None else 1,
            reask=plan.reask,
            at_once=min(MOST_AT_ONCE, sum(setting.concurrency for setting in settings.values())),
            finished=pipeline.advance if batch_poll_s is None else lambda: None,
            filled=on_trial if batch_poll_s is None or most is not None else lambda _: None,
        )

    if batch_poll_s is None:
        async with pipeline.elsewhere("score", asked):
            pipeline.progress.start("score", asked)
            filled = await sheets(gateway.ask)
    else:
        pipeline.progress.start("score", asked)
        runner = BatchRunner(gateway, plan.judges, poll_s=batch_poll_s)
        first = 0 if runner.is_under_way else trial.rounds
        filled = await sheets(gateway.ask, first)
        if filled.stopped is None:
            filled = await runner.whole(sheets)
            for sheet in filled.sheets:
                if (sheet.subject, sheet.judge, sheet.repeat) not in heard:
                    hear(sheet)
    folder.replace_failures("score", filled.failures)
    kinds = {judge: setting.kind for judge, setting in settings.items()}
    scored = Scored(plan, material, filled.sheets, filled.failures, kinds)
    results = publish(folder.path, scored, teller)
    teller.report(folder.path, results)
    published.record(folder.path, *FILES, "failures.jsonl")
    counts = {"done": len(filled.sheets), "failed": len(filled.failures), "of": asked}
    pipeline.ended.append(StageDone(stage="score", **counts))
    pipeline.stopped = filled.stopped
    if filled.stopped is not None:
        published.begin(folder.path, "score", f"{len(filled.sheets)} of {asked}")
        raise Stopping(filled.stopped, "score", len(filled.sheets), asked)
    published.end(folder.path, "score")
    pipeline.progress.finish(f"{len(filled.sheets)} of {asked} sheets")
    return results
