from __future__ import annotations

import random
from pathlib import Path

import pytest

from runstore import publish
from runstore.problems import InputProblem, Problem
from seed_questions import load

TEXTS = [
    "Why is merge sort stable?",
    "왜 병합 정렬은 안정적인가요?",
    "What, exactly, is a “heap”?",
    "=1+1 is what?",
]


def _file(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def _texts(path: Path) -> list[str]:
    return [question.text for question in load(path)]


def test_plain_text_is_one_question_a_line(tmp_path: Path) -> None:
    path = _file(tmp_path, "q.txt", "\ufeff" + "\r\n\r\n".join(TEXTS) + "\r\n   \r\n")
    questions = load(path)
    assert [question.text for question in questions] == TEXTS
    assert {question.subject for question in questions} == {"general"}


def test_a_heading_in_plain_text_names_the_subject(tmp_path: Path) -> None:
    path = _file(tmp_path, "q.txt", "first?\n# Sorting\nsecond?\n## Graph theory\nthird?\n#include is what?\n")
    assert [(question.subject, question.text) for question in load(path)] == [
        ("general", "first?"),
        ("Sorting", "second?"),
        ("Graph theory", "third?"),
        ("Graph theory", "#include is what?"),
    ]


def test_all_forms_give_the_same_questions(tmp_path: Path) -> None:
    plain = load(_file(tmp_path, "q.txt", "\n".join(TEXTS)))
    publish.write_jsonl(tmp_path / "q.jsonl", [{"text": text} for text in TEXTS])
    publish.write_csv(tmp_path / "q.csv", ["text"], [[text] for text in TEXTS])
    _file(tmp_path, "q.yaml", "\n".join(f"- {text!r}" for text in TEXTS))
    for name in ("q.jsonl", "q.csv", "q.yaml"):
        assert load(tmp_path / name) == plain


def test_all_fields_are_read_in_every_form(tmp_path: Path) -> None:
    jsonl = '{"id":"a","subject":"s","difficulty":"hard","tags":["x","y"],"text":"why?"}\n'
    csv = "id,text,tags,difficulty,subject\na,why?,x; y,hard,s\n"
    yaml = "subject: s\ndifficulty: hard\nquestions:\n  - {id: a, tags: [x, y], text: {en: 'why?', ko: '왜요?'}}\n"
    found = [
        load(_file(tmp_path, name, text))[0]
        for name, text in (("q.jsonl", jsonl), ("q.csv", csv), ("q.yaml", yaml))
    ]
    assert found[0] == found[1] == found[2]
    assert (found[0].id, found[0].subject, found[0].difficulty, found[0].tags) == ("a", "s", "hard", ("x", "y"))
    assert load(tmp_path / "q.yaml", "ko")[0].text == "왜요?"


def test_ids_made_of_the_text_survive_reordering_and_spacing(tmp_path: Path) -> None:
    ids = {question.text: question.id for question in load(_file(tmp_path, "a.txt", "\n".join(TEXTS)))}
    assert len(set(ids.values())) == len(TEXTS)
    turned = TEXTS[:]
    random.Random(1).shuffle(turned)
    again = load(_file(tmp_path, "b.txt", "\n".join(f"  {text.replace(' ', '  ')}" for text in turned)))
    assert {question.text: question.id for question in again} == ids


@pytest.mark.parametrize(
    ("name", "content", "places"),
    [
        ("q.txt", "one?\n\ntwo?\n ONE?\n", ("q.txt:4", "q.txt:1")),
        (
            "q.jsonl",
            '{"id":"x","text":"one?"}\n{"id":"y","text":"two?"}\n{"id":"x","text":"three?"}\n',
            (":3", ":1"),
        ),
        ("q.csv", 'text,id\n"one\nlong?",a\n"one long?",b\n', ("q.csv:4", "q.csv:2")),
        ("q.yaml", "- one?\n- text: two?\n- {text: 'one?'}\n", ("q.yaml:3", "q.yaml:1")),
    ],
)
def test_a_question_that_is_there_twice_is_refused_with_both_places(
    tmp_path: Path, name: str, content: str, places: tuple[str, str]
) -> None:
    with pytest.raises(InputProblem, match="each question once") as caught:
        load(_file(tmp_path, name, content))
    here, first = str(caught.value).split("first at ")
    assert here.startswith(str(tmp_path / name))
    assert places[0] in here
    assert places[1] in first


def test_a_folder_is_read_file_by_file_and_checked_as_one(tmp_path: Path) -> None:
    _file(tmp_path, "b.txt", "two?\n")
    _file(tmp_path, "a.txt", "one?\n")
    _file(tmp_path, "notes.md", "not a question\n")
    assert _texts(tmp_path) == ["one?", "two?"]
    _file(tmp_path, "c.jsonl", '{"text":"One?"}')
    with pytest.raises(InputProblem, match=r"c.jsonl:1: text: .*first at .*a.txt:1"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.txt", b"fine?\ncaf\xe9?\n", r"q.txt:2: found byte 0xe9, expected UTF-8 text"),
        ("q.csv", b"text\nfine?\ncaf\xe9?\n", r"q.csv:3: found byte 0xe9, expected UTF-8 text"),
        ("q.jsonl", b'{"text":"caf\xe9?"}\n', r"q.jsonl:1"),
        ("q.yaml", b"- caf\xe9\n", r"q.yaml:1: found byte 0xe9"),
        ("q.txt", "", "at least one question"),
        ("q.txt", " \n\u200b\n", "nothing visible"),
        ("q.jsonl", "[1]", "a JSON object"),
        ("q.jsonl", '{"text":', "q.jsonl:1: .*one JSON object a line"),
        ("q.jsonl", '{"text":"ok?"}\n{"question":"why?"}', "q.jsonl:2: text: found nothing"),
        ("q.jsonl", '{"text":7}', "text: found 7, expected a question"),
        ("q.jsonl", '{"text":{"ko":"왜?"}}', "text.en: found only ko"),
        ("q.jsonl", '{"text":"why?","tags":{"a":1}}', "tags: .*a list of texts"),
        ("q.jsonl", '{"text":"why?","id":["a"]}', "id: .*a text"),
        ("q.jsonl", '{"text":"why?","id":"../x y"}', "id: found ../x y"),
        ("q.jsonl", '{"text":"why?","difficulty":"easy"}', "difficulty: found easy, expected middling or hard"),
        ("q.jsonl", '{"text":"why?","language":"ko"}', "language: found ko, expected 'en'"),
        ("q.csv", "question\nwhy?\n", "q.csv:1: found question, expected a column 'text'"),
        ("q.csv", 'text,id\n"why\nnot?",a\nsecond\n', r"q.csv:4: found 1 cells, expected 2 cells"),
        ("q.csv", "", "a header line"),
        ("q.yaml", "questions: []\n", "questions: found nothing, expected a list"),
        ("q.yaml", "question: [a]\n", "'questions'"),
        ("q.yaml", "- {txt: 'why?'}\n", "q.yaml:1: 0.txt: found txt, expected 'text'"),
        ("q.yaml", "- ['why?']\n", "q.yaml:1: 0: found a list, expected a mapping"),
        ("q.xlsx", "PK", "an XLSX workbook"),
        ("q.ods", "PK", "a file that ends in .yaml, .yml, .csv"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(InputProblem, match=message):
        load(_file(tmp_path, name, content))


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match="a readable file"):
        load(tmp_path / "none.txt")
    with pytest.raises(InputProblem, match="at least one question"):
        load(tmp_path)
    with pytest.raises(Problem, match="language 'fr'"):
        load(language="fr")  # pyright: ignore[reportArgumentType]


def test_hostile_texts_come_through_as_they_are(tmp_path: Path) -> None:
    hostile = [
        "<img src=x onerror=alert(1)>?",
        "{persona} and {{x}}?",
        "[/bold] [red]?",
        "'; DROP TABLE q;--?",
        "@SUM(A1)?",
    ]
    publish.write_csv(tmp_path / "q.csv", ["text"], [[text] for text in hostile])
    assert _texts(tmp_path / "q.csv") == hostile
    assert _texts(_file(tmp_path, "q.txt", "\n".join(hostile))) == hostile
