"""The wheel holds all that git tracks of the packages, and works away from the checkout."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.support.small_runs import REPOSITORY

PACKAGES = ("personas", "seed_questions", "runstore", "gateway", "simulator", "arena", "frontdesk", "tutor_arena")


def _said(*command: str, cwd: Path, **variables: str) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | variables
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> tuple[Path, list[str]]:
    """The wheel of a clean copy, and what git tracks."""
    copy = tmp_path_factory.mktemp("copy")
    tracked = [name for name in _said("git", "ls-files", "-z", cwd=REPOSITORY).split("\0") if name]
    for name in tracked:
        if (REPOSITORY / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(REPOSITORY / name, copy / name)
    _said(sys.executable, "-m", "hatchling", "build", "-t", "wheel", cwd=copy)
    return next((copy / "dist").glob("*.whl")), tracked


def test_every_tracked_file_of_a_package_is_in_it(wheel):
    path, tracked = wheel
    with ZipFile(path) as archive:
        held = set(archive.namelist())
    assert "tutor_arena/py.typed" in held
    assert [name for name in tracked if name.split("/")[0] in PACKAGES and name not in held] == []


def test_it_works_away_from_the_checkout(wheel, tmp_path):
    target = tmp_path / "installed"
    pip = (sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", str(target))
    _said(*pip, str(wheel[0]), cwd=tmp_path)
    for command in ("--help", "personas", "questions"):
        assert _said(sys.executable, "-m", "frontdesk", command, cwd=tmp_path, PYTHONPATH=str(target))
    code = "import tutor_arena as ta; print(ta.__file__, all(getattr(ta, name) for name in ta.__all__))"
    said = _said(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(target))
    assert said.split() == [str(target / "tutor_arena" / "__init__.py"), "True"]
