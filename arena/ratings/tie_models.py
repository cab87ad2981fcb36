"""What one battle says about the log-odds between two models, under three ways to see a tie.

Each model gives, for the log-odds ``eta`` of (i over j) and its own tie parameter, the log-likelihood, the score
of each outcome and the information. Outcomes are in the order loss, tie, win of i.

half        a tie is half a win and half a loss (quasi-likelihood; no parameter)
davidson    Davidson 1970, nu = exp(tie): P(tie) proportional to nu * sqrt(p_i p_j)
rao_kupper  Rao & Kupper 1967, log kappa = tie > 0: a win needs a lead of more than log kappa
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from arena.ratings.settings import Ties

Floats = NDArray[np.float64]
_ALL = np.ones(3)


@dataclass(frozen=True)
class Information:
    """Negative second derivatives per row: by eta, by the tie parameter, and mixed."""

    eta: Floats
    tie: Floats
    mixed: Floats


class TieModel(Protocol):
    """One way to see a tie. ``counts`` is (G, 3): losses, ties, wins of i."""

    has_parameter: bool
    start: float

    def loglik(self, eta: Floats, tie: float, counts: Floats) -> float: ...

    def scores(self, eta: Floats, tie: float) -> tuple[Floats, Floats]:
        """(G, 3) derivatives of each outcome's log-likelihood by eta and by the tie parameter."""
        ...

    def information(self, eta: Floats, tie: float, counts: Floats) -> Information: ...

    def admissible(self, tie: float) -> bool: ...


class Half:
    """A tie is half a win each way."""

    has_parameter = False
    start = 0.0

    def loglik(self, eta: Floats, tie: float, counts: Floats) -> float:  # noqa: ARG002
        score = counts[:, 2] + counts[:, 1] / 2
        return float(score @ eta - (counts @ _ALL) @ np.logaddexp(0, eta))

    def scores(self, eta: Floats, tie: float) -> tuple[Floats, Floats]:  # noqa: ARG002
        by_eta = np.array([0.0, 0.5, 1.0]) - expit(eta)[:, None]
        return by_eta, np.zeros_like(by_eta)

    def information(self, eta: Floats, tie: float, counts: Floats) -> Information:  # noqa: ARG002
        p = expit(eta)
        none = np.zeros_like(p)
        return Information((counts @ _ALL) * p * (1 - p), none, none)

    def admissible(self, tie: float) -> bool:  # noqa: ARG002
        return True


class Davidson:
    """An exponential family in (eta, log nu): the information is the covariance of its statistics."""

    has_parameter = True
    start = -1.0

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
        n = counts @ _ALL
        return Information(
            n * ((p[:, 2] + p[:, 0]) / 4 - lead**2), n * p[:, 1] * (1 - p[:, 1]), -n * lead * p[:, 1]
        )

    def admissible(self, tie: float) -> bool:
        return np.isfinite(tie).item()


class RaoKupper:
    """A win needs a lead above a threshold; concave in (eta, log kappa)."""

    has_parameter = True
    start = 0.3

    def loglik(self, eta: Floats, tie: float, counts: Floats) -> float:
        win, loss, both = self._exponents(counts)
        tied = both.sum() * np.log(np.expm1(2 * tie)) if both.any() else 0.0
        return float(-(win @ np.logaddexp(0, tie - eta)) - loss @ np.logaddexp(0, tie + eta) + tied)

    def scores(self, eta: Floats, tie: float) -> tuple[Floats, Floats]:
        up, down = expit(tie - eta), expit(tie + eta)
        at_tie = 2 / -np.expm1(-2 * tie)
        return np.stack([-down, up - down, up], 1), np.stack([-down, at_tie - up - down, -up], 1)

    def information(self, eta: Floats, tie: float, counts: Floats) -> Information:
        win, loss, both = self._exponents(counts)
        up, down = expit(tie - eta), expit(tie + eta)
        by_win, by_loss = win * up * (1 - up), loss * down * (1 - down)
        curve = 1 / np.sinh(tie) ** 2
        return Information(by_win + by_loss, by_win + by_loss + both * curve, by_loss - by_win)

    def _exponents(self, counts: Floats) -> tuple[Floats, Floats, Floats]:
        loss, both, win = counts.T
        return win + both, loss + both, both

    def admissible(self, tie: float) -> bool:
        return tie > 0


MODELS: dict[Ties, TieModel] = {"half": Half(), "davidson": Davidson(), "rao_kupper": RaoKupper()}
