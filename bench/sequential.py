"""Fewer judge calls, measured: matches used by each goal against uniform pairing, and how often it is wrong.

    python -m bench.sequential [--tournaments 2000] [--workers 2]

Tournaments are drawn from known strengths (normal with the spread named, in log-odds; ties by Davidson's model,
nu .6) and played through the policies themselves. In dependent runs each endpoint has good and bad dialogues: the
outcomes share a normal effect of endpoint and dialogue that carries the share ``shared`` of the variance; the
probabilities of single outcomes stay what they were. Deterministic. Exits with 1 where a limit is missed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from scipy.special import ndtr
from scipy.stats import norm

from arena.judge import is_decided
from arena.ratings.battles import from_columns
from arena.ratings.design import Design
from arena.ratings.fitting import fit
from arena.ratings.leaderboard import build
from arena.reading import LetterReading
from arena.sequential.best import Best
from arena.sequential.evidence import BETS, log_threshold, log_wealth, stakes
from arena.sequential.field import Field, Meeting, Policy, every_pair, field_of
from arena.sequential.goal import Goal
from arena.sequential.goals import account, next_matches, play, start
from arena.sequential.place import Place
from arena.sequential.ranking import Ranking
from arena.sequential.waves import strengths as rated
from arena.votes import judgment_from, verdict
from runstore.ids import draw_seed, pick

SEED, ERROR, NU = 11, 0.05, 0.6
CAP = 40_000


@dataclass
class Truth:
    """Plays meetings: (M,) strengths, tie weight, subsets a dialogue, and the share of the variance they share."""

    strengths: np.ndarray
    rng: np.random.Generator
    ties: float = NU
    per_dialogue: int = 1
    shared: float = 0.0

    def __post_init__(self) -> None:
        self.effects: dict[int, np.ndarray] = {}

    def ask(self, meetings: Sequence[Meeting]) -> list[float]:
        return [self.score(*meeting) for meeting in meetings]

    def score(self, subset: int, i: int, j: int) -> float:
        own = self.rng.standard_normal()
        if self.shared:
            dialogue = subset // self.per_dialogue
            if dialogue not in self.effects:
                self.effects[dialogue] = self.rng.standard_normal(len(self.strengths))
            effect = self.effects[dialogue]
            own = (self.shared / 2) ** 0.5 * (effect[i] - effect[j]) + (1 - self.shared) ** 0.5 * own
        half = np.exp((self.strengths[i] - self.strengths[j]) / 2)
        total = half + 1 / half + self.ties
        u = ndtr(-own)
        return 1.0 if u < half / total else 0.5 if u < (half + self.ties) / total else 0.0


def generator(*identity: str | int | float) -> np.random.Generator:
    return np.random.default_rng(draw_seed(SEED, *identity))


@cache
def field(size: int, dialogues: int, per_dialogue: int = 1) -> Field:
    subsets = [(f"s{d * per_dialogue + k:06}", f"d{d}") for d in range(dialogues) for k in range(per_dialogue)]
    return field_of([f"m{place:02d}" for place in range(size)], subsets, SEED)


# -- the best of ten ---------------------------------------------------------------------------------------------


def uniform_bets(strengths: np.ndarray, rng: np.random.Generator) -> tuple[int, int | None]:
    """Any pair is as likely to meet as any other; the same bets against "it is the best", 400 battles a batch."""
    size, batch = len(strengths), 400
    pairs, scores = np.array(every_pair(size)), np.zeros((size, size))
    wealth, out = np.zeros((size, len(BETS))), np.zeros(size, bool)
    for battles in range(0, CAP, batch):
        i, j = pairs[rng.integers(0, len(pairs), batch)].T
        half = np.exp((strengths[i] - strengths[j]) / 2)
        u = rng.random(batch) * (half + 1 / half + NU)
        score = np.where(u < half, 1.0, np.where(u < half + NU, 0.5, 0.0))
        steer = rated(scores)
        gains, row = np.zeros((batch, size)), np.arange(batch)
        gains[row, i] = np.where(steer[i] <= steer[j], 0.5 - score, 0.0)
        gains[row, j] = np.where(steer[j] <= steer[i], score - 0.5, 0.0)
        path = wealth + np.cumsum(stakes(gains), axis=0)
        gone = out | np.maximum.accumulate(log_wealth(path) >= log_threshold(ERROR), axis=0)
        if (done := gone.sum(axis=1) >= size - 1).any():
            at = int(done.argmax())
            return battles + at + 1, int((~gone[at]).argmax())
        wealth, out = path[-1], gone[-1]
        np.add.at(scores, (i, j), score)
        np.add.at(scores, (j, i), 1 - score)
    return CAP, None


def best_of_ten(spread: float, number: int) -> tuple[list[float], list[bool]]:
    """Matches used (leader, uniform with the same bets, with ratings, and naive), and which were wrong."""
    strengths = generator("best", spread, number).normal(0, spread, 10)
    whole = replace(field(10, CAP), seed=number)
    used: list[float] = []
    wrong: list[bool] = []
    state = play(Best.start(whole, ERROR), Truth(strengths, generator("best", spread, number, "leader")).ask, CAP)
    decision = state.decide()
    used.append(state.used if decision else CAP)
    wrong.append(decision is not None and decision.result.winner != f"m{strengths.argmax():02d}")
    ways: list[Callable] = [uniform_bets]
    ways += [partial(by_ratings, rule=rule) for rule in (mixture_boundary, naive_boundary)]
    for way in ways:
        battles, leader = way(strengths, generator("best", spread, number, "uniform"))
        used.append(battles)
        wrong.append(leader is not None and leader != strengths.argmax())
    return used, wrong


def mixture_boundary(information: np.ndarray) -> np.ndarray:
    """The z that may be looked at all the time (normal mixture, Robbins 1970), one-sided, for 9 challengers."""
    prior = 30.0
    total = information + prior
    return np.sqrt(total * np.log(total / prior / (2 * ERROR / 9) ** 2) / information)


def naive_boundary(information: np.ndarray) -> np.ndarray:
    """Three standard errors, looked at all the time as if once."""
    return np.full(len(information), 3.0)


def by_ratings(strengths: np.ndarray, rng: np.random.Generator, rule: Callable) -> tuple[int, int | None]:
    """Uniform pairs, Bradley-Terry refitted; stops when the leader's z against each other passes the rule."""
    size = len(strengths)
    i, j = np.array(every_pair(size)).T
    design = Design(i, j, np.empty((len(i), 0)), (), np.zeros(size, np.int64), i[:0], i[:0])
    half = np.exp((strengths[i] - strengths[j]) / 2)
    chances = np.stack([1 / half, np.full(len(i), NU), half]) / (half + 1 / half + NU)
    counts, battles = np.zeros((len(i), 3)), 0
    while battles < CAP:
        more = rng.multinomial(max(20, battles // 50), np.full(len(i), 1 / len(i)))
        counts += rng.multinomial(more, chances.T)
        battles += int(more.sum())
        fitted = fit(design, counts, prior=0.1, tolerance=1e-5)
        leader = int(fitted.theta.argmax())
        others = np.delete(np.arange(size), leader)
        table = fitted.curvature
        variance = table[leader, leader] + table[others, others] - 2 * table[leader, others]
        z = (fitted.theta[leader] - fitted.theta[others]) / np.sqrt(variance)
        if bool((z > rule(1 / variance)).all()):
            return battles, leader
    return CAP, None


# -- a newcomer --------------------------------------------------------------------------------------------------


class UniformPlace(Place):
    """Any member of the board is as likely to be met as any other."""

    def _opponent(self, subset: int, visit: int, met: set[int]) -> int | None:
        left = [other for other in self.members if other not in met]
        return pick(left, self.field.seed, "uniform", subset, visit) if left else None


def place_on_twenty(
    spread: float, per_dialogue: int, shared: float, number: int, ways: int = 2
) -> tuple[list[float], list[bool]]:
    """Matches used (nearest, uniform) and whether the interval held the truth."""
    strengths = generator("place", spread, number).normal(0, spread, 21)
    strengths -= strengths[:20].mean()
    whole = replace(field(21, 3000 // per_dialogue, per_dialogue), seed=number)
    used: list[float] = []
    held: list[bool] = []
    for kind in (Place, UniformPlace)[:ways]:
        truth = Truth(strengths, generator("place", spread, number, kind.__name__), 0.0, per_dialogue, shared)
        board = np.append(strengths[:20], 0.0)
        state = play(kind.start(whole, "m20", board=board, error=ERROR), truth.ask)
        used.append(state.used)
        held.append(abs(state.estimate.theta - strengths[20]) <= (state.half_width or 0.0))
    return used, held


# -- wrong decisions ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Null:
    """A tournament in which something must not be decided, or only one way. ``wrong`` reads a finished state."""

    name: str
    strengths: tuple[float, ...]
    start: Callable[[Field], Policy]
    wrong: Callable[[Policy], bool]
    dialogues: int
    per_dialogue: int = 1
    shared: float = 0.0
    most: int = 1 << 62


def any_winner(state: Policy) -> bool:
    decision = state.decide()
    return decision is not None and decision.result.winner is not None


def not_the_first(state: Policy) -> bool:
    decision = state.decide()
    return decision is not None and decision.result.winner != state.field.names[0]


def false_order(state: Policy) -> bool:
    """Endpoints 0 and 1 are equal, 2 is below."""
    assert isinstance(state, Ranking)
    before = state.before
    return bool(before[0, 1] or before[1, 0] or before[2, 0] or before[2, 1])


def false_neighbour(state: Policy) -> bool:
    """The newcomer (5) equals member 2; members rise by number."""
    assert isinstance(state, Place)
    above, below = state.certain()
    return bool({2, 3, 4} & set(above) or {0, 1, 2} & set(below))


def newcomer(whole: Field) -> Place:
    return Place.start(whole, "m05", board=np.array([-1.0, -0.5, 0.0, 0.5, 1.0, 0.0]), width_elo=1.0)


NULLS = (
    Null("two, equal", (0, 0), Best.start, any_winner, 400),
    Null("two, equal, 4 dependent subsets a dialogue", (0, 0), Best.start, any_winner, 150, 4, 0.8),
    Null("best of 4, two equal at the top", (0, 0, -0.5, -1), Best.start, any_winner, 200),
    Null("best of 4, equal at the top, dependent", (0, 0, -0.5, -1), Best.start, any_winner, 120, 2, 0.8),
    Null("best of 4, a lead of .05, dependent", (0.05, 0, 0, 0), Best.start, not_the_first, 120, 2, 0.8),
    Null("order of 3, two equal, dependent", (0, 0, -0.4), Ranking.start, false_order, 120, 2, 0.8),
    Null(
        "newcomer equal to one of 5, dependent", (-1, -0.5, 0, 0.5, 1, 0), newcomer, false_neighbour, 300, 2, 0.8
    ),
)


def wrong_decision(null: int, number: int) -> bool:
    case = NULLS[null]
    whole = replace(field(len(case.strengths), case.dialogues, case.per_dialogue), seed=number)
    rng = generator("null", case.name, number)
    truth = Truth(np.array(case.strengths), rng, NU, case.per_dialogue, case.shared)
    return case.wrong(play(replace(case.start(whole), batch=32), truth.ask, case.most))


def naive_peeking(battles: int, per_dialogue: int, shared: float, number: int) -> bool:
    """Two equal endpoints, a z test at 5 % after every battle from the tenth on."""
    truth = Truth(np.zeros(2), generator("naive", per_dialogue, number), NU, per_dialogue, shared)
    scores = np.array(truth.ask([Meeting(subset, 0, 1) for subset in range(battles)])) - 0.5
    n = np.arange(1, battles + 1)
    spread = np.sqrt(np.cumsum(scores**2))
    return bool((np.abs(np.cumsum(scores)) > norm.ppf(1 - ERROR / 2) * spread)[n >= 10].any())


# -- what is reported at the stop --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stopped:
    """A tournament that runs until its goal is reached, or its dialogues are used up."""

    name: str
    goal: Goal
    strengths: tuple[float, ...]
    dialogues: int
    per_dialogue: int = 2
    shared: float = 0.6


STOPPED = (
    Stopped("decide, a gap of 0", Goal("decide"), (0, 0), 150),
    Stopped("decide, a gap of .3", Goal("decide"), (0.3, 0), 400),
    Stopped("decide, a gap of .8", Goal("decide"), (0.8, 0), 400),
    Stopped("best of 4", Goal("best"), (0.6, 0.2, 0, -0.5), 300),
    Stopped("ranking of 3", Goal("ranking"), (0.5, 0, -0.5), 200),
)


@dataclass(frozen=True)
class AtStop:
    """Of one tournament: whether all gaps hold, each by itself, the winner's leads, and ordinary intervals.

    ``ahead`` is how many points the ordinary rating of the gap between the first two is above the truth.
    """

    together: bool
    each: tuple[bool, ...]
    leads: tuple[bool, ...]
    ordinary: tuple[bool, ...]
    ahead: float


def at_stop(place: int, number: int) -> AtStop:
    case = STOPPED[place]
    whole = replace(field(len(case.strengths), case.dialogues, case.per_dialogue), seed=number)
    truth = Truth(
        np.array(case.strengths), generator("stop", case.name, number), NU, case.per_dialogue, case.shared
    )
    state, asked, scores = start(case.goal, whole), list[Meeting](), list[float]()
    while batch := next_matches(state):
        found = truth.ask(batch)
        asked, scores, state = asked + batch, scores + found, state.absorb(found)
    told = account(case.goal, state, asked, scores)
    true = {
        (a, b): true_gap(case.strengths[int(a[1:])] - case.strengths[int(b[1:])])
        for a in whole.names
        for b in whole.names
    }
    each = {(gap.a, gap.b): holds(true[gap.a, gap.b], gap.lower, gap.upper) for gap in told.gaps}
    winner = told.result.winner if told.result is not None else None
    dialogue = {subset: name for name, subsets in whole.dialogues for subset in subsets}
    board = build(
        from_columns(
            [whole.names[one.i] for one in asked],
            [whole.names[one.j] for one in asked],
            [("model_b", "tie", "model_a")[round(2 * score)] for score in scores],
            cluster=[dialogue[one.subset] for one in asked],
        )
    )  # fmt: skip
    ordinary = [
        holds(true[pair.a, pair.b], pair.gap_lower, pair.gap_upper)
        for pair in board.pairs
        if pair.gap_lower is not None
    ]
    first = board.pair(*whole.names[:2])
    gap = None if first is None else first.gap
    if first is not None and gap is not None:
        gap = (gap if first.a == whole.names[0] else -gap) - true[whole.names[0], whole.names[1]]
    leads = tuple(held for names, held in each.items() if winner in names)
    return AtStop(
        all(each.values()), tuple(each.values()), leads, tuple(ordinary), gap if gap is not None else np.nan
    )


def true_gap(lead: float) -> float:
    """What the mean score between two is worth in rating points, ties as halves."""
    half = np.exp(lead / 2)
    score = (half + NU / 2) / (half + 1 / half + NU)
    return float(400 * np.log10(score / (1 - score)))


def holds(value: float, lower: float | None, upper: float | None) -> bool:
    return (lower is None or lower <= value + 1e-6) and (upper is None or value <= upper + 1e-6)


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


# -- decisive rounds ---------------------------------------------------------------------------------------------


def decisive(effect: float, gap: float, unreadable: float, matches: int) -> tuple[float, int]:
    """Share of calls saved over three rounds, and how many verdicts differ."""
    rng = generator("decisive", effect, gap)
    lean = np.exp((gap + rng.normal(0, effect, matches)) / 2)
    total = lean + 1 / lean + NU
    u = rng.random((3, matches))
    letters = np.where(u < lean / total, "a", np.where(u < (lean + NU) / total, "c", "b"))
    letters = np.where(rng.random((3, matches)) < unreadable, "", letters)
    asked = changed = 0
    for votes in letters.T:
        rounds = [
            judgment_from(
                LetterReading(letter or None, "none"),  # type: ignore[arg-type]
                subset="s", dialogue="d", judge="j", criterion="c", round=number,
                slot_a="x", slot_b="y", raw="",
            )
            for number, letter in enumerate(votes.tolist(), 1)
        ]  # fmt: skip
        stop = next((k for k in (2, 3) if is_decided(rounds[:k], 3)), 3)
        asked += stop
        early, full = verdict(rounds[:stop], ("x", "y"), 3), verdict(rounds, ("x", "y"), 3)
        changed += (early.outcome, early.winner) != (full.outcome, full.winner)
    return 1 - asked / (3 * matches), changed


# -- the tables --------------------------------------------------------------------------------------------------

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
