"""Exports of real and of hand-made runs: what is in them, what is not, and that parts never share a dialogue."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from frontdesk.cli import main
from frontdesk.export.write import How, export
from frontdesk.runner.runfolder import RunFolder
from runstore.problems import Problem
from runstore.publish import read_records, write_jsonl
from runstore.records import Dialogue, Utterance
from tests.support.fake_provider import FakeProvider
from tests.support.run_folders import RunBuilder
from tests.support.small_runs import write_config

HOSTILE = '---\n# title\n|a|b| <script>alert(1)</script> {{x}} "q" \u2028 ```\n[x](javascript:1)'


@pytest.fixture
def run(tmp_path: Path, provider: FakeProvider) -> Path:
    config = write_config(tmp_path / "c.toml", provider, dialogues=10, subsets=12)
    folder = tmp_path / "run"
    assert main(["run", str(config), "--run", str(folder)]) == 0
    return folder


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_form_of_a_real_run(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("openai", "sharegpt", "preference", "parquet", "hf"):
        assert main(["export", "--run", str(run), "--as", form, "--split", "0.2"]) == 0, form
    assert "10 of 10 dialogues" in capsys.readouterr().out
    dialogues = {each.id: each for each in read_records(run / "dialogues.jsonl", Dialogue)}
    chats = lines(run / "export/openai/train.jsonl")
    index = lines(run / "export/openai/train.index.jsonl")
    assert len(chats) == len(index) == 8
    for chat, at in zip(chats, index, strict=True):
        said = dialogues[at["dialogue"]].utterances
        assert set(chat) == {"messages"}
        assert [m["content"] for m in chat["messages"]] == [each.text for each in said]
        assert [m["role"] for m in chat["messages"]] == ["user", "assistant"] * 4
    shared = lines(run / "export/sharegpt/test.jsonl")
    assert len(shared) == 2
    assert {turn["from"] for row in shared for turn in row["conversations"]} == {"human", "gpt"}


def test_a_dialogue_is_in_the_same_part_of_every_form(run: Path) -> None:
    for form in ("openai", "sharegpt", "preference"):
        main(["export", "--run", str(run), "--as", form, "--split", "0.3"])
    parts = {
        part: {
            *(row["dialogue"] for row in lines(run / f"export/openai/{part}.index.jsonl")),
            *(row["id"] for row in lines(run / f"export/sharegpt/{part}.jsonl")),
            *(row["dialogue"] for row in lines(run / f"export/preference/{part}.jsonl")),
        }
        for part in ("train", "test")
    }
    assert len(parts["test"]) == 3
    assert not parts["train"] & parts["test"]


def test_two_exports_of_a_run_are_the_same_bytes(run: Path, tmp_path: Path) -> None:
    for form in ("openai", "preference", "hf"):
        for out in ("one", "two"):
            main(
                ["export", "--run", str(run), "--as", form, "--split", "0.5", "--out", str(tmp_path / form / out)]
            )
        assert tree(tmp_path / form / "one") == tree(tmp_path / form / "two")


def test_another_split_leaves_no_stale_part(run: Path) -> None:
    main(["export", "--run", str(run), "--as", "openai", "--split", "0.3"])
    main(["export", "--run", str(run), "--as", "openai"])
    names = {path.name for path in (run / "export/openai").iterdir()}
    assert names == {"train.jsonl", "train.index.jsonl", "data-card.md", "export.json"}


def test_the_students_side_begins_with_who_the_student_is(run: Path) -> None:
    assert main(["export", "--run", str(run), "--as", "openai", "--side", "student"]) == 0
    dialogues = {each.id: each for each in read_records(run / "dialogues.jsonl", Dialogue)}
    folder = run / "export/openai-student"
    for chat, at in zip(lines(folder / "train.jsonl"), lines(folder / "train.index.jsonl"), strict=True):
        roles = [message["role"] for message in chat["messages"]]
        assert roles == [
            "system",
            "user",
            "assistant",
            "user",
            "assistant",
            "user",
            "assistant",
            "user",
            "assistant",
        ]
        opener = dialogues[at["dialogue"]].utterances[0].text
        assert chat["messages"][2]["content"] == opener
    counts = json.loads((folder / "export.json").read_text("utf-8"))["sets"]["chats"]
    assert counts["changed"] == {"cut after the student's last utterance": 10}


def test_a_student_is_not_exported_under_another_prompt(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = json.loads((run / "manifest.json").read_text("utf-8"))
    manifest["prompts"]["student.en"] = "0" * 16
    (run / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert main(["export", "--run", str(run), "--as", "openai", "--side", "student"]) == 2
    assert "student.en is not the one that made this run" in capsys.readouterr().err


def test_what_broke_off_or_ended_early_is_counted(tmp_path: Path) -> None:
    folder = RunBuilder(["a", "b"]).write(tmp_path / "run")
    say = [Utterance(role="student", text="why?"), Utterance(role="teacher", text="hm?")]
    base = folder.dialogues()[0].model_dump() | {"utterances": say}
    rows = [
        Dialogue.model_validate(base | {"id": "whole"}),
        Dialogue.model_validate(base | {"id": "bye", "utterances": [*say, say[0]], "end": "student ended"}),
        Dialogue.model_validate(base | {"id": "lost", "end": "failure", "complete": False}),
    ]
    write_jsonl(folder.file("dialogues.jsonl"), rows)
    (chats,) = export(folder, How("openai")).sets
    assert [row.dialogue for row in chats.rows] == ["whole", "bye"]
    assert [len(row.value["messages"]) for row in chats.rows] == [2, 2]
    assert chats.left_out == {"broke off: failure": 1}
    assert chats.changed == {"cut after the teacher's last utterance": 1}
    assert len(chats.rows) + sum(chats.left_out.values()) == chats.of


def test_preferences_are_wins_and_the_rest_is_counted(tmp_path: Path) -> None:
    built = RunBuilder(["tie", "b"])
    built.play(["aaa", "abb", "ttt", "xxx", "abt", "aax"])
    folder = built.write(tmp_path)
    (found,) = export(folder, How("preference")).sets
    rows = [row.value for row in found.rows]
    assert found.left_out == {"tie": 2, "invalid verdict": 1}
    assert [(row["chosen_model"], row["rejected_model"]) for row in rows] == [
        ("tie", "b"),
        ("b", "tie"),
        ("tie", "b"),
    ]
    assert [row["margin"] for row in rows] == [1, pytest.approx(1 / 3), pytest.approx(2 / 3)]
    assert [row["agreement"] for row in rows] == ["unanimous", "majority", "majority"]
    assert rows[2]["rounds"] == {"given": 3, "chosen": 2, "rejected": 0, "tie": 0, "unreadable": 1}
    for row in rows:
        assert row["prompt"][-1]["role"] == "user"
        assert row["chosen"][0]["content"].endswith(f"of {row['chosen_model']}.")
        assert row["rejected"][0]["content"].endswith(f"of {row['rejected_model']}.")


def test_a_verdict_without_its_reply_is_no_preference(tmp_path: Path) -> None:
    built = RunBuilder(["a", "b"])
    built.play(["aaa", "bbb"])
    folder = built.write(tmp_path)
    write_jsonl(folder.file("replies.jsonl"), built.replies[1:])
    (found,) = export(folder, How("preference")).sets
    assert len(found.rows) == 1
    assert found.left_out == {"subset or reply not in the run": 1}


def test_parquet_columns_have_the_same_types_with_and_without_rows(tmp_path: Path) -> None:
    parquet: Any = import_module("pyarrow.parquet")

    built = RunBuilder(["a", "b"], utterance=HOSTILE)
    built.play(["aaa", "abx"])
    full, empty = built.write(tmp_path / "full"), RunBuilder(["a", "b"]).write(tmp_path / "empty")
    export(full, How("parquet"))
    export(empty, How("parquet"))
    for name in ("dialogues", "subsets", "replies", "judgments", "verdicts"):
        tables: list[Any] = [
            parquet.read_table(folder.path / f"export/parquet/{name}.parquet") for folder in (full, empty)
        ]
        assert tables[0].schema == tables[1].schema
    subset = parquet.read_table(full.path / "export/parquet/subsets.parquet").to_pylist()[0]
    assert subset["history"][0] == {"role": "student", "text": HOSTILE, "act": None}
    assert {"factor": "motivation", "level": "low"} in subset["levels"]
    verdicts = parquet.read_table(full.path / "export/parquet/verdicts.parquet").to_pylist()
    assert [vote["outcome"] for vote in verdicts[1]["votes"]].count("unreadable") == 1


def test_a_dataset_folder_names_files_that_exist(tmp_path: Path) -> None:
    built = RunBuilder(["a", "b"], utterance=HOSTILE)
    built.play(["aaa"] * 8)
    built.settings["run"]["name"] = HOSTILE
    folder = built.write(tmp_path)
    done = export(folder, How("hf", split=0.25))
    text = (done.folder / "README.md").read_text("utf-8")
    front = yaml.safe_load(text.split("\n---\n")[0].removeprefix("---\n"))
    assert front["pretty_name"] == HOSTILE
    assert front["license"] == "unknown"
    named = [file["path"] for config in front["configs"] for file in config["data_files"]]
    assert sorted(named) == sorted(done.files)
    assert all((done.folder / path).is_file() for path in named)
    assert [config["config_name"] for config in front["configs"] if config.get("default")] == ["dialogues"]


def test_the_card_says_who_the_students_are_and_stays_text(tmp_path: Path) -> None:
    built = RunBuilder(["<img src=x onerror=alert(1)>", "b|[x](javascript:1)"], judge_kind="local")
    built.play(["aaa", "xxx"])
    done = export(built.write(tmp_path), How("preference", licence="CC-BY-4.0"))
    card = (done.folder / "data-card.md").read_text("utf-8")
    assert card.startswith("> **Made with a small model that runs inside the program (judge)")
    for said in ("motivation", "0123456789abcdef", "CC-BY-4.0", "invalid verdict | 1 of 2 verdicts", "seed | 5"):
        assert said in card, said
    assert "<img" not in card
    assert "|[x](" not in card


def test_without_pyarrow_the_message_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    RunBuilder(["a", "b"]).write(tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(["export", "--run", str(tmp_path), "--as", "hf"]) == 2
    assert "install tutor-arena[parquet]" in capsys.readouterr().err
    assert not (tmp_path / "export").exists()


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5, float("nan")])
def test_a_split_that_is_no_share_is_refused(tmp_path: Path, share: float) -> None:
    with pytest.raises(Problem, match="between 0 and 1"):
        export(RunBuilder(["a", "b"]).write(tmp_path), How("sharegpt", split=share))


def test_a_stage_that_was_not_run_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder: RunFolder = RunBuilder(["a", "b"]).write(tmp_path)
    folder.file("verdicts.jsonl").unlink()
    assert main(["export", "--run", str(tmp_path), "--as", "preference"]) == 2
    assert "verdicts.jsonl (tutor-arena judge" in capsys.readouterr().err


def test_exported_battles_give_the_runs_own_ratings(run: Path, tmp_path: Path) -> None:
    assert main(["export", str(run), "--as", "lmarena"]) == 0
    battles = run / "export/lmarena/train.jsonl"
    rows = lines(battles)
    assert {row["winner"] for row in rows} <= {"model_a", "model_b", "tie"}
    assert all(row["conversation_a"][:-1] == row["conversation_b"][:-1] for row in rows)
    assert main(["rate", "--battles", str(battles), "--cluster", "cluster", "--out", str(tmp_path / "again")]) == 0
    own, again = (json.loads((at / "leaderboard.json").read_text()) for at in (run, tmp_path / "again"))
    for row, other in zip(own["models"], again["models"], strict=True):
        for name in ("name", "rating", "lower", "upper", "wins", "ties"):
            assert row[name] == other[name]


def test_a_configuration_without_tutors_to_compare_makes_a_data_set(
    tmp_path: Path, provider: FakeProvider, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=4)
    text = config.read_text("utf-8")
    config.write_text(text[: text.index("[cut]")], encoding="utf-8")
    folder = tmp_path / "run"
    assert main(["run", str(config), "--run", str(folder)]) == 0
    assert "a data set of 4 dialogues" in capsys.readouterr().err
    assert main(["runs", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["dialogues"] == 4
    assert main(["export", str(folder), "--as", "openai", "--out", str(tmp_path / "chats")]) == 0
    assert f"wrote {tmp_path / 'chats' / 'data-card.md'}" in capsys.readouterr().err
    assert main(["report", str(folder)]) == 2
    assert "has no report; how its students write: tutor-arena quality" in capsys.readouterr().err
    assert main(["export", str(folder), "--as", "openai"]) == 0
    assert not (folder / "replies.jsonl").exists()
