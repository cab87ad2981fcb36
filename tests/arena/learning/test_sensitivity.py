"""Orders under several simulators: nothing is reversed, robust or shared luck unless it is shown."""

from __future__ import annotations

import numpy as np
import pytest

from arena.learning.sensitivity import Scored, Sensitivity, scored_of, sensitivity


def world(
    effects: list[list[float]], *, dialogues: int = 60, own: float = 0.15, shared: float = 0.15, seed: int = 0
) -> Scored:
    """(simulators, tutors) true effects; luck with dialogues is ``shared``, the rest a simulator's own."""
    drawn = np.random.default_rng(seed)
    simulators, tutors, per = len(effects), len(effects[0]), 2
    n = dialogues * per
    luck = np.repeat(drawn.normal(0, shared, (tutors, dialogues)), per, axis=1)
    values = np.array(effects)[:, :, None] + luck[None] + drawn.normal(0, own, (simulators, tutors, n))
    values -= values.mean(axis=1, keepdims=True)
    names = [f"d{at // per}" for at in range(n)]
    questions = [f"q{at // per % 14}" for at in range(n)]
    people = [f"p{at // per % 8}" for at in range(n)]
    return Scored(
        tuple(f"s{at}" for at in range(simulators)), tuple(f"t{at}" for at in range(tutors)), values,
        tuple(names), tuple(questions), tuple(people),
    )  # fmt: skip


def found(effects: list[list[float]], **more: float | int) -> Sensitivity:
    return sensitivity(world(effects, **more))  # type: ignore[arg-type]


def test_equal_simulators_show_no_reversal() -> None:
    runs = [found([[0.0, 0.02, 0.04]] * 3, seed=seed) for seed in range(30)]
    assert sum(run.verdict == "reversed" for run in runs) == 0
    assert sum(any(row.p_holm is not None and row.p_holm < 0.05 for row in run.pairs) for run in runs) <= 4


def test_one_opposite_theory_is_named() -> None:
    opposite = found([[0.0, 0.10, 0.20], [0.0, 0.10, 0.20], [0.20, 0.10, 0.0]], dialogues=120)
    assert opposite.verdict == "reversed"
    assert {row.simulators for row in opposite.pairs if row.reversed} == {("s0", "s2"), ("s1", "s2")}
    variance = {part.name: part.variance for part in opposite.components}
    assert variance["tutor x simulator"] > variance["tutor"]


def test_shared_luck_is_never_called_robust() -> None:
    """No tutor is better, all simulators agree nearly perfectly, and halves show why."""
    runs = [found([[0.0] * 5] * 3, shared=0.3, own=0.05, dialogues=50, seed=seed) for seed in range(10)]
    assert np.mean([run.halves.whole or 0 for run in runs]) > 0.7
    assert np.mean([run.halves.within or 0 for run in runs]) < 0.2
    assert all(run.verdict != "robust" for run in runs)


def test_a_clear_order_is_called_robust() -> None:
    clear = found([[0.0, 0.2, 0.4]] * 2)
    assert clear.verdict == "robust"
    assert (clear.reliability or 0) > 0.95
    assert (clear.halves.across or 0) > 0.9


def test_the_parts_of_variance_are_those_put_in() -> None:
    drawn = np.random.default_rng(5)
    parts: dict[str, list[float]] = {}
    for seed in range(20):
        tutor = drawn.normal(0, 0.2, 6)
        effects = [[float(x) for x in tutor + drawn.normal(0, 0.1, 6)] for _ in range(4)]
        for part in found(effects, seed=seed, dialogues=40).components:
            parts.setdefault(part.name, []).append(part.variance)
    assert np.mean(parts["tutor"]) == pytest.approx(0.04, rel=0.3)
    assert np.mean(parts["tutor x simulator"]) == pytest.approx(0.01, rel=0.3)


def test_two_tutors_have_no_order_but_a_difference() -> None:
    two = found([[0.0, 0.2], [0.0, 0.2]])
    assert two.halves.within is None
    assert two.halves.reason is not None
    assert two.verdict == "robust"


def test_only_subsets_that_every_simulator_has_are_compared() -> None:
    places = {name: ("d" + name, "q", "p") for name in "xyz"}
    deltas = {
        "one": {("x", "a", "b"): 0.2, ("y", "a", "b"): 0.1, ("z", "a", "b"): 0.0},
        "two": {("x", "a", "b"): -0.2, ("z", "a", "b"): 0.3},
    }
    scored = scored_of(deltas, places)
    assert scored.dialogues == ("dx", "dz")
    assert scored.values[:, 0] - scored.values[:, 1] == pytest.approx(np.array([[0.2, 0.0], [-0.2, 0.3]]))
    with pytest.raises(ValueError, match="no subset"):
        scored_of({"one": deltas["one"], "two": {}} | {"two": {("q", "a", "b"): 1.0}}, places)
