"""A judge whose replies cannot be read is not paid for all its rounds."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from frontdesk.cli import main
from runstore.journal import read_rows
from runstore.publish import read_records
from runstore.publish import read_rows as read_table_rows
from runstore.records import Judgment
from tests.support import fake_shapes
from tests.support.fake_faults import Reply
from tests.support.fake_provider import FakeProvider
from tests.support.small_runs import write_config
from tests.support.student_runs import write_student_config
from tests.support.student_world import provider_script


def judged(provider) -> int:
    return provider.stats.by_role["judge"]


def test_a_judge_that_is_never_readable_stops_early_and_one_reply_is_shown(provider, tmp_path, capfd):
    provider.configure(unreadable=1.0)
    sizes = {"dialogues": 12, "subsets": 40, "concurrency": 4}
    config = write_config(tmp_path / "c.toml", provider, **sizes)
    run = tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) == 3
    told = capfd.readouterr().err
    assert 30 <= judged(provider) <= 30 + 3 * 4 * 2 < 120
    assert "0 could be read" in told and "it said:" in told and "budget.trial_rounds = 0" in told
    asked = judged(provider)
    assert main(["run", str(config), "--run", str(run)]) == 3
    assert judged(provider) <= asked + 3 * 4 * 2, "what the journal holds fails the trial again, before new calls"
    config = write_config(tmp_path / "c.toml", provider, budget={"trial_rounds": 0}, **sizes)
    assert main(["run", str(config), "--run", str(run)]) in (0, 1)
    assert judged(provider) == 120


def test_a_judge_that_can_mostly_be_read_goes_on(provider, tmp_path):
    provider.configure(unreadable=0.3)
    config = write_config(tmp_path / "c.toml", provider, dialogues=12, subsets=20)
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) in (0, 1)
    assert judged(provider) == 60


def up_to_the_judge(config: Path, run: Path) -> None:
    for stage in ("simulate", "cut", "collect"):
        assert main([stage, str(config), "--run", str(run)]) == 0


def test_before_a_batch_a_tenth_of_the_matches_is_asked_at_the_full_price(provider, tmp_path, capfd):
    provider.configure(unreadable=1.0)
    config = write_config(tmp_path / "c.toml", provider, dialogues=12, subsets=40)
    run = tmp_path / "run"
    up_to_the_judge(config, run)
    assert main(["judge", str(config), "--run", str(run), "--batch", "--poll-s", "0.05"]) == 3
    told = capfd.readouterr().err
    assert "first 12 rounds 0 could be read" in told
    assert (judged(provider), provider.batches.jobs) == (12, {})


@pytest.mark.parametrize("how", [[], ["--batch", "--poll-s", "0.05"]], ids=["real time", "batch"])
def test_each_match_is_told_of_once_and_every_unreadable_round_is_counted(how, provider, tmp_path):
    provider.configure(unreadable=0.25)
    config = write_config(tmp_path / "c.toml", provider, dialogues=12, subsets=20, rounds_mode="decisive")
    run = tmp_path / "run"
    up_to_the_judge(config, run)
    assert main(["judge", str(config), "--run", str(run), *how]) in (0, 1)
    log = [row for _, row in read_table_rows(run / "log.jsonl")]
    told = [(row["subset"], *row["endpoints"]) for row in log if row["event"] == "judged"]
    assert len(told) == len(set(told)) == 20
    unreadable = sum(one.outcome == "unreadable" for one in read_records(run / "judgments.jsonl", Judgment))
    assert unreadable == sum(row["event"] == "unreadable" for row in log) > 0
    ended = [row for row in log if row["event"] == "stage_ended"][-1]
    assert sum(one["unreadable"] for one in ended["endpoints"]) == unreadable


def test_what_fails_ahead_of_a_batch_and_is_answered_by_it_is_heard_of_too(tmp_path):
    asked = Counter()

    def script(request, attempt):
        if request.role != "judge":
            return None
        asked["judge"] += 1
        if asked["judge"] <= 4:
            return Reply(json.dumps(fake_shapes.error(request.shape, 400, "not now")).encode(), 400)
        return Reply(fake_shapes.answer(request, "I would rather not say."))

    with FakeProvider(script=script) as provider:
        budget = {"trial_rounds": 0}
        config = write_config(tmp_path / "c.toml", provider, dialogues=12, subsets=40, rounds=1, budget=budget)
        run = tmp_path / "run"
        up_to_the_judge(config, run)
        config.write_text(config.read_text().replace("trial_rounds = 0", "trial_rounds = 9"))
        assert main(["judge", str(config), "--run", str(run), "--batch", "--poll-s", "0.05"]) in (0, 1)
    log = [row for _, row in read_table_rows(run / "log.jsonl")]
    written = list(read_records(run / "judgments.jsonl", Judgment))
    assert len(written) == 40 == sum(row["event"] == "unreadable" for row in log)


def unreadable_judge(folder: Path, name: str, budget: str = "") -> Path:
    (folder / "replies.jsonl").write_text(json.dumps({"reply": "I would rather not say."}), encoding="utf-8")
    table = f'kind = "scripted"\nconcurrency = 1\nreplies = {json.dumps(str(folder / "replies.jsonl"))}'
    path = folder / "config.toml"
    path.write_text(f"[run]\nname = 'trial'\n[endpoints.{name}]\n{table}\n{budget}", encoding="utf-8")
    return path


def answered(out: Path) -> int:
    return sum(row["state"] == "ok" for row in read_rows(out / "journal"))


def test_sheets_of_a_judge_that_is_never_readable_stop_early_too(tmp_path, capfd):
    rows = [{"id": f"s{n}", "question": f"Why {n}?", "answer": "Which part of it do you see?"} for n in range(50)]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    given = ["--input", str(tmp_path / "in.jsonl"), "--rubric", "qac", "--judge", "mute", "--repeats", "1"]
    given += ["--reask", "0", "--resamples", "0"]
    config = unreadable_judge(tmp_path, "mute")
    assert main(["score", *given, "--config", str(config), "--out", str(tmp_path / "out")]) == 3
    told = capfd.readouterr().err
    assert 30 <= answered(tmp_path / "out") <= 32
    assert "first 30 sheets 0 could be read" in told and "I would rather not say" in told
    config = unreadable_judge(tmp_path, "mute", "[budget]\ntrial_rounds = 0\n")
    assert main(["score", *given, "--config", str(config), "--out", str(tmp_path / "out")]) == 1
    assert answered(tmp_path / "out") == 50
    assert "of 50 sheets unreadable" in capfd.readouterr().err


def test_intent_scores_of_a_judge_that_is_never_readable_stop_early_too(tmp_path, capfd):
    rows = ["Query ID,질의,기대결과,카테고리,방/반복,응답,LLM 점수,Raw JSON"]
    rows += [f"Q{n},질의 {n},/menu?dataKey=K_{n},카드,R1,응답 {n} 입니다,," for n in range(45)]
    table = tmp_path / "runs.csv"
    table.write_text("\n".join(rows), encoding="utf-8")
    config, out = unreadable_judge(tmp_path, "mute"), tmp_path / "out"
    given = ["agent-runs", str(table), "--out", str(out), "--judge", "mute", "--config", str(config)]
    assert main(given) == 3
    told = capfd.readouterr().err
    assert 30 <= answered(out) <= 32
    assert "first 30 scores 0 could be read" in told and "budget.trial_rounds = 0" in told


READ_IN_STAGES = pytest.mark.parametrize(
    ("asked_for", "who", "section"),
    [
        ("labels", "moves", {}),
        ("support", "judge", {"quiz": "judge", "labellers": ["phrases"]}),
        ("act", "judge", {}),
    ],
    ids=["labels", "quiz", "acts"],
)
BATCH = ["--batch", "--poll-s", "0.05"]
either_way = pytest.mark.parametrize("how", [[], BATCH], ids=["real time", "batch"])


@either_way
@READ_IN_STAGES
def test_whoever_is_to_be_read_in_any_stage_is_on_trial(asked_for, who, section, how, tmp_path, capfd):
    world = provider_script()
    asked = Counter()

    def script(request, attempt):
        if request.schema is None or asked_for not in request.schema["properties"]:
            return world(request, attempt)
        asked["unread"] += 1
        return Reply(fake_shapes.answer(request, "I would rather not say."))

    with FakeProvider(script=script) as provider:
        config = write_student_config(
            tmp_path / "c.toml",
            provider,
            ("good", "fair"),
            panel=5,
            dialogues=12,
            endpoint={"concurrency": 2},
            **section,
        )
        if asked_for == "act":
            text = config.read_text().replace('acts = "knowledge"\n', "")
            config.write_text(text.replace("[simulate]\n", '[simulate]\nacts = "planned"\nact_reader = "judge"\n'))
        with config.open("a") as file:
            file.write("\n[budget]\ntrial_rounds = 12\n")
        assert main(["run", str(config), "--run", str(tmp_path / "run"), *how]) == 3
    told = capfd.readouterr().err
    first = re.search(rf"of {who}'s first (\d+) answers 0 could be read", told)
    assert first is not None and "I would rather not say." in told
    least = 12 if not how else 1  # before a batch, a tenth of the work decides
    assert least <= int(first[1]) <= asked["unread"] <= 40
    if how:
        assert asked["unread"] <= int(first[1]) + 4, "but for those in flight, none was bought in a batch"
    log = [row for _, row in read_table_rows(tmp_path / "run" / "log.jsonl")]
    assert {row["judge"] for row in log if row["event"] == "unreadable"} == {who}


def test_every_answer_that_cannot_be_read_is_told_of_once_by_batch_too(tmp_path):
    world = provider_script()

    def script(request, attempt):
        is_label = request.schema is not None and "labels" in request.schema["properties"]
        if is_label and request.key[0] % 4 == 0:
            return Reply(fake_shapes.answer(request, "I would rather not say."))
        return world(request, attempt)

    found = []
    with FakeProvider(script=script) as provider:
        config = write_student_config(tmp_path / "c.toml", provider, ("good", "fair"), panel=5, dialogues=6)
        for name, how in (("real", []), ("batch", BATCH)):
            run = tmp_path / name
            assert main(["run", str(config), "--run", str(run), *how]) == 1
            log = [row for _, row in read_table_rows(run / "log.jsonl")]
            told = Counter((row["judge"], row["item"]) for row in log if row["event"] == "unreadable")
            ended = next(row for row in log if row["event"] == "stage_ended" and row["stage"] == "student")
            found.append((told, {one["endpoint"]: one["unreadable"] for one in ended["endpoints"]}))
    assert found[0] == found[1]
    assert found[0][0].total() == found[0][1]["moves"] > 0
