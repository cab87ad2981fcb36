"""Style control: what ratings would be if length and layout did not count.

How much longer (or more questioning, more coded, more formatted) one reply is than the other enters the model as a
covariate: the relative difference (a - b) / (a + b), in units of its standard deviation, after the published
"style control" of Li, Angelopoulos & Chiang 2024. The plain ratings stay the table; these stand beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.ratings.battles import Battles, Rows
from arena.ratings.bradley_terry import Design, cell_design, fit
from arena.ratings.estimate import MEAN, SCALE, Settings, estimate
from arena.ratings.intervals import sandwich, score_units
from arena.ratings.leaderboard import normal_quantile, number
from runstore.problems import Problem

Floats = NDArray[np.float64]
JsonObject = dict[str, Any]

FEATURES = ("length", "questions", "code", "markdown")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_LAYOUT = re.compile(r"^ {0,3}(?:#{1,6} |[-*+] |\d+[.)] )|\*\*[^*\n]+\*\*", re.MULTILINE)


def features(text: str) -> dict[str, float]:
    """Length in characters, question marks, fenced code blocks, and Markdown marks (headings, lists, bold)."""
    return {
        "length": float(len(text)),
        "questions": float(text.count("?") + text.count("\uff1f")),
        "code": float((len(_FENCE.findall(text)) + 1) // 2),
        "markdown": float(len(_LAYOUT.findall(text))),
    }


def relative(a: Floats, b: Floats) -> Floats:
    """(a - b) / (a + b), 0 where both are 0: between -1 and 1 whatever the unit."""
    total = a + b
    return np.divide(a - b, total, out=np.zeros_like(total), where=total != 0)


def style_control(battles: Battles, settings: Settings) -> JsonObject:
    """The part of ``leaderboard.json`` under ``style``: each covariate's effect, and ratings freed of them.

    Raises Problem where the battles carry no covariates.
    """
    rows = battles.rows
    if rows is None or not rows.covariates:
        raise Problem(f"--style: found no columns of style, expected reply_a, reply_b or {FEATURES[0]}_a, _b")
    plain = estimate(battles, replace(settings, intervals="none"))
    if plain.fitted is None:
        return {"covariates": [], "models": [], "reason": plain.reason}
    columns = {name: values / values.std() for name, values in rows.covariates.items() if values.std() > 0}
    single = _singly(battles, rows)
    core = np.full(len(battles.names), -1)
    core[plain.members] = plain.design.core
    design = _with_covariates(single, core, columns, position="position" in plain.design.shared)
    if np.linalg.matrix_rank(design.shared_columns) < len(design.shared):
        return {"covariates": [], "models": [], "reason": "the covariates repeat each other"}
    fitted = fit(design, design.counts(single.weight), ties=plain.fitted.ties)
    if not fitted.converged:
        return {
            "covariates": [],
            "models": [],
            "reason": "style decides too many of these battles: no finite estimate",
        }
    clustered = settings.clustered and rows.cluster is not None
    covariance = sandwich(fitted, score_units(single, design, fitted, clustered=clustered))
    half = normal_quantile(settings.level) * np.sqrt(np.maximum(np.diag(covariance), 0))
    first = design.size + len(design.shared) - len(columns)
    size = len(plain.members)
    return {
        "covariates": [
            {
                "name": name,
                "log_odds_per_sd": number(float(value)),
                **_limits(float(value), float(half[first + k])),
            }
            for k, (name, value) in enumerate(zip(columns, fitted.shared[-len(columns) :], strict=True))
        ],
        "models": [
            {
                "name": battles.names[int(m)],
                "raw": number(MEAN + SCALE * float(plain.fitted.theta[r])),
                "rating": number(MEAN + SCALE * float(fitted.theta[r])),
                **_limits(MEAN + SCALE * float(fitted.theta[r]), SCALE * float(half[:size][r])),
            }
            for r, m in enumerate(plain.members)
        ],
        "reason": None,
    }


def _limits(value: float, half: float) -> dict[str, float | None]:
    return {"lower": number(value - half), "upper": number(value + half)}


def _singly(battles: Battles, rows: Rows) -> Battles:
    """Every battle a cell of its own: covariates differ from battle to battle."""
    cell, total = rows.cell, len(rows.cell)
    weight = np.ones(total) if rows.weight is None else rows.weight
    return replace(
        battles,
        i=battles.i[cell],
        j=battles.j[cell],
        outcome=battles.outcome[cell],
        first=battles.first[cell],
        weight=weight,
        square=weight**2,
        number=np.ones(total, np.int64),
        rows=replace(rows, cell=np.arange(total, dtype=np.int32)),
    )


def _with_covariates(
    single: Battles, core: NDArray[np.int64], columns: Mapping[str, Floats], *, position: bool
) -> Design:
    """One row a battle, with its covariates (and who was shown first) as shared columns."""
    inside = np.flatnonzero((core[single.i] >= 0) & (core[single.i] == core[single.j]))
    base, members = cell_design(single, core, position=position)
    index = np.full(len(core), -1)
    index[members] = np.arange(len(members))
    row = np.full(len(single.i), -1)
    row[inside] = np.arange(len(inside))
    shown = [single.first[inside].astype(np.float64)] if position else []
    stacked = np.stack([*shown, *(values[inside] for values in columns.values())], axis=1)
    return Design(
        index[single.i[inside]],
        index[single.j[inside]],
        stacked,
        (*base.shared, *columns),
        base.core,
        row,
        single.outcome,
    )
