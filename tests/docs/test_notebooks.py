"""The notebooks of the documentation run in a real kernel, and what they show is what is committed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

from tests.support.small_runs import REPOSITORY

FOLDER = REPOSITORY / "docs" / "notebooks"


def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_notebooks", FOLDER / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKER = maker()


def shown(notebook: Any) -> list[tuple[str, list[tuple[str, list[str]]]]]:
    """Every cell's source, and of its outputs the kind and the forms it comes in."""
    return [
        (cell.source, [(one.output_type, sorted(one.get("data", {}))) for one in cell.get("outputs", [])])
        for cell in notebook.cells
    ]


@pytest.mark.parametrize("name", list(MAKER.CELLS))
def test_a_notebook_runs_and_is_committed_as_it_runs(name: str) -> None:
    run = MAKER.execute(MAKER.notebook(name))
    committed = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    assert shown(run) == shown(committed)
    outputs = [one for cell in run.cells for one in cell.get("outputs", [])]
    assert not [one for one in outputs if one.output_type in ("stream", "error")]
    # Progress is one output that was updated: its last state says how every stage ended.
    (progress,) = [one.data["text/plain"] for one in outputs if one.output_type == "display_data"]
    last = {"data-set": "simulate: 32 of 32 dialogues", "benchmark": "judge: 144 of 144 rounds, 0 unreadable; "
            "48 of 48 verdicts", "study": "score: 24 of 24 sheets"}[name]  # fmt: skip
    assert progress.splitlines()[-1] == last
    assert Path(FOLDER / f"{name}.ipynb").stat().st_size < 200_000
