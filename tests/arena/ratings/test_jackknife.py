"""The jackknife by leverage: against clusters left out one by one, and against the sandwich."""

from __future__ import annotations

import numpy as np
import pytest

from arena.ratings import jackknife as left_out_module
from arena.ratings import sandwich as module
from arena.ratings.battles import Battles, from_columns
from arena.ratings.estimate import Estimate, estimate
from arena.ratings.jackknife import Cells, cells_of, jackknife
from arena.ratings.settings import Settings
from arena.ratings.support import degrees
from arena.ratings.uncertainty import gap_deviation, quantile
from tests.support.battles import battles_of, random_rows, rows_of


def _battles(seed: int, clusters: int, *, shown: bool, weighted: bool = False, n: int = 500) -> Battles:
    generator = np.random.default_rng(seed)
    rows = random_rows(seed, 5, n)
    sizes = generator.dirichlet(np.ones(clusters))
    return from_columns(
        *([row[k] for row in rows] for k in range(3)),
        cluster=generator.choice(clusters, len(rows), p=sizes).astype(str).tolist(),
        first=generator.choice(["model_a", "model_b"], len(rows)).tolist() if shown else None,
        weight=generator.uniform(0.2, 3, len(rows)) if weighted else None,
    )


def _seen(cells: Cells, cell: int) -> np.ndarray:
    rows = np.zeros((cells.score.shape[1], cells.width))
    rows[0, cells.i[cell]] += 1
    rows[0, cells.j[cell]] -= 1
    rows[0, cells.size : cells.size + cells.shared.shape[1]] = cells.shared[cell]
    if len(rows) > 1:
        rows[1, -1] = 1
    return rows


def _one_by_one(found: Estimate, battles: Battles) -> np.ndarray:
    """Each cluster's linearised removal: the whole information less its own, solved for its score."""
    fitted, rows = found.fitted, battles.rows
    assert fitted is not None and rows is not None and rows.cluster is not None
    cells, whole = cells_of(fitted, found.design), np.linalg.pinv(fitted.curvature, hermitian=True, rcond=1e-12)
    weight = np.ones(len(rows.cell)) if rows.weight is None else rows.weight
    moved = np.zeros((rows.clusters, cells.width))
    for g in range(rows.clusters):
        own, score = np.zeros_like(whole), np.zeros(cells.width)
        for at in np.flatnonzero(rows.cluster == g):
            seen = _seen(cells, int(rows.cell[at]))
            own += weight[at] * seen.T @ cells.information[rows.cell[at]] @ seen
            score += weight[at] * seen.T @ cells.score[rows.cell[at]]
        moved[g] = np.linalg.pinv(whole - own, hermitian=True, rcond=1e-12) @ score
    return moved.T @ moved


@pytest.mark.parametrize("ties", ["half", "davidson", "rao_kupper"])
@pytest.mark.parametrize(("shown", "weighted"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("clusters", [6, 90])
def test_the_covariance_is_that_of_leaving_clusters_out_one_by_one(
    ties: str, shown: bool, weighted: bool, clusters: int, monkeypatch: pytest.MonkeyPatch
):
    battles = _battles(clusters, clusters, shown=shown, weighted=weighted)
    found = estimate(battles, Settings(ties=ties))
    assert found.fitted is not None and found.uncertainty is not None and battles.rows is not None
    cells = cells_of(found.fitted, found.design)
    expected = _one_by_one(found, battles)

    for block, few in ((module._BLOCK, 0.0), (40, 0.0), (40, 2.0)):
        monkeypatch.setattr(module, "_BLOCK", block)
        monkeypatch.setattr(
            left_out_module, "_FEW", few
        )  # from which share on clusters wait for those of other blocks
        told = jackknife(found.fitted, cells, battles, clustered=True)
        assert told.covariance == pytest.approx(expected, rel=1e-5, abs=1e-9)
    present = len(np.unique(battles.rows.cluster))
    assert found.uncertainty.support.units == present
    assert found.uncertainty.covariance == pytest.approx((1 - 1 / present) * expected, rel=1e-5, abs=1e-9)
    assert float((cells.leverage * battles.weight[cells.at]).sum()) == pytest.approx(4 + shown + (ties != "half"))


def test_with_many_clusters_and_with_many_battles_it_is_the_sandwich():
    clustered = _battles(5, 900, shown=True, n=4000)
    for battles in (clustered, battles_of(random_rows(8, 5, 4000))):
        robust, left_out = (
            estimate(battles, Settings(intervals=kind)).covariance for kind in ("sandwich", "jackknife")
        )
        assert robust is not None and left_out is not None
        assert np.sqrt(np.diag(left_out) / np.diag(robust)) == pytest.approx(
            np.ones(6 - (battles is not clustered)), abs=0.03
        )


def test_one_pair_is_the_closed_form():
    found = estimate(battles_of(rows_of([("a", "b", 60, 30, 0)])), Settings())

    assert found.uncertainty is not None
    spread = gap_deviation(found.uncertainty.covariance)[0, 1]
    assert spread == pytest.approx(np.sqrt((1 / 60 + 1 / 30) * 90 / 89), rel=1e-9)


def test_degrees_are_one_less_than_equal_clusters_and_fall_with_one_that_outweighs_them():
    assert degrees(np.full(8, 1 / 8)) == pytest.approx(7)
    huge = degrees(np.array([20, 2, 2, 2, 2]) / 28)
    assert 1 < huge < 4 and degrees(np.array([1.0])) == 0
    assert quantile(0.95, 7) == pytest.approx(2.364624, abs=1e-6) and np.isnan(quantile(0.95, 0))
