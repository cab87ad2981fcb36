"""``tutor-arena power``: how many matches tell two endpoints apart, before a run and after one."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runstore.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.ratings.battles import Battles
    from arena.ratings.power import Contrast
    from runstore.records import Verdict

_GUESSED_EFFECT = 1.0


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
    answers = _after(args) if args.run_dir or args.battles else _before(args)
    if args.json:
        from runstore.publish import to_json

        sys.stdout.write(to_json({"level": args.level, "power": args.power, "pairs": answers}).decode() + "\n")
        return 0
    for answer in answers:
        print("\n".join(_lines(answer, args)))
    return 0


def _before(args: argparse.Namespace) -> list[dict[str, Any]]:
    from arena.ratings.power import Contrast, win_rate_of_gap

    if args.pair is not None:
        raise Problem("power: found --pair without --run or --battles")
    if (args.win_rate is None) == (args.gap is None):
        raise Problem("power: expected one of --win-rate, --gap, --run, --battles")
    rate = args.win_rate if args.win_rate is not None else win_rate_of_gap(args.gap)
    contrast = Contrast(rate, args.ties or 0.0, args.design_effect or 1.0)
    return [_answer(args, contrast, None, 0, None)]


def _after(args: argparse.Namespace) -> list[dict[str, Any]]:
    from itertools import combinations

    from arena.ratings.power import observed, subset_effect

    if args.run_dir is not None and args.battles is not None:
        raise Problem("power: found --run and --battles, expected one of them")
    if any(value is not None for value in (args.win_rate, args.gap, args.ties, args.design_effect)):
        raise Problem(
            "power: what was seen comes from the file; leave out --win-rate, --gap, --ties, --design-effect"
        )
    battles, verdicts = _seen(args)
    met = set(zip(battles.i.tolist(), battles.j.tolist(), strict=True))
    pairs = [tuple(args.pair)] if args.pair is not None else list(combinations(battles.names, 2))
    answers: list[dict[str, Any]] = []
    for a, b in pairs:
        if args.pair is None and (battles.names.index(a), battles.names.index(b)) not in met:
            continue
        try:
            contrast, matches = observed(battles, a, b)
        except Problem as problem:
            if args.pair is not None:
                raise
            answers.append({"a": a, "b": b, "reason": str(problem)})
            continue
        effect = subset_effect([v for v in verdicts if set(v.endpoints) == {a, b}])
        answers.append(_answer(args, contrast, (a, b), matches, effect))
    if not answers:
        raise Problem("power: found no pair that met")
    return answers


def _seen(args: argparse.Namespace) -> tuple[Battles, Sequence[Verdict]]:
    if args.battles is not None:
        from arena.ratings.reading import read_battles

        return read_battles(args.battles), ()
    from arena.ratings.verdicts import from_verdicts
    from runstore.publish import read_records
    from runstore.records import Verdict

    verdicts = read_records(args.run_dir / "verdicts.jsonl", Verdict)
    return from_verdicts(verdicts), verdicts


def _answer(
    args: argparse.Namespace, contrast: Contrast, pair: tuple[str, str] | None, matches: int, effect: float | None
) -> dict[str, Any]:
    from dataclasses import asdict
    from math import log

    from arena.ratings.power import detectable, matches_needed, plans, power_of

    needed = matches_needed(contrast, args.power, args.level)
    answer: dict[str, Any] = {
        "a": pair and pair[0],
        "b": pair and pair[1],
        **asdict(contrast),
        "matches": matches,
        "needed": needed,
        "more": None if needed is None else max(0, needed - matches),
        "reason": None if needed is not None else "no gap, or one too small to find with ten million matches",
    }
    given = args.matches if args.matches is not None else matches or None
    if given:
        found = detectable(given, contrast.ties, contrast.design_effect, args.power)
        answer |= {"power_at": given, "power_there": power_of(contrast, given, args.level), "detectable": found}
    if args.calls is not None:
        gap = abs(log(contrast.win_rate / (1 - contrast.win_rate)))
        spread = _GUESSED_EFFECT if effect is None else effect
        answer |= {
            "subset_effect": spread,
            "subset_effect_origin": "assumed" if effect is None else "from the rounds",
            "plans": [asdict(plan) for plan in plans(args.calls, gap, spread, level=args.level)],
        }
    return answer


def _lines(answer: dict[str, Any], args: argparse.Namespace) -> list[str]:
    from frontdesk.report.untrusted import one_line

    lines: list[str] = []
    if answer["a"] is not None:
        lines.append(f"{one_line(answer['a'])} against {one_line(answer['b'])}:")
    if "win_rate" not in answer:
        return [*lines, f"  {answer['reason']}"]
    lines.append(
        f"  win rate {answer['win_rate']:.1%} of decided matches, {answer['ties']:.1%} ties, "
        f"design effect {answer['design_effect']:.2f}"
    )
    if answer["needed"] is None:
        lines.append(f"  {answer['reason']}")
    else:
        lines.append(f"  {answer['needed']} matches find this gap with a chance of {args.power:.0%}")
        if answer["matches"]:
            lines.append(f"  {answer['matches']} were held; {answer['more']} more are needed")
    if "power_at" in answer:
        smallest = answer["detectable"]
        smallest_text = "none" if smallest is None else f"{smallest:.1%}"
        lines.append(
            f"  {answer['power_at']} matches find it with a chance of {answer['power_there']:.0%}; "
            f"the smallest win rate they find with {args.power:.0%}: {smallest_text}"
        )
    return lines + _plan_lines(answer, args)


def _plan_lines(answer: dict[str, Any], args: argparse.Namespace) -> list[str]:
    if "plans" not in answer:
        return []
    origin = answer["subset_effect_origin"]
    lines = [f"  {args.calls} calls, subsets differing by {answer['subset_effect']:.2f} log-odds ({origin}):"]
    for plan in answer["plans"]:
        rounds = f"{plan['rounds']} round{'s' if plan['rounds'] > 1 else ''}, {plan['rule']}"
        lines.append(
            f"    {plan['subsets']} subsets x {rounds}: mean z {plan['z']:.2f}, power {plan['power']:.0%}"
        )
    lines.append("  More subsets before more rounds: a further round sees the same subset again.")
    return lines
