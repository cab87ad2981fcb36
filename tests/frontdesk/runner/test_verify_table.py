"""What verify says of forged files, and of folders in which nothing is wrong."""

from __future__ import annotations

import json
import os
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


def replies_swapped(run: Path) -> None:
    """Each reply under the other's name, everything else as it was."""
    text = (run / "replies.jsonl").read_text("utf-8")
    swapped = text.replace('"endpoint":"ureka"', '"endpoint":"?"').replace(
        '"endpoint":"gemini"', '"endpoint":"ureka"'
    )
    (run / "replies.jsonl").write_text(swapped.replace('"endpoint":"?"', '"endpoint":"gemini"'), "utf-8")


def winner_turned(run: Path) -> None:
    text = (run / "verdicts.jsonl").read_text("utf-8")
    old, new = ("gemini", "ureka") if '"winner":"gemini"' in text else ("ureka", "gemini")
    replaced("verdicts.jsonl", f'"winner":"{old}"', f'"winner":"{new}"')(run)


def line_twice(name: str) -> Forge:
    def forge(run: Path) -> None:
        lines = (run / name).read_bytes().splitlines(keepends=True)
        (run / name).write_bytes(b"".join([*lines, lines[-1]]))

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
    "settings that did not make the ratings": (
        replaced("leaderboard.json", '"half"', '"davidson"'),
        "leaderboard.json",
        "different",
    ),
    "replies swapped": (replies_swapped, "replies.jsonl", "different"),
    "a line more": (line_twice("judgments.jsonl"), "judgments.jsonl", "different"),
    "a winner turned round": (winner_turned, "verdicts.jsonl", "different"),
    "a file of another run": (
        lambda run: (run / "report.md").write_bytes((run / "report.ko.md").read_bytes()),
        "report.md",
        "different",
    ),
    "verdict, judgments and record together": (
        lambda run: [
            with_fitting_hash(name, last_line_gone(name))(run) for name in ("judgments.jsonl", "verdicts.jsonl")
        ],
        "verdicts.jsonl",
        "different",
    ),
    "the journal taken out": (
        lambda run: [path.unlink() for path in (run / "journal").glob("*.jsonl")],
        "replies.jsonl",
        "different",
    ),
    "a table in a language it was not made in": (
        lambda run: (run / "leaderboard.ko.md").write_bytes((run / "leaderboard.md").read_bytes()),
        "leaderboard.ko.md",
        "different",
    ),
    "the configuration": (replaced("run.toml", "rounds = 3", "rounds = 5"), "manifest.json", "different"),
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


def did(*words: str, code: int = 0) -> Forge:
    """A command on the run, which ends as it should."""

    def do(run: Path) -> None:
        assert main([*words, "--run", str(run)]) == code

    return do


def rated(*words: str) -> Forge:
    """Rated otherwise than configured; the reports are made again."""

    def do(run: Path) -> None:
        did("rate", *words)(run)
        for language in ("en", "ko"):
            did("report", "--language", language, "--quiet")(run)

    return do


def without_quality(run: Path) -> None:
    gone("quality.json", "quality.md")(run)
    without_record(run, "quality")


def read_only(run: Path) -> None:
    for path in sorted(run.rglob("*"), reverse=True):
        path.chmod(0o555 if path.is_dir() else 0o444)


HEALTHY: dict[str, Forge] = {
    "untouched": lambda run: None,
    "a file of the user's": lambda run: (run / "notes.txt").write_text("mine"),
    "a folder of the user's": lambda run: (run / "mine").mkdir(),
    "a hidden file": lambda run: (run / ".DS_Store").write_bytes(b"\0"),
    "a journal with another file": lambda run: (run / "journal" / "README").write_text("mine"),
    "a journal copied with CRLF": lambda run: [
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n")) for path in (run / "journal").glob("*.jsonl")
    ],
    "quality after the run": did("quality"),
    "quality with a limit": did("quality", "--limit", "thanks_run=0.5"),
    "no quality": without_quality,
    "report twice": lambda run: [did("report", "--quiet")(run) for _ in range(2)],
    "report in Korean again": did("report", "--language", "ko"),
    "a site": lambda run: did("report", "--site", str(run.parent / "site"))(run),
    "rated again": did("rate"),
    "rated by another model of ties": rated("--ties", "davidson"),
    "rated at another level": rated("--level", "0.8", "--intervals", "bootstrap", "--resamples", "50"),
    "rated by depth and freed of style": rated("--by", "depth", "--by", "persona", "--style"),
    "rated with pictures": did("rate", "--svg", "--latex"),
    "rated in Korean": did("rate", "--language", "ko"),
    "rated elsewhere": lambda run: did("rate", "--ties", "davidson", "--out", str(run.parent / "out"))(run),
    "exported as chats": did("export", "--as", "openai"),
    "preferences exported": did("export", "--as", "preference"),
    "no log": lambda run: (run / "log.jsonl").unlink(),
    "no lock": lambda run: (run / "run.lock").unlink(missing_ok=True),
    "another cap": lambda run: replaced("run.toml", "[budget]", "[budget]\nusd = 5.0")(run),
    "run again": lambda run: did("run", str(run / "run.toml"))(run),
    "every stage again": lambda run: [did(stage)(run) for stage in ("simulate", "cut", "collect", "judge")],
    "read-only": read_only,
    "copied without times": lambda run: [os.utime(path, (1, 1)) for path in run.rglob("*")],
    "an interrupted write beside it": lambda run: (run / ".report.md.77.tmp").write_text("half"),
}


def moved(run: Path, to: str) -> Path:
    target = run.parent / to
    target.parent.mkdir(exist_ok=True)
    return run.rename(target)


def linked(run: Path) -> Path:
    link = run.parent / "link"
    link.symlink_to(run)
    return link


PLACES: dict[str, Callable[[Path], Path]] = {
    "renamed": lambda run: moved(run, "another-name"),
    "in another folder with blanks and Hangul": lambda run: moved(run, "새 폴더/내 실행"),
    "through a link": linked,
}


@pytest.mark.parametrize("place", PLACES)
def test_a_folder_is_the_same_wherever_it_lies(run: Path, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, rows = states(PLACES[place](run), capsys)
    assert {state for state, _ in rows.values()} == {"same"}
    assert code == 0


def test_a_folder_is_the_same_in_another_zone_and_language(run: Path) -> None:
    process = start(
        "verify", "--run", run, TZ="Asia/Seoul", LC_ALL="C", LANG="C", PYTHONUTF8="0", PYTHONHASHSEED="3"
    )
    told = process.communicate()[0]
    assert process.returncode == 0, told
    assert b"DIFFERENT" not in told


def test_ratings_made_otherwise_than_configured_say_so(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    did("rate", "--ties", "davidson")(run)
    _, rows = states(run, capsys)
    assert rows["leaderboard.json"] == ("same", "rated with ties davidson, configured half")
    replaced("leaderboard.json", '"davidson"', '"half"')(run)
    assert states(run, capsys)[1]["leaderboard.json"][0] == "different"


def test_line_ends_that_a_checkout_changed_are_called_that(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = run / "verdicts.jsonl"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    state, why = states(run, capsys)[1]["verdicts.jsonl"]
    assert state == "different"
    assert why.startswith("in nothing but line ends")


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


def as_killed(run: Path, *, written: tuple[str, ...], stage: str) -> None:
    """As a process leaves the folder that was killed when it had written only these files of a stage."""
    known = read_json(run / "published.json")
    made = {
        "rate": ("leaderboard.json", "leaderboard.csv", "judges.json"),
        "report": ("report.md", "report.html", "leaderboard.md"),
        "cut": ("subsets.jsonl",),
        "quality": ("quality.json", "quality.md"),
    }[stage]
    for name in made:
        known["files"].pop(name)
        if name not in written:
            (run / name).unlink()
    known["under_way"] = {stage: "begun"} | ({"report": "begun"} if stage == "rate" else {})
    write_json(run / "published.json", known)


KILLED = {
    "before the table of ratings": ("rate", ("leaderboard.json",)),
    "before the judges' analysis": ("rate", ("leaderboard.json", "leaderboard.csv")),
    "before the ratings are recorded": ("rate", ("leaderboard.json", "leaderboard.csv", "judges.json")),
    "between Markdown and HTML": ("report", ("report.md",)),
    "before the report is recorded": ("report", ("report.md", "report.html", "leaderboard.md")),
    "before the subsets are recorded": ("cut", ("subsets.jsonl",)),
    "between quality and its page": ("quality", ("quality.json",)),
}


@pytest.mark.parametrize("moment", KILLED)
def test_a_process_killed_between_two_files_is_not_accused(
    run: Path, moment: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stage, written = KILLED[moment]
    as_killed(run, written=written, stage=stage)
    code, rows = states(run, capsys)
    assert {file: row for file, row in rows.items() if row[0] not in ("same", "unfinished")} == {}
    assert code == 0


@pytest.mark.parametrize("forge", [line_twice("verdicts.jsonl"), lines_swapped("verdicts.jsonl")])
def test_lines_told_twice_or_in_another_order_are_no_part_of_a_stage(
    run: Path, forge: Forge, capsys: pytest.CaptureFixture[str]
) -> None:
    forge(run)
    known = read_json(run / "published.json")
    known["files"].pop("verdicts.jsonl")
    write_json(run / "published.json", {**known, "under_way": {"judge": "begun"}})
    code, rows = states(run, capsys)
    assert (code, rows["verdicts.jsonl"][0]) == (1, "different")


def test_what_people_said_is_not_taken_from_a_file_that_was_not_written_here(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    votes = dict.fromkeys(("judgments", "verdicts", "both_good", "both_bad"), 9)
    leaderboard = read_json(run / "leaderboard.json")
    told = {"study": "s", **votes, "leaderboard": leaderboard, "judges": [], "calibrated": []}
    write_json(run / "human.json", told)
    code, rows = states(run, capsys)
    assert (code, rows["human.json"][0]) == (1, "different")


@pytest.mark.parametrize(
    ("command", "broken", "stage"),
    [
        (["rate"], "frontdesk.runner.rating.write_judges", "rate"),
        (["report"], "frontdesk.report.run.html", "report"),
        (["quality"], "frontdesk.report.sections.run.quality.document", "quality"),
        (["cut"], "frontdesk.runner.runfolder.RunFolder.replace_failures", "cut"),
    ],
)
def test_what_writes_several_files_says_that_it_is_under_way(
    run: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], broken: str, stage: str
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(broken, killed)
        assert main([*command, "--run", str(run)]) == 130
    assert stage in read_json(run / "published.json")["under_way"]
    did(*command)(run)
    assert read_json(run / "published.json")["under_way"] == {}
