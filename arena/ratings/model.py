"""What a rating model is: what one battle says about the log-odds between two models.

Counts go in; the log-likelihood, its derivatives (the scores) and the information come out. Fits, intervals,
places, categories and the effect of position work through these alone, so a further model is one file that is
entered in :mod:`arena.ratings.models`. Outcomes are in the order loss, tie, win of i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def logistic(eta: Floats) -> Floats:
    """1 / (1 + exp(-eta))."""
    from scipy.special import expit  # takes long to import, and a configuration is read by the models' names alone

    return expit(eta)


@dataclass(frozen=True)
class Information:
    """(G,) negative second derivatives of the log-likelihood: by eta, by the tie parameter, and mixed."""

    eta: Floats
    tie: Floats
    mixed: Floats


class RatingModel(Protocol):
    """One rating model. ``eta`` (G,) is the lead of i over j; ``counts`` (G, 3) are losses, ties and wins of i.

    ``name`` is what settings call it, ``method`` what files say of it. Where ``has_parameter``, ``tie`` is a
    parameter that is fitted from ``start`` on; battles without a tie then take the model ``without_ties`` instead.
    """

    @property
    def name(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def has_parameter(self) -> bool: ...
    @property
    def start(self) -> float: ...
    @property
    def without_ties(self) -> RatingModel: ...

    def loglik(self, eta: Floats, tie: float, counts: Floats) -> float: ...

    def scores(self, eta: Floats, tie: float) -> tuple[Floats, Floats]:
        """(G, 3) derivatives of each outcome's log-likelihood by eta and by the tie parameter."""
        ...

    def information(self, eta: Floats, tie: float, counts: Floats) -> Information: ...

    def admissible(self, tie: float) -> bool: ...

    def told(self, tie: float) -> dict[str, float]:
        """The tie parameter under the names it has in the literature."""
        ...
