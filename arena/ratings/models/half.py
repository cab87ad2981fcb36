"""Bradley-Terry with a tie as half a win and half a loss (quasi-likelihood; no parameter)."""

from __future__ import annotations

import numpy as np

from arena.ratings.model import Floats, Information, RatingModel, logistic


class Half:
    """A tie is half a win each way."""

    name = "half"
    method = "Bradley-Terry, maximum likelihood (Newton), ties as half a win each way"
    has_parameter = False
    start = 0.0

    @property
    def without_ties(self) -> RatingModel:
        return self

    def loglik(self, eta: Floats, tie: float, counts: Floats) -> float:  # noqa: ARG002 - no ``tie``
        score = counts[:, 2] + counts[:, 1] / 2
        return float(score @ eta - (counts.sum(1)) @ np.logaddexp(0, eta))

    def scores(self, eta: Floats, tie: float) -> tuple[Floats, Floats]:  # noqa: ARG002 - no ``tie``
        by_eta = np.array([0.0, 0.5, 1.0]) - logistic(eta)[:, None]
        return by_eta, np.zeros_like(by_eta)

    def information(self, eta: Floats, tie: float, counts: Floats) -> Information:  # noqa: ARG002 - no ``tie``
        p = logistic(eta)
        none = np.zeros_like(p)
        return Information((counts.sum(1)) * p * (1 - p), none, none)

    def admissible(self, tie: float) -> bool:  # noqa: ARG002 - no ``tie``
        return True

    def told(self, tie: float) -> dict[str, float]:  # noqa: ARG002 - no ``tie``
        return {}
