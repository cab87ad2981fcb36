"""Fewer judge calls, measured: matches used by each goal against uniform pairing, and how often it is wrong.

    python -m bench.sequential [--tournaments 2000] [--workers 2] [--only decisive,wrong,stopped,place,best]

Tournaments are drawn from known strengths (``bench/tournaments.py``) and played through the policies themselves.
Exits with 1 where a limit is missed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from bench.sequential_errors import NULLS, STOPPED, AtStop, at_stop, naive_peeking, wrong_decision
from bench.sequential_use import best_of_ten, decisive, place_on_twenty
from bench.tournaments import ERROR

failed: list[str] = []


def limit(text: str, *, holds: bool) -> str:
    if not holds:
        failed.append(text)
    return f"{text}: {'yes' if holds else 'NO'}"


def show_best(runs: Callable[..., list], count: int) -> None:
    print(f"Best of 10, error {ERROR}: matches until certain (median of {count}; wrong winners in brackets)")
    print("spread  leader against challengers   uniform, same bets   uniform, ratings   uniform, z > 3 (naive)")
    for spread in (0.8, 1.5):
        results = runs(partial(best_of_ten, spread), count)
        median = np.median([used for used, _ in results], axis=0)
        wrong = np.sum([wrong for _, wrong in results], axis=0)
        cells = [f"{value:.0f} ({bad})" for value, bad in zip(median, wrong, strict=True)]
        print(f"{spread:<8}{cells[0]:<29}{cells[1]:<21}{cells[2]:<19}{cells[3]}")
        ratios = median[1:] / median[0]
        print(f"        times fewer:                 {ratios[0]:<21.1f}{ratios[1]:<19.1f}{ratios[2]:.1f}")
        print("       ", limit("at least 5 times fewer than both uniform ways of the same error",
                               holds=ratios[0] >= 5 and ratios[1] >= 5))  # fmt: skip


def show_place(runs: Callable[..., list], count: int) -> None:
    print(f"\nA newcomer on a board of 20, to ±35 points: mean matches of {count}; intervals that hold the truth")
    for spread, saving in ((0.8, 0.20), (1.5, 0.40), (2.5, 0.40)):
        for per_dialogue, shared in ((1, 0.0), (3, 0.6))[: 2 if spread == 1.5 else 1]:
            results = runs(partial(place_on_twenty, spread, per_dialogue, shared), count)
            near, uniform = np.mean([used for used, _ in results], axis=0)
            held = np.mean([held for _, held in results], axis=0)
            saved = 1 - near / uniform
            kind = "dependent  " if shared else "independent"
            print(f"spread {spread} {kind}  nearest {near:.0f}, uniform {uniform:.0f}, saved {saved:.0%}; "
                  f"held {held[0]:.1%}, uniform {held[1]:.1%}")  # fmt: skip
            if not shared:
                print("       ", limit(f"saves {saving:.0%}", holds=saved >= saving))


def show_wrong(runs: Callable[..., list], count: int) -> None:
    print(f"\nWrong decisions in {count} tournaments, looked at after every battle; declared rate {ERROR:.0%}")
    for place, case in enumerate(NULLS):
        share = float(np.mean(runs(partial(wrong_decision, place), count)))
        print(f"  {case.name:<48} {share:.2%}   {limit('at most the rate', holds=share <= ERROR)}")
    for battles, per_dialogue, shared in ((400, 1, 0.0), (600, 4, 0.8)):
        share = float(np.mean(runs(partial(naive_peeking, battles, per_dialogue, shared), count)))
        print(
            f"  beside it, z test at 5 % with peeking, {battles} battles, {per_dialogue} a dialogue: {share:.1%}"
        )


def show_stopped(runs: Callable[..., list], count: int) -> None:
    print(f"\nLimits reported at the stop of {count} tournaments, 2 dependent subsets a dialogue; 95 % promised")
    for place, case in enumerate(STOPPED):
        found: list[AtStop] = runs(partial(at_stop, place), count)
        by_case = {
            name: np.mean([held for one in found for held in getattr(one, name)] or [np.nan])
            for name in ("each", "leads", "ordinary")
        }
        together = float(np.mean([one.together for one in found]))
        promised = together if case.goal.name != "best" else min(by_case["each"], by_case["leads"])
        print(f"  {case.name:<22} each {by_case['each']:.1%}, all together {together:.1%}, the winner's "
              f"{by_case['leads']:.1%}; beside them ordinary intervals {by_case['ordinary']:.1%}, ordinary gap "
              f"{np.nanmean([one.ahead for one in found]):+.0f} points off")  # fmt: skip
        print("       ", limit("holds in 95 %", holds=promised >= 0.95))
    for spread, per_dialogue, shared in ((0.8, 1, 0.0), (1.5, 3, 0.6)):
        results = runs(partial(place_on_twenty, spread, per_dialogue, shared, ways=1), count)
        held = float(np.mean([held for _, held in results]))
        text = f"a newcomer's interval, spread {spread}, {per_dialogue} a dialogue, {held:.1%}"
        print(" ", limit(f"{text}, holds in 95 %", holds=held >= 0.95))


def show_decisive() -> None:
    print("\nDecisive rounds (3 asked): calls saved, verdicts that differ in 5,000 matches")
    for effect, gap, unreadable in ((0.0, 0.3, 0.0), (0.0, 0.3, 0.03), (1.0, 0.3, 0.0), (2.0, 0.3, 0.0)):
        saved, changed = decisive(effect, gap, unreadable, 5000)
        print(f"  subsets differing by {effect}, gap {gap}, {unreadable:.0%} unreadable: {saved:.1%} saved; "
              + limit(f"{changed} differ", holds=changed == 0))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tournaments", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="decisive,wrong,stopped,place,best", help="parts, separated by commas")
    args = parser.parse_args()
    parts = args.only.split(",")
    with ProcessPoolExecutor(args.workers) as pool:

        def runs(work: Callable, count: int) -> list:
            return list(pool.map(work, range(count), chunksize=5))

        if "decisive" in parts:
            show_decisive()
        if "wrong" in parts:
            show_wrong(runs, args.tournaments)
        if "stopped" in parts:
            show_stopped(runs, args.tournaments)
        if "place" in parts:
            show_place(runs, max(20, args.tournaments // 10))
        if "best" in parts:
            show_best(runs, max(20, args.tournaments // 20))
    for line in failed:
        print(f"missed: {line}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
