"""Tests on pairs: Wilcoxon's signed ranks (exact with ties and zeros), signs, McNemar."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from arena.agreement.effects import matched_rank_biserial
from arena.agreement.result import FloatArray, SignificanceTest, differences, mid_ranks, paired, present, settle
from arena.ratings import significance

ZeroRule = Literal["wilcox", "pratt", "split"]
Method = Literal["auto", "exact", "normal"]

EXACT_UP_TO = 20
_RULES: dict[ZeroRule, str] = {
    "wilcox": "zero differences dropped before ranking (Wilcoxon)",
    "pratt": "zero differences ranked, then dropped (Pratt)",
    "split": "ranks of zero differences split between both signs",
}


def _pair_differences(x: ArrayLike, y: ArrayLike | None) -> tuple[FloatArray, int]:
    if y is None:
        return settle(present(x)), len(np.asarray(x))
    first, second, n = paired(x, y)
    return differences(first, second), n


def no_difference(pairs: int, zeros: int) -> str:
    """The sentence for pairs that leave nothing to test."""
    if pairs == 0:
        return "no complete pair to test"
    return f"{pairs} pairs, {zeros} tied, no difference to test"


def wilcoxon(
    x: ArrayLike,
    y: ArrayLike | None = None,
    *,
    zeros: ZeroRule = "wilcox",
    method: Method = "auto",
    correction: bool = False,
) -> SignificanceTest:
    """Wilcoxon's signed-rank test of x - y (or of differences x); the statistic is the sum of positive ranks.

    Up to 20 non-zero differences the distribution over all 2^n sign patterns is counted exactly, with mid-ranks
    for ties (a recursion over ranks, so no pattern is listed); beyond that a normal approximation with the
    variance of the ranks at hand. The rule for zeros is named in the result.
    """
    d, n = _pair_differences(x, y)
    nonzero = int(np.count_nonzero(d))
    effect = matched_rank_biserial(d)
    key, name = "wilcoxon", "Wilcoxon signed-rank test, two-sided"
    rule = _RULES[zeros]
    if nonzero == 0:
        reason = no_difference(len(d), len(d))
        return SignificanceTest(key, name, None, None, "none", 0, n, zero_rule=rule, effect=effect, reason=reason)
    kept = d[d != 0] if zeros == "wilcox" else d
    ranks = mid_ranks(np.abs(kept))
    moving, zero_ranks = ranks[kept != 0], ranks[kept == 0]
    positive = float(ranks[kept > 0].sum())
    exact = method == "exact" or (method == "auto" and nonzero <= EXACT_UP_TO)
    if exact:
        p, how = _exact_p(moving, positive), f"exact: all 2^{nonzero} sign patterns counted"
    else:
        variance = float(np.square(ranks if zeros == "split" else moving).sum()) / 4
        gap = max(abs(positive - float(moving.sum()) / 2) - (0.5 if correction else 0.0), 0.0)
        p = min(1.0, 2 * float(ndtr(-gap / math.sqrt(variance))))
        how = f"normal approximation, ties corrected, {'with' if correction else 'no'} continuity correction"
    statistic = positive + (float(zero_ranks.sum()) / 2 if zeros == "split" else 0.0)
    smallest = min(1.0, 2.0 ** (1 - nonzero))
    return SignificanceTest(
        key, name, statistic, p, how, nonzero, n, zero_rule=rule, smallest_p=smallest, effect=effect
    )


def _exact_p(ranks: FloatArray, positive: float) -> float:
    """Two-sided p of a sum of positive ranks when every sign is a fair coin; ranks are multiples of 1/2."""
    doubled = np.rint(2 * ranks).astype(np.int64)
    chance = np.zeros(int(doubled.sum()) + 1)
    chance[0] = 1.0
    for rank in doubled:
        taken = np.zeros_like(chance)
        taken[rank:] = chance[: len(chance) - rank]
        chance = (chance + taken) / 2
    observed = round(2 * positive)
    return min(1.0, 2 * float(min(chance[: observed + 1].sum(), chance[observed:].sum())))


def sign_test(x: ArrayLike, y: ArrayLike | None = None) -> SignificanceTest:
    """Exact sign test of x - y (or of differences x); the statistic is the number of positive differences."""
    d, n = _pair_differences(x, y)
    key, name = "sign_test", "Sign test, two-sided"
    return _by_sides(key, name, "zero differences dropped", int((d > 0).sum()), int((d < 0).sum()), len(d), n)


def mcnemar(x: ArrayLike, y: ArrayLike) -> SignificanceTest:
    """McNemar's exact test of paired yes/no values (1/0, NaN = missing); the statistic is how often only x is 1.

    Raises ValueError for any other value.
    """
    first, second, n = paired(x, y)
    if not np.isin(np.concatenate([first, second]), (0.0, 1.0)).all():
        raise ValueError("McNemar's test needs values 0 and 1")
    key, name = "mcnemar", "McNemar's exact test, two-sided"
    only_x, only_y = int(((first == 1) & (second == 0)).sum()), int(((first == 0) & (second == 1)).sum())
    return _by_sides(key, name, "pairs that agree carry no information", only_x, only_y, len(first), n)


def _by_sides(key: str, name: str, rule: str, plus: int, minus: int, present: int, n: int) -> SignificanceTest:
    """The exact binomial test of ``plus`` against ``minus``, the only ones of ``present`` that say anything."""
    if plus + minus == 0:
        reason = no_difference(present, present)
        return SignificanceTest(key, name, None, None, "none", 0, n, zero_rule=rule, reason=reason)
    p = significance.sign_test(plus, minus)
    smallest = min(1.0, 2.0 ** (1 - plus - minus))
    return SignificanceTest(
        key, name, float(plus), p, "exact binomial", plus + minus, n, zero_rule=rule, smallest_p=smallest
    )
