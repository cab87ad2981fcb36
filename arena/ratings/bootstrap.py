"""Resampled estimates, by battle or by cluster, and their percentiles.

One-step bootstrap: the first Newton step from the full estimate (Schucany & Wang 1991; Kline & Santos 2012), which
needs no refit. Exact bootstrap: a refit of every resample, in which a model may be undefeated (its rating has no
upper limit there) or absent (the resample says nothing about it); both are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from arena.ratings.batch import connected, refit
from arena.ratings.battles import Battles
from arena.ratings.design import Design
from arena.ratings.fitting import Fit, fit
from arena.ratings.graph import components, reachable
from arena.ratings.linear import one_thread
from arena.ratings.models import HALF
from arena.ratings.sandwich import Scores, cluster_cells

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Refit = Literal["exact", "one-step"]

_MANY_CLUSTERS = 20_000
_STACKED_MODELS, _STACKED_CELLS = 64, 4_000_000


@dataclass(frozen=True)
class Draws:
    """Resampled estimates: ``values`` (B, P), +-inf where a model had no finite one, NaN where it was absent."""

    values: Floats
    refit: Refit
    note: str | None = None


@one_thread
def one_step(fitted: Fit, units: Scores, battles: Battles, resamples: int, seed: int) -> Draws:
    """Resamples of clusters (or of battles) moved through one Newton step."""
    generator = np.random.Generator(np.random.SFC64(seed))
    note = None
    if units.by_cluster is None:
        weight = _cell_resamples(generator, battles, resamples) - battles.weight
        moves = np.asarray(weight @ units.by_cell)
    else:
        clusters = units.by_cluster.shape[0]
        if clusters > _MANY_CLUSTERS:
            note = f"normal limit, {clusters} clusters"
            moves = _normal(generator, units.meat(), resamples)
        else:
            picks = generator.multinomial(clusters, np.full(clusters, 1 / clusters), size=resamples)
            moves = np.asarray(picks.astype(np.float64) @ units.by_cluster)
    return Draws(fitted.vector + moves @ fitted.curvature, "one-step", note)


def _normal(generator: np.random.Generator, covariance: Floats, resamples: int) -> Floats:
    values, vectors = np.linalg.eigh(covariance)
    spread = vectors * np.sqrt(np.maximum(values, 0))
    return generator.standard_normal((resamples, len(covariance))) @ spread.T


def _cell_resamples(generator: np.random.Generator, battles: Battles, resamples: int) -> Floats:
    """(B, K) weights of the cells: multinomial counts, or gamma with the cells' mean and variance if weighted."""
    if not battles.weighted:
        total = battles.total
        chance = battles.number / max(total, 1)
        return generator.multinomial(total, chance, size=resamples).astype(np.float64)
    safe = np.maximum(battles.weight, 1e-300)
    scale = battles.square / safe
    shape = np.where(scale > 0, safe / np.maximum(scale, 1e-300), 0.0)
    return generator.standard_gamma(np.broadcast_to(shape, (resamples, len(shape)))) * scale


def exact(
    fitted: Fit, battles: Battles, design: Design, resamples: int, seed: int, *, clustered: bool, prior: float
) -> Draws:
    """Every resample fitted anew, from the full estimate on."""
    generator = np.random.Generator(np.random.SFC64(seed))
    values = np.full((resamples, len(fitted.vector)), np.nan)
    stacked = fitted.model is HALF and not len(fitted.shared) and not prior and design.size <= _STACKED_MODELS
    chunk = max(1, _STACKED_CELLS // max(3 * len(design.i), 1)) if stacked else 1
    drawn = _resamples(generator, battles, resamples, clustered=clustered)
    for at in range(0, resamples, chunk):
        counts = np.stack([design.counts(weight) for weight in islice(drawn, chunk)])
        left = np.arange(len(counts))
        if stacked:
            whole = np.flatnonzero(connected(design, counts))
            theta, converged = refit(design, counts[whole], fitted.theta)
            values[at + whole[converged]] = theta[converged]
            left = np.setdiff1d(left, whole[converged])
        known: dict[bytes, Floats] = {}  # small tables repeat themselves
        for number in left.tolist():
            key = counts[number].tobytes()
            if key not in known:
                known[key] = _refitted(fitted, design, counts[number], prior)
            values[at + number] = known[key]
    return Draws(values, "exact")


def _resamples(
    generator: np.random.Generator, battles: Battles, resamples: int, *, clustered: bool
) -> Iterator[Floats]:
    """Weights of the K cells, resample by resample."""
    if not clustered:
        yield from _cell_resamples(generator, battles, resamples)
        return
    cells = cluster_cells(battles)
    clusters = cells.shape[0]
    for _ in range(resamples):
        picks = generator.multinomial(clusters, np.full(clusters, 1 / clusters)).astype(np.float64)
        yield np.asarray(picks @ cells)


def _refitted(fitted: Fit, design: Design, counts: Floats, prior: float) -> Floats:
    beats = _beats(design, counts)
    strong = components(beats)
    whole = len(np.unique(design.core)) == len(np.unique(strong))
    if prior or whole:
        again = fit(design, counts, model=fitted.model, prior=prior, start=fitted, covariance=False)
        return again.vector if again.converged else np.full(len(fitted.vector), np.nan)
    return _refitted_in_part(fitted, design, counts, beats, strong)


def _beats(design: Design, counts: Floats) -> NDArray[np.bool_]:
    beats = np.zeros((design.size, design.size), bool)
    for column, (over, under) in enumerate(((design.j, design.i), (design.i, design.j), (design.i, design.j))):
        has = counts[:, column] > 0
        beats[over[has], under[has]] = True
        if column == 1:
            beats[under[has], over[has]] = True
    return beats


def _refitted_in_part(
    fitted: Fit, design: Design, counts: Floats, beats: NDArray[np.bool_], strong: Ints
) -> Floats:
    """Fit the largest connected part of each core; the rest is above it, below it, or unknown."""
    values = np.full(len(fitted.vector), np.nan)
    main = _main_parts(design, counts, strong)
    reach = reachable(beats)
    values[: design.size] = _without_part(design.core, main, reach)
    kept = np.flatnonzero(main >= 0)
    if not len(kept):
        return values
    index = np.full(design.size, -1)
    index[kept] = np.arange(len(kept))
    rows = (main[design.i] >= 0) & (main[design.i] == main[design.j])
    none = np.empty(0, np.int64)
    part = Design(
        index[design.i[rows]],
        index[design.j[rows]],
        design.shared_columns[rows],
        design.shared,
        _renumber(main[kept]),
        none,
        none,
    )
    again = fit(part, counts[rows], model=fitted.model, covariance=False)
    if again.converged:
        _align(values, fitted.theta, again.theta, kept, main, design.core, reach)
        values[design.size :] = again.vector[len(kept) :]
    return values


def _main_parts(design: Design, counts: Floats, strong: Ints) -> Ints:
    """For each model its core, if it is in that core's largest connected part (then: the one with most games)."""
    inside = strong[design.i] == strong[design.j]
    games = np.bincount(strong[design.i[inside]], counts[inside].sum(1), int(strong.max()) + 1)
    main = np.full(design.size, -1)
    for label in range(int(design.core.max()) + 1):
        members = np.flatnonzero(design.core == label)
        parts, sizes = np.unique(strong[members], return_counts=True)
        best = parts[np.lexsort((games[parts], sizes))[-1]]
        if sizes.max() > 1:
            main[members[strong[members] == best]] = label
    return main


def _without_part(core: Ints, main: Ints, reach: NDArray[np.bool_]) -> Floats:
    """Where a core has fallen into single models: infinitely high who leads to all, low who is led to by all."""
    theta = np.full(len(core), np.nan)
    strictly = reach & ~reach.T
    for label in np.setdiff1d(core, main):
        members = np.flatnonzero(core == label)
        over = strictly[np.ix_(members, members)].sum(1)
        under = strictly[np.ix_(members, members)].sum(0)
        theta[members[over == len(members) - 1]] = np.inf
        theta[members[under == len(members) - 1]] = -np.inf
    return theta


def _renumber(labels: Ints) -> Ints:
    return np.unique(labels, return_inverse=True)[1]


def _align(
    values: Floats, full: Floats, part: Floats, kept: Ints, main: Ints, core: Ints, reach: NDArray[np.bool_]
) -> None:
    """Shift each part so that its members keep the mean they have in the full fit; +-inf above and below it."""
    for label in np.unique(main[kept]):
        members = np.flatnonzero(main == label)
        own = part[np.isin(kept, members)]
        values[members] = own - own.mean() + full[members].mean()
        first = members[0]
        outside = np.flatnonzero((core == label) & (main != label))
        values[outside[reach[outside, first] & ~reach[first, outside]]] = np.inf
        values[outside[reach[first, outside] & ~reach[outside, first]]] = -np.inf


def anchored(draws: Floats, core: Ints, anchor: int | None) -> Floats:
    """Draws of theta measured from the anchor in its core (NaN where the anchor itself had no finite value)."""
    if anchor is None:
        return draws
    out = draws.copy()
    members = core == core[anchor]
    origin = np.where(np.isfinite(draws[:, anchor]), draws[:, anchor], np.nan)
    out[:, members] -= origin[:, None]
    return out


def quantiles(draws: Floats, level: float) -> tuple[Floats, Floats]:
    """Percentile limits (Efron 1979) per column; absent values are left out, infinite ones count as extremes."""
    lower, upper = np.full(draws.shape[1], np.nan), np.full(draws.shape[1], np.nan)
    for column in range(draws.shape[1]):
        values = np.sort(draws[~np.isnan(draws[:, column]), column])
        if len(values):
            lower[column] = _quantile(values, (1 - level) / 2)
            upper[column] = _quantile(values, (1 + level) / 2)
    return lower, upper


def _quantile(values: Floats, share: float) -> float:
    place = share * (len(values) - 1)
    low, high = values[int(np.floor(place))], values[int(np.ceil(place))]
    if not (np.isfinite(low) and np.isfinite(high)):
        return float(low if share < 0.5 else high)
    return float(low + (high - low) * (place - np.floor(place)))
