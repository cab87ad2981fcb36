"""``tutor-arena power``: how many matches tell two endpoints apart, before a run and after one."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from frontdesk.cli import options
from frontdesk.runner.told import tell
from runstore.problems import Problem

if TYPE_CHECKING:
    from frontdesk.runner.people_power import Asked, PeopleAnswer
    from frontdesk.runner.power import Answer, Wanted


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    options.add_run_first(parser)
    before = parser.add_argument_group("before a run: what you expect")
    before.add_argument("--win-rate", type=float, metavar="SHARE", help="share of decided votes that one wins")
    before.add_argument("--gap", type=float, metavar="POINTS", help="the same as a gap in rating points")
    before.add_argument("--ties", type=float, metavar="SHARE", help="share of votes that are ties (0)")
    before.add_argument("--design-effect", type=float, metavar="X", help="dependent matches that count as one (1)")
    after = parser.add_argument_group("after a run: what you saw")
    after.add_argument("--run", type=Path, dest="run_dir", metavar="DIR", help="a run folder: its verdicts.jsonl")
    after.add_argument(
        "--battles", type=Path, metavar="FILE", help="battles: CSV, TSV, XLSX, JSON lines, a JSON array or Parquet"
    )
    after.add_argument("--pair", nargs=2, metavar=("A", "B"), help="the two endpoints (default: all pairs)")
    votes = parser.add_argument_group("votes within matches within dialogues")
    votes.add_argument("--subset-sd", type=float, metavar="X", help="how subsets differ in the gap, log-odds")
    votes.add_argument("--dialogue-sd", type=float, metavar="X", help="how dialogues differ in the gap, log-odds")
    votes.add_argument("--dialogues", type=int, metavar="N", help="with --calls: there are no more dialogues")
    votes.add_argument("--subsets-per-dialogue", type=int, metavar="N", help="of each (as held; before 1)")
    votes.add_argument("--rounds", type=int, metavar="N", help="votes a match (as held; before a run 1)")
    people = parser.add_argument_group("people's ratings and rubric scores: what you expect, or a table of them")
    people.add_argument("--difference", type=float, metavar="D", help="of two means, in points of the scale")
    people.add_argument("--item-sd", type=float, metavar="X", help="how documents differ in it (0)")
    people.add_argument("--rater-sd", type=float, metavar="X", help="how raters differ in it (0)")
    people.add_argument("--residual-sd", type=float, metavar="X", help="of one rater's difference on a document")
    people.add_argument("--scores", type=Path, metavar="FILE", help="rater, item, condition, value: what was seen")
    people.add_argument(
        "--question", metavar="NAME", help="with --scores: the one that counts, where several are there"
    )
    people.add_argument("--correlation", type=float, metavar="R", help="of the judge with people's true mean")
    people.add_argument("--reliability", type=float, metavar="R", help="of one rater, as ICC (1)")
    people.add_argument("--items", type=int, metavar="N", help="documents (or dialogues) that are rated")
    people.add_argument("--raters", type=int, metavar="N", help="of each of them (1)")
    parser.add_argument("--matches", type=int, metavar="N", help="the power that so many matches have")
    parser.add_argument("--calls", type=int, metavar="N", help="how to spend so many judge calls best")
    parser.add_argument("--power", type=float, default=0.8, metavar="SHARE", help="wanted (0.8)")
    parser.add_argument("--level", type=float, default=0.95, metavar="SHARE", help="of the decision (0.95)")
    parser.add_argument("--pairs", type=int, metavar="N", help="pairs that are tested together (all that met; 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Answer with matches, power and ways to spend calls; or, of people's ratings, with documents and raters."""
    options.take_run_first(args)
    from runstore.publish import to_json

    if any(value is not None for value in (args.difference, args.correlation, args.scores)):
        return _people(args)
    from frontdesk.runner.power import Wanted

    wanted = Wanted(
        args.power,
        args.level,
        args.matches,
        args.calls,
        args.subset_sd,
        args.dialogue_sd,
        args.dialogues,
        args.subsets_per_dialogue,
        args.rounds,
        args.pairs,
    )
    answers = _after(args, wanted) if args.run_dir or args.battles else [_before(args, wanted)]
    if args.json:
        pairs = [answer.to_json() for answer in answers]
        sys.stdout.write(to_json({"level": args.level, "power": args.power, "pairs": pairs}).decode() + "\n")
        return 0
    for answer in answers:
        tell("\n".join(_lines(answer, wanted)))
    return 0


def _people(args: argparse.Namespace) -> int:
    from frontdesk.runner.people_power import Asked, answers
    from runstore.publish import to_json

    asked = Asked(
        args.difference,
        args.item_sd or 0.0,
        args.rater_sd or 0.0,
        args.residual_sd,
        args.scores,
        args.correlation,
        1.0 if args.reliability is None else args.reliability,
        args.items,
        args.raters or 1,
        args.power,
        args.level,
        args.question,
    )
    told = answers(asked)
    if args.json:
        rows = [answer.to_json() for answer in told]
        sys.stdout.write(to_json({"level": args.level, "power": args.power, "people": rows}).decode() + "\n")
    else:
        tell("\n".join(line for answer in told for line in _people_lines(answer, asked)))
    return 0


def _before(args: argparse.Namespace, wanted: Wanted) -> Answer:
    from arena.ratings.power import win_rate_of_gap
    from frontdesk.runner.power import Expected, expected

    if args.pair is not None:
        raise Problem("power: found --pair without --run or --battles")
    if (args.win_rate is None) == (args.gap is None):
        raise Problem(
            "power: expected one of --win-rate, --gap, --run, --battles, --difference, --correlation, --scores"
        )
    rate = args.win_rate if args.win_rate is not None else win_rate_of_gap(args.gap)
    return expected(Expected(rate, args.ties or 0.0, args.design_effect or 1.0), wanted)


def _after(args: argparse.Namespace, wanted: Wanted) -> list[Answer]:
    from frontdesk.runner.power import seen_in

    if args.run_dir is not None and args.battles is not None:
        raise Problem("power: found --run and --battles, expected one of them")
    if any(value is not None for value in (args.win_rate, args.gap, args.ties, args.design_effect)):
        raise Problem(
            "power: what was seen comes from the file; leave out --win-rate, --gap, --ties, --design-effect"
        )
    pair = None if args.pair is None else (args.pair[0], args.pair[1])
    return seen_in(wanted, run=args.run_dir, battles=args.battles, pair=pair)


def _lines(answer: Answer, wanted: Wanted) -> list[str]:
    from arena.ratings.votes import moments
    from frontdesk.report.untrusted import one_line

    lines: list[str] = []
    if answer.names is not None:
        first, second = map(one_line, answer.names)
        lines.append(f"{first} against {second}:")
    if answer.votes is None:
        return [*lines, f"  {answer.reason}"]
    votes, plan = answer.votes, answer.plan
    shown = moments(votes, plan.rounds)
    lines.append(
        f"  win rate {shown.win_rate:.1%} of decided matches, {shown.tied:.1%} ties, "
        f"design effect {answer.design_effect:.2f}"
    )
    lines.append(
        f"  gap {votes.gap:+.2f} log-odds; subsets differ by {votes.subset_sd:.2f} ({answer.origin[0]}), "
        f"dialogues by {votes.dialogue_sd:.2f} ({answer.origin[1]})"
    )
    lines += _needed_lines(answer, wanted)
    if answer.power is not None:
        smallest = "none" if answer.detectable is None else f"{answer.detectable:.1%}"
        lines.append(
            f"  {answer.asked} {_unit(answer)} find it with a chance of {answer.power.value:.0%}"
            f"{_in_brackets(answer, _shares(answer.power.range))}; "
            f"the smallest win rate they find with {wanted.power:.0%}: {smallest}"
        )
    lines += _plan_lines(answer, wanted)
    if answer.criteria > 1:
        lines.append(f"  Verdicts are counted, not matches: a match has {answer.criteria}, one a criterion.")
    return lines if answer.range_reason is None else [*lines, f"  How sure is not known: {answer.range_reason}."]


def _unit(answer: Answer, of_one: str = "matches") -> str:
    """What is counted: with several criteria a match, verdicts and not matches (or subsets)."""
    return of_one if answer.criteria == 1 else "verdicts"


def _in_brackets(answer: Answer, told: str) -> str:
    return "" if answer.range_reason else f" ({told})"


def _needed_lines(answer: Answer, wanted: Wanted) -> list[str]:
    needed, plan = answer.needed, answer.plan
    if needed is None or needed.value is None:
        return [f"  {answer.reason}"]
    low, high = ("no number" if value is None else f"{value:.0f}" for value in needed.range)
    units = f"{plan.subsets} {_unit(answer, 'subsets')}"
    dialogues = f"{-(-needed.value // plan.subsets):.0f} dialogues x {units} x {plan.rounds} rounds"
    sentence = f"{needed.value:.0f} {_unit(answer)} find this gap with a chance of {wanted.power:.0%}"
    lines = [f"  {sentence}{_in_brackets(answer, f'{low} to {high}')}: {dialogues}"]
    if answer.matches:
        lines.append(f"  {answer.matches} were held; {answer.more} more are needed")
    return lines


def _shares(limits: tuple[float | None, float | None]) -> str:
    return " to ".join("…" if value is None else f"{value:.0%}" for value in limits)


def _plan_lines(answer: Answer, wanted: Wanted) -> list[str]:
    if not answer.ways:
        return []
    lines = [f"  {wanted.calls} calls:"]
    for way in answer.ways:
        plan = way.spent.plan
        lines.append(
            f"    {plan.matches} {_unit(answer, 'subsets')} x {plan.rounds} rounds, {plan.rule} "
            f"({plan.dialogues} dialogues): power {way.spent.power:.0%}{_in_brackets(answer, _shares(way.range))}"
        )
    lines.append("  More subsets before more rounds: a further round sees the same subset again.")
    return lines


def _people_lines(answer: PeopleAnswer, asked: Asked) -> list[str]:
    """The answer as the command prints it."""
    from arena.human.power import Difference
    from frontdesk.report.untrusted import one_line

    expected, lines = answer.of, list[str]()
    if isinstance(expected, Difference):
        named = "" if answer.conditions is None else " - ".join(map(one_line, answer.conditions)) + ": "
        lines.append(
            f"{named}difference {expected.difference:+.3g}; sd of items {expected.item_sd:.3g}, "
            f"raters {expected.rater_sd:.3g}, rest {expected.residual_sd:.3g}"
        )
    else:
        lines.append(
            f"correlation {expected.correlation:.2f} with people's true mean, {answer.seen:.2f} with the mean of "
            f"{answer.raters} raters"
        )
    low, high = ("no number" if value is None else f"{value:.0f}" for value in answer.needed_range)
    needed = "no number" if answer.needed is None else str(answer.needed)
    lines.append(
        f"  {needed} items x {answer.raters} raters find it with a chance of {asked.power:.0%} ({low} to {high})"
    )
    if answer.power is not None:
        ends = " to ".join("…" if value is None else f"{value:.0%}" for value in answer.power_range)
        lines.append(f"  {answer.items} items find it with a chance of {answer.power:.0%} ({ends})")
    if answer.limits is not None:
        lines.append(f"  and would give an interval of {answer.limits[0]:.2f} to {answer.limits[1]:.2f}")
    return lines
