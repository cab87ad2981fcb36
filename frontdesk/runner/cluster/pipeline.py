"""The stages as the driver of several machines runs them: their calls are made elsewhere first.

Afterwards each stage runs here as it always does. Every call is answered from the journal, so what is published is
what one machine would have published; what is missing for any reason is asked here.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from frontdesk.runner.cluster.crew import NEEDED, Crew
from frontdesk.runner.cluster.watch import ahead
from frontdesk.runner.config import Config
from frontdesk.runner.judged import Records
from frontdesk.runner.pipeline import Pipeline
from frontdesk.runner.plan import NOTHING_KEPT, Kept
from frontdesk.runner.progress import Progress
from frontdesk.runner.runfolder import RunFolder
from gateway.engine import Gateway
from runstore.records import Reply, Subset


class ClusterPipeline(Pipeline):
    """A goal's judging, the student's side and a refresh ask little at a time, each after the last: they stay."""

    def __init__(
        self, folder: RunFolder, config: Config, gateway: Gateway, progress: Progress, crew: Crew
    ) -> None:
        super().__init__(folder, config, gateway, progress)
        self.crew = crew
        self._stays = False
        self._begun = ""

    def start(self, stage: str, of: int) -> None:
        """Once a stage, though its calls are made elsewhere first: then the log knows of it already."""
        if stage == self._begun:
            self.progress.start(stage, of)
        else:
            super().start(stage, of)
        self._begun = stage

    async def collect(self, subsets: Sequence[Subset], kept: Kept = NOTHING_KEPT) -> Sequence[Reply]:
        self._stays = kept is not NOTHING_KEPT
        return await super().collect(subsets, kept)

    async def judge(
        self, subsets: Sequence[Subset], replies: Sequence[Reply], kept: Kept = NOTHING_KEPT
    ) -> Records:
        self._stays = kept is not NOTHING_KEPT
        return await super().judge(subsets, replies, kept)

    @asynccontextmanager
    async def elsewhere(self, stage: str, of: int) -> AsyncGenerator[None]:
        self._begun = ""
        if self._stays or stage not in NEEDED:
            yield
            return
        unit = {"score": "sheets", "intent": "scores", "judge": "rounds"}.get(stage, "answers")
        await ahead(self.crew, self, stage, of, unit)
        endpoints = self.opened().endpoints
        served = {name: endpoint.spent.served for name, endpoint in endpoints.items()}
        self.opened().answers_only = True  # what came is published, whatever it was that ended the stage
        with self.progress.quiet():
            yield
        self.opened().answers_only = False
        self._begun = ""
        for name, count in served.items():
            endpoints[name].spent.served = count
