"""What this process shares with its user: a folder for things that can be had again, and the environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "TUTOR_ARENA_CACHE"


def user_cache(environ: Mapping[str, str] | None = None) -> Path:
    """The folder named by ``TUTOR_ARENA_CACHE``, or the platform's usual place. It need not exist yet."""
    environ = os.environ if environ is None else environ
    if environ.get(VARIABLE):
        return Path(environ[VARIABLE]).expanduser()
    if sys.platform == "win32":
        base = Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "tutor-arena"


def private_folder(path: Path) -> Path:
    """The folder, made if need be, open to its owner only. Raises OSError."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path


@contextmanager
def variables_set(values: Mapping[str, str]) -> Generator[None]:
    """Environment variables for libraries that read them while they are loaded; as before when the block ends."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
