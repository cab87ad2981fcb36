"""``tutor-arena power``: how many matches tell two endpoints apart, before a run and after one."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from runstore.problems import Problem

if TYPE_CHECKING:
    from frontdesk.runner.power import Answer, Wanted


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    before = parser.add_argument_group("before a run: what you expect")
    before.add_argument("--win-rate", type=float, metavar="SHARE", help="share of decided matches that one wins")
    before.add_argument("--gap", type=float, metavar="POINTS", help="the same as a gap in rating points")
    before.add_argument("--ties", type=float, metavar="SHARE", help="share of matches that are ties (0)")
    before.add_argument("--design-effect", type=float, metavar="X", help="dependent matches that count as one (1)")
    after = parser.add_argument_group("after a run: what you saw")
    after.add_argument("--run", type=Path, dest="run_dir", metavar="DIR", help="a run folder: its verdicts.jsonl")
    after.add_argument(
        "--battles", type=Path, metavar="FILE", help="battles: CSV, TSV, XLSX, JSON lines, a JSON array or Parquet"
    )
    after.add_argument("--pair", nargs=2, metavar=("A", "B"), help="the two endpoints (default: all pairs)")
    parser.add_argument("--matches", type=int, metavar="N", help="the power that so many matches have")
    parser.add_argument("--calls", type=int, metavar="N", help="how to spend so many judge calls best")
    parser.add_argument("--power", type=float, default=0.8, metavar="SHARE", help="wanted (0.8)")
    parser.add_argument("--level", type=float, default=0.95, metavar="SHARE", help="of the test (0.95)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Answer with matches, power and ways to spend calls."""
    from frontdesk.runner.power import Wanted

    wanted = Wanted(args.power, args.level, args.matches, args.calls)
    answers = _after(args, wanted) if args.run_dir or args.battles else [_before(args, wanted)]
    if args.json:
        from runstore.publish import to_json

        pairs = [answer.to_json() for answer in answers]
        sys.stdout.write(to_json({"level": args.level, "power": args.power, "pairs": pairs}).decode() + "\n")
        return 0
    for answer in answers:
        print("\n".join(_lines(answer, wanted)))
    return 0


def _before(args: argparse.Namespace, wanted: Wanted) -> Answer:
    from arena.ratings.power import Contrast, win_rate_of_gap
    from frontdesk.runner.power import expected

    if args.pair is not None:
        raise Problem("power: found --pair without --run or --battles")
    if (args.win_rate is None) == (args.gap is None):
        raise Problem("power: expected one of --win-rate, --gap, --run, --battles")
    rate = args.win_rate if args.win_rate is not None else win_rate_of_gap(args.gap)
    return expected(Contrast(rate, args.ties or 0.0, args.design_effect or 1.0), wanted)


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
    from frontdesk.report.untrusted import one_line

    lines: list[str] = []
    if answer.names is not None:
        first, second = map(one_line, answer.names)
        lines.append(f"{first} against {second}:")
    if answer.contrast is None:
        return [*lines, f"  {answer.reason}"]
    lines.append(
        f"  win rate {answer.contrast.win_rate:.1%} of decided matches, {answer.contrast.ties:.1%} ties, "
        f"design effect {answer.contrast.design_effect:.2f}"
    )
    if answer.needed is None:
        lines.append(f"  {answer.reason}")
    else:
        lines.append(f"  {answer.needed} matches find this gap with a chance of {wanted.power:.0%}")
        if answer.matches:
            lines.append(f"  {answer.matches} were held; {answer.more} more are needed")
    if (reach := answer.reach) is not None:
        smallest = "none" if reach.detectable is None else f"{reach.detectable:.1%}"
        lines.append(
            f"  {reach.matches} matches find it with a chance of {reach.power:.0%}; "
            f"the smallest win rate they find with {wanted.power:.0%}: {smallest}"
        )
    return lines + _plan_lines(answer, wanted)


def _plan_lines(answer: Answer, wanted: Wanted) -> list[str]:
    from frontdesk.runner.power import GUESSED_EFFECT

    if (spending := answer.spending) is None:
        return []
    is_assumed = spending.effect is None
    effect, origin = (GUESSED_EFFECT, "assumed") if is_assumed else (spending.effect, "from the rounds")
    lines = [f"  {wanted.calls} calls, subsets differing by {effect:.2f} log-odds ({origin}):"]
    for plan in spending.plans:
        rounds = f"{plan.rounds} round{'s' if plan.rounds > 1 else ''}, {plan.rule}"
        lines.append(f"    {plan.subsets} subsets x {rounds}: mean z {plan.z:.2f}, power {plan.power:.0%}")
    lines.append("  More subsets before more rounds: a further round sees the same subset again.")
    return lines
