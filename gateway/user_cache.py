"""Where things that can be had again are kept between runs, for this user alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
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
