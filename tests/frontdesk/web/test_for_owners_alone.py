"""Whatever holds what people gave is readable by the study's owner alone, however lenient the shell is."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

from frontdesk.cli import main
from tests.support.human_site import walk
from tests.support.killed_server import Server, free_port


@pytest.fixture(params=[0o000, 0o022], ids=["umask 000", "umask 022"])
def _lenient(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def open_to_others(folder: Path) -> list[str]:
    """What in the folder, or the folder itself, others may read or write."""
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}
    return [f"{mode:o} {path.name}" for path, mode in modes.items() if mode & 0o077]


async def collected(study: Path) -> None:
    """Two people rate to the end; the server is killed, so that its files are left as they were while it ran."""
    async with Server(study, free_port()), aiohttp.ClientSession() as session:
        links = [line.split(",")[1] for line in (study / "links.csv").read_text("utf-8-sig").split()[1:3]]
        for link in links:
            await walk(session, link)
        assert {"ratings.sqlite-wal", "persons.sqlite-wal"} <= {path.name for path in study.iterdir()}
        assert open_to_others(study) == []


@pytest.mark.usefixtures("_lenient")
async def test_no_file_with_what_people_gave_is_open_to_others(tmp_path: Path) -> None:
    study = tmp_path / "plan"
    assert main(["human", "init", str(tmp_path / "init")]) == 0
    (file,) = (tmp_path / "init").glob("*.toml")
    assert main(["human", "plan", str(file), "--out", str(study)]) == 0
    await collected(study)
    assert main(["human", "forms", str(study)]) == 0
    forms = sorted((study / "forms").glob("*.csv"))
    returned = tmp_path / "returned.csv"
    returned.write_bytes(forms[-1].read_bytes())
    main(["human", "import", str(study), str(returned)])
    main(["human", "analyze", str(study)])
    again = ["--ratings", str(study / "ratings.csv"), "--out", str(tmp_path / "elsewhere")]
    main(["human", "analyze", "--study", str(file), *again])
    main(["human", "sessions", str(study), "--out", str(tmp_path / "sessions" / "s.jsonl")])
    assert main(["human", "replace", str(study), "--rater", forms[-1].stem]) == 0
    names = {path.name for path in study.iterdir()}
    assert {"links.csv", "ratings.csv", "survey.csv", "free_text.csv", "import-report.json", "forms"} <= names
    for folder in (study, tmp_path / "elsewhere", tmp_path / "sessions"):
        assert open_to_others(folder) == []
    assert main(["human", "purge", str(study), "--persons"]) == 0
    assert open_to_others(study) == []


def test_a_folder_that_was_open_is_not_closed_but_its_files_are(tmp_path: Path) -> None:
    (tmp_path / "plan").mkdir(mode=0o755)
    (tmp_path / "plan" / "ratings.csv").write_text("of an earlier version")
    assert main(["human", "init", str(tmp_path / "init")]) == 0
    (file,) = (tmp_path / "init").glob("*.toml")
    assert main(["human", "plan", str(file), "--out", str(tmp_path / "plan")]) == 0
    main(["human", "analyze", str(tmp_path / "plan"), "--out", str(tmp_path / "plan")])
    assert main(["human", "forms", str(tmp_path / "plan")]) == 0
    private = [path for path in (tmp_path / "plan").rglob("*") if path.name != "ratings.csv"]
    assert [path.name for path in private if stat.S_IMODE(path.stat().st_mode) & 0o077] == []
