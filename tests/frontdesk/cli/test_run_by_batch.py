"""A whole run through the providers' batch interfaces says and decides what it does in real time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from frontdesk.cli import main
from runstore.publish import read_records
from runstore.records import Dialogue, Reply
from tests.support.fake_provider import FakeProvider
from tests.support.small_runs import finished_twice, to_toml, write_config
from tests.support.student_runs import write_student_config
from tests.support.student_world import provider_script

SAME = ("subsets.jsonl", "verdicts.jsonl", "judgments.jsonl", "labels.jsonl", "states.jsonl", "quiz.jsonl",
        "student_verdicts.jsonl")  # fmt: skip


def test_every_stage_by_batch_gives_the_files_of_real_time(tmp_path: Path) -> None:
    with FakeProvider(script=provider_script()) as provider:
        path = write_student_config(
            tmp_path / "c.toml", provider, ("good", "fair"), dialogues=3, subsets=4, panel=5, quiz="student"
        )
        real, batch = tmp_path / "real", tmp_path / "batch"
        assert main(["run", str(path), "--run", str(real)]) in (0, 1)
        direct = provider.stats.calls
        provider.reset()
        assert main(["run", str(path), "--run", str(batch), "--batch", "--poll-s", "0.05"]) in (0, 1)
        assert provider.stats.calls == direct
        assert provider.batches.jobs
        assert finished_twice(batch) == []
        assert main(["verify", str(batch)]) == 0
        asked = provider.stats.calls
        assert main(["student", str(real), "--batch", "--dry-run"]) == 0
        assert provider.stats.calls == asked
    for name in SAME:
        assert (real / name).read_bytes() == (batch / name).read_bytes(), name
    said, said_by_batch = (
        [(one.id, [u.text for u in one.utterances]) for one in read_records(run / "dialogues.jsonl", Dialogue)]
        for run in (real, batch)
    )
    assert said == said_by_batch
    texts, by_batch = (
        [(one.subset, one.endpoint, one.text) for one in read_records(run / "replies.jsonl", Reply)]
        for run in (real, batch)
    )
    assert texts == by_batch


def test_an_endpoint_without_a_batch_interface_is_asked_in_real_time_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"role": role, "match": "", "reply": f"{role}: hm ({n})"}
        for role in ("student", "teacher")
        for n in (1, 2, 3)
    ]
    (tmp_path / "replies.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    names = ("student", "teacher")
    endpoints = {f"endpoints.{name}": {"kind": "scripted", "replies": "replies.jsonl"} for name in names}
    simulate = {"dialogues": 2, "turns": 2, "student": "student", "teacher": "teacher"}
    config = tmp_path / "c.toml"
    config.write_text(to_toml({"run": {"name": "by-batch"}, **endpoints, "simulate": simulate}), encoding="utf-8")
    assert main(["simulate", str(config), "--run", str(tmp_path / "run"), "--batch"]) == 0
    said = capsys.readouterr().err
    assert "student is asked in real time" in said
    assert len(read_records(tmp_path / "run" / "dialogues.jsonl", Dialogue)) == 2


def test_what_a_stage_would_ask_is_what_it_asks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeProvider() as provider:
        config = str(write_config(tmp_path / "c.toml", provider, dialogues=3, subsets=4))
        run = str(tmp_path / "run")
        assert main(["run", config, "--run", run]) in (0, 1)
        asked = provider.stats.calls
        capsys.readouterr()
        said: list[dict[str, Any]] = []
        for stage in ("simulate", "collect", "judge"):
            for more in ((), ("--batch",)):
                assert main([stage, run, "--dry-run", "--json", *more]) == 0
                said.append(json.loads(capsys.readouterr().out))
                assert {line["stage"] for line in said[-1]["stages"]} == {stage}
        assert sum(one["calls"] for one in said[::2]) == asked == provider.stats.calls
        assert main(["judge", run, "--dry-run", "--batch"]) == 0
    assert [one["calls"] for one in said[::2]] == [one["calls"] for one in said[1::2]]
    assert "By batch, at half the price, within a day: " in capsys.readouterr().out
