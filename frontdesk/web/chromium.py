"""A Chromium that is already on the machine, for turning printable pages into PDF."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_S = 120


def find_chromium() -> str | None:
    """Path of the first Chromium found, or None."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


def flags() -> list[str]:
    """Headless and silent; without its sandbox only for root, who cannot use it."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*_FLAGS, *(["--no-sandbox"] if root else [])]


def print_pdf(page: Path, pdf: Path) -> bool:
    """Print a local HTML file to PDF; False where there is no Chromium or it made none."""
    program = find_chromium()
    if program is None:
        return False
    with tempfile.TemporaryDirectory() as profile:
        target = Path(profile) / "out.pdf"
        command = [program, *flags(), f"--user-data-dir={profile}", "--no-pdf-header-footer",
                   f"--print-to-pdf={target}", page.resolve().as_uri()]  # fmt: skip
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE_S)  # noqa: S603 - a fixed command on our own file
        except (subprocess.SubprocessError, OSError):
            return False
        if not target.exists():
            return False
        shutil.move(target, pdf)
    return True
