"""Keys for workers: those of their own environment; or this process's, where nobody can listen on the way."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from frontdesk.runner.config import Config
from gateway.adapters.catalog import build
from gateway.engine import Gateway


class _Noting(Mapping[str, str]):
    """The environment, with a note of what was looked up in it."""

    def __init__(self) -> None:
        self.asked: dict[str, None] = {}

    def __getitem__(self, name: str) -> str:
        self.asked[name] = None
        return os.environ[name]

    def __iter__(self) -> Iterator[str]:
        return iter(os.environ)

    def __len__(self) -> int:
        return len(os.environ)


def variables(config: Config, endpoints: Sequence[str]) -> dict[str, str]:
    """The variables that hold keys of these endpoints, with their values here. Raises Problem."""
    noting = _Noting()
    Gateway({name: build(name, config.endpoints[name], environ=noting) for name in endpoints}, environ=noting)
    return {name: os.environ[name] for name in noting.asked if name in os.environ and not _is_of_the_way(name)}


def missing(names: Sequence[str]) -> list[str]:
    """On a worker: those of the variables that its environment lacks."""
    return [name for name in names if not os.environ.get(name, "").strip()]


def _is_of_the_way(name: str) -> bool:
    """Proxies are a matter of the machine, not of the run."""
    return name.lower().endswith("_proxy")
