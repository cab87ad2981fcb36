"""``--dialogues``, ``--turns`` and ``--subsets`` go before what is configured, in a run and in its stages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from frontdesk.cli import main
from runstore.publish import read_records
from runstore.records import Dialogue, Subset
from tests.support.fake_provider import FakeProvider
from tests.support.small_runs import write_config


def dialogues(run: Path) -> list[Dialogue]:
    return read_records(run / "dialogues.jsonl", Dialogue)


def test_a_run_takes_its_sizes_from_the_command_line(provider: FakeProvider, tmp_path: Path) -> None:
    config, run = write_config(tmp_path / "c.toml", provider), tmp_path / "run"
    sizes = ("--dialogues", "3", "--turns", "2", "--subsets", "5")
    assert main(["run", str(config), "--run", str(run), *sizes]) == 0
    assert len(dialogues(run)) == 3
    assert max(each.turns for each in dialogues(run)) <= 2
    assert len(read_records(run / "subsets.jsonl", Subset)) == 5
    assert main(["verify", "--run", str(run)]) == 0


def test_the_estimate_takes_the_same_sizes(
    provider: FakeProvider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write_config(tmp_path / "c.toml", provider)
    sizes = ("--dialogues", "3", "--turns", "2", "--subsets", "5")
    assert main(["estimate", str(config), *sizes, "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)["counts"]
    assert (counts["dialogues"], counts["subsets"]) == (3, 5)
    assert provider.stats.calls == 0


def test_stages_take_theirs_and_leave_the_configuration_of_the_run_at_that(
    provider: FakeProvider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, run = write_config(tmp_path / "c.toml", provider), tmp_path / "run"
    with_sizes = ["--config", str(config), "--run", str(run), "--dialogues", "4", "--turns", "3"]
    assert main(["simulate", *with_sizes]) == 0
    assert len(dialogues(run)) == 4
    assert main(["cut", "--run", str(run), "--subsets", "6", "--change"]) == 0
    assert len(read_records(run / "subsets.jsonl", Subset)) == 6
    for wrong in ("0", "-1", "many"):
        assert main(["run", str(config), "--run", str(run), "--turns", wrong]) == 2
        assert "1 at least" in capsys.readouterr().err


def test_exactly_so_many_turns_where_dialogues_have_a_fixed_end(provider: FakeProvider, tmp_path: Path) -> None:
    config, run = write_config(tmp_path / "c.toml", provider), tmp_path / "run"
    text = config.read_text().replace("[simulate]\n", '[simulate]\nends = "fixed"\nrephrase_openings = true\n')
    config.write_text(text)
    where = ["--config", str(config), "--run", str(run), "--dialogues", "8"]
    assert main(["simulate", *where]) == 0
    assert {(each.turns, each.end) for each in dialogues(run)} == {(4, "turns reached")}
    assert all(each.asked and each.asked != each.utterances[0].text for each in dialogues(run))
    assert provider.stats.by_role == {"student": 8 * 4, "teacher": 8 * 4}
