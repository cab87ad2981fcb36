import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from frontdesk.cli import main
from runstore.publish import read_csv
from tests.support.fake_provider import FakeProvider
from tests.support.qac_sheets import QAC, sheet_text

KINDS = {"gemini": "gemini", "gpt": "openai", "claude": "anthropic"}


def dialogues(folder: Path, count: int = 4) -> Path:
    path = folder / "in.jsonl"
    rows = [
        {
            "id": f"s{number}",
            "mode": "agent" if number % 2 else "freepass",
            "question": f"q{number // 2}",
            "messages": [
                {
                    "role": "user",
                    "content": f"이차함수 {number}번 그래프를 그리고 싶어요 <script>alert(1)</script>",
                },
                {"role": "assistant", "content": "어떤 점을 먼저 찾을까요?"},
            ],
        }
        for number in range(count)
    ]
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    return path


def scripted(folder: Path, **replies: list[str]) -> Path:
    lines = ["[run]", 'name = "scoring"', "seed = 7", 'language = "ko"', "[budget]", "calls = 10000"]
    for name, texts in replies.items():
        file = folder / f"{name}.jsonl"
        file.write_text("\n".join(json.dumps({"reply": text}) for text in texts), encoding="utf-8")
        lines += [f"[endpoints.{name}]", 'kind = "scripted"', f"replies = {str(file)!r}", "concurrency = 1"]
    path = folder / "config.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def on_loopback(folder: Path, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> Path:
    lines = ["[run]", 'name = "scoring"', "seed = 7"]
    monkeypatch.setenv("A_KEY", "k-123456789")
    for name, kind in KINDS.items():
        settings: Mapping[str, Any] = {**provider.settings(kind), "api_key_env": "A_KEY"}
        lines += [f"[endpoints.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in settings.items())]
    path = folder / "config.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def score(config: Path, source: Path, out: Path, *more: str, judges: tuple[str, ...] = ("j",)) -> int:
    named = [word for judge in judges for word in ("--judge", judge)]
    fixed = ["--input", str(source), "--rubric", "qac", "--config", str(config), "--out", str(out)]
    return main(["score", *fixed, *named, "--resamples", "20", "--repeats", "3", *more])


def test_a_complete_run_leaves_every_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = scripted(tmp_path, j=[sheet_text(1)], k=[sheet_text(1, A1={"curriculum_hierarchy": 0}, flag=0)])
    out = tmp_path / "out"
    code = score(
        config, dialogues(tmp_path), out, "--compare", "mode", "--match", "question", "--json", judges=("j", "k")
    )
    assert code == 0
    assert json.loads(capsys.readouterr().out)["subjects"] == 4
    header, rows = read_csv(out / "scores.csv")
    assert len(rows) == 8
    assert [(row["A1"], row["B"], row["total_before"], row["total"]) for row in rows[:2]] == [
        ("5", "15", "40", "40"),
        ("4", "3", "39", "27"),
    ]
    assert {"mode", "question"} <= set(header)
    sheets = [json.loads(line) for line in (out / "sheets.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(sheets) == 4 * 2 * 3
    for name in ("agreement.json", "comparison.json", "summary.csv", "score.md", "score.json", "manifest.json"):
        assert (out / name).stat().st_size
    comparison = json.loads((out / "comparison.json").read_bytes())["comparisons"]
    assert {one["matched_by"] for one in comparison} == {"question"}
    page = (out / "score.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "src=" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_three_wire_shapes_are_paid_for_once(
    tmp_path: Path, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config, source, out = on_loopback(tmp_path, provider, monkeypatch), dialogues(tmp_path), tmp_path / "out"
    assert score(config, source, out, judges=tuple(KINDS)) == 0
    first, table = provider.stats.calls, (out / "scores.csv").read_bytes()
    assert first == 4 * 3 * 3
    capsys.readouterr()
    (out / "scores.csv").unlink()
    assert score(config, source, out, judges=tuple(KINDS)) == 0
    capsys.readouterr()
    assert provider.stats.calls == first
    assert (out / "scores.csv").read_bytes() == table
    assert main(["verify", "--run", str(out), "--json"]) == 0
    files = {one["file"]: one["same"] for one in json.loads(capsys.readouterr().out)["files"]}
    assert {"sheets.jsonl", "scores.csv", "agreement.json", "score.html"} <= {
        name for name, same in files.items() if same
    }
    assert provider.stats.calls == first
    (out / "scores.csv").write_bytes(table.replace(b"gpt,", b"gtp,", 1))
    assert main(["verify", "--run", str(out)]) == 1


def test_what_is_missing_is_told_at_the_top_and_by_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking = sheet_text(1, C2={"understanding_check": None})
    out = tmp_path / "out"
    assert score(scripted(tmp_path, j=[lacking]), dialogues(tmp_path), out, "--language", "en") == 1
    _, rows = read_csv(out / "scores.csv")
    assert {(row["C2"], row["C"], row["total"], row["A"]) for row in rows} == {("", "", "", "15")}
    assert rows[0]["reason"] == "C2: missing: understanding_check"
    assert "12 of 384 values missing" in capsys.readouterr().err
    text = (out / "score.md").read_text(encoding="utf-8")
    assert text.startswith("> j: 12 sheets wanted, 12 of 384 values missing.")
    assert "4 of 4 totals are missing" in text
    assert "– (0 of 4)" in text
    assert score(scripted(tmp_path, j=[lacking]), dialogues(tmp_path), tmp_path / "korean") == 1
    text = (tmp_path / "korean" / "score.md").read_text(encoding="utf-8")
    assert text.startswith("> j: 채점표 12개 중 값 384개 중 12개 빠짐.")
    assert "– (0 / 4)" in text


def test_the_report_names_all_in_its_language_and_shows_the_figures_of_its_pictures(tmp_path: Path) -> None:
    config = scripted(tmp_path, j=[sheet_text(1)], k=[sheet_text(1, A1={"curriculum_hierarchy": 0})])
    source, out = dialogues(tmp_path), tmp_path / "out"
    source.write_text(source.read_text(encoding="utf-8").replace('"freepass"', '"<b>free|\\u202epass"'), "utf-8")
    assert score(config, source, out, "--compare", "mode", "--match", "question", judges=("j", "k")) == 0
    text, page = ((out / name).read_text(encoding="utf-8") for name in ("score.md", "score.html"))
    assert "| j − k | 4 | 1.00 | 1.00 | 1.00 |" in text.splitlines()
    for written in (text, page):
        assert "Wilcoxon 부호순위 검정, 양측" in written
        assert "모든 심판(평균)" in written
        assert "\u202e" not in written
        assert "<b>" not in written
        for english in ("two-sided", "all judges", "Welch p<", "Welch p |", "lower limit", "mean of both"):
            assert english not in written
    assert page.count('<svg class="chart square"') == 2
    assert page.count("<svg") == 4, "and how often each score was given, for broad screens and for phones"
    assert "편향 +1.00" in page


def test_people_score_beside_judges_and_can_be_the_reference(tmp_path: Path) -> None:
    out, people = tmp_path / "out", tmp_path / "teacher.jsonl"
    values = {item.key: dict.fromkeys(item.slots, 0) for item in QAC.items}
    rows = [
        {"subject": f"s{n}", "judge": "teacher", "repeat": 1, "values": values, "readable": True, "raw": ""}
        for n in range(4)
    ]
    people.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    config, source = scripted(tmp_path, j=[sheet_text(1)]), dialogues(tmp_path)
    assert score(config, source, out, "--sheets", str(people), "--reference", "teacher") == 0
    pairs = json.loads((out / "agreement.json").read_bytes())["measures"][0]["pairs"]
    assert [(pair["first"], pair["second"]) for pair in pairs] == [("j", "teacher")]
    assert stat.S_IMODE((out / "people.jsonl").stat().st_mode) == 0o600
    bias = next(one for one in pairs[0]["statistics"] if one["key"] == "bias")
    assert bias["value"] == 32


def test_people_who_scored_a_few_subjects_stand_beside_the_judges_and_not_in_their_mean(tmp_path: Path) -> None:
    out, people = tmp_path / "out", tmp_path / "teacher.jsonl"
    values = {item.key: dict.fromkeys(item.slots, 0) for item in QAC.items}
    row = {"subject": "s1", "judge": "teacher", "repeat": 1, "values": values, "readable": True, "raw": ""}
    people.write_text(json.dumps(row), encoding="utf-8")
    config = scripted(tmp_path, j=[sheet_text(1)], k=[sheet_text(1, A1={"curriculum_hierarchy": 0})])
    assert score(config, dialogues(tmp_path), out, "--sheets", str(people), judges=("j", "k")) == 0
    assert [row["subject"] for row in read_csv(out / "scores.csv")[1] if row["judge"] == "teacher"] == ["s1"]
    _, lines = read_csv(out / "summary.csv")
    found = {line["judge"]: line for line in lines if (line["column"], line["measure"]) == ("all", "total")}
    assert {judge: (line["mean"], line["n"], line["of"]) for judge, line in found.items()} == {
        "j": ("40.0", "4", "4"),
        "k": ("39.0", "4", "4"),
        "teacher": ("8.0", "1", "1"),
        "all judges (mean)": ("39.5", "4", "4"),
    }


def test_judges_people_and_the_means_of_both_agree_in_three_tables(tmp_path: Path) -> None:
    """Two judges who say the same, and two teachers who say the same otherwise, are not one panel."""
    out, people = tmp_path / "out", tmp_path / "teachers.jsonl"
    rows = []
    for n in range(4):
        values = {item.key: dict.fromkeys(item.slots, n % 2) for item in QAC.items}
        for teacher in ("han", "kim"):
            sheet = {"subject": f"s{n}", "judge": teacher, "repeat": 1, "values": values}
            rows.append(sheet | {"readable": True, "raw": ""})
    people.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    config = scripted(tmp_path, j=[sheet_text(1)], k=[sheet_text(1)])
    assert score(config, dialogues(tmp_path), out, "--sheets", str(people), judges=("j", "k")) == 0
    found = json.loads((out / "agreement.json").read_bytes())
    total, teachers, both = (found[key][0] for key in ("measures", "people", "against_people"))
    assert total["raters"] == ["j", "k"] and teachers["raters"] == ["han", "kim"]
    assert both["raters"] == ["judges (mean)", "people (mean)"] and len(both["pairs"]) == 1
    assert {one["key"]: one["value"] for one in total["statistics"]}["percent_agreement"] == 1.0
    assert {one["key"]: one["value"] for one in teachers["statistics"]}["icc_2_1"] == 1.0
    report = (out / "score.md").read_text(encoding="utf-8")
    for title in ("심판(모델)끼리", "사람끼리", "심판 평균과 사람 평균"):
        assert title in report
    assert "심판과 사람의 상호 비교" in report and "심판 대 심판" not in report, "teachers are no judges"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"values": {"A1_math_expertise": {"concept_accuracy": 7}}},
            ":2: values.A1_math_expertise.concept_accuracy",
        ),
        ({"values": {"A9": {}}}, ":2: values.A9"),
        ({"flags": {"reached_content": 2}}, ":2: flags.reached_content: found 2"),
        ({"not_applicable": {"A1_math_expertise": ["concept_accuracy"]}}, ":2: not_applicable.A1_math_expertise"),
        ({"subject": "s9"}, ":2: subject: found s9"),
    ],
)
def test_a_persons_sheet_that_the_rubric_does_not_allow_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any], told: str
) -> None:
    people = tmp_path / "teacher.jsonl"
    row: dict[str, Any] = {
        "subject": "s1",
        "judge": "teacher",
        "repeat": 1,
        "values": {},
        "readable": True,
        "raw": "",
    }
    people.write_text("\n" + json.dumps(row | change), encoding="utf-8")
    config, source, out = scripted(tmp_path, j=[sheet_text(1)]), dialogues(tmp_path), tmp_path / "out"
    assert score(config, source, out, "--sheets", str(people), "--language", "en") == 2
    assert f"{people}{told}" in capsys.readouterr().err
    assert not out.exists()


def test_scores_of_two_modes_become_a_leaderboard(tmp_path: Path) -> None:
    out, board = tmp_path / "out", tmp_path / "board"
    replies = [sheet_text(1), sheet_text(1, A1=dict.fromkeys(QAC.items[0].slots, 0))]
    assert score(scripted(tmp_path, j=replies), dialogues(tmp_path), out, "--repeats", "1") == 0
    rate = [
        "rate",
        "--scores",
        str(out / "scores.csv"),
        "--model",
        "mode",
        "--item",
        "question",
        "--out",
        str(board),
    ]
    assert main([*rate, "--margin", "3", "--intervals", "none"]) == 0
    models = json.loads((board / "leaderboard.json").read_bytes())["models"]
    assert {model["name"]: (model["wins"], model["losses"]) for model in models} == {
        "freepass": (2, 0),
        "agent": (0, 2),
    }
    assert main([*rate, "--margin", "4", "--intervals", "none"]) == 0
    assert json.loads((board / "leaderboard.json").read_bytes())["models"][0]["ties"] == 2


def test_it_ends_with_what_came_of_it_and_where_the_report_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, out = scripted(tmp_path, j=[sheet_text(1)]), tmp_path / "out"
    assert score(config, dialogues(tmp_path), out, "--language", "en") == 0
    said = capsys.readouterr()
    assert "The mean total is 40.0 on a scale from" in " ".join(said.out.split())
    assert said.err.endswith(f"report: {out / 'score.html'}\n")


@pytest.mark.parametrize(
    ("more", "judges", "told"),
    [
        ((), ("nobody",), "found 'nobody', expected one of j"),
        ((), ("j", "j"), "twice"),
        (("--by", "modus"), ("j",), "found no such column, expected one of mode, question"),
        (("--compare", "mode=agent"), ("j",), "expected COLUMN or COLUMN=FIRST,SECOND"),
        (("--compare", "mode=agent,other"), ("j",), "expected 'other' among them"),
        (("--match", "question"), ("j",), "without --compare"),
        (("--compare", "mode", "--match", "mode"), ("j",), "cannot be paired"),
        (("--repeats", "0"), ("j",), "--repeats: found 0"),
        (("--reference", "teacher"), ("j",), "--reference: found 'teacher'"),
        (("--rubric", "qacc"), ("j",), "no rubric 'qacc'"),
    ],
)
def test_mistakes_are_told_before_anything_is_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], judges: tuple[str, ...], told: str
) -> None:
    config, source, out = scripted(tmp_path, j=[sheet_text(1)]), dialogues(tmp_path), tmp_path / "out"
    assert score(config, source, out, *more, "--language", "en", judges=judges) == 2
    assert told in capsys.readouterr().err
    assert not out.exists()


def test_a_cap_stops_the_run_with_what_is_finished_and_more_money_ends_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, source, out = scripted(tmp_path, j=[sheet_text(1)]), dialogues(tmp_path), tmp_path / "out"
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace("calls = 10000", "calls = 5"), encoding="utf-8")
    assert score(config, source, out) == 3
    assert len((out / "sheets.jsonl").read_text(encoding="utf-8").splitlines()) == 5
    assert (
        "호출 5건의 한도에 닿았습니다. 이어 가려면 budget.calls를 올리세요. 12개 중 5개" in capsys.readouterr().err
    )
    notes = json.loads((out / "score.json").read_bytes())["notes"]
    assert notes[0] == "j: 12 sheets wanted, 7 not asked, the run was stopped."
    config.write_text(text, encoding="utf-8")
    assert score(config, source, out) == 0
    assert len((out / "sheets.jsonl").read_text(encoding="utf-8").splitlines()) == 12


def test_one_sheet_a_model_and_a_table_with_the_models_side_by_side(tmp_path: Path) -> None:
    config = scripted(tmp_path, j=[sheet_text(1)], k=[sheet_text(1, A1={"curriculum_hierarchy": 0})])
    out = tmp_path / "out"
    files = ["--input", str(dialogues(tmp_path)), "--config", str(config), "--out", str(out)]
    assert main(["score", *files, "--rubric", "qac", "--judge", "j", "--judge", "k", "--resamples", "0"]) == 0
    assert len((out / "sheets.jsonl").read_text(encoding="utf-8").splitlines()) == 4 * 2
    header, rows = read_csv(out / "scores_wide.csv")
    assert header[:6] == ["subject", "input_mode", "input_question", "j_total", "k_total", "mean_total"]
    assert [rows[0][name] for name in header[:6]] == ["s0", "freepass", "q0", "40", "39", "39.5"]
    assert len(rows) == 4
    assert "A 3–15, B 3–15, C 2–10, 총점 8–40" in (out / "score.md").read_text(encoding="utf-8")


def test_where_nothing_applies_nothing_is_missing(tmp_path, capsys):
    """A subject that an item says nothing of has no total, which is its own state and no failure of the run."""
    element = "{key: %s, question: 'Is it?', not_applicable: true}"
    (tmp_path / "r.yaml").write_text(
        "name: list\nversion: '1'\ntitle: List\nsubject: dialogue\nevidence: none\nareas:\n"
        "  - key: F\n    title: F\n    items:\n"
        "      - {key: list, label: L, title: List, arithmetic: share, points: 1, elements: ["
        f"{element % 'p'}, {element % 'q'}]}}\n",
        encoding="utf-8",
    )
    replies = [
        '{"list": {"p": 1, "q": "not applicable"}}',
        '{"list": {"p": "not applicable", "q": "not applicable"}}',
    ]
    config = scripted(tmp_path, j=replies)
    given = ["--input", str(dialogues(tmp_path, 2)), "--rubric", str(tmp_path / "r.yaml"), "--judge", "j"]
    out = tmp_path / "out"
    assert main(["score", *given, "--config", str(config), "--out", str(out), "--language", "en"]) == 0
    report = (out / "score.md").read_text(encoding="utf-8")
    assert "For 1 of 2 rows nothing of an item applies" in report and "missing" not in report.split("# List")[0]
    assert [row["total"] for row in read_csv(out / "scores.csv")[1]] == ["1", ""]


def test_the_paired_test_says_how_its_p_was_found_and_what_became_of_zeros(tmp_path: Path) -> None:
    lower = sheet_text(1, A1={"curriculum_hierarchy": 0})
    config = scripted(tmp_path, j=[*[lower] * 3, *[sheet_text(1)] * 9])
    given = ("--compare", "mode", "--match", "question", "--language", "en")
    assert score(config, dialogues(tmp_path), tmp_path / "out", *given) in (0, 1)
    text = (tmp_path / "out" / "score.md").read_text(encoding="utf-8")
    assert (
        "two-sided, p 1.0000 (exact: all 2^1 sign patterns counted; zero differences dropped before rank" in text
    )
