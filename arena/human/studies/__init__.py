"""Example studies, to be copied by ``human init``."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
