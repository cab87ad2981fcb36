import json
from pathlib import Path
from typing import Any

import pytest

from arena.rubrics.rubric import load_rubric
from arena.scoring.sessions import Session, load_sessions
from runstore.problems import InputProblem

QAC, MINUTES = load_rubric("qac"), load_rubric("meeting_minutes")


def load(folder: Path, *rows: dict[str, Any], rubric: Any = QAC) -> list[Session]:
    path = folder / "in.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    return load_sessions(path, rubric)


def test_dialogues_of_a_run_bring_persona_and_levels_along(tmp_path: Path) -> None:
    row = {
        "id": "d1",
        "persona": "p",
        "levels": {"motivation": "low"},
        "subject": "networks",
        "complete": True,
        "utterances": [{"role": "student", "text": "Why?"}, {"role": "teacher", "text": "What do you think?"}],
    }
    (session,) = load(tmp_path, row)
    assert [(message.role, message.text) for message in session.messages] == [
        ("student", "Why?"),
        ("teacher", "What do you think?"),
    ]
    assert session.columns == {
        "persona": "p",
        "motivation": "low",
        "topic": "networks",
        "complete": "true",
    }


def test_chat_messages_and_question_answer_rows_are_read(tmp_path: Path) -> None:
    chat = {
        "session_id": 7,
        "mode": "agent",
        "messages": [
            {"role": "system", "content": "hidden"},
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello"},
        ],
    }
    pair = {"id": "q", "question": "Minutes?", "answer": "None.", "level": 2}
    first, second = load(tmp_path, chat, pair)
    assert first.columns == {"mode": "agent"}
    assert (first.id, [m.role for m in first.messages]) == ("7", ["student", "teacher"])
    assert ([m.role for m in second.messages], second.columns["level"]) == (["question", "answer"], "2")


def test_csv_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes("\ufeffid,question,answer,mode\n1,Q,A,x\n".encode())
    (session,) = load_sessions(path, MINUTES)
    assert (session.id, session.messages[1].text, session.columns["mode"]) == ("1", "A", "x")


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"question": "Q", "answer": "A"}, "in.jsonl:1: id: expected an id"),
        ({"id": "x", "question": "Q"}, "in.jsonl:1: answer"),
        ({"id": "x", "question": "Q", "answer": 3}, "found 3"),
        ({"id": "x", "utterances": []}, "utterances: found none"),
        ({"id": "x", "messages": [{"role": "system", "content": "Be kind."}]}, "messages: found none"),
        ({"id": "x", "utterances": [{"role": "bot", "text": "?"}]}, "utterances.0.role: found bot"),
        ({"id": "x", "utterances": [{"role": "student"}]}, "utterances.0.text"),
        ({"id": "x", "utterances": ["hello"]}, "utterances.0"),
    ],
)
def test_a_row_that_cannot_be_scored_is_named(tmp_path: Path, row: dict[str, Any], told: str) -> None:
    with pytest.raises(InputProblem) as caught:
        load(tmp_path, row)
    assert told in str(caught.value)


def test_ids_must_differ_and_something_must_be_there(tmp_path: Path) -> None:
    row = {"id": "x", "question": "Q", "answer": "A"}
    with pytest.raises(InputProblem, match="'x' again"):
        load(tmp_path, row, row)
    with pytest.raises(InputProblem, match="at least one subject"):
        load(tmp_path)


def test_a_rubric_for_answers_takes_no_dialogue(tmp_path: Path) -> None:
    row = {"id": "x", "utterances": [{"role": "student", "text": "?"}]}
    with pytest.raises(InputProblem, match="question and answer"):
        load(tmp_path, row, rubric=MINUTES)


def test_columns_named_like_ours_are_told_apart(tmp_path: Path) -> None:
    row = {"id": "x", "subject": "algebra", "judge": "z", "messages": [{"role": "user", "content": "Why?"}]}
    assert load(tmp_path, row)[0].columns == {"topic": "algebra", "input_judge": "z"}
