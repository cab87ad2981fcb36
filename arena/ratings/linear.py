"""Small dense linear algebra on one thread.

At a few hundred models a second BLAS thread turns milliseconds into seconds on a busy machine, and its sums
depend on how the work was split; one thread is both faster and repeatable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, wraps
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg import inv as general_inverse
from threadpoolctl import ThreadpoolController

Matrix = NDArray[np.float64]
P = ParamSpec("P")
R = TypeVar("R")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Run the function with every BLAS held to one thread."""

    @wraps(function)
    def held(*args: P.args, **kwargs: P.kwargs) -> R:
        with _controller().limit(limits=1, user_api="blas"):  # pyright: ignore[reportUnknownMemberType] - untyped
            return function(*args, **kwargs)

    return held


def solve(matrix: Matrix, right: Matrix) -> Matrix | None:
    """x of ``matrix @ x = right`` for a symmetric positive definite matrix; None where it is not."""
    try:
        return np.asarray(cho_solve(cho_factor(matrix, check_finite=False), right, check_finite=False))
    except np.linalg.LinAlgError:
        return None


def inverse(matrix: Matrix) -> Matrix:
    """The inverse of a symmetric matrix, symmetric to the last bit. Raises LinAlgError where there is none."""
    solved = solve(matrix, np.eye(len(matrix)))
    full = np.asarray(general_inverse(matrix)) if solved is None else solved
    return (full + full.T) / 2


def summed_squares(blocks: Iterator[Matrix]) -> Matrix:
    """(P, P) sum of B' B over the blocks B (any, P), of which there is one at least.

    From the second on a block is multiplied while the next one is made, since BLAS holds no lock; summed in order.
    """
    first = next(blocks)
    total = first.T @ first
    with ThreadPoolExecutor(1) as beside:
        under_way: Future[Matrix] | None = None
        for block in blocks:
            product = beside.submit(np.matmul, block.T, block)
            if under_way is not None:
                total += under_way.result()
            under_way = product
        if under_way is not None:
            total += under_way.result()
    return total
