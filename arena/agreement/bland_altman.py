"""Bias and limits of agreement between two raters (Bland & Altman 1986, 1999)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from arena.agreement.result import FloatArray, Statistic, differences, missing, paired


@dataclass(frozen=True)
class LimitsOfAgreement:
    """Bias (mean of first - second), both limits, and the points of the plot: means and differences."""

    bias: Statistic
    lower: Statistic
    upper: Statistic
    means: FloatArray
    differences: FloatArray

    @property
    def statistics(self) -> tuple[Statistic, Statistic, Statistic]:
        return self.bias, self.lower, self.upper


def bland_altman(x: ArrayLike, y: ArrayLike, *, level: float = 0.95, coverage: float = 0.95) -> LimitsOfAgreement:
    """Bias x - y and the limits between which ``coverage`` of the differences fall, in the unit of the ratings.

    The bias has a t interval; the limits' standard error is s sqrt(1/n + z^2 / (2 (n - 1))) (Bland & Altman 1999,
    section 2.2).
    """
    first, second, n = paired(x, y)
    d = differences(first, second)
    means = (first + second) / 2
    used = len(d)
    keys = ("bias", "limit_lower", "limit_upper")
    share = f"{coverage:.0%}"
    names = (
        "Bias (mean difference, first - second)",
        f"Lower {share} limit of agreement",
        f"Upper {share} limit of agreement",
    )
    if used == 0:
        empty = [
            missing(k, t, "no item was rated by both", 0, n, unit="pairs")
            for k, t in zip(keys, names, strict=True)
        ]
        return LimitsOfAgreement(empty[0], empty[1], empty[2], means, d)
    bias = float(d.mean())
    if used < 2 or float(d.max()) == float(d.min()):
        why = "no interval: a single pair" if used < 2 else "no interval: every difference is the same"
        value = Statistic(keys[0], names[0], bias, used, n, unit="pairs", interval_method=why)
        if used < 2:
            limits = [
                missing(k, t, "a single pair has no spread", used, n, unit="pairs")
                for k, t in zip(keys[1:], names[1:], strict=True)
            ]
        else:
            limits = [
                Statistic(k, t, bias, used, n, unit="pairs", interval_method=why)
                for k, t in zip(keys[1:], names[1:], strict=True)
            ]
        return LimitsOfAgreement(value, limits[0], limits[1], means, d)
    sd = float(d.std(ddof=1))
    z = float(ndtri((1 + coverage) / 2))
    errors = (sd / math.sqrt(used), *([sd * math.sqrt(1 / used + z**2 / (2 * (used - 1)))] * 2))
    t = float(stdtrit(used - 1, (1 + level) / 2))
    values = (bias, bias - z * sd, bias + z * sd)
    made = [
        Statistic(
            k, text, v, used, n, unit="pairs", interval=(v - t * e, v + t * e), level=level, interval_method="t"
        )
        for k, text, v, e in zip(keys, names, values, errors, strict=True)
    ]
    return LimitsOfAgreement(made[0], made[1], made[2], means, d)
