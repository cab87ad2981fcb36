"""The commands rate and power, from files to files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from frontdesk.cli import main
from runstore.publish import read_csv, write_csv, write_jsonl
from runstore.records import Judgment, Verdict
from tests.support.run_folders import RunBuilder

HOSTILE = [
    "=cmd|'/c calc'!A1",
    "<script>alert(1)</script>",
    "[/red]|*b*`",
    "$x_1% & \\end{tabular}",
    "\u202eevil\x1b[31m",
]


def _battles(folder: Path, names: list[str]) -> Path:
    path = folder / "battles.csv"
    rows = [
        (a, b, word, f"d{k}", "maths" if k % 2 else "physics")
        for i, a in enumerate(names)
        for b in names[i + 1 :]
        for k, word in enumerate(("model_a", "model_b", "tie", "model_a", "both_bad", "model_b"))
    ]
    write_csv(path, ("model_a", "model_b", "winner", "cluster", "subject"), rows)
    return path


def test_rate_writes_every_file_and_hostile_names_stay_text(tmp_path, capsys):
    out = tmp_path / "out"
    path = _battles(tmp_path, HOSTILE)
    args = [
        "rate",
        "--battles",
        str(path),
        "--out",
        str(out),
        "--by",
        "subject",
        "--latex",
        "--svg",
        "--resamples",
        "50",
    ]

    assert main(args) == 0
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out and "\u202e" not in shown.out and "[/red]" in shown.out
    board = json.loads((out / "leaderboard.json").read_text())
    names = {
        name.replace("\x1b", "\ufffd") for name in HOSTILE
    }  # files for spreadsheets hold no control characters
    assert {entry["name"] for entry in board["models"]} == names
    assert [level["level"] for level in board["by"][0]["levels"]] == ["maths", "physics"]
    assert {row["name"] for row in read_csv(out / "leaderboard.csv")[1]} == names
    markdown = (out / "leaderboard.md").read_text()
    assert "<script>" not in markdown and "\u202e" not in markdown and "\x1b" not in markdown
    table = [line for line in markdown.splitlines() if line.startswith("| 1 |")]
    assert all(line.replace("\\|", "").count("|") == 10 for line in table)
    assert r"\$x\_1\% \& \textbackslash{}end\{tabular\}" in (out / "leaderboard.tex").read_text()
    assert "<script>" not in (out / "leaderboard.svg").read_text()


def test_check_says_how_far_another_library_is_away(tmp_path, capsys):
    path = _battles(tmp_path, ["X", "Y", "Z"])

    assert main(["rate", "--battles", str(path), "--out", str(tmp_path), "--intervals", "none", "--check"]) == 0
    shown = capsys.readouterr()

    assert "check: ties as halves, 3 models, largest difference from choix 0.000" in shown.err
    assert "check" not in shown.out


def test_json_on_stdout_is_the_file(tmp_path, capsys):
    path = _battles(tmp_path, ["X", "Y", "Z"])
    main(["rate", "--battles", str(path), "--out", str(tmp_path), "--seed", "3", "--anchor", "X=1200", "--json"])

    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "leaderboard.json").read_text())
    assert printed["scale"]["anchor"] == ["X", 1200.0]
    assert next(entry for entry in printed["models"] if entry["name"] == "X")["rating"] == 1200
    assert printed["intervals"] == {
        "method": "jackknife",
        "level": 0.95,
        "resamples": None,
        "cluster": "cluster",
        "seed": None,
        "refit": None,
        "usable": None,
        "note": None,
        "informative": 4,
        "needed": 1,
        "dominant": None,
        "dominant_share": None,
        "reason": "4 of 6 clusters say something of their own; an interval takes 5 that differ",
    }


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--anchor", "X"], "expected NAME=VALUE"),
        (["--anchor", "W=1"], "anchor: found 'W'"),
        (["--by", "grade"], "expected a column grade"),
        (["--cluster", "session"], "expected a column session"),
        (["--reference", "W"], "reference: found 'W'"),
        (["--prior", "-1"], "prior"),
        (["--style"], "--style"),
        (["--input", "x"], "found 2 sources"),
    ],
)
def test_mistakes_are_told_and_nothing_is_written(tmp_path, capsys, extra: list[str], message: str):
    path = _battles(tmp_path, ["X", "Y"])

    assert main(["rate", "--battles", str(path), "--out", str(tmp_path / "out"), *extra]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def _run(folder: Path) -> Path:
    verdicts: list[Verdict] = []
    judgments: list[Judgment] = []
    for n in range(12):
        winner = "XY"[n % 3 == 0] if n < 10 else None
        votes = [
            {"judge": "j", "round": k, "outcome": "win" if winner else "unreadable", "winner": winner}
            for k in (1, 2)
        ]
        common = {"subset": f"s{n}", "dialogue": f"d{n // 2}", "criterion": "overall"}
        outcome = "win" if winner else "invalid"
        verdicts.append(
            Verdict.model_validate(
                common
                | {
                    "endpoints": ["X", "Y"],
                    "outcome": outcome,
                    "winner": winner,
                    "agreement": "unanimous",
                    "votes": votes,
                }
            )
        )
        judgments += [
            Judgment.model_validate(
                common
                | vote
                | {
                    "slot_a": "XY"[vote["round"] % 2],
                    "slot_b": "YX"[vote["round"] % 2],
                    "letter": None,
                    "reason": None,
                    "raw": "",
                }
            )
            for vote in votes
        ]
    write_jsonl(folder / "verdicts.jsonl", verdicts)
    write_jsonl(folder / "judgments.jsonl", judgments)
    return folder


def test_a_run_folder_is_rated_and_invalid_verdicts_make_it_incomplete(tmp_path, capsys):
    assert main(["rate", "--run", str(_run(tmp_path)), "--intervals", "sandwich"]) == 1

    board = json.loads((tmp_path / "leaderboard.json").read_text())
    assert board["counts"]["invalid"] == 2 and board["pairs"][0]["invalid"] == 2
    assert board["agreement"] == {"unanimous": 10, "majority": 0, "split": 0, "invalid": 2}
    assert board["position"]["first_wins"] + board["position"]["second_wins"] == 20
    assert board["intervals"]["cluster"] == "dialogue"
    assert "2 of 12 matches were invalid" in (tmp_path / "leaderboard.md").read_text()
    assert main(["rate", "--input", str(tmp_path / "verdicts.jsonl"), "--output", str(tmp_path / "again")]) == 1


def test_power_before_and_after(tmp_path, capsys):
    assert main(["power", "--win-rate", "0.6", "--ties", "0.2", "--calls", "600", "--matches", "200"]) == 0
    text = capsys.readouterr().out
    assert "matches find this gap with a chance of 80%" in text and "600 subsets x 1 round" in text

    assert main(["power", "--run", str(_run(tmp_path)), "--json", "--calls", "90"]) == 0
    pair = json.loads(capsys.readouterr().out)["pairs"][0]
    assert (pair["a"], pair["b"], pair["matches"]) == ("X", "Y", 10)
    assert pair["needed"] == pair["more"] + 10 and pair["subset_effect_origin"] == "from the rounds"


def test_power_of_two_dialogues_has_no_range_and_verdicts_by_criterion_are_no_matches(tmp_path, capsys):
    run = RunBuilder(["X", "Y"], per_dialogue=3)
    run.play(["aab", "abb", "aaa", "bba", "aac", "aab"])
    run.verdicts[:] = [
        one.model_copy(update={"criterion": name}) for name in ("pace", "care") for one in run.verdicts
    ]
    folder = run.write(tmp_path / "run")
    assert main(["power", str(folder.path), "--calls", "60"]) == 0
    text = capsys.readouterr().out
    assert "12 verdicts find it with a chance of" in text and "60 verdicts x 1 round" in text
    assert "a match has 2, one a criterion" in text and "How sure is not known: 2 of the 3 dialogues" in text
    assert "matches" not in text.replace("not matches", "").replace("decided matches", "") and "% to " not in text

    assert main(["power", str(folder.path), "--json"]) == 0
    pair = json.loads(capsys.readouterr().out)["pairs"][0]
    assert pair["needed_range"] == [None, None] and pair["criteria"] == 2 and "2 of the 3" in pair["range_reason"]


def test_power_holds_to_the_level_and_tells_ranges(tmp_path, capsys):
    found = {}
    for level in ("0.8", "0.99"):
        args = [
            "power",
            "--win-rate",
            "0.65",
            "--matches",
            "60",
            "--dialogue-sd",
            "0.5",
            "--level",
            level,
            "--json",
        ]
        assert main([*args, "--subsets-per-dialogue", "3"]) == 0
        found[level] = json.loads(capsys.readouterr().out)["pairs"][0]
    low, high = found["0.8"], found["0.99"]
    assert low["needed"] < high["needed"]
    assert low["power_there"] > high["power_there"]
    assert low["detectable"] < high["detectable"]
    assert high["power_range"][0] <= high["power_there"] <= high["power_range"][1]
    assert (low["subset_effect_origin"], low["dialogue_effect_origin"]) == ("assumed", "given")
    assert low["design_effect"] > 1


def test_power_of_people_before_and_from_a_table(tmp_path, capsys):
    expected = ["--difference", "0.5", "--item-sd", "0.5", "--residual-sd", "1", "--raters", "3", "--items", "40"]
    assert main(["power", *expected]) == 0
    assert "items x 3 raters find it with a chance of 80%" in capsys.readouterr().out
    assert main(["power", "--correlation", "0.5", "--reliability", "0.4", "--raters", "3", "--items", "40"]) == 0
    assert "interval of" in capsys.readouterr().out
    rows = [
        (f"d{n}", rater, condition, value + (n * 7 + at * 5) % 4 - 1.5)
        for n in range(12)
        for at, rater in enumerate(("kim", "lee"))
        for condition, value in (("A", 4.0), ("B", 3.0 + n % 3))
    ]
    write_csv(tmp_path / "s.csv", ("item", "rater", "condition", "value"), rows)
    assert main(["power", "--scores", str(tmp_path / "s.csv"), "--raters", "2", "--json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)["people"]
    assert answer["conditions"] == ["A", "B"]
    assert answer["difference"] == pytest.approx(0.0, abs=1e-9)
    assert answer["items_needed_range"][1] is None
    write_csv(tmp_path / "t.csv", ("item", "rater", "condition", "value"), [("d", "kim", "A", "much")])
    assert main(["power", "--scores", str(tmp_path / "t.csv")]) == 2
    assert "value: found much, expected a number" in capsys.readouterr().err


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["--difference", "1"],
        ["--correlation", "2"],
        ["--win-rate", "0.6", "--gap", "50"],
        ["--win-rate", "2"],
        ["--win-rate", "0.6", "--pair", "X", "Y"],
    ],
)
def test_power_tells_what_it_needs(capsys, args: list[str]):
    assert main(["power", *args]) == 2
    assert "expected one of --win-rate" in (told := capsys.readouterr().err) or "found" in told


def test_rate_takes_a_run_folder_in_first_place_and_refuses_two(tmp_path, capsys):
    folder = _run(tmp_path)
    assert main(["rate", "--run", str(folder), "--json", "--out", str(tmp_path / "a")]) == 1
    by_option = capsys.readouterr().out
    assert main(["rate", str(folder), "--json", "--out", str(tmp_path / "b")]) == 1
    assert capsys.readouterr().out == by_option != ""
    assert main(["rate", str(folder), "--run", str(tmp_path / "other")]) == 2
    assert "two run folders" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("dialogues", "same", "why", "korean"),
    [
        (1, "model_a,model_b,model_a", "1 dialogue; an interval takes 5 that differ", "대화 1개"),
        (
            3,
            "model_a,model_a,model_b",
            "3 dialogues that all say the same; an interval",
            "같은 말을 하는 대화 3개",
        ),
        (9, "tie", "9 dialogues that all say the same; an interval takes 5", "같은 말을 하는 대화 9개"),
    ],
    ids=["one dialogue", "three alike", "nothing but ties"],
)
def test_dialogues_that_do_not_differ_are_counted_and_not_none(
    tmp_path, capsys, dialogues: int, same: str, why: str, korean: str
):
    path = tmp_path / "battles.csv"
    rows = [("p", "q", word, f"d{n}") for n in range(dialogues) for word in same.split(",")]
    write_csv(path, ("model_a", "model_b", "winner", "dialogue"), rows)
    command = ["rate", "--battles", str(path), "--out", str(tmp_path), "--cluster", "dialogue"]

    assert main(command) == 0
    told = capsys.readouterr().out + (tmp_path / "leaderboard.md").read_text()
    assert why in told and "4 more would do" in told and "0 dialogue" not in told
    assert main([*command, "--language", "ko"]) == 0
    assert f"{korean}. 구간에는 서로 다른 5개가 필요함" in (tmp_path / "leaderboard.md").read_text()


def test_every_figure_without_limits_says_why(tmp_path, capsys):
    """One dialogue: effects of position and of style, and a rate against a reference, are without limits."""
    path = tmp_path / "battles.csv"
    words = ("model_a", "model_a", "model_b", "tie", "model_b", "model_a", "model_b", "model_a")
    rows = [
        ("p", "q", word, "d", "model_a" if n % 3 else "model_b", "x" * (20 + 7 * n % 30), "y" * (20 + 5 * n % 25))
        for n, word in enumerate(words * 3)
    ]
    write_csv(path, ("model_a", "model_b", "winner", "dialogue", "first", "reply_a", "reply_b"), rows)
    command = ["rate", "--battles", str(path), "--out", str(tmp_path), "--cluster", "dialogue"]
    assert main([*command, "--style", "--reference", "q", "--language", "ko"]) == 0
    assert main([*command, "--style", "--reference", "q"]) == 0
    board = json.loads((tmp_path / "leaderboard.json").read_text())

    why = "no interval: 1 dialogue; an interval takes 5 that differ"
    against = next(model["reference"] for model in board["models"] if model["name"] == "p")
    for place in (board["position"], board["style"], against):
        assert place["reason"] == why and place.get("lower") is None and place.get("upper") is None
    assert board["position"]["log_odds"] is not None and board["style"]["covariates"][0]["lower"] is None
    told = (tmp_path / "leaderboard.md").read_text()
    assert told.count(why) >= 4 and "None" not in told


def test_power_takes_one_question_of_a_studys_ratings(tmp_path, capsys):
    header = ("rater", "document", "condition", "question", "value", "seconds", "submitted_at")
    rows = [
        (f"r{rater}", f"d{item}", condition, name, value, "", "")
        for item in range(6)
        for rater in (1, 2)
        for condition in "AB"
        for name, value in (
            ("U1", 1 + (item * rater) % 4 + (condition == "B")),
            ("U2", "NA" if item == 0 else 5 - (item + rater) % 3 - (condition == "B") * (item % 2)),
            ("U3", "free text"),
        )
    ]
    write_csv(tmp_path / "ratings.csv", header, rows)
    command = ["power", "--scores", str(tmp_path / "ratings.csv")]
    assert main(command) == 2
    assert "one question (--question), of U1, U2, U3" in capsys.readouterr().err
    assert main([*command, "--question", "U9"]) == 2
    found = []
    for name in ("U1", "U2"):
        assert main([*command, "--question", name, "--json"]) == 0
        (row,) = json.loads(capsys.readouterr().out)["people"]
        found.append((row["conditions"], row["items"], round(row["difference"], 6)))
    assert found == [(["A", "B"], 6, -1.0), (["A", "B"], 5, 0.6)]


def test_reasons_and_notes_are_told_whole_on_a_korean_console(tmp_path, capsys):
    path = tmp_path / "battles.csv"
    rows = [("p", "q", word, "d") for word in ("model_a", "model_b", "tie")]
    write_csv(path, ("model_a", "model_b", "winner", "dialogue"), [*rows, ("p", "p", "tie", "d")])
    command = ["rate", "--battles", str(path), "--out", str(tmp_path), "--cluster", "dialogue", "--language", "ko"]
    assert main(command) == 0
    told = capsys.readouterr().out
    assert "p: 구간 없음: 대화 1개. 구간에는 서로 다른 5개가 필요함" in told
    assert "참고: 모델이 자기 자신과 한 경기 1건을 뺌" in told
    write_csv(path, ("model_a", "model_b", "winner", "dialogue"), [("p", "p", "tie", "d")])
    main(command)
    assert "참고: 경기가 없어 평점을 낼 수 없음" in capsys.readouterr().out


def test_a_table_whose_test_can_tell_nothing_says_so(tmp_path):
    """Four of eight dialogues lean: whatever they say, the exact test cannot get below .125."""
    lines = ["model_a,model_b,winner,dialogue"]
    lines += [f"p,q,{'model_a' if n < 4 or side else 'model_b'},d{n}" for n in range(8) for side in (0, 1)]
    battles = tmp_path / "battles.csv"
    battles.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for language, told in (("en", "p, q: Only 4 clusters lean"), ("ko", "p, q: 둘 중 한쪽으로 기운 군집이 4개뿐")):
        out = tmp_path / language
        asked = ["rate", "--battles", str(battles), "--cluster", "dialogue", "--out", str(out)]
        assert main([*asked, "--language", language]) == 0
        report = (out / "leaderboard.md").read_text(encoding="utf-8")
        assert told in report and "0.125" in report and "2" in report.split(told)[1].splitlines()[0]


def test_few_of_many_dialogues_that_differ_are_told_as_few_of_many(tmp_path):
    words = ["model_a,model_a", "model_b,model_b", *["model_a,model_b"] * 6]
    rows = [("p", "q", word, f"d{n}") for n, both in enumerate(words) for word in both.split(",")]
    write_csv(tmp_path / "battles.csv", ("model_a", "model_b", "winner", "dialogue"), rows)
    asked = ["rate", "--battles", str(tmp_path / "battles.csv"), "--cluster", "dialogue", "--out", str(tmp_path)]
    told = {
        "en": "2 of 8 dialogues say something of their own",
        "ko": "대화 8개 중 나머지와 다른 말을 하는 것은 2개",
    }
    for language, why in told.items():
        assert main([*asked, "--language", language]) == 0
        assert why in (tmp_path / "leaderboard.md").read_text(encoding="utf-8")


def test_commands_that_call_nobody_load_nothing_to_call_with(tmp_path):
    table = tmp_path / "b.csv"
    table.write_text("model_a,model_b,winner\na,b,model_a\nb,a,model_a\n")
    code = (
        "import sys; from frontdesk.cli import main; "
        f"main(['rate', '--battles', {str(table)!r}, '--out', {str(tmp_path / 'out')!r}]); "
        "print('loaded:', [name for name in ('aiohttp', 'tiktoken', 'google') if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-1] == "loaded: []"
