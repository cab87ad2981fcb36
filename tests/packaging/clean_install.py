"""Built, installed into a clean environment outside the checkout, and used there: ``make wheel``.

    python tests/packaging/clean_install.py [--keep DIR]

Fails where the build warns, the base install is too large, a file of types or data is missing, or a command that
needs no extra does not work.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
MOST_MB = 250
CONFIG = """
[run]
name = "clean"
[endpoints.student]
kind = "scripted"
replies = "student.jsonl"
[endpoints.asks]
kind = "scripted"
replies = "tutor.jsonl"
[endpoints.tells]
kind = "scripted"
replies = "tutor.jsonl"
[simulate]
dialogues = 4
turns = 2
student = "student"
teacher = "asks"
[cut]
subsets = 6
[collect]
endpoints = ["asks", "tells"]
[judge]
endpoints = ["student"]
"""
STUDENT = [{"role": "judge", "reply": "### (a)"}, {"reply": "Why is that so?"}]
TUTOR = [{"reply": "What do you think?"}]
PYTHON_CODE = """
import tutor_arena as ta
run = ta.open_run("run")
print([model.name for model in run.leaderboard.models], len(run.dialogues))
"""


def said(*command: str | Path, cwd: Path) -> str:
    """What a command prints. Exits where it fails; its environment knows nothing of the checkout."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def built(out: Path) -> tuple[Path, Path]:
    """The wheel and the sdist, the wheel made from the sdist as an installer would."""
    text = said(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, REPOSITORY, cwd=out)
    if "warning" in text.lower():
        sys.exit(text)
    return next(out.glob("*.whl")), next(out.glob("*.tar.gz"))


def megabytes(folder: Path) -> float:
    """What lies there, but for the bytecode that Python writes as it goes."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return sum(path.stat().st_size for path in files) / 1e6


def used(bin_: Path, work: Path) -> None:
    """A whole run and what follows it, with nothing but the base install."""
    (work / "c.toml").write_text(CONFIG)
    for name, rows in (("student", STUDENT), ("tutor", TUTOR)):
        (work / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    program = bin_ / "tutor-arena"
    done = json.loads(
        said(program, "run", "c.toml", "--run", "run", "--json", cwd=work).partition("\n}\n")[0] + "}"
    )
    assert done["state"] == "done", done
    for words in (
        ("report", "run", "--site", "site"),
        ("verify", "run"),
        ("quality", "run"),
        ("export", "run", "--as", "lmarena"),
        ("export", "run", "--as", "inspect"),
        ("personas",),
        ("questions", "--bank", "school-mathematics"),
        ("init", "new.toml"),
        ("human", "init", "study"),
        ("completion", "bash"),
    ):
        said(program, *words, cwd=work)
    print(said(bin_ / "python", "-c", PYTHON_CODE, cwd=work).strip())


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--keep", type=Path, help="where wheel and sdist go")
    kept: Path | None = options.parse_args().keep
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        out = kept.resolve() if kept else folder / "dist"
        out.mkdir(parents=True, exist_ok=True)
        wheel, sdist = built(out)
        venv.create(folder / "clean", with_pip=True)
        bin_ = folder / "clean" / "bin"
        site = next((folder / "clean" / "lib").glob("python*/site-packages"))
        before = megabytes(site)
        pip = (bin_ / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        said(*pip, wheel, cwd=folder)
        size = megabytes(site) - before
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB; installed with what it needs: {size:.0f} MB")
        if size > MOST_MB:
            sys.exit(f"the base install takes {size:.0f} MB, expected {MOST_MB} at most")
        assert (site / "tutor_arena" / "py.typed").is_file()
        for source, archive in (("wheel", None), ("sdist", sdist)):
            if archive is not None:
                said(*pip, "--no-deps", "--force-reinstall", archive, cwd=folder)
            work = folder / source
            work.mkdir()
            used(bin_, work)


if __name__ == "__main__":
    main()
