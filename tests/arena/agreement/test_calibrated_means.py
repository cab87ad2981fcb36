"""Calibrated means: few human labels, many judge labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from arena.agreement.calibrated import calibrate, votes_needed
from arena.agreement.result import FloatArray, Statistic


def study(
    seed: int, n: int = 80, N: int = 800, agreement: float = 0.8
) -> tuple[FloatArray, FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    latent = rng.standard_normal(n + N)
    seen = agreement * latent + np.sqrt(1 - agreement**2) * rng.standard_normal(n + N)
    human, judge = (latent > 0).astype(float), (seen > -0.5).astype(float)
    return human[:n], judge[:n], judge[n:]


def test_the_estimates_are_those_of_the_papers() -> None:
    Y, f, rest = study(1)
    n, N = len(Y), len(rest)
    found = calibrate(Y, f, rest)
    weight = np.cov(Y, f)[0, 1] / np.var(np.concatenate([f, rest]), ddof=1) / (1 + n / N)
    assert found.weight == pytest.approx(weight, rel=0.05)
    assert found.weight is not None
    assert found.estimate.value == pytest.approx(Y.mean() + found.weight * (rest.mean() - f.mean()))
    assert found.plain.value == pytest.approx(rest.mean() + (Y - f).mean())
    error = np.sqrt(rest.var(ddof=1) / N + (Y - f).var(ddof=1) / n)
    assert found.plain.interval is not None
    half = stats.t.ppf(0.975, n - 1) * error
    assert found.plain.interval[1] - found.plain.interval[0] == pytest.approx(2 * half, rel=1e-9)
    assert found.human.value == pytest.approx(Y.mean())
    assert found.design_effect == pytest.approx(1.0, abs=0.05)


def width(figure: Statistic) -> float:
    assert figure.interval is not None
    return figure.interval[1] - figure.interval[0]


def test_a_good_judge_narrows_the_interval_and_a_useless_one_does_no_harm() -> None:
    good = calibrate(*study(2, agreement=0.95))
    assert width(good.estimate) < 0.85 * width(good.human)
    noise = calibrate(*study(2, agreement=0.0))
    assert width(noise.estimate) < 1.05 * width(noise.human)
    assert width(noise.plain) > 1.2 * width(noise.human)


def test_a_biased_judge_is_put_right() -> None:
    Y, f, rest = study(3, n=400, N=20_000)
    found = calibrate(Y, f, rest)
    low, high = found.estimate.interval or (2, 2)
    assert low < 0.5 < high
    assert (found.judge.interval or (0, 0))[0] > 0.6


def test_copies_within_a_cluster_bring_no_new_information() -> None:
    Y, f, rest = study(4)
    alone = calibrate(Y, f, rest)
    copied = calibrate(
        np.repeat(Y, 4), np.repeat(f, 4), np.repeat(rest, 4),
        cluster=np.repeat(np.arange(80), 4).tolist(),
        cluster_unlabelled=np.repeat(np.arange(1000, 1800), 4).tolist(),
    )  # fmt: skip
    assert copied.estimate.value == pytest.approx(alone.estimate.value)
    assert copied.estimate.interval == pytest.approx(alone.estimate.interval)
    assert copied.design_effect == pytest.approx(4, rel=0.05)
    careless = calibrate(np.repeat(Y, 4), np.repeat(f, 4), np.repeat(rest, 4))
    assert width(careless.estimate) < 0.6 * width(alone.estimate)


def test_dialogues_that_are_partly_labelled_are_one_cluster() -> None:
    rng = np.random.default_rng(5)
    Y, f = rng.integers(0, 2, 60).astype(float), rng.integers(0, 2, 60).astype(float)
    shared = calibrate(Y, f, f, cluster=list(range(60)), cluster_unlabelled=list(range(60)), tuning="full")
    assert shared.plain.value == pytest.approx(Y.mean())
    assert width(shared.plain) == pytest.approx(width(shared.human), rel=1e-6)
    assert shared.clusters == 60


def test_missing_labels_are_left_out_and_counted() -> None:
    Y, f, rest = study(6)
    Y[0] = f[1] = rest[0] = rest[1] = np.nan
    found = calibrate(Y, f, rest)
    assert (found.labelled, found.unlabelled) == (78, 798)
    assert (found.estimate.n_used, found.estimate.n) == (876, 880)


def test_too_little_to_say_anything() -> None:
    none = calibrate([], [], [1, 0, 1])
    assert none.estimate.value is None
    assert "no match has both" in (none.estimate.reason or "")
    assert none.judge.value == pytest.approx(2 / 3)
    no_rest = calibrate([1, 0, 1, 1, 0, 1], [1, 0, 1, 0, 0, 1], [])
    assert no_rest.estimate.value is None
    assert no_rest.human.value == pytest.approx(4 / 6)
    unanimous = calibrate([1.0] * 20, [1.0, 0.0] * 10, [1.0, 0.0] * 100)
    assert unanimous.estimate.value == 1.0
    assert unanimous.estimate.interval is None
    assert "no spread" in (unanimous.estimate.interval_method or "")
    assert votes_needed(unanimous, 0.1).more is None
    few = calibrate([1, 0, 1], [1, 0, 0], [1.0, 0.0] * 50)
    assert "fewer than 5" in (few.estimate.interval_method or "")


def test_mismatched_input_is_an_error() -> None:
    with pytest.raises(ValueError, match="one length"):
        calibrate([1, 0], [1], [0])
    with pytest.raises(ValueError, match="both parts or for neither"):
        calibrate([1, 0], [1, 0], [0], cluster=["a", "b"])
    with pytest.raises(ValueError, match="every label"):
        calibrate([1, 0], [1, 0], [0], cluster=["a"], cluster_unlabelled=["b"])


def test_votes_needed_grow_with_the_precision_asked_for_and_shrink_with_a_better_judge() -> None:
    good, poor = calibrate(*study(7, agreement=0.95)), calibrate(*study(7, agreement=0.2))
    wide, narrow = votes_needed(good, 0.15), votes_needed(good, 0.08)
    assert wide.more is not None
    assert narrow.more is not None
    assert wide.more < narrow.more
    assert narrow.expected_width is not None
    assert narrow.expected_width <= 0.08
    worse = votes_needed(poor, 0.15)
    assert worse.more is not None
    assert worse.more > wide.more
    assert wide.human_only_total is not None
    assert wide.total is not None
    assert wide.total < wide.human_only_total
    assert votes_needed(good, width(good.estimate) * 1.1).more == 0


def test_a_width_that_the_pool_cannot_give_is_refused_with_the_arithmetic() -> None:
    found = calibrate(*study(8))
    impossible = votes_needed(found, 0.01)
    assert impossible.more is None
    assert "all 880 judged matches" in (impossible.reason or "")
    assert votes_needed(found, 0.01, from_pool=False).more is not None
    with pytest.raises(ValueError, match="more than 0"):
        votes_needed(found, 0)


def test_coverage_in_a_small_simulation() -> None:
    hits = 0
    for seed in range(300):
        low, high = calibrate(*study(1000 + seed)).estimate.interval or (2, 2)
        hits += low <= 0.5 <= high
    assert 0.91 <= hits / 300 <= 0.985
