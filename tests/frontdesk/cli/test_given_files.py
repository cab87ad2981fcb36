"""Stages on files that users bring: read leniently, never mixed with a run's own, and verified like the rest."""

import json

import pytest

from frontdesk.cli import main
from runstore.publish import read_records, read_rows
from runstore.records import Reply, Subset, Verdict
from tests.support.small_runs import files_of, write_config

HISTORY = [
    {"role": "student", "text": "Why is quicksort fast?"},
    {"role": "teacher", "text": "What does a partition cost?"},
    {"role": "student", "text": "n?"},
]


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def config(provider, tmp_path):
    return write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=6)


@pytest.fixture
def subsets(tmp_path):
    rows = [{"id": f"mine-{n}", "dialogue": f"talk-{n % 2}", "cut": 3, "history": HISTORY} for n in range(4)]
    return write_lines(tmp_path / "subsets.jsonl", rows)


def test_subsets_and_replies_need_only_what_the_stages_use(provider, config, subsets, tmp_path):
    run, replies, verdicts = tmp_path / "run", tmp_path / "replies.jsonl", tmp_path / "verdicts.jsonl"
    given = ["--config", str(config), "--run", str(run)]
    assert main(["collect", *given, "--input", str(subsets), "--output", str(replies)]) == 0
    assert [one.dialogue for one in read_records(replies, Reply)] == [
        f"talk-{n % 2}" for n in range(4) for _ in "ab"
    ]

    kept = ("subset", "endpoint", "text")
    plain = write_lines(
        tmp_path / "plain.jsonl", [{key: row[key] for key in kept} for _, row in read_rows(replies)]
    )
    other = ["--config", str(config), "--run", str(tmp_path / "other")]
    calls = provider.stats.calls
    given = [*other, "--subsets", str(subsets), "--input", str(plain), "--output", str(verdicts)]
    assert main(["judge", *given]) == 0
    assert provider.stats.calls == calls + 4 * 3
    assert {one.subset for one in read_records(verdicts, Verdict)} == {f"mine-{n}" for n in range(4)}


def test_a_run_over_files_that_were_brought_can_be_verified(config, subsets, tmp_path, capsys):
    first, run = tmp_path / "first", tmp_path / "run"
    replies = tmp_path / "replies.jsonl"
    assert (
        main(
            [
                "collect",
                "--config",
                str(config),
                "--run",
                str(first),
                "--input",
                str(subsets),
                "--output",
                str(replies),
            ]
        )
        == 0
    )
    given = ["--subsets", str(subsets), "--input", str(replies)]
    assert main(["judge", "--config", str(config), "--run", str(run), *given]) == 0
    assert main(["rate", "--run", str(run)]) == 0
    assert main(["report", "--run", str(run)]) == 0
    capsys.readouterr()
    assert main(["verify", "--run", str(run)]) == 0
    assert "replies.jsonl" in capsys.readouterr().out

    text = (run / "replies.jsonl").read_text(encoding="utf-8")
    (run / "replies.jsonl").write_text(text.replace('"text":"', '"text":"Changed. ', 1), encoding="utf-8")
    assert main(["verify", "--run", str(run)]) == 1
    assert "DIFFERENT  manifest.json" in capsys.readouterr().out


def test_a_finished_run_is_not_overwritten_by_a_file(provider, config, subsets, tmp_path, capsys):
    run = tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) == 0
    before, calls = files_of(run), provider.stats.calls
    given = ["--config", str(config), "--run", str(run), "--input", str(subsets)]
    assert main(["collect", *given]) == 2
    assert "holds other subsets than were given" in capsys.readouterr().err
    assert files_of(run) == before
    assert provider.stats.calls == calls

    own = ["--config", str(config), "--run", str(run), "--input", str(run / "subsets.jsonl")]
    assert main(["collect", *own]) == 0
    assert main(["collect", *given, "--change"]) == 0
    assert [one.id for one in read_records(run / "subsets.jsonl", Subset)] == [f"mine-{n}" for n in range(4)]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [{"id": "s", "history": HISTORY[:2]}],
            "subsets.jsonl:1: history: expected a last utterance of the student",
        ),
        (
            [{"id": "s", "history": []}],
            "found 1, all skipped (no utterances, line 1), expected a row that can be used",
        ),
        ([{"id": "s"}], "found none, expected a list of utterances"),
        ([{"id": "s", "history": HISTORY}] * 2, "subsets.jsonl:2: id: found s, expected an id of its own"),
        ([{"id": "s", "history": [{"role": "pupil", "text": "?"}]}], "subsets.jsonl:1"),
    ],
)
def test_a_wrong_subset_is_named_with_its_line(provider, config, tmp_path, capsys, rows, message):
    source = write_lines(tmp_path / "subsets.jsonl", rows)
    given = ["--config", str(config), "--run", str(tmp_path / "run"), "--input", str(source)]
    assert main(["collect", *given]) == 2
    assert message in capsys.readouterr().err
    assert provider.stats.calls == 0
    assert not (tmp_path / "run").exists()


def test_replies_must_belong_to_a_subset_and_come_once(provider, config, subsets, tmp_path, capsys):
    reply = {"subset": "mine-0", "endpoint": "gemini", "text": "Think."}
    given = ["--config", str(config), "--run", str(tmp_path / "run"), "--subsets", str(subsets), "--input"]
    for rows, message in (
        ([{**reply, "subset": "other"}], "subset: found other, expected the id of a subset"),
        ([reply, reply], "replies.jsonl:2: found gemini, expected one reply an endpoint to a subset"),
    ):
        source = write_lines(tmp_path / "replies.jsonl", rows)
        assert main(["judge", *given, str(source)]) == 2
        assert message in capsys.readouterr().err
    assert provider.stats.calls == 0


def test_judging_before_there_is_anything_says_what_is_missing(config, tmp_path, capsys):
    assert main(["judge", "--config", str(config), "--run", str(tmp_path / "run")]) == 2
    assert "has no subsets yet" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_questions_of_ones_own_are_asked(config, tmp_path):
    source = tmp_path / "questions.txt"
    source.write_text("Why does a B-tree stay flat?\nWhat does a page fault cost?\n", encoding="utf-8")
    run = tmp_path / "run"
    assert main(["simulate", "--config", str(config), "--run", str(run), "--input", str(source)]) == 0
    openings = {row["utterances"][0]["text"] for _, row in read_rows(run / "dialogues.jsonl")}
    assert openings == {"Why does a B-tree stay flat?", "What does a page fault cost?"}


def test_fewer_subsets_than_asked_for_is_said_and_no_success(tmp_path, capsys):
    row = {"utterances": [*HISTORY, {"role": "teacher", "text": "Yes."}]}
    source = write_lines(tmp_path / "dialogues.jsonl", [row, {**row, "complete": False}])
    out = tmp_path / "out.jsonl"
    assert main(["cut", "--input", str(source), "--output", str(out), "--subsets", "5"]) == 1
    assert "2 of 5 subsets, from 1 of 2 dialogues" in capsys.readouterr().err
    assert main(["cut", "--input", str(source), "--output", str(out), "--subsets", "2"]) == 0
    assert main(["cut", "--input", str(source), "--output", str(out), "--subsets", "0"]) == 2


def test_a_stage_file_that_is_gone_is_a_difference(config, tmp_path, capsys):
    run = tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) == 0
    (run / "judgments.jsonl").unlink()
    capsys.readouterr()
    assert main(["verify", "--run", str(run)]) == 1
    assert "missing    judgments.jsonl" in capsys.readouterr().out


def test_dialogues_that_nobody_can_be_asked_about_are_skipped_and_named(tmp_path, capsys):
    said = {"id": "whole", "utterances": [*HISTORY[:1], {"role": "student", "text": "Anyone?"}, HISTORY[1]]}
    odd = [
        {"id": "none", "utterances": []},
        {"id": "taught", "utterances": HISTORY[1:2]},
        {"id": "blank", "utterances": [*HISTORY[:2], {"role": "student", "text": " \u200b"}]},
    ]
    source, cuts = write_lines(tmp_path / "own.jsonl", [said, *odd]), tmp_path / "cuts.jsonl"
    assert main(["cut", "--input", str(source), "--output", str(cuts), "--subsets", "1"]) == 0
    told = capsys.readouterr().err
    for line, reason in ((2, "no utterances"), (3, "no utterance of the student's"), (4, "a blank utterance")):
        assert f"own.jsonl:{line}: skipped: {reason}" in told
    assert "own.jsonl: 3 of 4 rows skipped" in told
    (subset,) = read_records(cuts, Subset)
    assert [each.text for each in subset.history] == ["Why is quicksort fast?", "Anyone?"]
    assert subset.depth == 1


def test_two_spellings_of_a_name_in_one_file_are_refused(provider, config, tmp_path, capsys):
    rows = [{"id": name, "history": HISTORY} for name in ("caf\u00e9", "cafe\u0301")]
    source = write_lines(tmp_path / "subsets.jsonl", rows)
    given = ["--config", str(config), "--run", str(tmp_path / "run"), "--input", str(source)]
    assert main(["collect", *given]) == 2
    assert "one spelling of each name" in capsys.readouterr().err


def test_speakers_take_turns_on_the_wire_and_stay_apart_in_the_record(provider, config, tmp_path, capsys):
    said = [
        {"role": "teacher", "text": "Welcome!"},
        HISTORY[0],
        {"role": "student", "text": "Anyone?"},
        HISTORY[1],
        {"role": "teacher", "text": "Well?"},
        {"role": "student", "text": "Halving?"},
    ]
    source = write_lines(tmp_path / "subsets.jsonl", [{"id": "odd", "history": said}])
    run = tmp_path / "run"
    assert main(["collect", "--config", str(config), "--run", str(run), "--input", str(source)]) == 0
    assert "from the student's first utterance on (1 began with the teacher)" in capsys.readouterr().err
    (subset,) = read_records(run / "subsets.jsonl", Subset)
    assert (subset.first, subset.cut, subset.depth) == (1, 6, 2)
    assert [each.text for each in subset.history] == [each["text"] for each in said[1:]]
    (asked,) = [request.body["contents"] for request in provider.requests if request.shape == "gemini"]
    assert [each["role"] for each in asked] == ["user", "model", "user"]
    assert asked[0]["parts"] == [{"text": f"{HISTORY[0]['text']}\n\nAnyone?"}]


def test_two_dialogues_of_one_id_are_refused(tmp_path, capsys):
    rows = [{"id": "same", "utterances": HISTORY}, {"id": "same", "utterances": HISTORY[:1]}]
    source = write_lines(tmp_path / "own.jsonl", rows)
    assert main(["cut", "--input", str(source), "--output", str(tmp_path / "cuts.jsonl")]) == 2
    assert "own.jsonl:2: id: found same again (first on line 1)" in capsys.readouterr().err
