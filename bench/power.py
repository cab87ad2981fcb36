"""Is what ``power`` claims what happens? Claims against simulated tables, over gaps, subsets, dialogues and plans.

    python -m bench.power [--draws 10000] [--runs 200] [--only claims,ranges,people]

Claims: votes are simulated one by one and decided by the leaderboard's rule; beside it the claim of majority
verdicts taken for independent matches. Ranges: the range that a run's own votes give for a plan, and how often the
plan's true power is in it. People: the claim for documents x raters against Wilcoxon's test itself, and for a
correlation against Pearson's. Deterministic. Exits with 1 where a claim is more than 3 points off (of a small
simulation, also its own 2 standard errors), or a range holds less than 90 %.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, pearsonr

from arena.agreement.paired import wilcoxon
from arena.human.power import Correlation, Difference, correlation_power, difference_power
from arena.ratings.components import Seen, components
from arena.ratings.power import Plan, named, power_of
from arena.ratings.votes import Votes, chances, moments

Floats = NDArray[np.float64]
SEED, TIES = 23, 0.4
GAPS, SUBSETS, DIALOGUES = (0.2, 0.5, 1.0), (0.0, 0.5, 1.5), (0.0, 0.5, 1.0)
PLANS = (Plan(8, 3, 3), Plan(15, 2, 1), Plan(50, 4, 3), Plan(150, 2, 1), Plan(300, 1, 1))
WITHIN = 0.03
failed: list[str] = []


def outcomes(votes: Votes, plan: Plan, draws: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """(draws, dialogues, subsets) verdicts -1, 0, 1 of majorities, vote by vote."""
    shape = (draws, plan.dialogues, plan.subsets)
    lead = (
        votes.gap
        + generator.normal(0, 1, (*shape[:2], 1)) * votes.dialogue_sd
        + generator.normal(0, 1, shape) * votes.subset_sd
    )
    counts = generator.multinomial(plan.rounds, chances(lead, votes.ties))
    return (2 * counts[..., 2] > plan.rounds).astype(np.int64) - (2 * counts[..., 0] > plan.rounds)


def simulated(votes: Votes, plan: Plan, draws: int, generator: np.random.Generator) -> float:
    """The share of tables that name the first."""
    net = outcomes(votes, plan, draws, generator).sum(2) + plan.subsets
    size = 2 * plan.subsets + 1
    flat = np.arange(draws)[:, None] * size + net
    counts = np.bincount(flat.ravel(), minlength=draws * size).reshape(draws, size)
    return float(named(np.arange(size) - float(plan.subsets), counts, plan.subsets, 0.95).mean())


def naive(votes: Votes, plan: Plan) -> float:
    """Majorities as so many independent matches, each as sure as a single vote without effects."""
    one = moments(Votes(votes.gap, 0.0, 0.0, votes.ties), plan.rounds)
    return float(norm.sf(norm.ppf(0.975) - one.mean / one.variance**0.5 * plan.matches**0.5))


def cells() -> Iterator[tuple[Votes, Plan]]:
    for plan in PLANS:
        for gap in GAPS:
            for subset in SUBSETS:
                for dialogue in DIALOGUES:
                    yield Votes(gap, subset, dialogue, TIES), plan


def show_claims(draws: int) -> None:
    print(f"Claimed power against {draws} simulated tables a cell (in brackets: votes taken for independent)")
    print("  plan (dialogues x subsets x rounds)   gap  subset sd  dialogue sd   claim   true   (independent)")
    worst = worst_naive = 0.0
    for number, (votes, plan) in enumerate(cells()):
        claim = power_of(votes, plan)
        true = simulated(votes, plan, draws, np.random.default_rng([SEED, number]))
        off = abs(claim - true)
        worst, worst_naive = max(worst, off), max(worst_naive, abs(naive(votes, plan) - true))
        allowed = WITHIN + (0 if draws >= 10_000 else 2 * (true * (1 - true) / draws) ** 0.5)
        name = f"{plan.dialogues} x {plan.subsets} x {plan.rounds}"
        line = (
            f"  {name:<38}{votes.gap:>4}{votes.subset_sd:>11}{votes.dialogue_sd:>13}{claim:>8.1%}{true:>7.1%}"
            f"   ({naive(votes, plan):.1%})"
        )
        print(line + ("" if off <= allowed else "   MISSED"), flush=True)
        if off > allowed:
            failed.append(line.strip())
    print(
        f"  largest difference {100 * worst:.1f} points; with votes taken for independent {100 * worst_naive:.0f}"
    )


def run_of(votes: Votes, plan: Plan, generator: np.random.Generator) -> Seen:
    """The votes of one run."""
    lead = (
        votes.gap
        + generator.normal(0, 1, (plan.dialogues, 1)) * votes.dialogue_sd
        + generator.normal(0, 1, (plan.dialogues, plan.subsets)) * votes.subset_sd
    )
    lost, tied, won = generator.multinomial(plan.rounds, chances(lead, votes.ties)).reshape(-1, 3).T.astype(float)
    return Seen(np.repeat(np.arange(plan.dialogues), plan.subsets), won, lost, tied)


def show_ranges(runs: int) -> None:
    print(f"\n95 % ranges for a plan of 60 x 2 x 3 from {runs} runs: how often the true power is inside")
    for plan in (Plan(12, 2, 3), Plan(30, 3, 3)):
        for gap in (0.2, 0.6):
            votes, wanted = Votes(gap, 0.5, 0.5, TIES), Plan(60, 2, 3)
            true, inside, widths = power_of(votes, wanted), 0, list[float]()
            for number in range(runs):
                seen = run_of(votes, plan, np.random.default_rng([SEED, plan.dialogues, round(10 * gap), number]))
                found = components(seen, subset_sd=1.0, dialogue_sd=0.5, draws=60, identity=(str(number),))
                powers = [power_of(one, wanted, draws=200) for one in (found.votes, *found.draws)]
                low, high = np.quantile(powers, [0.025, 0.975], method="closest_observation")
                inside += bool(low - 0.02 <= true <= high + 0.02)
                widths.append(high - low)
            text = (
                f"run of {plan.dialogues} x {plan.subsets}, gap {gap}: true {true:.0%}, inside {inside / runs:.1%}"
            )
            print(f"  {text}, mean width {np.mean(widths):.0%}", flush=True)
            if inside < 0.9 * runs:
                failed.append(text)


def difference_truth(
    one: Difference, items: int, raters: int, draws: int, generator: np.random.Generator
) -> float:
    """The share of studies in which Wilcoxon's test of the documents' means finds the difference."""
    hits = 0
    for _ in range(draws):
        table = one.difference + one.item_sd * generator.standard_normal((items, 1))
        table = table + one.rater_sd * generator.standard_normal((1, raters))
        means = (table + one.residual_sd * generator.standard_normal((items, raters))).mean(1)
        test = wilcoxon(means)
        hits += test.p_value is not None and test.p_value <= 0.05 and float(np.median(means)) > 0
    return hits / draws


def correlation_truth(
    one: Correlation, items: int, raters: int, draws: int, generator: np.random.Generator
) -> float:
    """The share of studies in which Pearson's test finds the judge's correlation with the raters' mean."""
    noise = (1 / one.reliability - 1) ** 0.5
    hits = 0
    for _ in range(draws):
        true, own = generator.standard_normal((2, items))
        judge = one.correlation * true + (1 - one.correlation**2) ** 0.5 * own
        people = true + noise * generator.standard_normal((raters, items)).mean(0)
        found = pearsonr(judge, people)
        hits += found.pvalue <= 0.05 and found.statistic > 0
    return hits / draws


def show_people(draws: int) -> None:
    print(f"\nDocuments x raters against {draws} simulated studies")
    rows: list[tuple[str, float, float]] = []
    spreads: Sequence[Difference] = (Difference(0.5, 0.5, 0.0, 1.0), Difference(0.6, 0.3, 0.3, 1.0))
    for at, one in enumerate(spreads):
        for items, raters in ((8, 3), (20, 3), (40, 2)):
            true = difference_truth(one, items, raters, draws, np.random.default_rng([SEED, 7, at, items]))
            spread = f"sd {one.item_sd} {one.rater_sd} {one.residual_sd}"
            name = f"difference {one.difference}, {spread}, {items} x {raters}"
            rows.append((name, difference_power(one, items, raters), true))
    for at, one in enumerate((Correlation(0.5, 0.5), Correlation(0.7, 0.3))):
        for items, raters in ((10, 3), (30, 1), (60, 3)):
            true = correlation_truth(one, items, raters, draws, np.random.default_rng([SEED, 8, at, items]))
            name = f"correlation {one.correlation}, reliability {one.reliability}, {items} x {raters}"
            rows.append((name, correlation_power(one, items, raters), true))
    for name, claim, true in rows:
        missed = abs(claim - true) > WITHIN + 2 * (true * (1 - true) / draws) ** 0.5
        print(f"  {name:<50} claim {claim:.1%}, true {true:.1%}{'   MISSED' if missed else ''}")
        if missed:
            failed.append(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--only", default="claims,ranges,people", help="parts, separated by commas")
    args = parser.parse_args()
    parts = args.only.split(",")
    if "claims" in parts:
        show_claims(args.draws)
    if "ranges" in parts:
        show_ranges(args.runs)
    if "people" in parts:
        show_people(args.draws // 5)
    for line in failed:
        print(f"missed: {line}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
