"""The readers without the extras: as with them, and errors that say what to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import openpyxl  # pyright: ignore[reportMissingModuleSource]
import pytest

BLOCKED = ("pyarrow", "openpyxl", "matplotlib", "pandas")
_RUN = f"""
import sys


class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
        return None


sys.meta_path.insert(0, Blocked())
"""
ROOT = Path(__file__).parents[2]
SUITE = (
    "tests/arena/ratings/test_battles.py",
    "tests/arena/agreement/test_ratings_table.py",
    "tests/arena/agent_runs/test_tables.py",
)


def bare(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A Python without the extras that runs this code."""
    command = [sys.executable, "-c", _RUN + code, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)


def tutor_arena(*arguments: str) -> subprocess.CompletedProcess[str]:
    return bare("from frontdesk.cli import main\nsys.exit(main(sys.argv[1:]))", *arguments)


@pytest.mark.parametrize("encoding", ["utf-8", "cp949", "utf-16"])
def test_battles_with_a_long_cell_are_rated(tmp_path: Path, encoding: str) -> None:
    rows = ["모델 A,모델 B,승자,메모", f"가람,나래,model_a,{'길' * 200_000}", "나래,가람,tie,x"]
    (tmp_path / "b.csv").write_bytes("\n".join(rows).encode(encoding))
    done = tutor_arena("rate", "--battles", str(tmp_path / "b.csv"), "--out", str(tmp_path), "--intervals", "none")
    assert done.returncode == 0, done.stderr
    assert "모델 A as model_a" in done.stderr
    assert "가람" in (tmp_path / "leaderboard.csv").read_text(encoding="utf-8-sig")


def test_what_needs_an_extra_says_which(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.save(tmp_path / "t.xlsx")
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    code = """
from frontdesk.cli import main
for command in (["rate", "--battles"], ["agree", "--ratings"], ["agent-runs"]):
    for table in sys.argv[2:]:
        assert main([*command, table, "--out", sys.argv[1]]) == 2
"""
    done = bare(code, *(str(tmp_path / name) for name in ("out", "t.xlsx", "t.parquet")))
    assert done.returncode == 0, done.stderr
    assert (done.stderr.count("tutor-arena[xlsx]"), done.stderr.count("tutor-arena[parquet]")) == (3, 3)


def test_the_readers_own_tests_hold() -> None:
    deselected = ("parquet", "xlsx", "workbook", "in_memory", "sliced_dictionary")
    chosen = " and ".join(f"not {word}" for word in deselected)
    code = "import pytest\nsys.exit(pytest.main(sys.argv[1:]))"
    done = bare(code, "-q", "-p", "no:cacheprovider", *SUITE, "-k", chosen)
    assert done.returncode == 0, done.stdout[-3000:]
