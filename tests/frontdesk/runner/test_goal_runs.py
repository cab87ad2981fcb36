"""Runs with a goal over loopback: only the matches it needs are judged, and again the same."""

import hashlib
import json
from pathlib import Path

import pytest

from frontdesk.cli import main
from runstore.publish import read_records
from runstore.records import Verdict
from tests.support import fake_shapes, fake_text
from tests.support.fake_http import Reply
from tests.support.fake_provider import FakeProvider

STRENGTH = {"mild": 1.0, "fair": 1.5, "good": 2.0, "star": 12.0}
JUDGED = {"judgments.jsonl", "verdicts.jsonl", "goal.json"}


def share_of(text: str) -> float:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big") / 2**48


def strengths_decide(asked, _attempt):
    """Tutors sign replies with their model's name; the judge favours by strength, with luck from the text."""
    if asked.role == "judge":
        shown = asked.last.partition("REPLY OF TEACHER A")[2]
        first, _, second = shown.partition("REPLY OF TEACHER B")
        a, b = (next(STRENGTH[name] for name in STRENGTH if f"[{name}]" in text) for text in (first, second))
        point = share_of(asked.key.hex())
        letter = "c" if point < 0.1 else "a" if point < 0.1 + 0.9 * a / (a + b) else "b"
        return Reply(fake_shapes.answer(asked, f"Compared.\n### ({letter})"))
    if asked.role == "teacher" and asked.model in STRENGTH:
        return Reply(fake_shapes.answer(asked, f"[{asked.model}] {fake_text.teacher(asked.key)}"))
    return None


@pytest.fixture
def tutors():
    with FakeProvider(script=strengths_decide) as running:
        yield running


def write_config(
    path: Path, provider, names=tuple(STRENGTH), *, dialogues=60, subsets=120, concurrency=32, **judge
):
    tables = {"run": {"name": "goal", "seed": 3}}
    for name in (*names, "base", "judge"):
        tables[f"endpoints.{name}"] = provider.settings(
            "openai", model=name, identity=name, concurrency=concurrency
        )
    tables |= {
        "simulate": {"dialogues": dialogues, "turns": 4, "student": "base", "teacher": "base"},
        "cut": {"subsets": subsets},
        "collect": {"endpoints": list(names)},
        "judge": {"endpoints": ["judge"], "rounds": 1, **judge},
        "rate": {"resamples": 50},
    }
    path.write_text(
        "\n".join(
            f"[{table}]\n"
            + "\n".join(
                f"{key} = {{ {', '.join(f'{k} = {v}' for k, v in value.items())} }}"
                if isinstance(value, dict)
                else f"{key} = {json.dumps(value)}"
                for key, value in values.items()
            )
            for table, values in tables.items()
        ),
        encoding="utf-8",
    )
    return path


def files_of(folder: Path, names=None) -> dict[str, bytes]:
    skipped = {"run.lock", "log.jsonl", "run.toml"}
    found = [path for path in folder.iterdir() if path.is_file() and path.name not in skipped]
    return {path.name: path.read_bytes() for path in found if names is None or path.name in names}


def test_a_clear_winner_is_certified_from_a_part_of_the_matches_and_verified_from_the_journal(
    tutors, tmp_path, capsys
):
    config, run = write_config(tmp_path / "c.toml", tutors, goal="best"), tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) == 0
    goal = json.loads((run / "goal.json").read_bytes())
    assert goal["decided"]
    assert goal["stopped"] == "reached"
    assert goal["result"] == {"winner": "star"}
    assert goal["error"] == 0.05
    assert goal["matches"]["possible"] == 120 * 6
    assert goal["matches"]["used"] < 120 * 6 / 3
    verdicts = read_records(run / "verdicts.jsonl", Verdict)
    assert len(verdicts) == goal["matches"]["used"] == tutors.stats.by_role["judge"]
    assert {name for verdict in verdicts for name in verdict.endpoints} == set(STRENGTH)
    report = (run / "report.md").read_text(encoding="utf-8")
    assert "star is the best." in report
    assert f"{goal['matches']['used']} of 720 possible matches" in report

    board = json.loads((run / "leaderboard.json").read_bytes())
    assert board["stop"] == {"goal": "best", "reached": True, "error": 0.05, "limits": "each"}
    assert {pair["p_value"] for pair in board["pairs"]} == {None}
    assert {pair["decision"] for pair in board["pairs"] if "star" in (pair["a"], pair["b"])} == {"a"}
    assert "Judging ended when the goal was reached" in report
    assert "jackknife" not in report

    first, calls = files_of(run), tutors.stats.calls
    assert main(["run", str(config), "--run", str(run)]) == 0
    assert files_of(run) == first
    capsys.readouterr()
    assert main(["verify", "--run", str(run), "--json"]) == 0
    compared = {row["file"]: row["same"] for row in json.loads(capsys.readouterr().out)["files"]}
    assert set(compared) >= JUDGED
    assert all(compared.values())
    assert tutors.stats.calls == calls


def test_by_batch_a_goal_asks_and_finds_the_same(tutors, tmp_path):
    """Each of its batches of matches is a job of its own, and of the first a trial is asked in real time."""
    config = write_config(tmp_path / "c.toml", tutors, goal="best", batch=64)
    real, batch = tmp_path / "real", tmp_path / "batch"
    assert main(["run", str(config), "--run", str(real)]) == 0
    asked = tutors.stats.by_role["judge"]
    assert main(["run", str(config), "--run", str(batch), "--batch", "--poll-s", "0.05"]) == 0
    assert files_of(batch, JUDGED) == files_of(real, JUDGED)
    tried = tutors.stats.by_role["judge"] - asked
    jobs = [job for job in tutors.batches.jobs.values() if json.loads(job.requests[0].body)["model"] == "judge"]
    sizes = [len(job.requests) for job in jobs]
    assert tried == 30
    assert sizes[0] == 64 - tried
    assert len(sizes) == 3
    assert max(sizes) <= 64
    assert sum(sizes) == asked - tried
    assert main(["verify", "--run", str(batch)]) == 0


def test_neither_concurrency_nor_a_stop_in_the_middle_changes_what_is_asked_and_found(tutors, tmp_path):
    found = []
    for name, concurrency in (("one", 1), ("many", 32)):
        tutors.reset()
        config = write_config(
            tmp_path / f"{name}.toml", tutors, goal="best", concurrency=concurrency, dialogues=40, subsets=60
        )
        assert main(["run", str(config), "--run", str(tmp_path / name)]) == 0
        found.append(files_of(tmp_path / name, JUDGED))
    assert found[0] == found[1]
    judged = tutors.stats.by_role["judge"]

    tutors.reset()
    text = (tmp_path / "many.toml").read_text()
    capped = tmp_path / "capped.toml"
    stages = 40 * 7 + 60 * 4
    capped.write_text(f"{text}\n[budget]\ncalls = {stages + judged // 2}\n")
    run = tmp_path / "stopped"
    assert main(["run", str(capped), "--run", str(run)]) == 3
    assert not (run / "goal.json").exists()
    assert 0 < (run / "verdicts.jsonl").read_bytes().count(b"\n") < judged
    assert main(["run", str(tmp_path / "many.toml"), "--run", str(run)]) == 0
    assert files_of(run, JUDGED) == found[0]
    assert tutors.stats.by_role["judge"] == judged


def test_the_command_line_sets_the_goal_and_a_newcomer_meets_its_nearest(tutors, tmp_path, capsys):
    config = write_config(tmp_path / "c.toml", tutors, dialogues=40, subsets=40)
    run = str(tmp_path / "run")
    for stage in (["simulate"], ["cut"], ["collect"]):
        assert main([*stage, "--config", str(config), "--run", run]) == 0
    place = ["judge", "--config", str(config), "--run", run, "--goal", "place", "good"]
    assert main(place) == 0
    goal = json.loads((tmp_path / "run" / "goal.json").read_bytes())
    assert goal["goal"] == "place"
    assert goal["newcomer"] == "good"
    assert set(goal["board"]) == set(STRENGTH) - {"good"}
    assert goal["matches"]["used"] == goal["newcomer_matches"] + 3 * 40
    assert goal["rank_range"][0] >= 1
    assert main(["judge", "--config", str(config), "--run", run, "--goal", "best"]) == 2
    assert "judge.goal" in capsys.readouterr().err
    assert main(["judge", "--config", str(config), "--run", run, "--goal", "best", "--change"]) == 0
    assert json.loads((tmp_path / "run" / "goal.json").read_bytes())["result"] == {"winner": "star"}
    for goal, says in (("place good", "possible places"), ("ranking", "shown by"), ("all", "")):
        words = ["--goal", *goal.split(), "--change"]
        assert main(["judge", "--config", str(config), "--run", run, *words]) == 0
        assert main(["rate", "--run", run]) == 0
        assert main(["report", "--run", run]) == 0
        assert says in (tmp_path / "run" / "report.md").read_text(encoding="utf-8").lower()
    assert not (tmp_path / "run" / "goal.json").exists()


def test_two_equal_tutors_are_not_told_apart_and_the_interval_says_so(tutors, tmp_path, monkeypatch):
    monkeypatch.setitem(STRENGTH, "fair", 2.0)
    config = write_config(
        tmp_path / "c.toml", tutors, ("fair", "good"), dialogues=30, subsets=60, goal="decide", error=0.01
    )
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 0
    goal = json.loads((tmp_path / "run" / "goal.json").read_bytes())
    assert goal["stopped"] == "matches ran out"
    assert goal["result"] is None
    assert not goal["decided"]
    assert goal["matches"] == {"used": 60, "valid": 60, "possible": 60}
    rate = goal["win_rate"]
    assert rate["lower"] <= 0.5 <= rate["upper"]
    assert rate["dialogues"] == 30


@pytest.mark.parametrize(
    ("judge", "says"),
    [
        ({"goal": "place"}, "newcomer"),
        ({"goal": "place", "newcomer": "nobody"}, "nobody"),
        ({"goal": "decide"}, "two endpoints"),
        ({"goal": "best", "newcomer": "good"}, "newcomer"),
        ({"goal": "best", "width_elo": 20}, "width_elo"),
        ({"goal": "best", "error": 1.5}, "error"),
        ({"error": 0.1}, "judge.error"),
        ({"goal": "best", "pairs": [["good", "fair"]]}, "pairs"),
        ({"goal": "bset"}, "goal"),
    ],
)
def test_a_goal_that_does_not_fit_is_refused_before_anything_is_called(provider, tmp_path, capsys, judge, says):
    config = write_config(tmp_path / "c.toml", provider, **judge)
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 2
    assert says in capsys.readouterr().err
    assert provider.stats.calls == 0
