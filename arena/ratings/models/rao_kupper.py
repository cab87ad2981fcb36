"""Bradley-Terry with ties after Rao & Kupper 1967, log kappa = tie > 0: a win needs a lead of more than that."""

from __future__ import annotations

import numpy as np

from arena.ratings.model import Floats, Information, RatingModel, logistic
from arena.ratings.models.half import Half


class RaoKupper:
    """A win needs a lead above a threshold; concave in (eta, log kappa)."""

    name = "rao_kupper"
    method = "Bradley-Terry with Rao and Kupper's ties, maximum likelihood (Newton)"
    has_parameter = True
    start = 0.3
    without_ties: RatingModel = Half()

    def loglik(self, eta: Floats, tie: float, counts: Floats) -> float:
        win, loss, both = self._exponents(counts)
        tied = both.sum() * np.log(np.expm1(2 * tie)) if both.any() else 0.0
        return float(-(win @ np.logaddexp(0, tie - eta)) - loss @ np.logaddexp(0, tie + eta) + tied)

    def scores(self, eta: Floats, tie: float) -> tuple[Floats, Floats]:
        up, down = logistic(tie - eta), logistic(tie + eta)
        at_tie = 2 / -np.expm1(-2 * tie)
        return np.stack([-down, up - down, up], 1), np.stack([-down, at_tie - up - down, -up], 1)

    def information(self, eta: Floats, tie: float, counts: Floats) -> Information:
        win, loss, both = self._exponents(counts)
        up, down = logistic(tie - eta), logistic(tie + eta)
        by_win, by_loss = win * up * (1 - up), loss * down * (1 - down)
        curve = 1 / np.sinh(tie) ** 2
        return Information(by_win + by_loss, by_win + by_loss + both * curve, by_loss - by_win)

    def _exponents(self, counts: Floats) -> tuple[Floats, Floats, Floats]:
        loss, both, win = counts.T
        return win + both, loss + both, both

    def admissible(self, tie: float) -> bool:
        return tie > 0

    def told(self, tie: float) -> dict[str, float]:
        return {"kappa": float(np.exp(tie))}
