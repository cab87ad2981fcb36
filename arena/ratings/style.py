"""Style control: what ratings would be if length and layout did not count.

How much longer (or more questioning, more coded, more formatted) one reply is than the other enters the model as a
covariate: the relative difference (a - b) / (a + b), in units of its standard deviation, after the published
"style control" of Li, Angelopoulos & Chiang 2024. The plain ratings stay the table; these stand beside it.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from arena.ratings.battles import Battles
from arena.ratings.covariates import adjusted
from arena.ratings.estimate import MEAN, SCALE
from arena.ratings.result import ControlledModel, Covariate, StyleControl, number
from arena.ratings.settings import Settings
from runstore.problems import Problem

Floats = NDArray[np.float64]

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


def style_control(battles: Battles, settings: Settings) -> StyleControl:
    """The part of ``leaderboard.json`` under ``style``: each covariate's effect, and ratings freed of them.

    Raises Problem where the battles carry no covariates.
    """
    rows = battles.rows
    if rows is None or not rows.covariates:
        raise Problem(f"--style: found no columns of style, expected reply_a, reply_b or {FEATURES[0]}_a, _b")
    columns = {name: values / values.std() for name, values in rows.covariates.items() if values.std() > 0}
    fitted_with = adjusted(battles, settings, columns)
    plain, fitted = fitted_with.plain.fitted, fitted_with.fitted
    if plain is None or fitted is None or fitted_with.told is None or (half := fitted_with.half) is None:
        return StyleControl(covariates=(), models=(), reason=fitted_with.reason)
    effects = [fitted_with.effect(name) for name in columns]
    return StyleControl(
        covariates=tuple(
            Covariate(
                name=effect.name,
                log_odds_per_sd=number(effect.value),
                lower=number(effect.lower),
                upper=number(effect.upper),
            )
            for effect in effects
        ),
        models=tuple(
            _controlled(
                battles.names[int(m)],
                MEAN + SCALE * float(plain.theta[r]),
                MEAN + SCALE * float(fitted.theta[r]),
                SCALE * float(half[r]),
            )
            for r, m in enumerate(fitted_with.plain.members)
        ),
        reason=next((effect.reason for effect in effects if effect.reason), None),
    )


def _controlled(name: str, raw: float, rating: float, half: float) -> ControlledModel:
    return ControlledModel(
        name=name, raw=number(raw), rating=number(rating), lower=number(rating - half), upper=number(rating + half)
    )
