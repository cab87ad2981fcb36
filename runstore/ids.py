"""Content-derived ids and seeded draws.

Nothing here depends on the order in which things happen: an id is a hash of what it names, a draw is a hash
of the run's seed and of what is being drawn. A shared generator would tie results to whichever task
finished first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TypeVar

import orjson

T = TypeVar("T")

Identity = str | int | float | bool | None
_UNIT = 1.0 / (1 << 53)


def digest(*parts: object, size: int = 16) -> str:
    """Hex BLAKE2b of the parts as canonical JSON (sorted keys): equal parts, equal digest, on any machine."""
    return hashlib.blake2b(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS), digest_size=size).hexdigest()


def content_id(prefix: str, *parts: object) -> str:
    """A short readable id of some content, such as ``d-4f0c19a2b7e3``."""
    return f"{prefix}-{digest(*parts, size=6)}"


def draw(seed: int, *identity: Identity) -> float:
    """A uniform number in [0, 1) that belongs to this seed and identity alone."""
    raw = hashlib.blake2b(orjson.dumps((seed, *identity)), digest_size=8).digest()
    return (int.from_bytes(raw, "big") >> 11) * _UNIT


def draw_seed(seed: int, *identity: Identity) -> int:
    """A 64-bit seed for a generator that needs many numbers (bootstrap, simulation)."""
    raw = hashlib.blake2b(orjson.dumps((seed, "generator", *identity)), digest_size=8).digest()
    return int.from_bytes(raw, "big")


def pick(options: Sequence[T], seed: int, *identity: Identity) -> T:
    """One option, each equally likely. ``options`` must not be empty."""
    return options[int(draw(seed, *identity) * len(options))]


def pick_weighted(options: Sequence[tuple[T, float]], seed: int, *identity: Identity) -> T:
    """One option with probability in proportion to its weight (weights >= 0, not all 0)."""
    point = draw(seed, *identity) * sum(weight for _, weight in options)
    for option, weight in options:
        point -= weight
        if point < 0:
            return option
    return next(option for option, weight in reversed(options) if weight > 0)


def shuffled(items: Iterable[tuple[str, T]], seed: int, *identity: Identity) -> list[T]:
    """The items in drawn order. Each comes with its id, so the order does not depend on the order given."""
    keyed = sorted(((draw(seed, *identity, name), name, item) for name, item in items), key=lambda row: row[:2])
    return [item for _, _, item in keyed]


def hashed_number(*identity: Identity) -> int:
    """A 48-bit whole number that belongs to this identity: tells apart calls that send the same text."""
    return int.from_bytes(hashlib.blake2b(orjson.dumps(identity), digest_size=6).digest(), "big")
