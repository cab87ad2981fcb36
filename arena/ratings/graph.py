"""Which gaps can be known at all: who is tied to whom by wins that go round and come back.

A Bradley-Terry estimate exists exactly where the graph "has a win or a tie against" is strongly connected
(Ford 1957; Hunter 2004, assumption 1). Outside of that, an order may still be known, a distance never is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]

REASONS = {
    "undefeated": "won every game: size of lead not estimable",
    "winless": "lost every game: size of deficit not estimable",
    "no_games": "no games",
    "one_way": "every game went one way, won against some and lost against others: only an order is known",
    "separate": "no games with the models of other groups: nothing compares them",
    "one_way_groups": "all games with another group went one way: the gap between the groups is not estimable",
}


@dataclass(frozen=True)
class Structure:
    """What the table of results allows to be said.

    ``core[m]`` numbers the strongly connected set (of two or more models) whose gaps can be estimated, -1 for a
    model outside of any; ``group[m]`` numbers the set within which ranks mean something (from 0, largest first);
    ``above[m]`` counts the group's models that are known to stand above m only by the order of wins.
    """

    core: NDArray[np.int64]
    group: NDArray[np.int64]
    above: NDArray[np.int64]
    below: NDArray[np.int64]
    flags: tuple[tuple[str, ...], ...]


def structure(wins: Matrix, ties: Matrix) -> Structure:
    """Groups, cores and flags of an (M, M) table of wins (row over column) and symmetric ties."""
    beats = (wins > 0) | (ties > 0)
    size = len(beats)
    strong = components(beats)
    sizes = np.bincount(strong, minlength=size) if size else np.empty(0, np.int64)
    core = _renumbered(np.where(sizes[strong] > 1, strong, -1))
    group = _groups(beats, core)
    above, below = _known_order(beats, core, group)
    return Structure(core, group, above, below, _flags(beats, strong, core, group))


def components(beats: Mask) -> NDArray[np.int64]:
    """The number of each model's strongly connected component."""
    if not len(beats):
        return np.empty(0, np.int64)
    _, labels = connected_components(csr_matrix(beats.astype(np.int8)), directed=True, connection="strong")
    return np.asarray(labels, np.int64)


def reachable(beats: Mask) -> Mask:
    """(M, M): is there a chain of wins or ties from the row's model to the column's, of any length."""
    reach = beats.copy()
    for _ in range(max(len(beats) - 1, 1).bit_length()):
        step = reach.astype(np.float32)
        longer = reach | (step @ step > 0)
        if np.array_equal(longer, reach):
            break
        reach = longer
    return reach


def _renumbered(labels: NDArray[np.int64], over: Mask | None = None) -> NDArray[np.int64]:
    """Numbers from 0: by how many others surely stand over them, then falling size, first member; -1 stays."""
    old_labels, first, counts = np.unique(labels[labels >= 0], return_index=True, return_counts=True)
    above = np.zeros(len(old_labels), np.int64)
    if over is not None:
        surely = over & ~over.T & (labels[:, None] != labels[None, :])
        above = np.array([surely[:, labels == old].any(1).sum() for old in old_labels], np.int64)
    order = np.lexsort((first, -counts, above))
    table = {int(old_labels[old]): new for new, old in enumerate(order)}
    return np.array([table.get(int(label), -1) for label in labels], np.int64)


def _groups(beats: Mask, core: NDArray[np.int64]) -> NDArray[np.int64]:
    """A core with the single models tied to it alone; singles between two cores form groups of their own."""
    met = beats | beats.T
    single = core < 0
    labels = _weak(met & single[:, None] & single[None, :])
    joined = met & (single[:, None] == single[None, :]) & (core[:, None] == core[None, :])
    for label in np.unique(labels[single]):
        members = single & (labels == label)
        touched = met[members].any(0) & ~single
        if len(np.unique(core[touched])) == 1:
            joined |= met & (members[:, None] & touched[None, :])
    return _renumbered(_weak(joined), reachable(beats))


def _weak(met: Mask) -> NDArray[np.int64]:
    if not len(met):
        return np.empty(0, np.int64)
    _, labels = connected_components(csr_matrix(met.astype(np.int8)), directed=False)
    return np.asarray(labels, np.int64)


def _known_order(
    beats: Mask, core: NDArray[np.int64], group: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many of its group stand surely above and below each model, its own core left out."""
    if len(core) and not core.any():  # one core that holds every model
        return np.zeros(len(core), np.int64), np.zeros(len(core), np.int64)
    same = group[:, None] == group[None, :]
    own_core = (core[:, None] == core[None, :]) & (core[:, None] >= 0)
    over = reachable(beats & same) & ~own_core
    np.fill_diagonal(over, val=False)
    over &= ~over.T
    return over.sum(0).astype(np.int64), over.sum(1).astype(np.int64)


def _flags(
    beats: Mask, strong: NDArray[np.int64], core: NDArray[np.int64], group: NDArray[np.int64]
) -> tuple[tuple[str, ...], ...]:
    met = beats | beats.T
    several = len(set(group[met.any(1)].tolist())) > 1
    crossing = met & (group[:, None] != group[None, :])
    groups_meeting = {int(group[m]) for m in np.flatnonzero(crossing.any(1))}
    flags: list[tuple[str, ...]] = []
    for m in range(len(strong)):
        wins, losses = bool(beats[m].any()), bool(beats[:, m].any())
        own: list[str] = []
        if not (wins or losses):
            own.append("no_games")
        elif core[m] < 0:
            own.append("undefeated" if not losses else "winless" if not wins else "one_way")
        if several and (wins or losses):
            own.append("one_way_groups" if int(group[m]) in groups_meeting else "separate")
        flags.append(tuple(own))
    return tuple(flags)


def reason(flags: Sequence[str]) -> str | None:
    """The flags as one sentence, or None."""
    return "; ".join(REASONS[flag] for flag in flags if flag in REASONS) or None


def solvable(size: int, i: NDArray[np.int64], j: NDArray[np.int64], bound: NDArray[np.float64]) -> bool:
    """Whether numbers d exist with ``d[i] - d[j] >= bound`` for every row (no cycle of positive weight).

    Bellman-Ford over all rows at once. This is how a direction in which the likelihood never falls is found,
    that is, whether a shared parameter (ties, position) has a finite estimate.
    """
    longest = np.zeros(size)
    for _ in range(size + 1):
        better = longest.copy()
        np.maximum.at(better, i, longest[j] + bound)
        if np.array_equal(better, longest):
            return True
        longest = better
    return False
