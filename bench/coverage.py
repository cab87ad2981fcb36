"""Do 95 % intervals hold the truth 95 times in 100, and is a winner named among equals in at most 5?

    python bench/coverage.py [--draws 2000] [--peers 50] [--dialogues 5 8] [--endpoints 2 4] [--designs balanced]
                             [--seed 7]

A cell is a number of dialogues, of endpoints, and a design: ``balanced`` (2 subsets a dialogue, every pair on
each), ``unbalanced`` (1 to 6 subsets), ``huge`` (one dialogue of 20 subsets), ``missing`` (3 matches in 10 are not
there). Dialogues have effects of their own on every endpoint (sd .5), subsets too (sd .5), every match is judged
three times with Davidson's ties, and the majority is a battle. Each draw is two tables: endpoints of different
strength, and equal ones. The truth is the gap that the same design gives without sampling error.

``covers`` is the share of gaps' intervals that hold the truth, of those that exist (``null``: share that do not);
``apart`` the share of equal pairs that are told apart, ``headline`` the share of equal tables whose first two are;
``places`` the share of tables, of both kinds, in which every range of places is true. Beside them the bootstrap
(the former default, told apart where its interval leaves out 0) and the sandwich, on the first ``--peers`` draws.
Exit code 1 where a cell is outside of its limits (a headline: by more than two standard errors of so many draws).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from arena.ratings.battles import Battles, Chunk, Collector
from arena.ratings.columns import Encoded
from arena.ratings.decision import decide
from arena.ratings.design import cell_design
from arena.ratings.estimate import SCALE, estimate
from arena.ratings.fitting import fit
from arena.ratings.gaps import gaps_of
from arena.ratings.settings import Settings
from arena.ratings.winrates import pair_table
from bench.many_tables import Said, Tables, say
from runstore.ids import draw_seed

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

DIALOGUES, ENDPOINTS = (5, 8, 12, 20, 50, 200), (2, 4, 10)
DESIGNS = ("balanced", "unbalanced", "huge", "missing")
UNEQUAL = (1, 1, 2, 4, 6)
HUGE, MISSING = 20, 0.3
SPREAD, OF_DIALOGUE, OF_SUBSET, NU, VOTES = 0.6, 0.5, 0.5, 0.6, 3
LEVEL = 0.95
CHUNK, COMPARED = 1_000_000, 10
PEERS = {"bootstrap": Settings(intervals="bootstrap"), "sandwich": Settings(intervals="sandwich")}


def chances(eta: Floats) -> Floats:
    """(..., 3) chances of loss, tie, win of one vote."""
    weight = np.stack([np.exp(-eta / 2), np.full_like(eta, NU), np.exp(eta / 2)], axis=-1)
    return weight / weight.sum(-1, keepdims=True)


@dataclass(frozen=True)
class Cell:
    """``dialogues`` dialogues and ``endpoints`` endpoints in a design."""

    design: str
    endpoints: int
    dialogues: int

    @property
    def pairs(self) -> Ints:
        return np.array(list(combinations(range(self.endpoints), 2)))

    def strengths(self, *, equal: bool) -> Floats:
        return np.zeros(self.endpoints) if equal else np.linspace(SPREAD, -SPREAD, self.endpoints)

    def sizes(self) -> Ints:
        """(dialogues,) subsets of each."""
        if self.design == "unbalanced":
            return np.resize(UNEQUAL, self.dialogues)
        sizes = np.full(self.dialogues, 2)
        if self.design == "huge":
            sizes[0] = HUGE
        return sizes

    def draw(self, seed: int, chunk: int, tables: int, *, equal: bool) -> Tables:
        """Some tables; which, depends on seed, cell, the chunk's number and whether endpoints are equal."""
        rng = np.random.default_rng(draw_seed(seed, "coverage", *map(str, (*self.key, chunk, equal))))
        starts = np.cumsum(self.sizes()) - self.sizes()
        effect = rng.normal(0, OF_DIALOGUE, (tables, self.dialogues, self.endpoints)).repeat(self.sizes(), axis=1)
        strength = self.strengths(equal=equal) + effect + rng.normal(0, OF_SUBSET, effect.shape)
        eta = strength[..., self.pairs[:, 0]] - strength[..., self.pairs[:, 1]]
        votes = rng.multinomial(VOTES, chances(eta))
        there = rng.random(eta.shape) >= (MISSING if self.design == "missing" else 0)
        won, lost = (there & (votes[..., side] >= 2) for side in (2, 0))
        kinds = (won, there & ~won & ~lost, lost)
        wins, ties, losses = (np.add.reduceat(kind.astype(np.int64), starts, axis=1) for kind in kinds)
        return Tables(wins, ties, losses, self.endpoints)

    @property
    def key(self) -> tuple[str, int, int]:
        return self.design, self.endpoints, self.dialogues


def battles_of(endpoints: int, pairs: Ints, outcome: Ints, dialogue: Ints) -> Battles:
    names = [f"m{k:02d}" for k in range(endpoints)]
    clusters = [f"d{k:03d}" for k in range(int(dialogue.max(initial=0)) + 1)]
    collector = Collector(keep_rows=False, names=names, cluster_name="dialogue")
    words = ["model_b", "tie", "model_a"]
    columns = ((pairs[:, 0], names), (pairs[:, 1], names), (outcome, words))
    a, b, winner = (Encoded(codes.astype(np.int32), values) for codes, values in columns)
    collector.add(Chunk(a, b, winner, cluster=Encoded(dialogue.astype(np.int32), clusters)))
    return collector.battles()


def battles_at(tables: Tables, at: int) -> Battles:
    """One of the tables as the product reads it."""
    dialogue, pair, outcome = list[Ints](), list[Ints](), list[Ints]()
    for kind, counts in enumerate((tables.losses[at], tables.ties[at], tables.wins[at])):
        g, p = np.nonzero(counts)
        many = counts[g, p]
        dialogue.append(np.repeat(g, many))
        pair.append(np.repeat(p, many))
        outcome.append(np.full(int(many.sum()), kind))
    pairs = np.array(list(combinations(range(tables.endpoints), 2)))
    return battles_of(
        tables.endpoints, pairs[np.concatenate(pair)], np.concatenate(outcome), np.concatenate(dialogue)
    )


def true_gaps(cell: Cell, *, equal: bool) -> Floats:
    """(P,) gaps of the majorities without sampling error."""
    theta, pairs = cell.strengths(equal=equal), cell.pairs
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    eta = (theta[pairs[:, 0]] - theta[pairs[:, 1]])[:, None] + np.sqrt(2 * (OF_DIALOGUE**2 + OF_SUBSET**2)) * nodes
    single = chances(eta)
    lost, won = (3 * p**2 * (1 - p) + p**3 for p in (single[..., 0], single[..., 2]))
    ways = np.einsum("pkn,k->pn", np.stack([lost, 1 - lost - won, won], axis=-1), weights / weights.sum())
    every = np.repeat(np.arange(len(pairs)), 3)
    battles = battles_of(cell.endpoints, pairs[every], np.tile([0, 1, 2], len(pairs)), np.zeros(len(every), int))
    design, _ = cell_design(battles, np.zeros(cell.endpoints, np.int64), position=False)
    found = fit(design, ways * 1000).theta
    return found[pairs[:, 0]] - found[pairs[:, 1]]


@dataclass
class Tally:
    """What one way of making intervals did in one cell; counts, but for the sum of widths."""

    held: int = 0
    made: int = 0
    pairs: int = 0
    width: float = 0.0
    apart: int = 0
    equal_pairs: int = 0
    headlines: int = 0
    equal_tables: int = 0
    places: int = 0
    tables: int = 0

    def add(self, said: Said, truth: Floats) -> None:
        """Some tables beside the true gaps of their pairs."""
        known = ~np.isnan(said.lower) & ~np.isnan(said.upper)
        finite = known & np.isfinite(said.lower) & np.isfinite(said.upper)
        self.pairs += known.size
        self.made += int(known.sum())
        self.held += int(((said.lower <= truth) & (truth <= said.upper))[known].sum())
        self.width += float((said.upper - said.lower)[finite].sum())
        self.tables += len(known)
        sign = np.where(np.abs(truth) < 1e-9, 0, np.sign(truth))
        self.places += int((~((said.above != 0) & (said.above != sign)).any(1)).sum())
        if not sign.any():
            self.equal_pairs += known.size
            self.apart += int((said.better != 0).sum())
            self.equal_tables += len(known)
            self.headlines += int(headlines(said).sum())

    def share(self, part: str, of: str) -> float:
        count = getattr(self, of)
        return getattr(self, part) / count if count else float("nan")


def headlines(said: Said) -> Bools:
    """(T,) whether the first two of a table are told apart."""
    first, second = np.sort(np.argsort(-said.theta, axis=1, kind="stable")[:, :2], axis=1).T
    m = said.theta.shape[1]
    pair = first * (2 * m - first - 1) // 2 + second - first - 1
    return said.better[np.arange(len(pair)), pair] != 0


def by_product(battles: Battles, settings: Settings) -> Said:
    """One table as the product says it, told apart as it tells; the bootstrap and sandwich where 0 is left out."""
    told = estimate(battles, settings)
    gaps = gaps_of(told, LEVEL)
    i, j = np.triu_indices(len(battles.names), 1)
    if settings.intervals == "jackknife":
        decided = decide(told, gaps, pair_table(battles, clustered=True), LEVEL)
        better, above = decided.better, decided.above
    else:
        with np.errstate(invalid="ignore"):
            better = above = gaps.lower > 0
    theta = np.zeros(len(battles.names))
    if told.fitted is not None:
        theta[told.members] = told.fitted.theta
    theta += np.where(told.structure.above == 0, 0, -100.0 * told.structure.above)
    signed = (table[i, j].astype(int) - table[j, i].astype(int) for table in (better, above))
    return Said(
        np.ones(1, bool),
        theta[None],
        gaps.lower[i, j][None],
        gaps.upper[i, j][None],
        *(one[None] for one in signed),
    )


@dataclass
class Found:
    """The product's way and its peers' in one cell."""

    own: Tally = field(default_factory=Tally)
    peers: dict[str, Tally] = field(default_factory=lambda: {name: Tally() for name in PEERS})


def measure(cell: Cell, draws: int, peers: int, seed: int) -> Iterator[tuple[int, Found]]:
    """How many tables were added, and the cell's figures so far."""
    found = Found()
    truths = {equal: true_gaps(cell, equal=equal) for equal in (False, True)}
    size = max(1, min(draws, CHUNK // (cell.dialogues * cell.endpoints**2)))
    for chunk, equal in product(range(-(-draws // size)), (False, True)):
        tables = cell.draw(seed, chunk, min(size, draws - chunk * size), equal=equal)
        said = say(tables, LEVEL)
        found.own.add(only(said, said.regular), truths[equal])
        for at in np.flatnonzero(~said.regular):
            found.own.add(by_product(battles_at(tables, int(at)), Settings()), truths[equal])
        for at in range(min(len(said.regular), max(0, peers - chunk * size))):
            battles = battles_at(tables, at)
            if at < COMPARED and chunk == 0 and said.regular[at]:
                compare(only(said, np.arange(len(said.regular)) == at), by_product(battles, Settings()))
            for name, tally in found.peers.items():
                tally.add(by_product(battles, PEERS[name]), truths[equal])
        yield len(said.regular), found


def only(said: Said, which: Bools) -> Said:
    return Said(*(getattr(said, name)[which] for name in Said.__dataclass_fields__))


def compare(ours: Said, product: Said) -> None:
    """Raises AssertionError where a batch says other than the product of one table."""
    for name in ("lower", "upper"):
        np.testing.assert_allclose(getattr(ours, name), getattr(product, name), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(ours.better, product.better)
    np.testing.assert_array_equal(ours.above, product.above)


def faults(cell: Cell, own: Tally) -> list[str]:
    """What of a cell is outside of its limits."""
    covers = own.share("held", "made")
    least = 0.92 if cell.design == "huge" and cell.dialogues == 5 else 0.93
    most = 0.995 if cell.dialogues < 8 else 0.975 if cell.dialogues >= 20 else 1.0
    told = [
        (covers < least or covers > most, "covers"),
        (own.share("apart", "equal_pairs") > 0.06, "apart"),
        (own.share("headlines", "equal_tables") > 0.05 + 2 * (0.05 * 0.95 / own.equal_tables) ** 0.5, "headline"),
        (own.share("places", "tables") < 0.95, "places"),
    ]
    return [what for wrong, what in told if wrong]


def line(cell: Cell, found: Found, wrong: list[str]) -> list[str]:
    def percent(tally: Tally, part: str, of: str) -> str:
        return f"{100 * tally.share(part, of):.1f}"

    def width(tally: Tally) -> float:
        return float(SCALE) * tally.share("width", "made")

    own, boot, sand = found.own, found.peers["bootstrap"], found.peers["sandwich"]
    return [
        cell.design,
        str(cell.endpoints),
        str(cell.dialogues),
        percent(own, "held", "made"),
        f"{percent(boot, 'held', 'made')} / {percent(sand, 'held', 'made')}",
        f"{100 * (1 - own.share('made', 'pairs')):.1f}",
        f"{width(own):.0f} / {width(boot):.0f}",
        *(
            f"{percent(own, part, of)} / {percent(boot, part, of)}"
            for part, of in (("apart", "equal_pairs"), ("headlines", "equal_tables"), ("places", "tables"))
        ),
        ", ".join(wrong),
    ]


HEAD = (
    *("design", "endpoints", "dialogues", "covers", "bootstrap / sandwich", "null", "width / bootstrap's"),
    *("apart / bootstrap", "headline / bootstrap", "places / bootstrap", "outside"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--peers", type=int, default=50, help="draws on which the other methods are shown")
    parser.add_argument("--dialogues", type=int, nargs="+", default=DIALOGUES)
    parser.add_argument("--endpoints", type=int, nargs="+", default=ENDPOINTS)
    parser.add_argument("--designs", nargs="+", choices=DESIGNS, default=DESIGNS)
    parser.add_argument("--seed", type=int, default=7, help="another one draws other tables")
    args = parser.parse_args()
    cells = [Cell(*key) for key in product(args.designs, args.endpoints, args.dialogues)]
    print(f"| {' | '.join(HEAD)} |\n|{' --- |' * len(HEAD)}", flush=True)
    bad = False
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("tables", total=2 * args.draws * len(cells))
        for cell in cells:
            found = Found()
            for tables, so_far in measure(cell, args.draws, args.peers, args.seed):
                found = so_far
                progress.advance(task, tables)
            wrong = faults(cell, found.own)
            bad |= bool(wrong)
            print(f"| {' | '.join(line(cell, found, wrong))} |", flush=True)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
