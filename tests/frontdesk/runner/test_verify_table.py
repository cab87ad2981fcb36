"""What verify says of forged files, and of folders in which nothing is wrong."""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from frontdesk.cli import main
from runstore.publish import read_json, write_json
from tests.support.fake_provider import FakeProvider
from tests.support.small_runs import start, write_config

Forge = Callable[[Path], object]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A finished run with its students' quality and a report in a second language."""
    folder = tmp_path_factory.mktemp("verified")
    with FakeProvider() as provider:
        config = write_config(folder / "c.toml", provider, dialogues=4, subsets=6)
        assert main(["run", str(config), "--run", str(folder / "run")]) == 0
    run = str(folder / "run")
    assert main(["report", "--run", run, "--language", "ko", "--quiet"]) == 0
    assert main(["quality", "--run", run]) == 0
    yield folder / "run"


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "copied")


def states(run: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, tuple[str, str]]]:
    """The exit code, and of each file its state and why."""
    capsys.readouterr()
    code = main(["verify", "--run", str(run), "--json"])
    rows = json.loads(capsys.readouterr().out)["files"]
    return code, {row["file"]: (row["state"], row["why"]) for row in rows}


def replaced(name: str, old: str, new: str) -> Forge:
    def forge(run: Path) -> None:
        path = run / name
        text = path.read_bytes().decode("utf-8")
        assert old in text
        path.write_bytes(text.replace(old, new, 1).encode())

    return forge


def gone(*names: str) -> Forge:
    return lambda run: [(run / name).unlink() for name in names]


def with_fitting_hash(name: str, forge: Forge) -> Forge:
    """The forger also writes the new hash into published.json."""

    def both(run: Path) -> None:
        from frontdesk.runner import published

        forge(run)
        known = read_json(run / published.FILE)
        known["files"][name]["sha256"] = published.hash_of(run / name)
        write_json(run / published.FILE, known)

    return both


def last_line_gone(name: str) -> Forge:
    def forge(run: Path) -> None:
        lines = (run / name).read_bytes().splitlines(keepends=True)
        (run / name).write_bytes(b"".join(lines[:-1]))

    return forge


def lines_swapped(name: str) -> Forge:
    def forge(run: Path) -> None:
        lines = (run / name).read_bytes().splitlines(keepends=True)
        (run / name).write_bytes(b"".join([*lines[1:], lines[0]]))

    return forge


def number_of(name: str, *path: str | int) -> Forge:
    def forge(run: Path) -> None:
        whole = read_json(run / name)
        inner = whole
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = 1234.5
        write_json(run / name, whole)

    return forge


def without_record(run: Path, *names: str) -> None:
    """As if these had never been made; the reports are made again."""
    known = read_json(run / "published.json")
    known["files"] = {name: row for name, row in known["files"].items() if name.partition(".")[0] not in names}
    write_json(run / "published.json", known)
    for language in ("en", "ko"):
        assert main(["report", "--run", str(run), "--language", language, "--quiet"]) == 0


FORGED: dict[str, tuple[Forge, str, str]] = {
    "a name in report.html": (replaced("report.html", "ureka", "eureka"), "report.html", "different"),
    "a name in report.md": (replaced("report.md", "ureka", "eureka"), "report.md", "different"),
    "a name in leaderboard.csv": (replaced("leaderboard.csv", "ureka", "eureka"), "leaderboard.csv", "different"),
    "a name in leaderboard.md": (replaced("leaderboard.md", "ureka", "eureka"), "leaderboard.md", "different"),
    "a name in leaderboard.json": (
        replaced("leaderboard.json", "ureka", "eureka"),
        "leaderboard.json",
        "different",
    ),
    "a name in another language": (replaced("report.ko.html", "ureka", "eureka"), "report.ko.html", "different"),
    "Markdown in another language": (replaced("report.ko.md", "ureka", "eureka"), "report.ko.md", "different"),
    "the ratings deleted": (gone("leaderboard.json"), "leaderboard.json", "missing"),
    "ratings deleted and the report forged": (
        lambda run: (gone("leaderboard.json")(run), replaced("report.html", "ureka", "eureka")(run)),
        "report.html",
        "different",
    ),
    "every file of the ratings deleted": (
        gone("leaderboard.json", "leaderboard.csv", "leaderboard.md"),
        "leaderboard.csv",
        "missing",
    ),
    "the record deleted with the ratings": (
        gone("published.json", "leaderboard.json"),
        "leaderboard.json",
        "missing",
    ),
    "the record deleted": (gone("published.json"), "published.json", "missing"),
    "verdicts deleted": (gone("verdicts.jsonl"), "verdicts.jsonl", "missing"),
    "judgments deleted": (gone("judgments.jsonl"), "judgments.jsonl", "missing"),
    "replies deleted": (gone("replies.jsonl"), "replies.jsonl", "missing"),
    "dialogues deleted": (gone("dialogues.jsonl"), "dialogues.jsonl", "missing"),
    "failures deleted": (gone("failures.jsonl"), "failures.jsonl", "missing"),
    "the report deleted": (gone("report.html"), "report.html", "missing"),
    "a report in another language deleted": (gone("report.ko.md"), "report.ko.md", "missing"),
    "the judges' analysis deleted": (gone("judges.json"), "judges.json", "missing"),
    "the quality deleted": (gone("quality.json"), "quality.json", "missing"),
    "a verdict left out": (last_line_gone("verdicts.jsonl"), "verdicts.jsonl", "different"),
    "a judgment left out": (last_line_gone("judgments.jsonl"), "judgments.jsonl", "different"),
    "replies in another order": (lines_swapped("replies.jsonl"), "replies.jsonl", "different"),
    "a word of a reply": (replaced("replies.jsonl", '"text":"', '"text":"Well, '), "replies.jsonl", "different"),
    "a word of a student": (
        replaced("dialogues.jsonl", '"text":"', '"text":"Well, '),
        "dialogues.jsonl",
        "different",
    ),
    "a history": (replaced("subsets.jsonl", '"text":"', '"text":"Well, '), "subsets.jsonl", "different"),
    "a rating": (number_of("leaderboard.json", "models", 0, "rating"), "leaderboard.json", "different"),
    "a rating with its hash": (
        with_fitting_hash("leaderboard.json", number_of("leaderboard.json", "models", 0, "rating")),
        "leaderboard.json",
        "different",
    ),
    "a report with its hash": (
        with_fitting_hash("report.html", replaced("report.html", "ureka", "eureka")),
        "report.html",
        "different",
    ),
    "a hash alone": (
        lambda run: number_of("published.json", "files", "report.md", "made_of")(run),
        "published.json",
        "refused",
    ),
    "the seed in the manifest": (number_of("manifest.json", "seed"), "manifest.json", "different"),
    "a figure of the judges": (replaced("judges.json", '"judges"', '"juges"'), "judges.json", "different"),
    "a figure of quality": (replaced("quality.md", "1", "7"), "quality.md", "different"),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_was_forged_is_named(run: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    forge, file, expected = FORGED[name]
    forge(run)
    if expected == "refused":
        assert main(["verify", "--run", str(run)]) == 2
        assert file in capsys.readouterr().err
        return
    code, rows = states(run, capsys)
    assert code == 1
    assert rows[file][0] == expected
    assert "published.json" in rows


def test_a_difference_says_where_and_what(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    number_of("leaderboard.json", "models", 0, "rating")(run)
    replaced("report.md", "ureka", "eureka")(run)
    _, rows = states(run, capsys)
    assert rows["leaderboard.json"][1].startswith("models[0].rating: found '1234.5', expected '")
    assert rows["report.md"][1].startswith("first in line ")
    assert "eureka" in rows["report.md"][1]


HEALTHY: dict[str, Forge] = {
    "untouched": lambda run: None,
    "a file of the user's": lambda run: (run / "notes.txt").write_text("mine"),
    "a folder of the user's": lambda run: (run / "mine").mkdir(),
    "quality after the run": lambda run: main(["quality", "--run", str(run)]),
    "report again": lambda run: main(["report", "--run", str(run)]),
    "report in Korean again": lambda run: main(["report", "--run", str(run), "--language", "ko"]),
    "rated again": lambda run: main(["rate", "--run", str(run)]),
    "exported": lambda run: main(["export", "--run", str(run), "--format", "chat"]),
    "no log": lambda run: (run / "log.jsonl").unlink(),
    "another cap": lambda run: replaced("run.toml", "[budget]", "[budget]\nusd = 5.0")(run),
    "no lock": lambda run: (run / "run.lock").unlink(missing_ok=True),
    "report twice": lambda run: [main(["report", "--run", str(run), "--quiet"]) for _ in range(2)],
    "a site": lambda run: main(["report", "--run", str(run), "--site", str(run.parent / "site")]),
    "quality with a limit": lambda run: main(["quality", "--run", str(run), "--limit", "thanks_run=0.5"]),
    "run again": lambda run: main(["run", str(run / "run.toml"), "--run", str(run)]),
    "simulated again": lambda run: main(["simulate", "--run", str(run)]),
    "cut again": lambda run: main(["cut", "--run", str(run)]),
    "collected again": lambda run: main(["collect", "--run", str(run)]),
    "judged again": lambda run: main(["judge", "--run", str(run)]),
    "preferences exported": lambda run: main(["export", "--run", str(run), "--format", "preference"]),
    "a hidden file": lambda run: (run / ".DS_Store").write_bytes(b"\0"),
    "a journal with another file": lambda run: (run / "journal" / "README").write_text("mine"),
    "no quality": lambda run: (gone("quality.json", "quality.md")(run), without_record(run, "quality")),
    "read-only": lambda run: [path.chmod(0o444) for path in run.iterdir() if path.is_file()],
}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_folder_in_which_nothing_is_wrong_is_not_accused(
    run: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    HEALTHY[name](run)
    code, rows = states(run, capsys)
    assert {file: row for file, row in rows.items() if row[0] not in ("same", "not made here")} == {}
    assert code == 0


def test_a_file_that_is_not_ours_is_named_as_such(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "notes.txt").write_text("mine")
    _, rows = states(run, capsys)
    assert rows["notes.txt"][0] == "not made here"


@pytest.mark.parametrize("calls", [3, 150, 230, 300])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_was_ended_is_unfinished_and_not_different(
    provider: FakeProvider,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    number: signal.Signals,
    calls: int,
) -> None:
    provider.configure(latency_ms=20.0)
    config = write_config(tmp_path / "c.toml", provider, dialogues=20, subsets=40, concurrency=4)
    run = tmp_path / "run"
    process = start("run", config, "--run", run)
    while provider.stats.calls < calls:
        time.sleep(0.01)
    process.send_signal(number)
    process.communicate()
    code, rows = states(run, capsys)
    assert {file: row for file, row in rows.items() if row[0] not in ("same", "unfinished")} == {}
    assert rows["published.json"][0] == "unfinished"
    assert code == 0
    assert main(["run", str(config), "--run", str(run)]) == 0
    code, rows = states(run, capsys)
    assert {state for state, _ in rows.values()} == {"same"}


def test_a_run_that_reached_its_cap_is_unfinished(
    provider: FakeProvider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=6, budget={"calls": 45})
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 3
    code, rows = states(tmp_path / "run", capsys)
    assert code == 0
    assert {state for state, _ in rows.values()} == {"same", "unfinished"}
