"""``tutor-arena estimate CONFIG``: calls, tokens and dollars per stage, before anything is spent."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frontdesk.runner import config as configuration
from frontdesk.runner.config import Config
from runstore.publish import to_json

STUDENT_WORDS, TEACHER_WORDS, JUDGE_WORDS = 20, 90, 300
TOKENS_PER_WORD = 1.4


@dataclass(frozen=True, slots=True)
class Line:
    """One endpoint's part in one stage. ``usd`` is None where the price is unknown."""

    stage: str
    endpoint: str
    calls: int
    input: int
    output: int
    usd: float | None


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", metavar="CONFIG", type=Path, help="a TOML configuration")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(args: argparse.Namespace) -> int:
    return show(configuration.load(args.config), as_json=args.json)


def show(config: Config, *, as_json: bool = False) -> int:
    """Print the estimate; returns 0."""
    return show_lines(config, list(lines(config)), as_json=as_json)


def show_lines(config: Config, rows: Sequence[Line], *, as_json: bool = False) -> int:
    """Print an estimate of these calls; returns 0."""
    known = [row.usd for row in rows if row.usd is not None]
    total: dict[str, Any] = {
        "calls": sum(row.calls for row in rows),
        "input": sum(row.input for row in rows),
        "output": sum(row.output for row in rows),
        "usd": sum(known) if len(known) == len(rows) else None,
        "usd_known_part": sum(known),
    }
    if as_json:
        stages = [
            {
                "stage": r.stage,
                "endpoint": r.endpoint,
                "calls": r.calls,
                "input": r.input,
                "output": r.output,
                "usd": r.usd,
            }
            for r in rows
        ]
        print(to_json({"stages": stages, "total": total}, indent=True).decode())
        return 0
    width = max([len(row.endpoint) for row in rows] + [8])
    print(
        f"{'stage':<10}{'endpoint':<{width + 2}}{'calls':>9}{'input tokens':>15}{'output tokens':>15}{'USD':>12}"
    )
    for row in rows:
        tokens = f"{row.input:>15,}{row.output:>15,}"
        print(f"{row.stage:<10}{row.endpoint:<{width + 2}}{row.calls:>9,}{tokens}{_usd(row.usd):>12}")
    print(
        f"{'total':<10}{'':<{width + 2}}{total['calls']:>9,}{total['input']:>15,}{total['output']:>15,}"
        f"{_usd(total['usd']):>12}"
    )
    if total["usd"] is None:
        print("Some prices are unknown: set price = { input = ..., output = ... } on those endpoints.")
    print("Lengths are assumed (student 20 words, teacher 90, judge 300); thinking tokens are not counted.")
    if config.judge is not None and config.judge.goal is not None:
        print("With a goal, judging asks at most so many calls, often a fraction of them.")
    if config.judge is not None and config.judge.rounds > 1:
        print("For the same money, more subsets tell two tutors apart sooner than more rounds: tutor-arena power.")
    return 0


def lines(config: Config) -> Iterator[Line]:
    """Every stage's calls with assumed lengths. Raises Problem where a price table is wrong."""
    turns = config.simulate.turns if config.simulate is not None else 4
    exchange = (STUDENT_WORDS + TEACHER_WORDS) * TOKENS_PER_WORD
    if config.simulate is not None:
        n = config.simulate.dialogues
        history = sum(turn * exchange for turn in range(turns)) / turns
        yield _line(config, "simulate", config.simulate.student, n * (turns - 1), 600 + history, STUDENT_WORDS)
        yield _line(config, "simulate", config.simulate.teacher, n * turns, 250 + history, TEACHER_WORDS)
    subsets = config.cut.subsets
    if config.collect is not None:
        for name in config.collect.endpoints:
            yield line_of(config, "collect", name, subsets)
        if config.judge is not None:
            yield from _judging(config, subsets)


def _judging(config: Config, subsets: int) -> Iterator[Line]:
    judge, collect = config.judge, config.collect
    if judge is None or collect is None:
        return
    pairs = (
        len(judge.pairs) if judge.pairs is not None else len(collect.endpoints) * (len(collect.endpoints) - 1) // 2
    )
    criteria = 1
    if judge.one_by_one:
        criteria = len(judge.criteria) if isinstance(judge.criteria, tuple) else 4
    for name in judge.endpoints:
        calls = subsets * pairs * criteria * judge.rounds
        yield line_of(config, "judge", name, calls)


def line_of(config: Config, stage: str, endpoint: str, calls: int) -> Line:
    """So many calls of one endpoint in ``collect`` or ``judge``."""
    turns = config.simulate.turns if config.simulate is not None else 4
    half = (STUDENT_WORDS + TEACHER_WORDS) * TOKENS_PER_WORD * turns / 2
    if stage == "collect":
        return _line(config, stage, endpoint, calls, 250 + half, TEACHER_WORDS)
    return _line(config, stage, endpoint, calls, 450 + half + 2 * TEACHER_WORDS * TOKENS_PER_WORD, JUDGE_WORDS)


def _line(config: Config, stage: str, endpoint: str, calls: int, input_tokens: float, output_words: int) -> Line:
    from gateway.adapters.catalog import settings_of
    from gateway.prices import cost, price_of
    from runstore.records import Usage

    price = price_of(settings_of(endpoint, config.endpoints[endpoint]))
    read, written = round(calls * input_tokens), round(calls * output_words * TOKENS_PER_WORD)
    read, written = round(calls * input_tokens), round(calls * output_words * TOKENS_PER_WORD)
    tokens = Usage(input=read, output=written, thinking=0, cached=0)
    usd = None if price is None else cost(price, tokens)
    return Line(stage, endpoint, calls, read, written, usd)


def _usd(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.2f}"
