"""The student's side as a stage: the panel, verdicts, names and files; and whole runs against a provider."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from frontdesk.cli import main
from frontdesk.runner import config_file as configuration
from frontdesk.runner import plan
from knowledge import Learning, load_learning
from runstore.publish import read_json, read_records, write_jsonl
from runstore.student_records import Node, StudentVerdict
from tests.support.fake_faults import Reply
from tests.support.fake_provider import FakeProvider
from tests.support.fake_shapes import Asked
from tests.support.fake_shapes import answer as answer_of
from tests.support.small_runs import counts, files_of, finished_twice, start
from tests.support.student_runs import (
    by_arm,
    config_of,
    replies_of,
    reply,
    rows_of,
    run_stage,
    write_student_config,
)
from tests.support.student_world import World, provider_script, subsets

RULES = load_learning()


def test_a_leak_wins_recall_and_nothing_else(tmp_path: Path) -> None:
    tutors, cut = ("good", "leak", "silent"), subsets(60, 2)
    side = run_stage(tmp_path, config_of(tutors, panel=120), cut, replies_of(tutors, cut))
    assert side.panel.passed, [row for row in side.panel.gates if not row.passed]
    arms = {arm.name: arm for arm in side.arms}
    assert max(arms.values(), key=lambda arm: arm.recall or 0).name == "leak"
    assert (arms["leak"].recall or 0) - (arms["silent"].recall or 0) > 0.1
    assert abs((arms["leak"].transfer or 0) - (arms["silent"].transfer or 0)) < 0.02
    assert arms["leak"].leaks == 1.0
    assert side.leaderboard is not None
    assert side.leaderboard.models[0].name == "good"


def test_in_korean_the_panel_admits_and_the_order_is_the_same(tmp_path: Path) -> None:
    tutors, cut = ("good", "leak", "silent"), subsets(28, 1, language="ko")
    side = run_stage(
        tmp_path, config_of(tutors, panel=80, language="ko"), cut, replies_of(tutors, cut, "ko"), world=World("ko")
    )
    assert side.panel.passed, [row for row in side.panel.gates if not row.passed]
    arms = {arm.name: arm for arm in side.arms}
    assert (arms["good"].transfer or 0) > (arms["leak"].transfer or 0) + 0.02
    assert (arms["leak"].recall or 0) > (arms["silent"].recall or 0) + 0.1
    assert side.leaderboard is not None
    assert side.leaderboard.models[0].name == "good"


def test_tutors_who_do_nothing_are_the_same_to_the_last_digit(tmp_path: Path) -> None:
    tutors, cut = ("silent-one", "silent-two"), subsets(12, 2)
    side = run_stage(tmp_path, config_of(tutors), cut, replies_of(tutors, cut))
    decided = read_records(tmp_path / "student_verdicts.jsonl", StudentVerdict)
    assert {one.delta for one in decided} == {0.0}
    assert {one.outcome for one in decided} == {"tie"}
    roots = {node.subset: node for node in read_records(tmp_path / "rollouts.jsonl", Node) if node.arm == ""}
    credit = {(row["leaf"], row["item"]): row["p"] for row in rows_of(tmp_path, "quiz.jsonl")}
    for one in decided:
        for leaf in (*one.leaves[0], *one.leaves[1]):
            items = {item: p for (node, item), p in credit.items() if node == leaf}
            assert items == {item: p for (node, item), p in credit.items() if node == roots[one.subset].id}
    assert side.counts.verdicts == len(cut)


def learning(**moves: Any) -> Learning:
    """The declared rules with other moves for those who hold something else."""
    data = RULES.model_dump()
    for state, changed in moves.items():
        data["moves"][state] = {**data["moves"][state], **changed}
    return Learning.model_validate(data)


TOLD = {"tell": {"understood": 0.5}}
NOTHING: dict[str, Any] = {move: {} for move in ("contrast", "hint", "ask", "tell", "wrong")}
FLIPS = {
    move: {"understood": 0.5} for move in ("contrast", "hint", "ask", "tell", "wrong", "mention")
}  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "gates"),
    [
        (learning(absent=TOLD, misconceived=TOLD), {"lecture_transfer"}),
        (learning(absent=NOTHING, misconceived=NOTHING, told=NOTHING),
         {"contrast", "leak_recall", "wrong_misconceptions"}),
        (learning(absent=FLIPS, misconceived=FLIPS), {"wrong"}),
    ],
    ids=["learns from being told", "dead", "flips on anything"],
)  # fmt: skip
def test_a_student_that_would_reward_the_wrong_thing_is_refused(
    tmp_path: Path, rules: Learning, gates: set[str]
) -> None:
    tutors, cut = ("good", "fair"), subsets(14, 1)
    side = run_stage(tmp_path, config_of(tutors), cut, replies_of(tutors, cut), learning=rules)
    failed = {row.gate for row in side.panel.gates if not row.passed}
    assert not side.panel.passed
    assert all(any(name.startswith(gate) for name in failed) for gate in gates), failed
    assert side.counts.invalid == side.counts.verdicts == len(cut)
    assert side.order is None


def test_labels_at_chance_give_no_verdict(tmp_path: Path) -> None:
    """A labeller that reads moves by lot: the panel fails by name."""
    drawn = iter(range(10**6))

    def by_lot(prompt: str) -> str:
        move = ("tell", "hint", "wrong", "ask")[next(drawn) % 4]
        words = " ".join(prompt.rsplit("==\n", 2)[-2].split()[:3])
        label = {"component": component(prompt), "move": move, "target": None, "quote": words}
        return json.dumps({"labels": [label]})

    def component(prompt: str) -> str:
        names = [
            line[2:].partition(":")[0] for line in prompt.split("\n") if line.startswith("- ") and "," not in line
        ]
        known = [name for name in names if " " not in name]
        return known[next(drawn) % len(known)]

    tutors, cut = ("good", "fair"), subsets(14, 1)
    config = config_of(tutors, labellers=["moves"])
    side = run_stage(tmp_path, config, cut, replies_of(tutors, cut), world=World(labels=by_lot))
    assert not side.panel.passed
    assert "labels" in {row.gate for row in side.panel.gates if not row.passed}
    found = side.differences[0].by_dialogue
    assert (found.lower or 0) <= 0 <= (found.upper or 0)
    assert {one.outcome for one in read_records(tmp_path / "student_verdicts.jsonl", StudentVerdict)} == {
        "invalid"
    }


def test_a_reply_that_was_cut_or_never_came_makes_the_verdict_invalid(tmp_path: Path) -> None:
    tutors, cut = ("good", "fair"), subsets(14, 1)
    replies = replies_of(tutors, cut)
    cut_off = reply("good", cut[0], "Think of", "length")
    kept = [one for one in replies if (one.subset, one.endpoint) not in {(cut[0].id, "good"), (cut[1].id, "fair")}]
    side = run_stage(tmp_path, config_of(tutors), cut, [cut_off, *kept])
    decided = {one.subset: one for one in read_records(tmp_path / "student_verdicts.jsonl", StudentVerdict)}
    assert {name for name, one in decided.items() if one.outcome == "invalid"} == {cut[0].id, cut[1].id}
    assert (decided[cut[0].id].delta, decided[cut[0].id].reason) == (None, "a branch of good did not end")
    assert (side.counts.branches, side.counts.branches_asked) == (26, 28)
    assert side.differences[0].subsets == 12


def test_a_win_by_giving_the_answer_away_is_capped_at_a_tie(tmp_path: Path) -> None:
    """The tutor states the answer, and then asks what makes the student understand what was asked for."""
    cut = subsets(20, 1, questions=["dijkstra-negative-edges"])
    tutors = ("good", "silent")
    replies = [one for one in replies_of(tutors, cut) if one.endpoint == "silent"]
    known = World().by_question["dijkstra-negative-edges"].scripts
    text = f"{known.leak.text} {known.contrast['monotone']} {known.contrast['shift']}"
    side = run_stage(
        tmp_path, config_of(tutors, panel=120), cut, [*replies, *(reply("good", one, text) for one in cut)]
    )
    decided = read_records(tmp_path / "student_verdicts.jsonl", StudentVerdict)
    capped = [one for one in decided if one.capped]
    assert capped
    assert all((one.outcome, one.winner) == ("tie", None) for one in capped)
    assert all(one.winner != "good" for one in decided)
    assert side.counts.capped == len(capped)


@pytest.mark.parametrize(
    "tutors", [("good", "fair", "lecturer"), ("fair", "good")], ids=["a third", "another order"]
)
def test_other_tutors_change_no_byte_of_a_tutors_branches(tmp_path: Path, tutors: tuple[str, ...]) -> None:
    cut = subsets(6, 2)
    run_stage(tmp_path / "two", config_of(("good", "fair")), cut, replies_of(("good", "fair"), cut))
    run_stage(tmp_path / "other", config_of(tutors), cut, replies_of(tutors, cut))
    before, after = by_arm(tmp_path / "two"), by_arm(tmp_path / "other")
    assert {arm: rows for arm, rows in after.items() if arm in before} == before


def test_more_recall_and_control_items_do_not_move_the_difference(tmp_path: Path) -> None:
    cut, tutors = subsets(10, 2), ("good", "fair")
    plain = run_stage(tmp_path / "a", config_of(tutors), cut, replies_of(tutors, cut))
    import yaml

    from runstore.languages import resource

    folder = tmp_path / "topics"
    folder.mkdir()
    for path in resource("knowledge", "topics").glob("*.yaml"):
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        more = [
            {**item, "id": f"{item['id']}-again"}
            for item in data["items"]
            if item["kind"] in ("recall", "control")
        ]
        (folder / path.name).write_text(
            yaml.safe_dump({**data, "items": [*data["items"], *more]}, allow_unicode=True)
        )
    longer = run_stage(tmp_path / "b", config_of(tutors, topics=str(folder)), cut, replies_of(tutors, cut))
    assert plain.differences[0].by_dialogue == longer.differences[0].by_dialogue


def test_a_draft_topic_gives_no_verdict(tmp_path: Path) -> None:
    import yaml

    from runstore.languages import resource

    folder, tutors = tmp_path / "topics", ("good", "fair")
    folder.mkdir()
    data = yaml.safe_load(resource("knowledge", "topics/http2-head-of-line.yaml").read_text(encoding="utf-8"))
    (folder / "http2-head-of-line.yaml").write_text(
        yaml.safe_dump({**data, "status": "draft"}, allow_unicode=True)
    )
    cut = subsets(6, 1, questions=["http2-head-of-line"])
    config = config_of(tutors, topics=str(folder))
    side = run_stage(tmp_path / "run", config, cut, replies_of(tutors, cut))
    assert (side.counts.with_topic, side.counts.drafts, side.counts.verdicts) == (0, 6, 0)
    assert not side.panel.passed


def test_the_plan_counts_the_calls_and_the_provider_sees_so_many(tmp_path: Path) -> None:
    with FakeProvider(script=provider_script()) as provider:
        path = write_student_config(
            tmp_path / "c.toml", provider, ("good", "lecturer", "fair"), subsets=12, panel=20
        )
        config = configuration.load(path)
        asked = sum(part.calls for part in plan.workload(config).calls)
        assert main(["run", str(path), "--run", str(tmp_path / "run")]) in (0, 1)
        assert provider.stats.calls == asked
        formula = {part.role: 0 for part in plan.workload(config).calls}
        for part in plan.workload(config).calls:
            if part.stage == "student":
                formula[part.role] += part.calls
        assert formula["student"] == 36 * 4
        assert formula["teacher"] == 36 * 2
        assert formula["labeller"] == 36 * 3 + 20 * (4 * 3 + 2)
        before = files_of(tmp_path / "run")
        assert main(["verify", "--run", str(tmp_path / "run")]) == 0
        assert main(["student", str(tmp_path / "run")]) in (0, 1)
        assert provider.stats.calls == asked
        assert files_of(tmp_path / "run") == before
        assert read_json(tmp_path / "run" / "student.json")["counts"]["branches"] == 36


@pytest.mark.parametrize(
    ("judges", "named", "readers"),
    [
        (["judge", "second"], {}, ["judge"]),
        (["tiny", "second"], {}, ["second"]),
        (["played", "second"], {}, ["second"]),
        (["played"], {}, []),
        (["tiny"], {}, []),
        ([], {}, []),
        (["judge"], {"labellers": ["moves", "phrases"]}, ["moves"]),
        (["judge"], {"labellers": ["phrases"]}, []),
    ],
)
def test_the_first_judge_that_can_reads_the_moves_where_nobody_is_named(
    judges: list[str], named: dict[str, Any], readers: list[str]
) -> None:
    names = ("student", "teacher", "moves", "judge", "second", "one", "two")
    unable = {"tiny": {"kind": "local"}, "played": {"kind": "scripted", "replies": "judge.jsonl"}}
    tables: dict[str, Any] = {
        "endpoints": {**{name: {"kind": "openai", "model": name} for name in names}, **unable},
        "simulate": {"student": "student", "teacher": "teacher", "acts": "knowledge"},
        "collect": {"endpoints": ["one", "two"]},
        "student": named,
        **({"judge": {"endpoints": judges}} if judges else {}),
    }
    config = configuration.parse(tables)
    assert config.readers == readers
    assert config.simulating() == ["student", "teacher", *readers]
    asked = {(part.stage, part.endpoint) for part in plan.workload(config).calls if part.role == "labeller"}
    assert asked == {(stage, name) for name in readers for stage in ("simulate", "student")}


def test_simulate_alone_asks_who_reads_the_moves(tmp_path: Path) -> None:
    with FakeProvider(script=provider_script()) as provider:
        path = write_student_config(tmp_path / "c.toml", provider, ("good", "fair"), dialogues=2, subsets=2)
        path.write_text(path.read_text().replace("[simulate]\n", '[simulate]\nacts = "knowledge"\n'))
        assert main(["simulate", "--config", str(path), "--run", str(tmp_path / "run")]) == 0
        asked = plan.workload(configuration.load(path)).calls
        assert provider.stats.calls == sum(part.calls for part in asked if part.stage == "simulate")


def test_tutors_who_say_the_same_share_their_students(tmp_path: Path) -> None:
    usual = provider_script()

    def script(asked: Asked, attempt: int) -> Reply | None:
        is_tutor = asked.role == "teacher" and asked.model in ("good", "fair")
        return Reply(answer_of(asked, "What do you think about that?")) if is_tutor else usual(asked, attempt)

    with FakeProvider(script=script) as provider:
        path = write_student_config(
            tmp_path / "c.toml", provider, ("good", "fair"), dialogues=4, subsets=4, panel=5, branches=[2]
        )
        formula = sum(part.calls for part in plan.workload(configuration.load(path)).calls)
        assert main(["run", str(path), "--run", str(tmp_path / "run")]) in (0, 1)
    # Of each subset's two branches, the second's label and two utterances were paid for already.
    assert provider.stats.calls == formula - 4 * (1 + 2)
    decided = read_records(tmp_path / "run" / "student_verdicts.jsonl", StudentVerdict)
    assert len(decided) == 4
    said = [
        [
            (node.subset, node.path, node.speaker, node.text, node.state)
            for node in read_records(tmp_path / "run" / "rollouts.jsonl", Node)
            if node.arm == arm
        ]
        for arm in ("good", "fair")
    ]
    assert said[0] == said[1] != []


def test_a_killed_run_goes_on_and_pays_nothing_twice(tmp_path: Path) -> None:
    with FakeProvider(script=provider_script(), latency_ms=2) as provider:
        path = write_student_config(tmp_path / "c.toml", provider, ("good", "fair"), subsets=8, panel=10)
        planned = [part.calls for part in plan.workload(configuration.load(path)).calls if part.stage != "student"]
        run = tmp_path / "run"
        process = start("run", path, "--run", run)
        while provider.stats.calls < sum(planned) + 40 and process.poll() is None:
            pass
        process.kill()
        process.communicate()
        assert not (run / "student.json").is_file()
        resumed = start("run", path, "--run", run)
        resumed.communicate()
        assert resumed.returncode in (0, 1)
        assert finished_twice(run) == []
        answered, lost = counts(run)
        assert answered == sum(part.calls for part in plan.workload(configuration.load(path)).calls)
        assert provider.stats.answered - answered <= lost


@pytest.mark.parametrize(
    ("rules", "labels", "gate"),
    [
        (None, '{"labels": []}', "contrast_transfer"),
        (learning(absent=NOTHING, misconceived=NOTHING, told=NOTHING), None, "contrast_transfer"),
        (learning(absent=FLIPS, misconceived=FLIPS), None, "wrong_transfer"),
    ],
    ids=["labels nothing", "dead", "flips on anything"],
)
def test_a_run_whose_student_is_refused_ends_with_1_and_shows_the_panel(
    rules: Learning | None, labels: str | None, gate: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more: dict[str, Any] = {}
    if rules is not None:
        more["learning"] = str(tmp_path / "rules.yaml")
        (tmp_path / "rules.yaml").write_text(json.dumps(rules.model_dump(exclude={"hash"})), encoding="utf-8")
    script = provider_script(labels=(lambda prompt: labels) if labels is not None else None)
    with FakeProvider(script=script) as provider:
        path = write_student_config(
            tmp_path / "c.toml", provider, ("good", "fair"), dialogues=6, subsets=6, panel=10, **more
        )
        assert main(["run", str(path), "--run", str(tmp_path / "run")]) == 1
        capsys.readouterr()
        assert main(["student", str(tmp_path / "run")]) == 1
    shown = capsys.readouterr().out
    assert "No verdicts: the panel was not passed" in shown
    assert f"{gate.partition('_')[0]}: transfer" in shown
    failed = [
        row["gate"] for row in read_json(tmp_path / "run" / "student.json")["panel"]["gates"] if not row["passed"]
    ]
    assert gate in failed
    report = (tmp_path / "run" / "report.md").read_text(encoding="utf-8")
    assert "NOT PASSED" in report


def test_the_claim_never_says_that_people_learn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeProvider(script=provider_script()) as provider:
        path = write_student_config(
            tmp_path / "c.toml", provider, ("good", "silent"), dialogues=8, subsets=16, panel=40
        )
        code = main(["run", str(path), "--run", str(tmp_path / "run")])
        capsys.readouterr()
        main(["student", str(tmp_path / "run")])
    shown = " ".join(capsys.readouterr().out.split())
    assert code == 0, shown
    assert "Under the learning rules" in shown
    assert "This is not evidence about people" in shown


def test_a_refresh_pays_for_the_new_tutors_branches_alone(tmp_path: Path) -> None:
    import tutor_arena as ta

    with FakeProvider(script=provider_script()) as provider:
        tutors, run = ("good", "silent", "fair"), tmp_path / "run"
        path = write_student_config(
            tmp_path / "c.toml", provider, tutors, collected=tutors[:2], subsets=6, panel=10
        )
        main(["run", str(path), "--run", str(run)])
        before, paid = by_arm(run), provider.stats.calls
        assert main(["refresh", "--run", str(run), "--add", "fair", "--config", str(path)]) in (0, 1)
        # Six replies and their branches of 4 + 2 + 3 calls, and the two new matches of each subset.
        assert provider.stats.calls - paid == 6 + 6 * 9 + 12
    after = by_arm(run)
    assert {arm: after[arm] for arm in before} == before
    assert "fair" in after
    opened = ta.open_run(run)
    assert {one.endpoints for one in opened.student_verdicts} == {
        ("fair", "good"), ("fair", "silent"), ("good", "silent"),
    }  # fmt: skip
    assert opened.student.counts.branches_asked == 18
    assert {node.arm for node in opened.rollouts} == set(after)
    assert {label.labeller for label in opened.labels} == {"moves"}


def test_runs_under_other_rules_are_held_against_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tutors, cut = ("good", "lecturer", "silent"), subsets(40, 1)
    told = learning(absent={"tell": {"understood": 0.9}}, misconceived={"tell": {"understood": 0.9}})
    for name, rules in (("declared", RULES), ("told", told)):
        config, folder = config_of(tutors), tmp_path / name
        run_stage(folder, config, cut, replies_of(tutors, cut), learning=rules)
        (folder / "run.toml").write_text(configuration.to_toml(config), encoding="utf-8")
        write_jsonl(folder / "subsets.jsonl", cut)
    out = tmp_path / "found.json"
    code = main(["sensitivity", str(tmp_path / "declared"), str(tmp_path / "told"), "--out", str(out)])
    shown = " ".join(capsys.readouterr().out.split())
    assert code == 0
    assert read_json(out)["verdict"] in ("reversed", "depends")
    assert "tutor x simulator" in shown
    assert main(["sensitivity", str(tmp_path / "declared")]) == 2
