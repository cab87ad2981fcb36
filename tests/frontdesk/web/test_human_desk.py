"""Forms that come back, raters who leave, withdrawal and retention, on the files of a real study folder."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest

from arena.human.folder import StudyFolder
from arena.human.forms import rubric_questions
from arena.human.studies import FOLDER
from arena.human.study import load_study
from arena.rubrics.rubric import load_rubric
from frontdesk.cli import main
from frontdesk.web.chromium import find_chromium
from frontdesk.web.desk import import_forms, purge, replace, retention_ends, withdraw
from frontdesk.web.paper import write_forms
from frontdesk.web.store import Store
from runstore.problems import InputProblem, Problem
from runstore.publish import read_csv, write_csv
from tests.support.human_site import NAMES, field, links, planned, running, walk

LONG = ("rater", "document", "condition", "question", "value", "seconds", "submitted_at")
SMALL = """
id = "small"
title = "small"
[strata]
s = 6
[conditions.A]
name = "only one"
[groups.r]
label = "r"
size = 3
items = 4
ratings_per_document = 2
form = "f"
[[forms.f.questions]]
id = "q"
kind = "likert"
text = "?"
anchors = ["low", "high"]
[consent]
paragraphs = ["you are told"]
"""


def small(path: Path) -> StudyFolder:
    (path / "small.toml").write_text(SMALL, encoding="utf-8")
    folder = StudyFolder(path / "plan")
    folder.plan(path / "small.toml", 11)
    return folder


def rows_of(folder: StudyFolder) -> list[tuple[str, str, str, str]]:
    _, rows = read_csv(folder.ratings_csv)
    return [(row["rater"], row["document"], row["question"], row["value"]) for row in rows]


def test_a_form_submitted_twice_counts_once_and_a_contradiction_is_settled_by_time(tmp_path: Path) -> None:
    folder = small(tmp_path)
    mine = {row.rater: row.document for row in folder.rows()}
    r1, r2, r3 = sorted(mine)
    file = tmp_path / "returned.csv"
    at = "2026-03-01T10:00:00.{:03d}Z"
    write_csv(
        file,
        LONG,
        [
            [r1, mine[r1], "A", "q", "2", 30, at.format(0)],
            [r2, mine[r2], "A", "q", "5", 31, at.format(100)],
            [r2, mine[r2], "A", "q", "5", 31, at.format(120)],
            [r3, mine[r3], "A", "q", "3", 32, at.format(200)],
            [r3, mine[r3], "A", "q", "4", 32, at.format(220)],
        ],
    )
    done = import_forms(folder, file)
    assert done.report["exact_repeats_ignored"] == 1
    assert len(done.report["settled_by_time"]) == 1
    assert "the later one" in done.report["rule"]
    assert rows_of(folder) == [(r1, mine[r1], "q", "2"), (r2, mine[r2], "q", "5"), (r3, mine[r3], "q", "4")]
    before = folder.ratings_csv.read_bytes()
    assert import_forms(folder, file).changed == 0
    assert folder.ratings_csv.read_bytes() == before


def test_a_contradiction_without_times_is_not_taken_but_listed(tmp_path: Path) -> None:
    folder = small(tmp_path)
    row = folder.rows()[0]
    file = tmp_path / "returned.csv"
    head = ("rater", "item", "question", "value")
    write_csv(file, head, [[row.rater, row.document, "q", value] for value in ("3", "4", "3")])
    assert main(["human", "import", str(folder.path), str(file)]) == 1
    report = json.loads((folder.path / "import-report.json").read_text())
    assert len(report["conflicts"]) == 1
    assert "3 and 4" in report["conflicts"][0]
    assert rows_of(folder) == []
    write_csv(file, head, [[row.rater, row.document, "q", "3"]])
    assert main(["human", "import", str(folder.path), str(file)]) == 0
    write_csv(file, head, [[row.rater, row.document, "q", "5"]])
    assert main(["human", "import", str(folder.path), str(file)]) == 1
    assert rows_of(folder) == [(row.rater, row.document, "q", "3")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"document": "d99"}, r"returned\.csv:2: .*d99"),
        ({"rater": "nobody"}, r"returned\.csv:2: .*nobody"),
        ({"condition": "B"}, r"returned\.csv:2: condition: found B, expected A"),
        ({"question": "q9"}, r"returned\.csv:2: question: found q9"),
        ({"submitted_at": "yesterday"}, r"returned\.csv:2: submitted_at"),
        ({"submitted_at": "0001-01-01T00:00:00+23:00"}, r"returned\.csv:2: submitted_at"),
        ({"seconds": "inf"}, r"returned\.csv:2: seconds: found inf"),
        ({"seconds": "-1"}, r"returned\.csv:2: seconds: found -1"),
    ],
)
def test_a_row_that_is_not_in_the_plan_is_refused_with_its_number(
    tmp_path: Path, change: dict[str, str], message: str
) -> None:
    folder = small(tmp_path)
    first = folder.rows()[0]
    row = {"rater": first.rater, "document": first.document, "condition": "A", "question": "q", "value": "3"}
    file = tmp_path / "returned.csv"
    row |= {"seconds": "", "submitted_at": "", **change}
    write_csv(file, LONG, [[row[name] for name in LONG]])
    with pytest.raises(InputProblem, match=message):
        import_forms(folder, file)
    write_csv(file, ("rater", "value"), [["x", "3"]])
    with pytest.raises(InputProblem, match="found rater, value"):
        import_forms(folder, file)


def test_several_files_are_read_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = small(tmp_path)
    mine = {row.rater: row.document for row in folder.rows()}
    r1, r2, r3 = sorted(mine)
    header = ("rater", "document", "question", "value")
    files = [tmp_path / "first.csv", tmp_path / "second.csv"]
    write_csv(files[0], header, [[r1, mine[r1], "q", "2"], [r2, mine[r2], "q", "5"]])
    write_csv(files[1], header, [[r1, mine[r1], "q", "2"], [r2, mine[r2], "q", "4"], [r3, mine[r3], "q", "9"]])
    assert main(["human", "import", str(folder.path), *map(str, files)]) == 1
    said = capsys.readouterr().out
    assert "1 exact repeat ignored" in said
    assert re.search(rf"conflicts: {r2}, item \d, q: 4 and 5; none was taken", said)
    assert f"unreadable: second.csv, line 4: {r3}" in said
    assert [(row[0], row[3]) for row in rows_of(folder)] == [(r1, "2")]
    assert json.loads((folder.path / "import-report.json").read_text())["file"] == "first.csv, second.csv"


def test_a_returned_table_without_rows_is_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = small(tmp_path)
    first = folder.rows()[0]
    full, empty = tmp_path / "full.csv", tmp_path / "empty.csv"
    header = ("rater", "document", "question", "value")
    write_csv(full, header, [[first.rater, first.document, "q", "2"]])
    write_csv(empty, header, [])
    for files in ([empty], [full, empty]):
        assert main(["human", "import", str(folder.path), *map(str, files)]) == 2
        assert f"{empty}: found none, expected at least one row" in capsys.readouterr().err
    assert not folder.ratings_csv.exists() or rows_of(folder) == []


def test_an_answer_off_the_scale_is_listed_and_not_taken(tmp_path: Path) -> None:
    folder = small(tmp_path)
    first, second = folder.rows()[:2]
    file = tmp_path / "returned.csv"
    write_csv(
        file,
        ("rater", "document", "question", "value"),
        [[first.rater, first.document, "q", "9"], [second.rater, second.document, "q", "1"]],
    )
    done = import_forms(folder, file)
    assert not done.complete
    assert "line 2" in done.report["unreadable"][0]
    assert [row[3] for row in rows_of(folder)] == ["1"]


def test_the_finished_rating_of_a_rater_who_left_is_kept_and_the_open_ones_move(tmp_path: Path) -> None:
    folder = small(tmp_path)
    mine = [row for row in folder.rows() if row.rater == "r-03"]
    store = Store(folder)
    store.answers.save("r-03", "item", 1, {"q": "4"}, submit=True)
    store.answers.save("r-03", "item", 2, {"q": "5"})
    store.close()
    assert replace(folder, "r-03", None) == ("r-04", 3)
    store = Store(folder)
    assert {item.document for item in store.answers.items() if item.rater == "r-04"} == {
        row.document for row in mine[1:]
    }
    assert store.answers.rater("r-03").left
    assert store.answers.rater("r-04").next_item == 2
    assert "r-04" in {rater for rater, _, _ in store.links()}
    for item in store.answers.items():
        if not item.submitted_at:
            store.answers.save(item.rater, "item", item.position, {"q": "2"}, submit=True)
    raters: dict[str, set[str]] = defaultdict(set)
    for rating in store.answers.ratings():
        raters[rating.document].add(rating.rater)
    assert [len(names) for names in raters.values()] == [2] * 6
    assert len(store.answers.ratings()) == 12
    store.close()
    assert len({(row.rater, row.document) for row in folder.rows()}) == 12
    with pytest.raises(Problem, match="nothing is open"):
        replace(folder, "r-03", None)


def test_a_rater_who_takes_over_keeps_all_of_their_own_items(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL.replace("s = 6", "s = 12").replace("size = 3", "size = 6"), "utf-8")
    folder = StudyFolder(tmp_path / "plan")
    folder.plan(tmp_path / "small.toml", 11)
    documents: dict[str, list[str]] = defaultdict(list)
    for row in folder.rows():
        documents[row.rater].append(row.document)
    leaves, takes = next(
        (a, b) for a in documents for b in documents if a != b and not set(documents[a]) & set(documents[b])
    )
    assert replace(folder, leaves, takes) == (takes, 4)
    store = Store(folder)
    held = [(item.position, item.document) for item in store.answers.items() if item.rater == takes]
    store.close()
    assert held == list(enumerate([*documents[takes], *documents[leaves]], 1))
    assert sorted((row.position, row.document) for row in folder.rows() if row.rater == takes) == held
    others = next(rater for rater in documents if rater not in (leaves, takes))
    with pytest.raises(Problem, match="has left the study"):
        replace(folder, others, leaves)
    with pytest.raises(Problem, match="no rater is called 'nobody'"):
        replace(folder, "nobody", None)


def test_forms_on_paper_have_no_time_and_are_not_called_too_fast(tmp_path: Path) -> None:
    folder = small(tmp_path)
    file = tmp_path / "returned.csv"
    head = ("rater", "document", "question", "value")
    write_csv(file, head, [[row.rater, row.document, "q", "3"] for row in folder.rows()])
    import_forms(folder, file)
    assert main(["human", "analyze", str(folder.path)]) == 0
    assert {row["seconds"] for row in read_csv(folder.ratings_csv)[1]} == {""}
    found = json.loads((folder.path / "analysis.json").read_text(encoding="utf-8"))
    assert [(one["items"], one["timed"], one["flags"]) for one in found["attention"]] == [(4, 0, [])] * 3


def test_a_form_that_arrives_after_its_person_withdrew_is_not_taken(tmp_path: Path) -> None:
    folder = small(tmp_path)
    first = folder.rows()[0]
    file = tmp_path / "returned.csv"
    head = ("rater", "document", "question", "value")
    write_csv(file, head, [[first.rater, first.document, "q", value] for value in ("3", "nine")])
    import_forms(folder, file)
    store = Store(folder)
    code = store.persons.code_of(first.rater)
    store.close()
    withdraw(folder, code)
    assert not (folder.path / "import-report.json").exists()
    with pytest.raises(InputProblem, match=f"rater: found {first.rater}, expected no answers of a person who"):
        import_forms(folder, file)
    assert rows_of(folder) == []


def test_lines_are_counted_as_an_editor_counts_them(tmp_path: Path) -> None:
    folder = small(tmp_path)
    first = folder.rows()[0]
    file = tmp_path / "returned.csv"
    good = f"{first.rater},{first.document},q,3"
    file.write_text(f'rater,document,question,value,note\n{good},"two\nlines"\n\nnobody,d1,q,3,\n', "utf-8")
    with pytest.raises(InputProblem, match=r"returned\.csv:5: found nobody"):
        import_forms(folder, file)
    file.write_text(f"rater,document,question,value,value\n{good},4\n", "utf-8")
    with pytest.raises(InputProblem, match="'value' twice"):
        import_forms(folder, file)


async def test_withdrawing_deletes_every_trace_of_a_person(tmp_path: Path) -> None:
    folder = planned(tmp_path)
    with running(folder) as (root, store):
        own = links(store, root)
        async with aiohttp.ClientSession() as session:
            await walk(session, own["lay-01"], choice=4)
            await walk(session, own["lay-02"], choice=1)
            code = store.persons.code_of("lay-01")
            assert withdraw(folder, f" {code.lower()} ") == "lay-01"
            async with session.get(own["lay-01"]) as answer:
                assert answer.status == 403
            async with session.get(own["lay-02"]) as answer:
                assert answer.status == 200
    for name in ("ratings.sqlite", "persons.sqlite", "ratings.sqlite-wal", "persons.sqlite-wal"):
        path = folder.path / name
        if path.exists():
            content = path.read_bytes()
            assert "text 4 한글".encode() not in content
            assert code.encode() not in content
    assert {row[0] for row in rows_of(folder)} == {"lay-02"}
    with pytest.raises(Problem, match="not known"):
        withdraw(folder, code)
    assert replace(folder, "lay-01", None) == ("lay-31", 5)


async def test_names_are_in_the_persons_file_only(tmp_path: Path) -> None:
    folder = planned(tmp_path)
    with running(folder) as (root, store):
        async with aiohttp.ClientSession() as session:
            await walk(session, links(store, root)["lay-03"])
    name = "홍길동".encode()
    assert name in (folder.path / "persons.sqlite").read_bytes()
    others = [path for path in folder.path.iterdir() if path.is_file() and not path.name.startswith("persons")]
    assert not [path.name for path in others if name in path.read_bytes()]


def test_the_retention_date_is_kept_and_obeyed(tmp_path: Path) -> None:
    folder = small(tmp_path)
    assert retention_ends(folder) is None
    store = Store(folder)
    store.answers.save("r-01", "item", 1, {"q": "4"}, submit=True)
    store.close()
    ends = retention_ends(folder)
    assert ends
    assert abs(ends - datetime.now(UTC) - timedelta(days=365.25 * 3)) < timedelta(minutes=5)
    with pytest.raises(Problem, match=str(ends.date())):
        purge(folder)
    assert folder.ratings_db.exists()
    gone = purge(folder, now=ends + timedelta(days=1))
    assert {"persons.sqlite", "ratings.sqlite"} <= set(gone)
    assert {path.name for path in folder.path.iterdir()} == {
        "plan.csv",
        "certificate.json",
        "study.json",
        "documents.jsonl",
        "purged.json",
    }
    with pytest.raises(Problem, match="were purged"):
        Store(folder)


async def test_forgetting_persons_leaves_anonymous_ratings_and_no_way_back(tmp_path: Path) -> None:
    folder = planned(tmp_path)
    with running(folder) as (root, store):
        async with aiohttp.ClientSession() as session:
            await walk(session, links(store, root)["lay-03"])
            code = store.persons.code_of("lay-03")
            assert main(["human", "purge", str(folder.path), "--persons"]) == 0
            async with session.get(links(store, root).get("lay-03", f"{root}/r/x")) as answer:
                assert answer.status == 403
    assert "홍길동".encode() not in (folder.path / "persons.sqlite").read_bytes()
    store = Store(folder)
    assert store.links() == []
    assert len({rating.document for rating in store.answers.ratings()}) == 5
    with pytest.raises(Problem, match="not known"):
        store.withdraw(code)
    store.close()


def test_planning_again_over_collected_answers_is_refused(tmp_path: Path) -> None:
    folder = small(tmp_path)
    Store(folder).close()
    with pytest.raises(Problem, match="collecting has begun"):
        folder.plan(tmp_path / "small.toml", 1)


def test_paper_forms_show_everything_but_names_and_their_csv_comes_back(tmp_path: Path) -> None:
    folder = planned(tmp_path)
    assert write_forms(folder, language="ko", pdf=False) == (33, 0)
    forms = folder.path / "forms"
    page = (forms / "lay-07.html").read_text(encoding="utf-8")
    assert page.count('class="page"') == 7
    assert not [name for name in NAMES if name in page]
    header, rows = read_csv(forms / "lay-07.csv")
    assert len(rows) == 60 + 2
    assert "condition" not in header
    for row in rows:
        row["value"] = {"U3": "=HYPERLINK(1)", "U12": "free"}.get(row["question"], "3")
    write_csv(forms / "back.csv", header, [[row[name] for name in header] for row in rows])
    assert "'=HYPERLINK(1)" in (forms / "back.csv").read_text(encoding="utf-8-sig")
    done = import_forms(folder, forms / "back.csv")
    assert done.complete
    assert done.changed == 5
    raw = list(csv.reader(io.StringIO(folder.ratings_csv.read_text(encoding="utf-8-sig"))))
    assert not [cell for line in raw for cell in line if cell.startswith(("=", "+", "@"))]
    assert [row[3] for row in rows_of(folder) if row[2] == "U3"] == ["=HYPERLINK(1)"] * 5


@pytest.mark.browser
@pytest.mark.skipif(find_chromium() is None, reason="no Chromium on this machine")
def test_forms_are_printed_to_pdf_where_there_is_a_chromium(tmp_path: Path) -> None:
    folder = small(tmp_path)
    documents = folder.path / "documents.jsonl"
    documents.write_text(documents.read_text().replace('"any":""', '"any":"text"'), encoding="utf-8")
    assert write_forms(folder, language="en", pdf=True) == (3, 3)
    assert (folder.path / "forms" / "r-01.pdf").read_bytes().startswith(b"%PDF-")


def test_a_study_without_texts_is_planned_but_not_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = small(tmp_path)
    assert main(["human", "serve", str(folder.path), "--port", "0"]) == 2
    assert "a text for every planned document" in capsys.readouterr().err


def test_an_example_begins_in_the_language_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for example, language in (("tutor-votes", "en"), ("document-review", "ko")):
        folder = tmp_path / example
        assert main(["human", "init", str(folder), "--example", example, "--language", language]) == 0
        assert load_study(folder / "study.toml").languages[0] == language
    said = capsys.readouterr().out
    assert "read it, change it, then: tutor-arena human plan" in said and "읽고 고친 다음" in said


def test_a_rubrics_flag_is_answered_by_yes_and_no_and_its_elements_by_met() -> None:
    flag, element = rubric_questions(load_rubric("qac"))[:2]
    assert [option.text["en"] for option in flag.options] == ["yes (1)", "no (0)"]
    assert [option.text["en"] for option in element.options] == ["met", "not met"]


def test_the_commands_write_an_example_and_plan_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["human", "init", str(tmp_path)]) == 0
    plan = ["human", "plan", str(tmp_path / "study.toml"), "--out", str(tmp_path / "plan"), "--language", "en"]
    assert main(plan) == 0
    out = capsys.readouterr().out
    assert "1,700,000 KRW" in out
    assert "90 minutes per rater" in out
    assert "FAILS" not in out
    assert main(["human", "init", str(tmp_path)]) == 2
    assert main(["human", "withdraw", str(tmp_path / "plan"), "NONE-NONE"]) == 2
    for step in ("purge", "serve", "analyze", "forms"):
        assert main(["human", step, str(tmp_path / "elsewhere")]) == 2
    assert not (tmp_path / "elsewhere").exists()


def test_of_two_different_answers_to_the_survey_none_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = planned(tmp_path)
    first, second = [question.id for question in folder.study().survey]
    rows = [
        ("lay-01", "survey", first, "yes"),
        ("lay-01", "survey", first, "no"),
        ("lay-01", "survey", second, "3"),
    ]
    write_csv(tmp_path / "back.csv", ("rater", "position", "question", "value"), rows)
    assert main(["human", "import", str(folder.path), str(tmp_path / "back.csv")]) == 1
    assert f"충돌: lay-01, 설문, {first}: no and yes. 아무것도 쓰지 않았습니다" in capsys.readouterr().out
    store = Store(folder)
    assert [*store.answers.survey_answers()] == [("lay-01", second, "3")]
    store.close()


def test_paper_forms_are_read_back_as_they_were_filled_in_with_the_survey(tmp_path: Path) -> None:
    folder = planned(tmp_path)
    assert main(["human", "forms", str(folder.path)]) == 0
    form = folder.path / "forms" / "lay-01.csv"
    header, rows = read_csv(form)
    for row in rows:
        first = row["answers"].split(" / ")[0].split(" = ")[0]
        row["value"] = first or ("12" if row["position"] != "survey" else "글")
    filled = [[row[name] for name in header if name != "document"] for row in rows]
    write_csv(tmp_path / "back.csv", [name for name in header if name != "document"], filled)
    assert main(["human", "import", str(folder.path), str(tmp_path / "back.csv")]) == 0
    store = Store(folder)
    answers = {(rater, question): value for rater, question, value in store.answers.survey_answers()}
    assert set(answers) == {("lay-01", question.id) for question in folder.study().survey}
    assert store.answers.rater("lay-01").surveyed
    store.close()
    assert len(read_csv(folder.ratings_csv)[1]) >= 5 * 10
    assert main(["human", "import", str(folder.path), str(tmp_path / "back.csv")]) == 0
    report = json.loads((folder.path / "import-report.json").read_text())
    assert (report["items_changed"], report["conflicts"]) == (0, [])


async def test_who_is_screened_out_leaves_nothing_and_who_is_admitted_goes_on(tmp_path: Path) -> None:
    screen = """
[[screening]]
accept = ["yes"]
groups = ["lay"]
[screening.question]
id = "adult"
kind = "choice"
text = "Are you 19 or older?"
options = [{ id = "yes", text = "yes" }, { id = "no", text = "no" }]
"""
    text = (FOLDER / "document_review.toml").read_text("utf-8")
    folder = planned(tmp_path, text=text.replace("[[training]]", f"{screen}\n[[training]]", 1))
    with running(folder) as (root, store):
        async with aiohttp.ClientSession() as session:
            link = links(store, root)["lay-01"]
            async with session.get(link) as answer:
                page, here = await answer.text(), str(answer.url)
            assert "Are you 19 or older?" in page
            form = {"csrf": field(page, "csrf"), "choice": "yes", "agree": "yes"}
            async with session.post(here, data=form) as answer:
                assert answer.status == 422
            async with session.post(here, data=form | {"adult": "no"}) as answer:
                assert str(answer.url).endswith("/screened")
            assert not store.answers.rater("lay-01").consented
            async with session.post(here, data=form | {"adult": "yes"}) as answer:
                assert "/training" in str(answer.url)
            async with session.get(links(store, root)["expert-01"]) as answer:
                assert "19 or older" not in await answer.text()
