"""The quality command on real runs: the promised keys, the report's section, and files that verify finds again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from frontdesk.cli import main
from runstore.publish import read_records, write_jsonl
from runstore.records import Dialogue, Utterance
from tests.support.fake_provider import FakeProvider
from tests.support.run_folders import RunBuilder
from tests.support.small_runs import write_config

KINDS = {
    "role_flip", "prompt_leak", "thinking_leak", "loop", "near_duplicate", "thanks_run", "empty", "refused",
    "premature_end",
}  # fmt: skip
HOSTILE = "<script>alert(1)</script> | [x](javascript:1) as an AI"


@pytest.fixture
def run(tmp_path: Path, provider: FakeProvider) -> Path:
    config = write_config(tmp_path / "c.toml", provider, dialogues=24, subsets=12)
    folder = tmp_path / "run"
    assert main(["run", str(config), "--run", str(folder)]) == 0
    return folder


def quality(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "quality.json").read_text("utf-8"))


def test_a_real_run(run: Path, provider: FakeProvider, capsys: pytest.CaptureFixture[str]) -> None:
    calls = provider.stats.calls
    assert main(["quality", "--run", str(run)]) == 0
    assert provider.stats.calls == calls
    found = quality(run)
    assert {"profile", "realism", "fidelity", "failures", "diversity", "balance", "gate"} <= set(found)
    assert (found["dialogues"], found["utterances"]) == (24, 72)
    assert set(found["failures"]) >= KINDS
    for row in found["failures"].values():
        assert row["of"] == 24
        assert row["rate"] == pytest.approx(row["count"] / 24)
        assert row["lower"] <= row["rate"] <= row["upper"]
        assert len(row["dialogues"]) == row["count"]
    assert found["failures"]["prompt_leak"]["count"] == 0
    assert found["prompts_checked"] == {"passed": True, "reason": None}
    assert len(found["profile"]["references"]) == 4
    out = capsys.readouterr().out
    assert "near_duplicate" in out
    assert "\x1b" not in out


def test_the_report_shows_it_and_verify_makes_it_again(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Quality of the students" not in (run / "report.md").read_text("utf-8")
    assert main(["quality", "--run", str(run), "--limit", "near_duplicate=1"]) == 0
    assert main(["report", "--run", str(run), "--quiet"]) == 0
    assert "## Quality of the students" in (run / "report.md").read_text("utf-8")
    capsys.readouterr()
    assert main(["verify", "--run", str(run)]) == 0
    out = capsys.readouterr().out
    for name in ("quality.json", "quality.md", "report.md", "report.html"):
        assert f"same       {name}" in out


def test_limits_are_the_users(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quality", "--run", str(run), "--limit", "premature_end=-1", "--gate"]) == 1
    assert "premature_end" in quality(run)["gate"]["failed"]
    assert main(["quality", "--run", str(run), "--limit", "prematureend=1"]) == 2
    assert "premature_end" in capsys.readouterr().err
    assert main(["quality", "--run", str(run), "--limit", "loop"]) == 2


def test_a_leaked_persona_text_is_found(run: Path) -> None:
    dialogues = read_records(run / "dialogues.jsonl", Dialogue)
    chosen = next(each for each in dialogues if each.levels["motivation"] == "low")
    said = list(chosen.utterances)
    said[2] = Utterance(
        role="student", text="the topic bores me: most of your messages are one to five words, flat"
    )
    rows = [
        each if each.id != chosen.id else chosen.model_copy(update={"utterances": tuple(said)})
        for each in dialogues
    ]
    write_jsonl(run / "dialogues.jsonl", rows)
    assert main(["quality", "--run", str(run)]) == 0
    assert quality(run)["failures"]["prompt_leak"]["dialogues"] == [chosen.id]


def test_other_personas_than_the_runs_are_not_searched_for(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text("utf-8"))
    manifest["inputs"]["personas"]["hash"] = "0"
    (run / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert main(["quality", "--run", str(run)]) == 0
    assert "the factor file has changed" in quality(run)["prompts_checked"]["reason"]


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    built = RunBuilder(["a", "b"])
    built.play(["aaa"] * 4)
    folder = built.write(tmp_path)
    rows = [
        each.model_copy(update={"persona": HOSTILE, "utterances": (*each.utterances, *talk())})
        for each in folder.dialogues()
    ]
    write_jsonl(folder.file("dialogues.jsonl"), rows)
    assert main(["quality", "--run", str(tmp_path)]) == 0
    assert main(["report", "--run", str(tmp_path), "--quiet"]) == 0
    assert quality(tmp_path)["failures"]["role_flip"]["count"] == 3
    for name in ("quality.md", "report.html"):
        assert "<script>alert" not in (tmp_path / name).read_text("utf-8")


def talk() -> list[Utterance]:
    return [Utterance(role="teacher", text="Why?"), Utterance(role="student", text=HOSTILE)]


def test_a_korean_run_has_a_korean_page(tmp_path: Path) -> None:
    built = RunBuilder(["a", "b"], language="ko", utterance="왜 가운데가 피벗인가요?")
    built.play(["aaa"])
    built.write(tmp_path)
    assert main(["quality", "--run", str(tmp_path)]) == 0
    assert "학생 시뮬레이션 품질" in (tmp_path / "quality.md").read_text("utf-8")
    assert quality(tmp_path)["realism"]["distance"] is None


def test_a_run_without_dialogues_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    RunBuilder(["a", "b"]).write(tmp_path).file("dialogues.jsonl").unlink()
    assert main(["quality", "--run", str(tmp_path)]) == 2
    assert "dialogues.jsonl (tutor-arena simulate" in capsys.readouterr().err
