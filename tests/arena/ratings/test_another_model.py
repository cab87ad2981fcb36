"""A rating model that the product does not have: Thurstone's, in one class, with all that ratings come with."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_ndtr
from scipy.stats import norm

from arena.ratings.estimate import MEAN, SCALE
from arena.ratings.leaderboard import build
from arena.ratings.model import Floats, Information
from arena.ratings.models import MODELS
from arena.ratings.models.half import Half
from arena.ratings.settings import Settings
from tests.support.battles import battles_of, random_rows, ratings

WORTH = np.array([0.0, 0.5, 1.0])


class Thurstone(Half):
    """Thurstone's case V (1927): P(i beats j) = Phi(eta), ties as half a win each way."""

    name = "thurstone"
    method = "Thurstone's case V"

    def loglik(self, eta: Floats, tie: float, counts: Floats) -> float:
        return float((counts @ WORTH) @ log_ndtr(eta) + (counts @ (1 - WORTH)) @ log_ndtr(-eta))

    def scores(self, eta: Floats, tie: float) -> tuple[Floats, Floats]:
        by_eta = np.outer(_mills(eta), WORTH) - np.outer(_mills(-eta), 1 - WORTH)
        return by_eta, np.zeros_like(by_eta)

    def information(self, eta: Floats, tie: float, counts: Floats) -> Information:
        up, down = _mills(eta), _mills(-eta)
        by_eta = (counts @ WORTH) * up * (up + eta) + (counts @ (1 - WORTH)) * down * (down - eta)
        return Information(by_eta, np.zeros_like(eta), np.zeros_like(eta))


def _mills(eta: Floats) -> Floats:
    return np.exp(norm.logpdf(eta) - log_ndtr(eta))


@pytest.fixture(autouse=True)
def _entered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODELS, "thurstone", Thurstone())


def test_its_ratings_are_those_of_a_probit_by_another_optimiser():
    battles = battles_of(random_rows(3, 5, 400))
    wins = battles.wins() + battles.ties() / 2
    board = build(battles, Settings(ties="thurstone", intervals="none"))

    def cost(theta: Floats) -> float:
        return -float((wins * log_ndtr(theta[:, None] - theta[None, :])).sum())

    best = minimize(cost, np.zeros(5), options={"gtol": 1e-8}).x
    expected = dict(zip(battles.names, MEAN + SCALE * (best - best.mean()), strict=True))
    assert board.converged and ratings(board) == pytest.approx(expected, abs=0.01)
    assert board.method == "Thurstone's case V" and board.fit.tie_parameter is None


def test_its_intervals_places_and_gaps_come_with_it():
    battles = battles_of(random_rows(3, 5, 400))
    drawn, covered = (
        build(battles, Settings(ties="thurstone", intervals=kind)) for kind in ("bootstrap", "jackknife")
    )

    for a, b in zip(drawn.models, covered.models, strict=True):
        assert a.lower is not None and a.rating is not None and a.upper is not None and a.rank_range is not None
        assert b.lower is not None and b.upper is not None and a.lower < a.rating < a.upper
        assert (a.upper - a.lower) / (b.upper - b.lower) == pytest.approx(1, abs=0.2)
    assert all(pair.gap_lower is not None and pair.decision is not None for pair in drawn.pairs)
