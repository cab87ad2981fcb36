"""What a run's missing matches could change (win rates, ratings), and whether the gaps are spread evenly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from arena.agreement.holm import holm
from arena.ratings.bounds import rating_bounds
from arena.ratings.verdicts import from_verdicts, subset_labels
from frontdesk.report.figures import p_text, percent, plain
from frontdesk.report.sections.run import outcomes
from frontdesk.report.sections.run.data import RunData
from frontdesk.report.sections.run.names import factor_name, level_name
from frontdesk.runner.rating import settings_of
from runstore.ids import draw_seed
from runstore.languages import Words
from runstore.records import Subset

SHUFFLES = 2000
_NOTICED = 0.05


def told(data: RunData, say: Words) -> list[str]:
    """Bounds of each endpoint's win rate and rating; a warning for each category over which gaps are uneven."""
    if len(data.valid) >= data.workload.verdicts or not data.valid:
        return []
    return [*_bounds(data, say), *_rating_bounds(data, say), *_uneven(data, say)]


def asked_by_level(data: RunData) -> dict[str, dict[str, int]]:
    """How many verdicts were asked for on each level of each category; nothing where none is missing.

    Nor where a goal chose what to ask: it asks no level for so many.
    """
    asked, subsets = data.workload.verdicts, len(data.subsets)
    if data.goal is not None or len(data.valid) >= asked or not subsets or asked % subsets:
        return {}
    by_level = {
        name: {level: asked // subsets * n for level, n in Counter(map(of, data.subsets)).items()}
        for name, of in _categories(data.subsets).items()
    }
    return {**by_level, "criterion": dict.fromkeys(data.criteria, asked // max(1, len(data.criteria)))}


def _bounds(data: RunData, say: Words) -> list[str]:
    """The win rate if all that is missing went either way, of what was asked for of each endpoint."""
    load = data.workload
    each = {name: sum(name in pair for pair in load.pairs) for name in data.names}
    said: list[str] = []
    for name, pairs in each.items():
        asked = load.verdicts * pairs // max(1, len(load.pairs))
        now = outcomes.win_rate(data.verdicts, name, data.level)
        if now.value is None or now.of >= asked:
            continue
        low, high = now.hits / asked, (now.hits + asked - now.of) / asked
        said.append(say("gap_bound", name=name, low=percent(low), high=percent(high), now=percent(now.value)))
    return said


def _rating_bounds(data: RunData, say: Words) -> list[str]:
    """The rating if all of an endpoint's missing matches went either way, the others' staying as they are."""
    load = data.workload
    valid = Counter(tuple(sorted(verdict.endpoints)) for verdict in data.valid)
    asked = load.verdicts // max(1, len(load.pairs))
    missing = {(a, b): asked - valid[tuple(sorted((a, b)))] for a, b in load.pairs if {a, b} <= set(data.names)}
    battles = from_verdicts(data.verdicts, labels=subset_labels(data.subsets))
    bounds = rating_bounds(battles, missing, settings_of(data.config))
    said: list[str] = []
    for model in data.board.models:
        bound = bounds.get(model.name, (None, None))
        if model.rating is None or not any(count > 0 for pair, count in missing.items() if model.name in pair):
            continue
        low, high = (say("gap_open") if value is None else plain(value) for value in bound)
        said.append(say("gap_bound_rating", name=model.name, low=low, high=high, now=plain(model.rating)))
    return said


def _uneven(data: RunData, say: Words) -> list[str]:
    per_subset = data.workload.verdicts / max(1, len(data.subsets))
    valid: dict[str, int] = {}
    for verdict in data.valid:
        valid[verdict.subset] = valid.get(verdict.subset, 0) + 1
    lacking = {subset.id: valid.get(subset.id, 0) < per_subset for subset in data.subsets}
    categories = _categories(data.subsets)
    tested = {
        name: p
        for name, of in categories.items()
        if (p := _permuted([of(cut) for cut in data.subsets], list(lacking.values()), data.config.run.seed, name))
        is not None
    }
    said: list[str] = []
    for name, p in zip(tested, holm(list(tested.values())), strict=True):
        if p is None or p >= _NOTICED:
            continue
        counts = _counts([(categories[name](cut), lacking[cut.id]) for cut in data.subsets])
        worst = sorted(counts.items(), key=lambda item: (-item[1][0] / item[1][1], outcomes.natural(item[0])))[:3]
        levels = "; ".join(
            say("gap_level", level=level_name(data.config, name, level, say), n=n, of=of)
            for level, (n, of) in worst
            if n
        )
        kind, _, factor = name.partition(".")
        said.append(
            say(
                "gap_uneven",
                category=say(f"gap_{kind}", factor=factor_name(data.config, factor, say.language)),
                p=p_text(p),
                worst=levels,
            )
        )
    return said


def _categories(subsets: Sequence[Subset]) -> Mapping[str, Callable[[Subset], str]]:
    def level(factor: str) -> Callable[[Subset], str]:
        return lambda subset: subset.levels.get(factor, "")

    factors = dict.fromkeys(factor for subset in subsets for factor in subset.levels)
    personas = {f"persona.{factor}": level(factor) for factor in factors}
    return {"subject": lambda subset: subset.subject, "depth": lambda subset: str(subset.depth), **personas}


def _counts(pairs: Sequence[tuple[str, bool]]) -> dict[str, tuple[int, int]]:
    counts: dict[str, tuple[int, int]] = {}
    for level, lacks in pairs:
        n, of = counts.get(level, (0, 0))
        counts[level] = n + lacks, of + 1
    return counts


def _permuted(levels: Sequence[str], lacking: Sequence[bool], seed: int, name: str) -> float | None:
    """p of the chi-square of levels by lacking, over shuffles drawn by the run's seed; None without two kinds."""
    names, code = np.unique(np.asarray(levels, dtype=str), return_inverse=True)
    lacks = np.asarray(lacking, dtype=np.float64)
    if len(names) < 2 or not 0 < lacks.sum() < len(lacks):
        return None
    expected = np.bincount(code) * lacks.mean()
    generator = np.random.default_rng(draw_seed(seed, "gaps", name))

    def apart(shuffled: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        return float((np.square(np.bincount(code, shuffled) - expected) / expected).sum())

    observed = apart(lacks)
    beyond = sum(apart(generator.permutation(lacks)) >= observed - 1e-9 for _ in range(SHUFFLES))
    return (1 + beyond) / (1 + SHUFFLES)
