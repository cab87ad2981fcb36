"""How far the order of tutors hangs on the simulator: on its learning rules, model, prompts, labeller or judges.

Every simulator is given the same subsets, so a tutor's luck with them is common to all, and agreement of whole
orders looks better than it is: simulators are held against what disjoint halves of the subsets say.

A *reversal* is only claimed where it is proven: two simulators put a pair of tutors in opposite order, each beyond
its own interval, and the difference of their differences holds after Holm's correction for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from arena.agreement.holm import holm
from arena.learning.paired import Mean, clustered_mean
from runstore.ids import draw
from runstore.results import Number, Result

Floats = NDArray[np.float64]
PartName = Literal["tutor", "tutor x simulator", "tutor x question", "tutor x persona", "residual"]
SPLITS = 40


@dataclass(frozen=True, slots=True)
class Scored:
    """(simulators, tutors, subsets) scores of the same subsets, tutors centred on their mean in each subset."""

    simulators: tuple[str, ...]
    tutors: tuple[str, ...]
    values: Floats
    dialogues: tuple[str, ...]
    questions: tuple[str, ...]
    personas: tuple[str, ...]


class PairRow(Result):
    """One pair of tutors under two simulators: ``difference`` of the two differences, first minus second."""

    a: str
    b: str
    simulators: tuple[str, str]
    first: Mean
    second: Mean
    difference: Mean
    p: Number | None
    p_holm: Number | None
    reversed: bool


class ComponentRow(Result):
    """A part of the variance of scores, in squared units of the score; below 0 is 0."""

    name: PartName
    variance: Number
    sd: Number
    over: int


class Halves(Result):
    """Kendall's tau between orders from disjoint halves of the subsets, means over splits. None for two tutors."""

    across: Number | None
    within: Number | None
    whole: Number | None
    splits: int
    reason: str | None = None


class Sensitivity(Result):
    """All of it. ``verdict``: what may be said of the order."""

    simulators: tuple[str, ...]
    tutors: tuple[str, ...]
    subsets: int
    dialogues: int
    means: tuple[tuple[Number, ...], ...]
    pairs: tuple[PairRow, ...]
    components: tuple[ComponentRow, ...]
    reliability: Number | None
    halves: Halves
    verdict: Literal["reversed", "depends", "robust", "not known"]


def sensitivity(scored: Scored, *, level: float = 0.95, halves_agree: float = 0.5, seed: int = 0) -> Sensitivity:
    """Raises ValueError for fewer than two simulators or tutors."""
    if len(scored.simulators) < 2 or len(scored.tutors) < 2:
        raise ValueError("two simulators and two tutors are needed")
    rows = _pairs(scored, level)
    parts = _components(scored)
    halves = _halves(scored, seed)
    return Sensitivity(
        simulators=scored.simulators,
        tutors=scored.tutors,
        subsets=scored.values.shape[2],
        dialogues=len(set(scored.dialogues)),
        means=tuple(tuple(float(x) for x in row) for row in scored.values.mean(axis=2)),
        pairs=rows,
        components=parts,
        reliability=_reliability(parts),
        halves=halves,
        verdict=_verdict(rows, halves, 1 - level, halves_agree),
    )


def _pairs(scored: Scored, level: float) -> tuple[PairRow, ...]:
    rows: list[PairRow] = []
    for (i, a), (j, b) in combinations(enumerate(scored.tutors), 2):
        for (q, one), (r, other) in combinations(enumerate(scored.simulators), 2):
            first = scored.values[q, i] - scored.values[q, j]
            second = scored.values[r, i] - scored.values[r, j]
            means = [
                clustered_mean([float(x) for x in row], scored.dialogues, level)
                for row in (first, second, first - second)
            ]
            rows.append(
                PairRow(
                    a=a, b=b, simulators=(one, other), first=means[0], second=means[1], difference=means[2],
                    p=_p(means[2]), p_holm=None, reversed=False,
                )
            )  # fmt: skip
    corrected = holm([row.p for row in rows])
    return tuple(
        row.model_copy(update={"p_holm": p, "reversed": p is not None and p < 1 - level and _opposite(row)})
        for row, p in zip(rows, corrected, strict=True)
    )


def _p(mean: Mean) -> float | None:
    if mean.value is None or mean.se is None:
        return None
    if mean.se == 0:
        return 1.0 if mean.value == 0 else 0.0
    return float(2 * stdtr(mean.clusters - 1, -abs(mean.value) / mean.se))


def _opposite(row: PairRow) -> bool:
    signs = [_sign(row.first), _sign(row.second)]
    return signs[0] * signs[1] < 0


def _sign(mean: Mean) -> int:
    """1 or -1 where the interval excludes 0."""
    if mean.lower is None or mean.upper is None:
        return 0
    return 1 if mean.lower > 0 else -1 if mean.upper < 0 else 0


def _components(scored: Scored) -> tuple[ComponentRow, ...]:
    """Moments, each freed of the noise that the subsets of dialogues bring into it."""
    values = scored.values
    simulators, tutors, subsets = values.shape
    means = values.mean(axis=2)
    free = tutors / (tutors - 1)  # centred scores have lost one tutor's worth of variance
    between: list[float] = []
    common: list[float] = []
    for q, r in combinations(range(simulators), 2):
        for t in range(tutors):
            off = _noise(values[q, t] - values[r, t], values[q, t] - values[r, t], scored.dialogues)
            between.append(((means[q, t] - means[r, t]) ** 2 - off) / 2)
            common.append(means[q, t] * means[r, t] - _noise(values[q, t], values[r, t], scored.dialogues))
    averaged = values.mean(axis=0)
    by_question, residual = _groups(averaged, scored.questions)
    by_persona, _ = _groups(averaged, scored.personas)
    parts: tuple[tuple[PartName, float, int], ...] = (
        ("tutor", float(np.mean(common)) * free, tutors),
        ("tutor x simulator", float(np.mean(between)) * free, simulators),
        ("tutor x question", by_question * free, len(set(scored.questions))),
        ("tutor x persona", by_persona * free, len(set(scored.personas))),
        ("residual", residual * free, subsets),
    )
    return tuple(
        ComponentRow(name=name, variance=max(0.0, v), sd=max(0.0, v) ** 0.5, over=over) for name, v, over in parts
    )


def _noise(x: Floats, y: Floats, dialogues: Sequence[str]) -> float:
    """Estimated covariance of two means over the same subsets, by dialogue."""
    names = sorted(set(dialogues))
    place = {name: at for at, name in enumerate(names)}
    codes = [place[name] for name in dialogues]
    sums = [np.bincount(codes, z - z.mean(), minlength=len(names)) for z in (x, y)]
    count = len(names)
    return float((sums[0] * sums[1]).sum()) * count / (count - 1) / len(dialogues) ** 2 if count > 1 else 0.0


def _groups(values: Floats, labels: Sequence[str]) -> tuple[float, float]:
    """One-way random effects of (tutors, subsets) values: variance between groups of subsets, and within."""
    names = sorted(set(labels))
    sizes = np.array([list(labels).count(name) for name in names])
    n, groups = len(labels), len(names)
    if groups < 2 or n == groups:
        return 0.0, float(values.var(axis=1, ddof=1).mean()) if n > 1 else 0.0
    codes = np.array([names.index(name) for name in labels])
    within = between = 0.0
    for row in values:
        means = np.bincount(codes, row) / sizes
        within += float(((row - means[codes]) ** 2).sum()) / (n - groups)
        between += float((sizes * (means - row.mean()) ** 2).sum()) / (groups - 1)
    size = (n - float((sizes**2).sum()) / n) / (groups - 1)
    count = len(values)
    return (between - within) / count / size, within / count


def _reliability(parts: Sequence[ComponentRow]) -> float | None:
    """Share of the tutors' own variance in that of their means over these simulators, questions and personas."""
    own = parts[0].variance
    noise = sum(part.variance / part.over for part in parts[1:])
    return own / (own + noise) if own + noise > 0 else None


def _halves(scored: Scored, seed: int) -> Halves:
    if len(scored.tutors) < 3:
        reason = "with two tutors there is one pair and no order of it: see the differences"
        return Halves(across=None, within=None, whole=None, splits=0, reason=reason)
    names, dialogues = sorted(set(scored.dialogues)), np.array(scored.dialogues)
    across: list[float] = []
    within: list[float] = []
    for split in range(SPLITS):
        order = sorted(names, key=lambda name: draw(seed, "halves", split, name))
        left = np.isin(dialogues, order[: len(order) // 2])
        means = [scored.values[:, :, side].mean(axis=2) for side in (left, ~left)]
        count = len(scored.simulators)
        within.append(float(np.mean([_tau(means[0][q], means[1][q]) for q in range(count)])))
        pairs = [(q, r) for q in range(count) for r in range(count) if q != r]
        across.append(float(np.mean([_tau(means[0][q], means[1][r]) for q, r in pairs])))
    whole = scored.values.mean(axis=2)
    taus = [_tau(whole[q], whole[r]) for q, r in combinations(range(len(scored.simulators)), 2)]
    return Halves(
        across=float(np.mean(across)), within=float(np.mean(within)), whole=float(np.mean(taus)), splits=SPLITS,
        reason=None,
    )  # fmt: skip


def _tau(x: Floats, y: Floats) -> float:
    """Kendall's tau-a of two orders."""
    i, j = np.triu_indices(len(x), 1)
    return float(np.mean(np.sign(x[i] - x[j]) * np.sign(y[i] - y[j])))


def _verdict(
    rows: Sequence[PairRow], halves: Halves, alpha: float, halves_agree: float
) -> Literal["reversed", "depends", "robust", "not known"]:
    if any(row.reversed for row in rows):
        return "reversed"
    if any(row.p_holm is not None and row.p_holm < alpha for row in rows):
        return "depends"
    settled = all(_sign(mean) for row in rows for mean in (row.first, row.second))
    if halves.within is None:
        return "robust" if settled else "not known"
    across = halves.across if halves.across is not None else 0.0
    return "robust" if min(halves.within, across) >= halves_agree else "not known"


def scored_of(
    deltas: Mapping[str, Mapping[tuple[str, str, str], float]], subsets: Mapping[str, tuple[str, str, str]]
) -> Scored:
    """``deltas``: simulator -> (subset, a, b) -> a minus b; ``subsets``: id -> (dialogue, question, persona).

    Subsets and tutors that every simulator has whole. Raises ValueError where nothing is common to all.
    """
    named: list[set[str]] = [{name for _, a, b in delta for name in (a, b)} for delta in deltas.values()]
    tutors = sorted(name for name in named[0] if all(name in others for others in named))
    wanted = list(combinations(tutors, 2))
    ids = [s for s in subsets if all((s, a, b) in delta for delta in deltas.values() for a, b in wanted)]
    if len(tutors) < 2 or not ids:
        raise ValueError("no subset has two tutors' whole results in every run")
    values = np.zeros((len(deltas), len(tutors), len(ids)))
    for q, differences in enumerate(deltas.values()):
        for at, subset in enumerate(ids):
            for a, b in wanted:
                half = differences[subset, a, b] / len(tutors)
                values[q, tutors.index(a), at] += half
                values[q, tutors.index(b), at] -= half
    columns = list(zip(*(subsets[name] for name in ids), strict=True))
    return Scored(tuple(deltas), tuple(tutors), values, *(tuple(column) for column in columns))
