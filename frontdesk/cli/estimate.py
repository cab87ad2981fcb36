"""``tutor-arena estimate CONFIG``: calls, tokens and dollars per stage, before anything is spent."""

from __future__ import annotations

import argparse
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from frontdesk.cli import options
from frontdesk.cli.listing import counted
from frontdesk.runner.told import head, tell, told

if TYPE_CHECKING:
    from frontdesk.runner.config import Config
    from frontdesk.runner.estimate import Cap, Estimate
    from frontdesk.runner.plan import Assumption, Workload
    from frontdesk.runner.power import Reach

ASSUMED: dict[Assumption, str] = {
    "fewer subsets": "{subsets_wanted:,} subsets are asked for; {dialogues:,} dialogues of {turns} turns: "
    "{subsets:,} at most, so {subsets:,} are counted.",
    "subsets given": "Without [simulate], {subsets:,} subsets of your own are assumed ([cut] subsets).",
    "endpoints unknown": "Judging is not counted: without [collect], the endpoints are known only from replies.",
    "goal": "With a goal, judging asks at most so many calls, often a fraction of them.",
    "decisive": 'With rounds_mode = "decisive", judging asks at most so many calls.',
    "reask": "Replies of judges that cannot be read are asked for again; that is not counted.",
    "act retries": "Every message is assumed to do the act planned for it, and each act to be read by the model "
    "that is named for it, if one is: rules settle most, and messages that miss their act are asked for again.",
    "blank retries": "Dialogues are assumed to run their full length, and no reply to be blank.",
}


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_configuration(parser)
    options.add_json_option(parser)
    options.add_size_options(parser, "dialogues", "turns", "subsets")


def run(args: argparse.Namespace) -> int:
    from frontdesk.cli import stages

    options.configuration(args)
    return show(stages.load_config(args), as_json=args.json)


def show(
    config: Config, *, as_json: bool = False, by_batch: bool = False, stage: str | None = None, **made: Any
) -> int:
    """Print the estimate of a whole configuration, or of one of its stages; returns 0.

    ``by_batch``: as ``--batch`` asks; ``made``: what is there already, as ``plan.workload`` takes it.
    """
    from frontdesk.runner import plan
    from frontdesk.runner.estimate import estimate_calls

    load = plan.workload(config, **made)
    calls = [part for part in load.calls if stage in (None, part.stage)]
    calls = list(plan.in_batches(config, load, calls)) if by_batch else calls
    estimated = estimate_calls(config, calls, load.assumed)
    reached = None if stage is not None else _reach(config, load)
    if as_json:
        print_json(estimated, load, reached)
        return 0
    print_lines(estimated)
    if reached is not None:
        tell(_reach_line(reached))
    for assumption in load.assumed if stage is None else ():
        tell(ASSUMED[assumption].format(**{name: getattr(load, name) for name in load.__slots__}))
    if load.rounds_each > 1 and stage is None:
        tell("For the same money, more subsets tell two tutors apart sooner than more rounds: tutor-arena power.")
    return 0


def _reach(config: Config, load: Workload) -> Reach | None:
    """What the plan can tell; a goal asks until it can, so there is nothing to say of it."""
    from frontdesk.runner.power import reach

    goal = None if config.judge is None else config.judge.goal
    return None if goal is not None else reach(load, config.rate.level)


def _reach_line(reach: Reach) -> str:
    plan = reach.plan
    low, high = ("more" if value is None else f"{value:.0f}" for value in reach.range)
    gap = "no gap" if reach.gap is None else f"a gap of {reach.gap:.0f} rating points ({low} to {high})"
    return (
        f"{plan.dialogues} dialogues x {plan.subsets} subsets x {plan.rounds} rounds, "
        f"{counted(reach.pairs, 'pair')}: {gap} "
        f"is found with a chance of {reach.power:.0%} at {reach.level:.4g}. How subsets and dialogues differ is "
        "assumed; after a run: tutor-arena power --run."
    )


def print_json(estimated: Estimate, load: Workload | None = None, reached: Reach | None = None) -> None:
    """The estimate as one JSON object; with ``load``, also what was counted, and what that can tell."""
    from frontdesk.cli.listing import print_object
    from frontdesk.runner.estimate import told

    print_object(told(estimated, load, None if reached is None else reached.to_json()))


def print_lines(estimated: Estimate) -> None:
    """The estimate as a table, and what it assumes of lengths and prices."""
    from frontdesk.report.writers import terminal
    from frontdesk.report.writers.terminal import Head

    names = [Head(head("stage")), Head(head("endpoint"), name=True)]
    figures = [Head(head(name), number=True) for name in ("calls", "input tokens", "output tokens", "USD")]
    roles: defaultdict[str, set[str]] = defaultdict(set)
    for line in estimated.lines:
        roles[line.stage].add(line.role)
    rows = [
        _row(
            f"{line.stage}, {head(line.role)}" if len(roles[line.stage]) > 1 else line.stage,
            line.endpoint,
            *(line.calls, line.input, line.output, line.usd),
        )
        for line in estimated.lines
    ]
    total = (estimated.calls, estimated.input, estimated.output, estimated.usd)
    terminal.print_grid(terminal.console(), "", [*names, *figures], [*rows, _row(head("total"), "", *total)])
    if estimated.usd is None:
        unknown, known = ", ".join(estimated.unpriced), f"{estimated.usd_known_part:,.2f} USD"
        of = f"{estimated.calls_priced:,} of {estimated.calls:,} calls"
        tell(f"Some prices are unknown ({unknown}): set price = {{ input = ..., output = ... }} there.")
        if estimated.calls_priced:
            tell(f"The part whose price is known: {known} for {of}.")
    if batched := ", ".join(dict.fromkeys(line.endpoint for line in estimated.lines if line.by_batch)):
        tell(f"By batch, at half the price, within a day: {batched}.")
    tell("Lengths are assumed (student 20 words, teacher 90, judge 300); thinking tokens are not counted.")
    _print_caps(estimated)


def print_stops(config: Config) -> tuple[Cap, ...]:
    """Say where a whole configuration would stop at a cap; those caps. Raises Problem, InputProblem."""
    from frontdesk.runner import plan
    from frontdesk.runner.estimate import estimate

    estimated = estimate(config, plan.workload(config))
    _print_caps(estimated)
    return estimated.caps


def _print_caps(estimated: Estimate) -> None:
    from frontdesk.report.figures import count, significant

    for cap in estimated.caps:
        where = f"after stage {cap.after}, in {cap.stage}" if cap.after else f"in its first stage, {cap.stage}"
        least = "at least " if cap.name == "usd" and estimated.usd is None else ""
        planned, before = (
            significant(value, 6) if cap.name == "usd" else count(value) for value in (cap.planned, cap.before)
        )
        cost = f"{least}{planned} are planned, {before} of them before {cap.stage}"
        tell(f"budget.{cap.name} = {count(cap.cap)}: this would stop at the cap {where}; {cost}.")
        tell(f"To go through, raise budget.{cap.name}.")


def _row(stage: str, endpoint: str, calls: int, read: int, written: int, usd: float | None) -> list[str]:
    price = told("unknown") if usd is None else f"{usd:,.2f}"
    return [stage, endpoint, f"{calls:,}", f"{read:,}", f"{written:,}", price]
