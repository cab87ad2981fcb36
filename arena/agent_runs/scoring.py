"""Tables of agent runs -> figures, checks and the per-item table, in two passes over what was read.

The first pass streams rows, scores them, keeps 47 bytes of numbers of each (``state``) and spools the texts to
disk. The second writes the per-item table, now that consistency and duplicates are known, and picks up the
few texts that the report shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from arena.agent_runs.checks import never_filled, run_checks, share_check
from arena.agent_runs.consistency import consistency, group_queries
from arena.agent_runs.figures import Bools, first_occurrences, round_figures, set_figures
from arena.agent_runs.intent import IntentJudge, heuristic_score
from arena.agent_runs.items import Item, score_row
from arena.agent_runs.items_table import rows_to_show, spooled, with_rows, write_items
from arena.agent_runs.patterns import failing_patterns, failures_by_path, instability_causes
from arena.agent_runs.result import AgentRuns, Check, InputTable, Method, ShownItem
from arena.agent_runs.scored import MALFORMED_LISTED, Options, Scored
from arena.agent_runs.state import Spool, State
from arena.agent_runs.tables import Table
from arena.asking import STATES, Asked
from gateway.crowd import each
from runstore.problems import InputProblem

_BLOCK_ROWS = 2_048
_BLOCK_CHARACTERS = 1 << 22
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Analysis:
    """``figures`` is the content of agent_runs.json; ``shown`` the rows that the report shows, by purpose."""

    figures: AgentRuns
    shown: dict[str, list[ShownItem]]

    @property
    def complete(self) -> bool:
        return all(check.passed is not False for check in self.figures.checks)


async def score_tables(
    tables: Sequence[Table],
    options: Options,
    *,
    judge: IntentJudge | None = None,
    spool: Spool | None = None,
    progress: Progress | None = None,
) -> Scored:
    """First pass. ``judge`` is asked for items without a valid score; without one the heuristic scores them.

    Raises InputProblem where the tables differ in form or hold no row.
    """
    forms = {table.columns.form for table in tables}
    if len(forms) > 1:
        expected = f"a {tables[0].columns.form} table like {tables[0].path.name}"
        other = next(table for table in tables if table.columns.form != tables[0].columns.form)
        raise InputProblem(other.path, expected, found=f"a {other.columns.form} one")
    state = State()
    scored = Scored(list(tables), options, state, state.records(), spool, judge is not None)
    for place, table in enumerate(tables):
        for block in _blocks(table, scored):
            await _settle_intent(block, judge, scored, table.path.name)
            state.add(place, block)
            if spool is not None:
                spool.add([spooled(item) for item in block])
            if progress is not None:
                progress(len(block))
    scored.records = state.records()
    if not len(scored.records):
        names = ", ".join(table.path.name for table in tables)
        raise InputProblem(names, "at least one row below the header", found="none")
    return scored


def questions(tables: Sequence[Table], options: Options) -> Iterator[tuple[str, str, str]]:
    """What a judge is asked about: query, expected and response of each item without a valid score of its own."""
    state = State()
    scored = Scored(list(tables), options, state, state.records(), None, judged=True)
    for table in tables:
        for block in _blocks(table, scored):
            yield from ((item.query, item.expected, item.judged) for item in block if _is_open(item))


def _is_open(item: Item) -> bool:
    return item.intent is None and bool(item.judged.strip())


def _blocks(table: Table, scored: Scored) -> Iterator[list[Item]]:
    block: list[Item] = []
    size = 0
    by = scored.options.rounds_by
    for number, cells in table.rows():
        if cells is None:
            scored.malformed_count += 1
            if len(scored.malformed) < MALFORMED_LISTED:
                scored.malformed.append((table.path.name, number))
            continue
        scored.see(table, cells)
        item = score_row(number, cells, table.columns, scored.options.levels)
        if by != ("repeat",):
            parts = {"repeat": item.round, "run": item.run_id or "(none)", "file": table.path.name}
            item.round = " · ".join(parts[part] for part in by)
        block.append(item)
        size += item.raw_length + len(item.response) + len(item.judged) + 256
        if len(block) >= _BLOCK_ROWS or size >= _BLOCK_CHARACTERS:
            yield block
            block, size = [], 0
    if block:
        yield block


async def _settle_intent(items: list[Item], judge: IntentJudge | None, scored: Scored, file: str) -> None:
    waiting: list[Item] = []
    for item in items:
        if item.intent is not None:
            continue
        if judge is not None and _is_open(item):
            waiting.append(item)
            continue
        score = heuristic_score(item.query, item.judged)
        if score is not None:
            item.intent, item.origin = float(score), "heuristic"
    if judge is None:
        return
    outcome = await each(waiting, lambda item: judge(item.query, item.expected, item.judged), at_once=_BLOCK_ROWS)
    if outcome.stopped is not None:
        raise outcome.stopped
    if outcome.failed:
        raise outcome.failed[0][1]
    for item, said in outcome.done:
        _take_score(item, said, scored, f"{file}:{item.row}")


def _take_score(item: Item, said: Asked[int | None], scored: Scored, place: str) -> None:
    """A judge that gave no score is a gap, not an occasion for a cheaper guess."""
    if said.state == "answered" and (said.value is None or not 0 <= said.value <= 5):
        said = replace(said, state="unreadable", reason=f"{said.value} is off the scale 0 to 5")
    scored.asked[said.state] += 1
    if said.state == "answered" and said.value is not None:
        item.intent, item.origin = float(said.value), "judge"
    else:
        scored.unscored.append((place, said))


def analyse(
    scored: Scored, items: Path | None = None, *, also_show: dict[str, list[int]] | None = None
) -> Analysis:
    """Second pass: the figures, and the per-item table at ``items`` where a path is given.

    ``also_show`` adds rows (indices in the order read) to those that ``shown`` holds, under names of its own.
    """
    records, state = scored.records, scored.state
    first = first_occurrences(records)
    kept = first < 0
    counted = records if kept.all() else records[kept]
    queries = group_queries(counted)
    names = state.rounds.listed
    agreement = consistency(counted, names, queries)
    labels = np.zeros(len(records), dtype=np.uint8)
    if len(queries.scored):
        labels[kept] = np.where(queries.member >= 0, queries.labels[queries.member], 0)
    wanted = rows_to_show(records, kept, first, labels, queries, len(names)) | (also_show or {})
    shown = write_items(scored, first, labels, wanted, items)
    checks = _checks(scored, kept, len(queries.scored), agreement.unmatched)
    rounds = round_figures(counted, names)
    figures = AgentRuns(
        method=_method(scored),
        inputs=tuple(InputTable.model_validate(table.describe()) for table in scored.tables),
        rows=len(records),
        counted=int(kept.sum()),
        rounds=rounds,
        set=set_figures(rounds),
        consistency=agreement,
        checks=tuple(with_rows(checks, shown, scored)),
        failures_by_path=failures_by_path(counted, state),
        patterns=failing_patterns(counted, state),
        instability=instability_causes(counted, state),
    )
    if scored.judged:
        states = {state.replace(" ", "_"): scored.asked[state] for state in STATES}
        figures = figures.model_copy(update={"judge": {"asked": scored.asked.total(), **states}})
    return Analysis(figures, shown)


def _checks(scored: Scored, kept: Bools, queries: int, unmatched: int) -> list[Check]:
    limits, rows = scored.options.limits, len(scored.records)
    checks = run_checks(
        scored.records,
        kept,
        scored.state,
        full=scored.full,
        scored_elsewhere=scored.judged or not any("llm_score" in table.columns.index for table in scored.tables),
        queries=queries,
        unmatched=unmatched,
        limits=limits,
    )
    count = scored.malformed_count
    checks.append(share_check("malformed_rows", count, count + rows, limits.malformed))
    checks.append(never_filled(*scored.filled_columns()))
    if asked := scored.asked.total():
        lost = asked - scored.asked["answered"]
        checks.append(share_check("judge_failures", lost, asked, limits.judge_failures))
    return checks


def _method(scored: Scored) -> Method:
    return Method(
        accuracy=scored.options.levels,
        rounds_by=scored.options.rounds_by,
        form="full" if scored.full else "plain",
        speed_bands_s=(5, 8, 10, 15, 20),
        set="plain mean of the rounds' values; counts are sums",
    )
