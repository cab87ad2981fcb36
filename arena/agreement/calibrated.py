"""A mean or win rate as people would give it, from few human labels and many judge labels.

Prediction-powered inference: PPI (Angelopoulos, Bates, Fannjiang, Jordan & Zrnic 2023) and PPI++ with power
tuning (Angelopoulos, Duchi & Zrnic 2023). For human labels Y and judge labels f on the labelled part, and judge
labels f' on the rest,

    estimate = mean(Y) + lambda (mean(f') - mean(f)),

lambda = 1 is PPI, lambda = 0 uses the human labels alone, and the tuned lambda has the least variance. Valid when
the labelled part is a random sample of all (of clusters, where these are given), however bad the judge is.

Variance is that of the estimate's influence summed within clusters, over labelled and unlabelled parts together:
both may hold matches of one dialogue. Without clusters it is the variance of the papers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from arena.agreement.result import FloatArray, Statistic, StatisticRow, missing, settle
from runstore.results import Number, Result

Tuning = Literal["tuned", "full"] | float
_FEWEST_CLUSTERS = 5


class CalibratedRow(Result):
    """A :class:`Calibrated` as it stands in files."""

    estimate: StatisticRow
    plain: StatisticRow
    human: StatisticRow
    judge: StatisticRow
    weight: Number | None
    correlation: Number | None
    labelled: int
    unlabelled: int
    clusters: int
    design_effect: Number


@dataclass(frozen=True)
class Calibrated:
    """Four figures for one quantity, and what is needed to plan more votes.

    ``estimate`` PPI++ (power-tuned), ``plain`` PPI, ``human`` from human labels alone, ``judge`` the raw judge.
    ``weight`` is lambda; ``design_effect`` is the variance over that of independent labels.
    """

    estimate: Statistic
    plain: Statistic
    human: Statistic
    judge: Statistic
    weight: float | None
    correlation: float | None
    labelled: int
    unlabelled: int
    clusters: int
    design_effect: float
    human_variance: float
    judge_variance: float
    covariance: float
    level: float

    def row(self) -> CalibratedRow:
        """The figures as they stand in files."""
        return CalibratedRow.taken_from(self)


@dataclass(frozen=True)
class VotesNeeded:
    """How many human votes beyond those at hand give an interval of ``width``; None with a reason if none do."""

    width: float
    more: int | None
    total: int | None
    expected_width: float | None
    human_only_total: int | None
    reason: str | None = None


@dataclass(frozen=True)
class _Parts:
    """Centred labels summed within clusters: influence of the estimate is ``a + weight * b`` per cluster."""

    a: FloatArray
    b: FloatArray
    clusters_labelled: int


def calibrate(
    human: ArrayLike,
    judge: ArrayLike,
    judge_unlabelled: ArrayLike,
    *,
    cluster: Sequence[Hashable] | None = None,
    cluster_unlabelled: Sequence[Hashable] | None = None,
    level: float = 0.95,
    tuning: Tuning = "tuned",
    bounds: tuple[float, float] | None = (0.0, 1.0),
    quantity: str = "win rate",
) -> Calibrated:
    """Calibrate a mean of labels (win 1, tie 1/2, loss 0, or any score) with prediction-powered inference.

    ``human`` and ``judge`` belong together, ``judge_unlabelled`` has no human label; NaN = missing, counted in
    "n used of n". Clusters are names of what was sampled (dialogues), both or neither. ``bounds`` cut the
    interval to what the quantity can be. Raises ValueError when lengths differ.
    """
    Y, f, rest, names, rest_names, given = _clean(human, judge, judge_unlabelled, cluster, cluster_unlabelled)
    n, N = len(Y), len(rest)
    parts = _parts(Y, f, rest, names, rest_names) if n and N else None
    weight = _weight(parts, tuning) if parts else None
    report = _Report(quantity, bounds, level, given)
    centre = float(Y.mean()) if n else 0.0
    shift = float(rest.mean() - f.mean()) if n and N else 0.0
    reason = (
        "no match has both a human and a judge label" if not n else "no judge label beyond the labelled matches"
    )
    if parts is None or weight is None:
        estimate = report.none("ppi_tuned", "PPI++, power-tuned", reason, n + N)
        plain = report.none("ppi", "PPI", reason, n + N)
    else:
        named = "PPI++, power-tuned" if tuning == "tuned" else f"PPI++, lambda {weight:g}"
        tuned = int(tuning == "tuned")
        estimate = report.made("ppi_tuned", named, centre + weight * shift, parts, weight, n + N, tuned)
        plain = report.made("ppi", "PPI", centre + shift, parts, 1.0, n + N, 0)
    covariance = float(np.cov(Y, f)[0, 1]) if n > 1 else 0.0
    pooled = np.concatenate([f, rest])
    human_variance, judge_variance = _variance(Y), _variance(pooled)
    spread = math.sqrt(human_variance * _variance(f))
    return Calibrated(
        estimate,
        plain,
        report.alone("human", "human votes alone", Y, names, len(np.asarray(human))),
        report.alone("judge", "judge alone, uncalibrated", pooled, [*names, *rest_names], sum(given)),
        weight,
        covariance / spread if spread > 0 else None,
        n, N, len({*names, *rest_names}),
        _design_effect(parts, weight, n, N, human_variance, judge_variance, covariance),
        human_variance, judge_variance, covariance, level,
    )  # fmt: skip


def _clean(
    human: ArrayLike,
    judge: ArrayLike,
    unlabelled: ArrayLike,
    cluster: Sequence[Hashable] | None,
    cluster_unlabelled: Sequence[Hashable] | None,
) -> tuple[FloatArray, FloatArray, FloatArray, list[Hashable], list[Hashable], tuple[int, int]]:
    Y, f, rest = (np.asarray(part, dtype=np.float64) for part in (human, judge, unlabelled))
    if Y.shape != f.shape or Y.ndim != 1 or rest.ndim != 1:
        raise ValueError(f"labels need vectors, human and judge of one length, not {Y.shape} and {f.shape}")
    if (cluster is None) != (cluster_unlabelled is None):
        raise ValueError("clusters are needed for both parts or for neither")
    names: list[Hashable] = [("labelled", i) for i in range(len(Y))] if cluster is None else list(cluster)
    others: list[Hashable] = (
        [("unlabelled", i) for i in range(len(rest))] if cluster_unlabelled is None else list(cluster_unlabelled)
    )
    if len(names) != len(Y) or len(others) != len(rest):
        raise ValueError("one cluster name is needed for every label")
    there, also = np.isfinite(Y) & np.isfinite(f), np.isfinite(rest)
    kept = [name for name, ok in zip(names, there, strict=True) if ok]
    kept_others = [name for name, ok in zip(others, also, strict=True) if ok]
    return settle(Y[there]), settle(f[there]), settle(rest[also]), kept, kept_others, (len(Y), len(rest))


def _codes(names: Sequence[Hashable]) -> tuple[list[int], int]:
    index: dict[Hashable, int] = {}
    codes = [index.setdefault(name, len(index)) for name in names]
    return codes, len(index)


def _parts(
    Y: FloatArray, f: FloatArray, rest: FloatArray, names: list[Hashable], others: list[Hashable]
) -> _Parts:
    codes, clusters = _codes([*names, *others])
    n, C, C_rest = len(Y), len(set(names)), len(set(others))

    def summed(values: FloatArray, where: list[int], sampled: int) -> FloatArray:
        # sampled / (sampled - 1) is the usual correction for a mean estimated from the same clusters
        scale = math.sqrt(sampled / (sampled - 1)) if sampled > 1 else 1.0
        centred = (values - values.mean()) / len(values) * scale
        return np.bincount(where, weights=centred, minlength=clusters).astype(np.float64)

    a = summed(Y, codes[:n], C)
    return _Parts(a, summed(rest, codes[n:], C_rest) - summed(f, codes[:n], C), C)


def _weight(parts: _Parts, tuning: Tuning) -> float:
    """Lambda of least variance, kept within [0, 1] (PPI++, proposition 2, with sums over clusters)."""
    if tuning == "full":
        return 1.0
    if tuning != "tuned":
        return float(tuning)
    power = float(parts.b @ parts.b)
    return min(max(-float(parts.a @ parts.b) / power, 0.0), 1.0) if power > 0 else 0.0


def _variance(values: FloatArray) -> float:
    return float(values.var(ddof=1)) if len(values) > 1 else 0.0


def _design_effect(
    parts: _Parts | None, weight: float | None, n: int, N: int, vy: float, vf: float, cov: float
) -> float:
    if parts is None or weight is None:
        return 1.0
    independent = _independent_variance(weight, n, N, vy, vf, cov)
    return float(np.square(parts.a + weight * parts.b).sum()) / independent if independent > 0 else 1.0


def _independent_variance(weight: float, n: int, N: int, vy: float, vf: float, cov: float) -> float:
    """Variance of the estimate from independent labels: PPI++ formula with its three second moments."""
    return weight**2 * vf / max(N, 1) + (vy - 2 * weight * cov + weight**2 * vf) / n


@dataclass(frozen=True)
class _Report:
    quantity: str
    bounds: tuple[float, float] | None
    level: float
    given: tuple[int, int]

    def none(self, key: str, how: str, reason: str, used: int) -> Statistic:
        return missing(key, f"{self.quantity.capitalize()}, {how}", reason, used, sum(self.given), unit="labels")

    def made(
        self, key: str, how: str, value: float, parts: _Parts, weight: float, used: int, tuned: int
    ) -> Statistic:
        influence = parts.a + weight * parts.b
        df = parts.clusters_labelled - 1 - tuned
        return self._with_interval(key, how, value, influence, df, used, sum(self.given))

    def alone(self, key: str, how: str, values: FloatArray, names: list[Hashable], n: int) -> Statistic:
        if not len(values):
            return missing(key, f"{self.quantity.capitalize()}, {how}", "no label", 0, n, unit="labels")
        codes, clusters = _codes(names)
        scale = math.sqrt(clusters / (clusters - 1)) if clusters > 1 else 1.0
        centred = (values - values.mean()) / len(values) * scale
        influence = np.bincount(codes, weights=centred).astype(np.float64)
        return self._with_interval(key, how, float(values.mean()), influence, clusters - 1, len(values), n)

    def _with_interval(
        self, key: str, how: str, value: float, influence: FloatArray, df: int, used: int, n: int
    ) -> Statistic:
        name = f"{self.quantity.capitalize()}, {how}"
        low, high = self.bounds or (-math.inf, math.inf)
        error = math.sqrt(float(influence @ influence))
        held = min(max(value, low), high)
        if df + 1 < _FEWEST_CLUSTERS or error < 1e-12:
            why = "labels show no spread" if error < 1e-12 else f"fewer than {_FEWEST_CLUSTERS} labelled clusters"
            return Statistic(key, name, held, used, n, unit="labels", interval_method=f"no interval: {why}")
        half = float(stdtrit(df, (1 + self.level) / 2)) * error
        interval = min(max(value - half, low), high), max(min(value + half, high), low)
        method = f"t, {df} degrees of freedom, variance over clusters"
        return Statistic(
            key, name, held, used, n, unit="labels", interval=interval, level=self.level, interval_method=method
        )


def votes_needed(calibrated: Calibrated, width: float, *, from_pool: bool = True) -> VotesNeeded:
    """Human votes for an interval of full ``width``, assuming variance, correlation and clustering stay as seen.

    ``from_pool``: people vote on matches that the judge has judged already, so each vote leaves the unlabelled
    part; otherwise that part stays as large as it is. Raises ValueError for a width that is not positive.
    """
    if width <= 0:
        raise ValueError("the width of an interval is more than 0")
    n, N = calibrated.labelled, calibrated.unlabelled
    if calibrated.weight is None or calibrated.human_variance <= 0 or n < _FEWEST_CLUSTERS:
        return VotesNeeded(width, None, None, None, None, "too few labels, or labels without spread, to plan from")
    largest = n + N if from_pool else 1 << 40
    alone = _fewest(lambda total: _width(calibrated, total, 0), width, 1 << 40)
    total = _fewest(
        lambda total: _width(calibrated, total, n + N - total if from_pool else N), width, max(largest, n), n
    )
    if total is None:
        best = _width(calibrated, largest, 0)
        reason = f"with people voting on all {largest} judged matches the interval would still be {best:.3g} wide"
        return VotesNeeded(width, None, None, best, alone, reason)
    expected = _width(calibrated, total, n + N - total if from_pool else N)
    return VotesNeeded(width, total - n, total, expected, alone)


def _width(calibrated: Calibrated, n: int, N: int) -> float:
    vy, vf, cov = calibrated.human_variance, calibrated.judge_variance, calibrated.covariance
    best = cov / (vf * (1 + n / N)) if N > 0 and vf > 0 else 0.0
    variance = _independent_variance(min(max(best, 0.0), 1.0), n, N, vy, vf, cov) * calibrated.design_effect
    return 2 * float(stdtrit(max(n - 2, 1), (1 + calibrated.level) / 2)) * math.sqrt(max(variance, 0.0))


def _fewest(
    width_at: Callable[[int], float], width: float, largest: int, smallest: int = _FEWEST_CLUSTERS
) -> int | None:
    """The least total in [smallest, largest] whose interval is narrow enough; widths fall as totals grow."""
    if width_at(largest) > width:
        return None
    low, high = smallest, largest
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if width_at(middle) <= width else (middle + 1, high)
    return low
