"""A journal that lost answers since files were made of them: said before anything is paid again, and only then."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from frontdesk.cli import main
from runstore.english import in_number
from runstore.segments import segments
from tests.support.fake_provider import FakeProvider
from tests.support.small_runs import counts, files_of, spent, start, timeless, to_toml, write_config


@pytest.fixture
def config(provider: FakeProvider, tmp_path: Path) -> Path:
    return write_config(tmp_path / "c.toml", provider, dialogues=3, subsets=4)


@pytest.fixture
def run(provider: FakeProvider, tmp_path: Path, config: Path) -> Path:
    """A finished run; the provider counts from here."""
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 0
    provider.reset()
    return tmp_path / "run"


def cut(segment: Path, lines: int) -> int:
    """The segment without its last lines, ending in a whole one; how many answers went with them."""
    kept = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(kept[:-lines]))
    return sum(b'"state":"ok"' in line for line in kept[-lines:])


def adding(tmp_path: Path, run: Path, provider: FakeProvider, calls: int) -> list[str]:
    """The command that refreshes the run with a third endpoint, under a cap on calls."""
    settings = {
        "endpoints.third": provider.settings("ureka", identity="t"),
        "budget": {"calls": calls},
    }
    (tmp_path / "more.toml").write_text(to_toml(settings))
    return ["refresh", str(run), "--add", "third", "--config", str(tmp_path / "more.toml")]


def verified(run: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    capsys.readouterr()
    main(["verify", str(run), "--json"])
    return {row["file"]: row["why"] for row in json.loads(capsys.readouterr().out)["files"] if not row["same"]}


@pytest.mark.parametrize("lines", [2, 9, 40])
def test_a_journal_cut_at_the_end_of_a_line_is_not_paid_for_again_in_silence(
    lines: int,
    run: Path,
    config: Path,
    provider: FakeProvider,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (segment,) = segments(run / "journal")
    whole = segment.read_bytes()
    held, _ = counts(run)
    gone = cut(segment, lines)
    left = segment.read_bytes()
    published = files_of(run)
    again = ["run", str(config), "--run", str(run)]
    refresh = adding(tmp_path, run, provider, 99)
    found = f"found answers to {held - gone} calls, expected answers to {held} calls"
    for command in (again, [*again, "--change"], ["judge", str(run)], ["simulate", str(run)], refresh):
        capsys.readouterr()
        assert main(command) == 2
        said = capsys.readouterr().err
        assert f"{segment}: {found}" in said
        assert in_number(f"{gone} answers are gone") in said and "calls --repair RUN" in said
    assert provider.stats.calls == 0
    assert files_of(run) == published and segment.read_bytes() == left
    assert list((run / "journal").iterdir()) == [segment]
    assert found in verified(run, capsys)[f"journal/{segment.name}"]
    segment.write_bytes(whole)
    assert main(again) == 0 and main(["verify", str(run)]) == 0
    assert provider.stats.calls == 0


def test_a_torn_tail_of_a_finished_run_is_a_loss_too(
    run: Path, config: Path, provider: FakeProvider, capsys: pytest.CaptureFixture[str]
) -> None:
    (segment,) = segments(run / "journal")
    segment.write_bytes(segment.read_bytes()[:-9])
    assert main(["run", str(config), "--run", str(run)]) == 2
    assert "1 answer is gone" in capsys.readouterr().err
    assert provider.stats.calls == 0


def test_repair_notes_the_loss_and_only_that_is_asked_again(
    run: Path, config: Path, provider: FakeProvider, capsys: pytest.CaptureFixture[str]
) -> None:
    before = timeless(files_of(run))
    gone = cut(segments(run / "journal")[0], 11)
    assert main(["calls", "--repair", str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answers_gone"] == gone
    assert main(["calls", "--repair", str(run)]) == 0
    assert "nothing is damaged" in capsys.readouterr().out
    assert main(["run", str(config), "--run", str(run)]) == 0
    assert provider.stats.calls == gone
    assert timeless(files_of(run)) == before
    assert main(["verify", str(run)]) == 0


def test_a_segment_that_is_no_longer_there_is_named(
    run: Path, config: Path, provider: FakeProvider, capsys: pytest.CaptureFixture[str]
) -> None:
    more = write_config(config, provider, dialogues=3, subsets=6)
    assert main(["run", str(more), "--run", str(run), "--change"]) == 0
    asked = provider.stats.calls
    first, second = segments(run / "journal")
    second.unlink()
    assert main(["run", str(more), "--run", str(run)]) == 2
    said = capsys.readouterr().err
    assert f"{second}: found no file, expected answers to {asked} calls" in said and str(first) not in said
    assert f"journal/{second.name}" in verified(run, capsys)
    assert provider.stats.calls == asked


def _joined(journal: Path) -> None:
    """All segments in one file."""
    paths = segments(journal)
    whole = b"".join(path.read_bytes() for path in paths)
    for path in paths:
        path.unlink()
    (journal / "all.jsonl").write_bytes(whole)


def _renamed(journal: Path) -> None:
    for number, path in enumerate(segments(journal)):
        path.rename(path.with_name(f"machine-{number}.jsonl"))


def _copied(journal: Path) -> None:
    for path in segments(journal):
        shutil.copy(path, path.with_name(f"{path.stem} (copy).jsonl"))


def _with_other_line_ends(journal: Path) -> None:
    for path in segments(journal):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def _of_an_earlier_version(journal: Path) -> None:
    """Nobody noted what the journal held; nor is it known where it is cut now."""
    record = journal.parent / "published.json"
    known = json.loads(record.read_text())
    del known["journal"]
    record.write_text(json.dumps(known))


@pytest.mark.parametrize(
    "change", [_joined, _renamed, _copied, _with_other_line_ends, _of_an_earlier_version], ids=lambda f: f.__name__
)
def test_nothing_is_said_of_a_journal_that_holds_everything(
    change: Callable[[Path], None], run: Path, config: Path, provider: FakeProvider, tmp_path: Path
) -> None:
    more = write_config(config, provider, dialogues=3, subsets=6)
    assert main(["run", str(more), "--run", str(run), "--change"]) == 0
    provider.reset()
    moved = tmp_path / "elsewhere" / "moved"
    shutil.move(run, moved)
    change(moved / "journal")
    assert main(["verify", str(moved)]) == 0
    assert main(["run", str(more), "--run", str(moved)]) == 0
    assert main(["calls", "--repair", str(moved)]) == 0
    assert main(["run", str(more), "--run", str(moved)]) == 0
    assert main(["verify", str(moved)]) == 0
    assert provider.stats.calls == 0


def test_a_run_that_was_killed_in_any_stage_goes_on_without_a_word(
    provider: FakeProvider, tmp_path: Path, config: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "killed"
    provider.configure(latency_ms=5)
    for moment in (3, 25, 32, 45):
        process = start("run", config, "--run", run)
        while provider.stats.calls < moment and process.poll() is None:
            pass
        process.kill()
        process.communicate()
        assert main(["verify", str(run)]) in (0, 2)  # 2: killed before there was a run
        assert "answers are gone" not in capfd.readouterr().err
    assert main(["run", str(config), "--run", str(run)]) == 0
    assert main(["verify", str(run)]) == 0


def test_a_refresh_that_is_dropped_leaves_no_alarm_behind(
    run: Path, provider: FakeProvider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    announced, _, _ = spent(run, "calls")
    assert main(adding(tmp_path, run, provider, announced + 3)) == 3
    assert main(["verify", str(run)]) == 0
    held, _ = counts(run)
    assert main(["refresh", str(run), "--abandon"]) == 0
    assert main(["verify", str(run)]) == 0
    assert main(["run", str(run / "run.toml"), "--run", str(run)]) == 0
    gone = cut(segments(run / "journal")[-1], 4)
    assert counts(run)[0] == held - gone
    capsys.readouterr()
    assert main(["run", str(run / "run.toml"), "--run", str(run)]) == 2
    assert in_number(f"{gone} answers are gone") in capsys.readouterr().err
