"""Bradley-Terry with ties after Davidson 1970, nu = exp(tie): P(tie) proportional to nu * sqrt(p_i p_j)."""

from __future__ import annotations

import numpy as np

from arena.ratings.model import Floats, Information, RatingModel
from arena.ratings.models.half import Half


class Davidson:
    """An exponential family in (eta, log nu): the information is the covariance of its statistics."""

    name = "davidson"
    method = "Bradley-Terry with Davidson's ties, maximum likelihood (Newton)"
    has_parameter = True
    start = -1.0
    without_ties: RatingModel = Half()

    def _probabilities(self, eta: Floats, tie: float) -> Floats:
        logits = np.stack([-eta / 2, np.full_like(eta, tie), eta / 2], axis=1)
        logits -= logits.max(1, keepdims=True)
        weight = np.exp(logits)
        return weight / weight.sum(1, keepdims=True)

    def loglik(self, eta: Floats, tie: float, counts: Floats) -> float:
        logits = np.stack([-eta / 2, np.full_like(eta, tie), eta / 2], axis=1)
        total = np.logaddexp(np.logaddexp(logits[:, 0], logits[:, 2]), logits[:, 1])
        return float((counts * (logits - total[:, None])).sum())

    def scores(self, eta: Floats, tie: float) -> tuple[Floats, Floats]:
        p = self._probabilities(eta, tie)
        by_eta = np.array([-0.5, 0.0, 0.5]) - ((p[:, 2] - p[:, 0]) / 2)[:, None]
        by_tie = np.array([0.0, 1.0, 0.0]) - p[:, 1:2]
        return by_eta, by_tie

    def information(self, eta: Floats, tie: float, counts: Floats) -> Information:
        p = self._probabilities(eta, tie)
        lead = (p[:, 2] - p[:, 0]) / 2
        n = counts.sum(1)
        return Information(
            n * ((p[:, 2] + p[:, 0]) / 4 - lead**2), n * p[:, 1] * (1 - p[:, 1]), -n * lead * p[:, 1]
        )

    def admissible(self, tie: float) -> bool:
        return np.isfinite(tie).item()

    def told(self, tie: float) -> dict[str, float]:
        # Davidson writes the weight of a tie as nu * sqrt(p_i p_j); others write 2 nu * sqrt(p_i p_j).
        value = float(np.exp(tie))
        return {"nu": value, "nu_where_ties_weigh_2nu": value / 2}
