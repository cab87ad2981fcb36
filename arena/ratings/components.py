"""What a run's votes say of the model of :mod:`arena.ratings.votes`, and how surely.

By moments: the mean vote, the share of ties, how alike two rounds of one match are, and how alike votes on two
matches of one dialogue are. Their uncertainty is the jackknife's over dialogues; draws from it (Student's t,
joint), carried through the model, give ranges. Effects that nothing repeats (single rounds, single subsets) are
not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.ratings.battles import Battles
from arena.ratings.votes import Votes, chances
from runstore.ids import draw_seed
from runstore.problems import Problem
from runstore.records import Verdict

Floats = NDArray[np.float64]
MOST_SD = 6.0
FEWEST_DIALOGUES = 3
_LEAST_TIES, _CLOSE = 1e-6, 1e-5
_HERMITE, _RAW = np.polynomial.hermite_e.hermegauss(16)
_FEW: Floats = np.asarray(_HERMITE, np.float64)
_FEW_WEIGHTS: Floats = np.asarray(_RAW / _RAW.sum(), np.float64)


@dataclass(frozen=True)
class Seen:
    """Votes on one pair: (n,) the dialogue of each match, and how many votes went to either or were ties."""

    dialogue: NDArray[np.int64]
    won: Floats
    lost: Floats
    tied: Floats

    @property
    def matches(self) -> int:
        return len(self.dialogue)

    @property
    def dialogues(self) -> int:
        return int(self.dialogue.max()) + 1 if len(self.dialogue) else 0

    @property
    def rounds(self) -> int:
        """Votes a match, the commonest number."""
        votes = np.round(self.won + self.lost + self.tied).astype(int)
        return int(np.bincount(votes).argmax()) if len(votes) else 1


def of_verdicts(verdicts: Iterable[Verdict], a: str, b: str) -> Seen:
    """The votes of one pair's verdicts that could be read, ``a`` counted as the first."""
    rows: list[tuple[str, int, int, int]] = []
    for verdict in verdicts:
        if set(verdict.endpoints) == {a, b}:
            won = sum(vote.outcome == "win" and vote.winner == a for vote in verdict.votes)
            lost = sum(vote.outcome == "win" and vote.winner == b for vote in verdict.votes)
            tied = sum(vote.outcome == "tie" for vote in verdict.votes)
            if won + lost + tied:
                rows.append((verdict.dialogue, won, lost, tied))
    return _seen([row[0] for row in rows], np.array([row[1:] for row in rows], float).reshape(-1, 3))


def of_battles(battles: Battles, a: str, b: str) -> Seen:
    """One vote a battle; battles without clusters are dialogues of their own. Weights of battles are not used."""
    first, second = battles.names.index(a), battles.names.index(b)
    cells = np.flatnonzero(
        (np.minimum(battles.i, battles.j) == min(first, second))
        & (np.maximum(battles.i, battles.j) == max(first, second))
    )
    kind = np.where(battles.i[cells] == first, battles.outcome[cells], 2 - battles.outcome[cells])
    rows = battles.rows
    if rows is None or rows.cluster is None:
        number = np.round(battles.number[cells]).astype(int)
        votes = np.eye(3)[np.repeat(kind, number)][:, [2, 0, 1]]
        return _seen(list(range(len(votes))), votes)
    of_cell = np.full(len(battles.i), -1)
    of_cell[cells] = kind
    mine = of_cell[rows.cell] >= 0
    return _seen(rows.cluster[mine].tolist(), np.eye(3)[of_cell[rows.cell[mine]]][:, [2, 0, 1]])


def _seen(dialogue: Sequence[object], votes: Floats) -> Seen:
    _, number = np.unique(np.array(dialogue, dtype=object).astype(str), return_inverse=True)
    return Seen(number.astype(np.int64).reshape(-1), *votes.T)


@dataclass(frozen=True)
class Components:
    """The best guess, and ``draws`` of what else the votes allow.

    ``knows_subsets`` and ``knows_dialogues``: whether something repeats that tells those effects; else they are
    what was assumed.
    """

    votes: Votes
    draws: tuple[Votes, ...]
    knows_subsets: bool
    knows_dialogues: bool


def components(
    seen: Seen, *, subset_sd: float, dialogue_sd: float, draws: int = 100, identity: Sequence[str] = ()
) -> Components:
    """The model that the votes show; ``subset_sd`` and ``dialogue_sd`` stand in where nothing repeats.

    A pair whose votes all went one way is taken half a vote short of it. Raises Problem without a decided vote.
    """
    table = _sums(seen)
    total = table.sum(0)
    if total[2] <= 0:
        raise Problem("there is no decided vote, so there is no gap to plan for")
    in_match, in_dialogue = bool(total[4] > 0), bool(total[6] > 0)
    moments = _moments(total[None, :])
    number = len(table)
    if number >= FEWEST_DIALOGUES:
        left_out = _moments(total[None, :] - table)
        centred = left_out - left_out.mean(0)
        covariance = centred.T @ centred * (number - 1) / number
        generator = np.random.default_rng(draw_seed(0, "power", "components", *identity))
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0))
        heavy = np.sqrt((number - 1) / generator.chisquare(number - 1, draws))
        moved = moments + (generator.standard_normal((draws, 4)) @ root.T) * heavy[:, None]
        moments = np.concatenate([moments, moved])
    most = 1 - 1 / total[0]
    solved = _solved(moments, most, in_match, in_dialogue, subset_sd, dialogue_sd)
    votes = tuple(Votes(*row) for row in solved.tolist())
    return Components(votes[0], votes[1:], in_match, in_dialogue)


def _sums(seen: Seen) -> Floats:
    """(G, 7) a dialogue: votes, net, decided; products within matches, their number; the same across matches."""
    net, number = seen.won - seen.lost, seen.won + seen.lost + seen.tied
    decided = seen.won + seen.lost
    rows = np.stack([number, net, decided, net**2 - decided, number * (number - 1), net**2, number**2], axis=1)
    table = np.zeros((seen.dialogues, 7))
    np.add.at(table, seen.dialogue, rows)
    table[:, 5] = table[:, 1] ** 2 - table[:, 5]
    table[:, 6] = table[:, 0] ** 2 - table[:, 6]
    return table


def _moments(sums: Floats) -> Floats:
    """(B, 4) mean vote, share decided, and mean products within and across matches (0 where nothing repeats)."""
    number = np.maximum(sums[:, 0], 1)
    within = sums[:, 3] / np.maximum(sums[:, 4], 1)
    across = sums[:, 5] / np.maximum(sums[:, 6], 1)
    return np.stack([sums[:, 1] / number, sums[:, 2] / number, within, across], axis=1)


def _solved(
    moments: Floats, most: float, in_match: bool, in_dialogue: bool, subset_sd: float, dialogue_sd: float
) -> Floats:
    """(B, 4) gap, subset sd, dialogue sd, tie weight with these moments."""
    decided = np.clip(moments[:, 1], 1e-3, 1.0)
    mean = np.clip(moments[:, 0], -most * decided, most * decided)
    # A mean that was moved off the end of the scale keeps the votes' covariance, not their mean product.
    within, across = (mean**2 + moments[:, k] - moments[:, 0] ** 2 for k in (2, 3))
    if in_match:
        whole = _bisected(lambda sd: _products(mean, decided, sd) < within, len(moments))
    else:
        whole = np.full(len(moments), float(np.hypot(subset_sd, dialogue_sd)))
    if in_dialogue:
        gap, ties = _centred(mean, decided, whole)
        own = _bisected(lambda sd: _shared(gap, ties, whole, np.minimum(sd, whole)) < across, len(moments))
        own = np.minimum(own, whole)
        if not in_match:
            own = _bisected(lambda sd: _single_shared(mean, decided, sd, subset_sd) < across, len(moments))
            whole = np.hypot(own, subset_sd)
    else:
        own = np.minimum(np.full(len(moments), dialogue_sd), whole)
    gap, ties = _centred(mean, decided, whole)
    return np.stack([gap, np.sqrt(np.maximum(whole**2 - own**2, 0)), own, ties], axis=1)


def _single_shared(mean: Floats, decided: Floats, own: Floats, subset_sd: float) -> Floats:
    whole = np.hypot(own, subset_sd)
    gap, ties = _centred(mean, decided, whole)
    return _shared(gap, ties, whole, own)


def _bisected(short: Callable[[Floats], NDArray[np.bool_]], size: int) -> Floats:
    """(B,) the standard deviation at which a product that grows with it is reached; 0 where none is short."""
    low, high = np.zeros(size), np.full(size, MOST_SD)
    for _ in range(16):
        middle = (low + high) / 2
        below = short(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.where(low == 0, 0.0, (low + high) / 2)


def _centred(mean: Floats, decided: Floats, sd: Floats) -> tuple[Floats, Floats]:
    """(B,) gap and tie weight with this mean vote and share decided, where leads spread by ``sd``."""
    gap, log = np.zeros(len(mean)), np.log(np.maximum(1 / decided - 1, _LEAST_TIES))

    def off(gap: Floats, log: Floats) -> tuple[Floats, Floats]:
        single = chances(gap[:, None] + sd[:, None] * _FEW, np.exp(log)[:, None])
        lost, _, won = np.moveaxis(np.einsum("bnk,n->bk", single, _FEW_WEIGHTS), -1, 0)
        return won - lost - mean, won + lost - decided

    for _ in range(25):
        first, second = off(gap, log)
        step = 1e-4
        by_gap, by_log = off(gap + step, log), off(gap, log + step)
        a, b = (by_gap[0] - first) / step, (by_log[0] - first) / step
        c, d = (by_gap[1] - second) / step, (by_log[1] - second) / step
        size = a * d - b * c
        whole = np.abs(size) > 1e-12
        size = np.where(whole, size, 1.0)
        to_gap = np.where(whole, (d * first - b * second) / size, first / np.maximum(a, 1e-9))
        to_log = np.where(whole, (a * second - c * first) / size, 0.0)
        gap = np.clip(gap - np.clip(to_gap, -2, 2), -30, 30)
        log = np.clip(log - np.clip(to_log, -2, 2), np.log(_LEAST_TIES), 20)
        if max(np.abs(first).max(), np.abs(second).max()) < _CLOSE:
            break
    return gap, np.where(log <= np.log(_LEAST_TIES) + 1e-6, 0.0, np.exp(log))


def _products(mean: Floats, decided: Floats, sd: Floats) -> Floats:
    """(B,) the mean product of two votes that share all of a spread ``sd``."""
    gap, ties = _centred(mean, decided, sd)
    return _shared(gap, ties, sd, sd)


def _shared(gap: Floats, ties: Floats, whole: Floats, own: Floats) -> Floats:
    """(B,) the mean product of two votes whose leads spread by ``whole`` and share ``own`` of it."""
    rest = np.sqrt(np.maximum(whole**2 - own**2, 0))
    lead = gap[:, None, None] + own[:, None, None] * _FEW[:, None] + rest[:, None, None] * _FEW[None, :]
    single = chances(lead, ties[:, None, None])
    expected = np.einsum("bdn,n->bd", single[..., 2] - single[..., 0], _FEW_WEIGHTS)
    return expected**2 @ _FEW_WEIGHTS
