"""Reading anybody's table of ratings, and the command that reports on one."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena.agreement.report import Settings, agree, report
from arena.agreement.rows import AgreementRow
from arena.agreement.table import Rating, Scale, from_rows, load, parse_scale
from frontdesk.cli import main
from runstore.problems import InputProblem, Problem
from runstore.publish import parse_record, read_json, write_json

SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def rows(matrix: list[list[Any]]) -> list[str]:
    return [f"d{i},j{j},{value}" for i, line in enumerate(matrix) for j, value in enumerate(line)]


def written(folder: Path, lines: list[str], header: str = "item,rater,value") -> Path:
    path = folder / "ratings.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def statistic(found: list[dict[str, Any]], key: str) -> dict[str, Any]:
    return next(one for one in found if one["key"] == key)


def run(path: Path, *options: str) -> dict[str, Any]:
    assert main(["agree", "--ratings", str(path), "--out", str(path.parent / "out"), *options]) == 0
    return json.loads((path.parent / "out" / "agreement.json").read_text())


def test_blank_na_null_and_an_absent_row_are_the_same_missing_rating(tmp_path: Path) -> None:
    plain = ["a,x,1", "a,y,1", "b,x,2", "b,y,2", "c,x,3", "c,y,4", "d,x,4"]
    absent = load(written(tmp_path, plain))
    for text in ("", "NA", "na", "N/A", "null", "NaN", '""'):
        found = load(written(tmp_path, [*plain, f"d,y,{text}"]))
        np.testing.assert_array_equal(found.matrix, absent.matrix)
        assert found.missing_rows == 1
    lines = tmp_path / "r.jsonl"
    records = [dict(zip(("item", "rater", "value"), row.split(","), strict=True)) for row in plain]
    lines.write_text("\n".join(json.dumps(r) for r in [*records, {"item": "d", "rater": "y", "value": None}]))
    np.testing.assert_array_equal(load(lines).matrix, absent.matrix)


def test_a_repeated_rating_is_refused_with_both_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, ["a,x,1", "a,y,2", "", "b,x,2", "a,x,1"])
    assert main(["agree", "--ratings", str(path), "--out", str(tmp_path / "out")]) == 2
    message = capsys.readouterr().err
    assert "item a, rater x in lines 2 and 6" in message
    assert not (tmp_path / "out").exists()


def test_of_many_files_the_one_with_the_mistake_is_named(tmp_path: Path) -> None:
    for name, rows in (("1", ["a,x,1", "a,y,2"]), ("2", ["b,x,5", "b,y,2", "a,x,3"])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["item,rater,value", *rows]), encoding="utf-8")
    with pytest.raises(InputProblem) as refused:
        load(tmp_path)
    message = str(refused.value)
    assert message.startswith(f"{tmp_path / '2.csv'}:4: ")
    assert f"item a, rater x in line 4 and in {tmp_path / '1.csv'}, line 2" in message
    (tmp_path / "2.csv").write_text("item,rater,value\nb,x,5", encoding="utf-8")
    with pytest.raises(InputProblem, match=r"2\.csv:2: value: found 5"):
        load(tmp_path, scale=parse_scale("1..4"))


@pytest.mark.parametrize(
    ("lines", "header", "options", "expected"),
    [
        (["a,1,2", "b,2,3"], "item,judge1,judge2", {}, "long format"),
        (["a,x,1", "a,y,3o"], "item,rater,value", {}, ":3: value: found 3o"),
        (["a,x,1", "a,y,6"], "item,rater,value", {"scale": parse_scale("1..5")}, ":3: value: found 6, expected"),
        (["a,,1"], "item,rater,value", {}, ":2: rater"),
        (["a,x,1"], "item,rater,value", {"by": "mode"}, "a column 'mode'"),
        (["a,x,1,2"], "item,rater,value,value", {}, "each column once"),
        ([], "item,rater,value", {}, "at least one rating"),
        (["a,x,1e999"], "item,rater,value", {}, "ordinary size"),
        (["a,x,1e300"], "item,rater,value", {}, "ordinary size"),
        (["a,x,good", "a,y,bad"], "item,rater,value", {"measurement": "ordinal"}, "a number"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(
    tmp_path: Path, lines: list[str], header: str, options: dict[str, Any], expected: str
) -> None:
    with pytest.raises(InputProblem) as caught:
        load(written(tmp_path, lines, header), **options)
    assert expected in str(caught.value)


def test_what_many_rows_share_is_named_where_it_first_stands(tmp_path: Path) -> None:
    many = [f"d{i},{rater},{i % 5}" for i in range(6000) for rater in "xy"]
    for extra, expected in (
        (["z,x,1o", "z,y,1o"], ":12002: value: found 1o"),
        (["z,x\u200b,1", "z,x\u200b,2"], ":12002: rater"),
        (["d5,x,1"], "item d5, rater x in lines 12 and 12002"),
    ):
        with pytest.raises(InputProblem) as caught:
            load(written(tmp_path, [*many, *extra]))
        assert expected in str(caught.value)


def test_values_of_other_kinds_that_look_alike_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "ratings.jsonl"
    cells: list[tuple[Any, Any]] = [(1, "x"), ("1", "y"), (2, "x"), (2, "y")]
    path.write_text("\n".join(json.dumps({"item": i, "rater": r, "value": 3}) for i, r in cells))
    assert load(path).items == ("1", "2"), "a name written as a number is that name"
    for spoilt, field in (
        ({"item": True, "rater": "z", "value": 1}, "item"),
        ({"item": 1, "rater": [1]}, "rater"),
    ):
        path.write_text("\n".join(json.dumps(row) for row in ({"item": 1, "rater": "x", "value": 1}, spoilt)))
        with pytest.raises(InputProblem, match=f":2: {field}"):
            load(path)


def test_scales() -> None:
    assert parse_scale("1..5").values == (1, 2, 3, 4, 5)
    assert parse_scale("0, 2,1").values == (0, 1, 2)
    assert parse_scale("low,mid,high") == Scale((0, 1, 2), ("low", "mid", "high"))
    for text in ("5..1", "3", "a,a", "1,1.0", "a,,b", ""):
        with pytest.raises(Problem):
            parse_scale(text)


def test_labels_on_a_declared_scale_are_ordinal_in_that_order() -> None:
    names = ["low", "mid", "high"]
    picks = [(0, 0), (2, 1), (1, 1), (2, 2), (0, 1)]
    listed = [
        Rating(f"d{i}", r, names[p]) for i, pair in enumerate(picks) for r, p in zip("xy", pair, strict=True)
    ]
    labelled = report(from_rows(listed, scale=parse_scale("low,mid,high")), resamples=0)
    assert labelled.settings.measurement == "ordinal"
    numbered = [
        Rating(f"d{i}", r, float(p)) for i, pair in enumerate(picks) for r, p in zip("xy", pair, strict=True)
    ]
    expected = report(from_rows(numbered, scale=parse_scale("0..2")), measurement="ordinal", resamples=0)
    assert labelled.overall.statistics == expected.overall.statistics
    free = report(from_rows(listed), resamples=0)
    assert free.settings.measurement == "nominal"
    assert "nominal" in (free.overall.statistic("icc_2_1").reason or "")
    assert free.overall.statistic("krippendorff_nominal").value is not None
    with pytest.raises(Problem, match="--scale"):
        report(from_rows(listed), measurement="ordinal")


def test_the_command_writes_every_statistic_with_name_interval_counts_and_reason(tmp_path: Path) -> None:
    found = run(written(tmp_path, rows(SHROUT_FLEISS)), "--scale", "1..10")
    assert statistic(found["statistics"], "icc_2_1") | {"notes": []} == {
        "key": "icc_2_1",
        "name": "ICC(2,1) two-way random, absolute agreement, single rater",
        "value": pytest.approx(0.28976378),
        "interval": pytest.approx([0.01878651, 0.76108437]),
        "level": 0.95,
        "interval_method": "F distribution, Satterthwaite's degrees of freedom",
        "n_used": 6,
        "n": 6,
        "unit": "items",
        "reason": None,
        "notes": [],
    }
    keys = [one["key"] for one in found["statistics"]]
    assert len(keys) == len(set(keys)) == 17
    for one in [*found["statistics"], *(one for pair in found["pairs"] for one in pair["statistics"])]:
        assert (one["value"] is None) == (one["reason"] is not None)
        assert one["n_used"] <= one["n"]
        assert one["interval"] is not None or one["value"] is None or one["interval_method"]
    assert len(found["pairs"]) == 6
    text = (tmp_path / "out" / "agreement.md").read_text()
    assert "ICC(2,1) two-way random, absolute agreement, single rater" in text


def test_nothing_estimable_is_null_with_because_and_never_nan(tmp_path: Path) -> None:
    path = written(tmp_path, rows([[4, 4], [4, 4], [4, 4]]))
    found = run(path)
    assert statistic(found["statistics"], "krippendorff_ordinal")["value"] is None
    assert statistic(found["statistics"], "percent_agreement")["value"] == 1.0
    raw = (tmp_path / "out" / "agreement.json").read_text() + (tmp_path / "out" / "agreement.md").read_text()
    assert "not estimable because: no variance" in raw
    assert "NaN" not in raw
    assert "nan" not in raw


def test_row_order_changes_no_byte_and_the_seed_is_kept(tmp_path: Path) -> None:
    lines = rows([[1, 2, 2], [3, 3, 4], [5, 5, 4], [2, 2, "NA"], [4, 3, 4], [1, 1, 2], [2, 3, 2], [5, 4, 5]])
    first = run(written(tmp_path, lines), "--scale", "1..5", "--seed", "0")
    random.Random(4).shuffle(lines)
    assert run(written(tmp_path, lines), "--scale", "1..5", "--seed", "0") == first
    other = run(written(tmp_path, lines), "--scale", "1..5", "--seed", "1")
    assert other["seed"] == 1
    first_alpha = statistic(first["statistics"], "krippendorff_interval")
    other_alpha = statistic(other["statistics"], "krippendorff_interval")
    assert first_alpha["value"] == other_alpha["value"]
    assert first_alpha["interval"] == other_alpha["interval"], "nothing is drawn any more"


def test_per_value_of_a_column_and_against_a_reference(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines: list[str] = []
    for i in range(24):
        teacher = int(rng.integers(8, 33))
        mode = "socratic" if i % 2 else "direct"
        lines += [f"d{i},teacher,{teacher},{mode}", f"d{i},judge,{teacher + 6},{mode}"]
        lines.append(f"d{i},other,{teacher + int(rng.integers(-3, 4))},{mode}")
    lines += ["d99,judge,5,", "d99,teacher,4,"]
    found = run(written(tmp_path, lines, "item,rater,value,mode"), "--by", "mode", "--reference", "teacher")
    assert [(p["first"], p["second"]) for p in found["pairs"]] == [("judge", "teacher"), ("other", "teacher")]
    against = found["groups"][0]["pairs"][0]["statistics"]
    assert statistic(against, "pearson")["value"] == pytest.approx(1.0)
    assert statistic(against, "bias")["value"] == pytest.approx(6.0)
    assert statistic(against, "icc_2_1")["value"] < 0.95
    assert "not categories" in statistic(against, "cohen_kappa")["reason"]
    assert [(g["column"], g["value"], g["units"]) for g in found["groups"]] == [
        ("mode", "direct", 12), ("mode", "socratic", 12),
    ]  # fmt: skip
    assert any("1 of 25 units have no value in column mode" in note for note in found["notes"])
    assert (
        main(["agree", "--ratings", str(tmp_path / "ratings.csv"), "--out", str(tmp_path), "--reference", "me"])
        == 2
    )


def test_an_item_may_be_rated_once_per_value_of_the_column(tmp_path: Path) -> None:
    lines = ["a,x,1,q1", "a,y,2,q1", "a,x,3,q2", "a,y,3,q2", "b,x,1,q1", "b,y,1,q1"]
    path = written(tmp_path, lines, "item,rater,value,question")
    assert load(path, by="question").matrix.shape == (3, 2)
    with pytest.raises(InputProblem, match="lines 2 and 4"):
        load(path)


def test_measures_that_assume_more_than_was_declared_say_so() -> None:
    block = agree(np.array(SHROUT_FLEISS, float), ["a", "b", "c", "d"], Settings("ordinal", resamples=0))
    assert "assumes interval data; declared ordinal" in block.statistic("icc_2_1").notes
    assert not block.statistic("krippendorff_ordinal").notes
    nominal = agree(np.array(SHROUT_FLEISS, float), ["a", "b", "c", "d"], Settings("nominal", resamples=0))
    assert nominal.statistic("krippendorff_interval").value is None
    with pytest.raises(KeyError):
        block.statistic("icc")


def test_many_raters_are_not_listed_pair_by_pair() -> None:
    matrix = np.random.default_rng(0).integers(1, 6, (10, 12)).astype(float)
    names = [f"r{j}" for j in range(12)]
    block = agree(matrix, names, Settings(resamples=0))
    assert block.pairs == ()
    assert any("12 raters" in note for note in block.notes)
    assert len(agree(matrix, names, Settings(resamples=0), reference="r3").pairs) == 11


def test_hostile_names_stay_in_their_cells(tmp_path: Path) -> None:
    lines = ['a,"x|y\n# <script>",1', "a,z,2", 'b,"x|y\n# <script>",2', "b,z,2"]
    run(written(tmp_path, lines))
    text = (tmp_path / "out" / "agreement.md").read_text()
    assert "<script>" not in text.replace("\\<script\\>", "")
    assert not any(line.startswith("# \\<") for line in text.splitlines())


def test_bad_options_are_usage_errors(tmp_path: Path) -> None:
    path = written(tmp_path, rows(SHROUT_FLEISS))
    base = ["agree", "--ratings", str(path), "--out", str(tmp_path / "o")]
    for extra in (["--confidence", "2"], ["--resamples", "-1"], ["--scale", "x"], ["--level", "fuzzy"]):
        assert main([*base, *extra]) == 2
    assert main(["agree", "--ratings", str(tmp_path / "none.csv"), "--out", str(tmp_path)]) == 2


def test_agreement_reads_its_own_file_and_writes_it_again(tmp_path: Path) -> None:
    lines = [f"{row},{'ab'[number % 2]}" for number, row in enumerate(rows(SHROUT_FLEISS))]
    run(written(tmp_path, lines, "item,rater,value,mode"), "--by", "mode", "--resamples", "20")
    file = tmp_path / "out" / "agreement.json"
    agreed = parse_record(AgreementRow, read_json(file), file)
    assert {level.value for level in agreed.groups} == {"a", "b"}
    write_json(tmp_path / "again.json", agreed)
    assert (tmp_path / "again.json").read_bytes() == file.read_bytes()
