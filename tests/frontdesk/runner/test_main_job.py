"""The main job over loopback providers: exact calls, nothing paid twice, the same records whatever the order."""

import json

import pytest

from frontdesk.cli import main
from runstore.publish import read_records
from runstore.records import Dialogue, Judgment, Verdict
from tests.support.small_runs import files_of, timeless, write_config

STAGE_FILES = ("dialogues.jsonl", "subsets.jsonl", "replies.jsonl", "judgments.jsonl", "verdicts.jsonl")


def test_a_hundred_dialogues_cost_exactly_their_calls_and_nothing_the_second_time(provider, tmp_path, capsys):
    config = write_config(tmp_path / "c.toml", provider)
    run = tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) == 0
    assert provider.stats.by_role == {"student": 300, "teacher": 400 + 400, "judge": 600}
    assert provider.stats.by_shape == {"gemini": 300 + 400 + 200 + 600, "ureka": 200}
    first = files_of(run)
    for name, rows in zip(STAGE_FILES, (100, 200, 400, 600, 200), strict=True):
        assert first[name].count(b"\n") == rows
    for name in (
        "leaderboard.json",
        "leaderboard.csv",
        "leaderboard.md",
        "report.html",
        "report.md",
        "manifest.json",
    ):
        assert first[name]
    assert first["failures.jsonl"] == b""

    calls = provider.stats.calls
    assert main(["run", str(config), "--run", str(run)]) == 0
    assert provider.stats.calls == calls
    assert files_of(run) == first

    capsys.readouterr()
    assert main(["verify", "--run", str(run), "--json"]) == 0
    compared = {row["file"]: row["same"] for row in json.loads(capsys.readouterr().out)["files"]}
    assert set(STAGE_FILES) | {"report.html", "report.md", "leaderboard.json", "failures.jsonl"} <= set(compared)
    assert all(compared.values())
    assert provider.stats.calls == calls


def test_concurrency_changes_no_record_and_another_seed_changes_the_draws(provider, tmp_path):
    folders = {}
    for name, options in {"one": {"concurrency": 1}, "many": {"concurrency": 64}, "seed": {"seed": 8}}.items():
        config = write_config(tmp_path / f"{name}.toml", provider, dialogues=12, subsets=24, **options)
        folders[name] = tmp_path / name
        assert main(["run", str(config), "--run", str(folders[name])]) == 0
    one, many, other = (timeless(files_of(folders[name])) for name in ("one", "many", "seed"))
    for name in STAGE_FILES:
        assert one[name] == many[name]
        assert one[name] != other[name]


def test_personas_are_used_equally_often_and_crossed_with_subjects(provider, tmp_path):
    config = write_config(tmp_path / "c.toml", provider, dialogues=64, subsets=64)
    assert main(["simulate", "--config", str(config), "--run", str(tmp_path / "run")]) == 0
    dialogues = read_records(tmp_path / "run" / "dialogues.jsonl", Dialogue)
    per_persona = [sum(d.persona == persona for d in dialogues) for persona in {d.persona for d in dialogues}]
    assert per_persona == [2] * 32
    assert len({(d.persona, d.subject) for d in dialogues}) == 64
    subjects = [sum(d.subject == subject for d in dialogues) for subject in {d.subject for d in dialogues}]
    assert max(subjects) - min(subjects) <= 1


def test_slots_letters_and_winners_can_be_checked_by_eye(provider, tmp_path):
    config = write_config(tmp_path / "c.toml", provider, dialogues=10, subsets=20)
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 0
    judgments = read_records(tmp_path / "run" / "judgments.jsonl", Judgment)
    assert {one.letter for one in judgments} == {"a", "b", "c"}
    assert {one.slot_a for one in judgments} == {"ureka", "gemini"}
    for one in judgments:
        winner = {"a": one.slot_a, "b": one.slot_b, "c": None}[one.letter or "c"]
        assert one.winner == winner
    verdicts = read_records(tmp_path / "run" / "verdicts.jsonl", Verdict)
    by_match = {one.subset: one for one in verdicts}
    for subset, verdict in by_match.items():
        winners = [one.winner for one in judgments if one.subset == subset]
        best = max(set(winners), key=winners.count)
        decided = winners.count(best) >= 2
        assert verdict.winner == (best if decided else None)


def test_the_stages_one_by_one_give_the_same_files(provider, tmp_path):
    config = write_config(tmp_path / "c.toml", provider, dialogues=8, subsets=16)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert main(["run", str(config), "--run", str(whole)]) == 0
    for stage in ("simulate", "cut", "collect", "judge", "rate", "report"):
        given = [] if stage == "report" else ["--config", str(config)]
        assert main([stage, *given, "--run", str(parts)]) == 0
    assert files_of(whole).keys() == files_of(parts).keys()
    one, other = timeless(files_of(whole)), timeless(files_of(parts))
    assert [name for name in one if one[name] != other[name]] == []


def test_failures_make_the_run_incomplete_and_are_said_first(provider, tmp_path):
    provider.script = lambda asked, attempt: (
        "auth" if asked.role == "judge" and "photosynthesis" in asked.last else None
    )
    provider.configure(unreadable=0.2)
    config = write_config(tmp_path / "c.toml", provider, dialogues=8, subsets=16)
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 1
    report = (tmp_path / "run" / "report.md").read_text(encoding="utf-8")
    judgments = read_records(tmp_path / "run" / "judgments.jsonl", Judgment)
    unreadable = sum(one.outcome == "unreadable" for one in judgments)
    assert unreadable > 0
    assert str(unreadable) in "\n".join(report.splitlines()[:12])


def test_why_things_failed_is_said_where_the_run_is_watched(provider, tmp_path, capsys):
    provider.script = lambda asked, attempt: "401" if asked.role == "judge" else None
    config = write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=2)
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 1
    assert "judge: 6 x auth, such as: gemini: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("seed = 7", "sede = 7"), "did you mean 'seed'"),
        (("[judge]", "[juge]"), "did you mean 'judge'"),
        (("rounds = 3", "rounds = 0"), "judge.rounds"),
        (("turns = 4", 'turns = "four"'), "simulate.turns"),
        (('endpoints = ["ureka", "gemini"]', 'endpoints = ["ureka", "ureka"]'), "second name"),
        (('endpoints = ["ureka", "gemini"]', 'endpoints = ["ureka", "gemni"]'), "did you mean 'gemini'"),
        (('kind = "gemini"', 'kind = "gemmini"'), "did you mean 'gemini'"),
        (('model = "fake-1"', 'model = "fake-1"\napi_key_env = "NO_SUCH_VARIABLE"'), "NO_SUCH_VARIABLE"),
        (("concurrency = 64", "concurency = 64"), "concurrency"),
        (("[cut]", "[cut"), "TOML"),
    ],
)
def test_a_wrong_configuration_calls_nothing(provider, tmp_path, capsys, change, message):
    config = write_config(tmp_path / "c.toml", provider)
    text = config.read_text()
    assert change[0] in text
    config.write_text(text.replace(*change, 1))
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert "Traceback" not in shown.err
    assert shown.out == ""
    assert provider.stats.calls == 0


def test_a_changed_configuration_does_not_mix_with_what_is_there(provider, tmp_path, capsys):
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=8)
    run = tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) == 0
    calls = provider.stats.calls
    config.write_text(config.read_text().replace("rounds = 3", "rounds = 5"))
    assert main(["run", str(config), "--run", str(run)]) == 2
    assert "judge.rounds: was 3, is now 5" in capsys.readouterr().err
    assert provider.stats.calls == calls
    assert main(["run", str(config), "--run", str(run), "--change"]) == 0
    assert provider.stats.calls == calls + 8 * 2


def test_an_endpoint_can_meet_itself_under_a_second_name(provider, tmp_path):
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=8)
    text = config.read_text()
    again = text[text.index("[endpoints.gemini]") : text.index("[endpoints.ureka]")].replace("gemini]", "control]")
    text = text.replace("[simulate]", f"{again}\n[simulate]").replace(
        '["ureka", "gemini"]', '["gemini", "control"]'
    )
    config.write_text(text)
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 0
    verdicts = read_records(tmp_path / "run" / "verdicts.jsonl", Verdict)
    assert {one.endpoints for one in verdicts} == {("control", "gemini")}
