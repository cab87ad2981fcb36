"""Battles counted from columns and from files of three kinds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from arena.ratings import reading
from arena.ratings.battles import Battles, Chunk, Collector, from_columns
from arena.ratings.columns import encode
from arena.ratings.reading import Columns, read_battles
from runstore.problems import InputProblem, Problem
from runstore.publish import write_csv
from runstore.tables import Names, open_csv
from tests.support.battles import random_rows, swapped

HEADER = ("model_a", "model_b", "winner", "cluster", "subject", "conversation_a")


def _table(rows: int = 300) -> list[tuple[str, str, str, str, str, str]]:
    base = random_rows(1, 6, rows)
    return [(*row, f"d{n % 40}", ("maths", "physics")[n % 2], 'long,\n"text"') for n, row in enumerate(base)]


def _written(folder: Path, kind: str) -> Path:
    path = folder / f"battles.{kind}"
    table = _table()
    if kind == "csv":
        write_csv(path, HEADER, table)
    elif kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as parquet

        columns = {name: [row[k] for row in table] for k, name in enumerate(HEADER)}
        parquet.write_table(pa.table(columns), path, row_group_size=70)
    else:
        objects = [dict(zip(HEADER, row, strict=True)) for row in table]
        text = json.dumps(objects) if kind == "json" else "\n\n".join(json.dumps(row) for row in objects)
        path.write_text(text)
    return path


def _same(left: Battles, right: Battles) -> None:
    assert left.names == right.names
    for name in ("i", "j", "outcome", "first", "weight", "square", "number"):
        assert np.array_equal(getattr(left, name), getattr(right, name)), name


@pytest.mark.parametrize("kind", ["csv", "jsonl", "json", "parquet"])
def test_every_kind_of_file_gives_the_same_battles(tmp_path, monkeypatch, kind: str):
    monkeypatch.setattr(reading, "_JSON_ROWS", 64)
    table = _table()
    expected = from_columns(
        [row[0] for row in table],
        [row[1] for row in table],
        [row[2] for row in table],
        cluster=[row[3] for row in table],
        categories={"subject": [row[4] for row in table]},
    )
    found = read_battles(_written(tmp_path, kind), Columns(categories=["subject"]))

    _same(found, expected)
    assert found.rows is not None and expected.rows is not None
    assert found.rows.clusters == 40
    assert np.array_equal(found.rows.cell, expected.rows.cell)
    assert np.array_equal(found.rows.levels["subject"][0], expected.rows.levels["subject"][0])


def test_the_standard_library_reads_the_same_csv(tmp_path):
    path = _written(tmp_path, "csv")
    columns = Columns()
    collector = Collector(cluster_name="cluster")
    head = open_csv(path, reading.BATTLES)
    wanted = [name for name in columns.wanted() if name in head.names]
    for raw in reading._plain_chunks(head, wanted):  # pyright: ignore[reportPrivateUsage]
        collector.add(reading._chunk(path, raw, columns, Names(path), collector))  # pyright: ignore[reportPrivateUsage]

    _same(collector.battles(), read_battles(path, columns))


def test_a_stray_separator_at_a_rows_end_is_none_and_every_row_counts_once(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_CSV_BYTES", 4096)
    rows = ["P,Q,model_a", "Q,P,tie"] * 600
    rows[1000] += ","
    (tmp_path / "b.csv").write_text("\n".join(["model_a,model_b,winner", *rows, ""]))
    assert read_battles(tmp_path / "b.csv").total == 1200


@pytest.mark.parametrize("kind", ["list", "object", "fixed", "arrow", "dictionary", "pandas", "categorical"])
def test_columns_in_memory_of_any_kind(kind: str):
    import pandas as pd
    import pyarrow as pa

    rows = random_rows(2, 5, 11_000)
    plain = [[row[k] for row in rows] for k in range(3)]
    make = {
        "list": list,
        "object": lambda column: np.array(column, object),
        "fixed": np.array,
        "arrow": pa.array,
        "dictionary": lambda column: pa.chunked_array(
            [pa.array(column[:50]), pa.array(column[50:])]
        ).dictionary_encode(),
        "pandas": pd.Series,
        "categorical": lambda column: pd.Series(column, dtype="category")[:],
    }[kind]

    _same(from_columns(*map(make, plain)), from_columns(*plain))


def test_a_sliced_dictionary_does_not_bring_names_without_battles():
    import pyarrow as pa

    names = pa.array(["X", "Y", "ghost"]).dictionary_encode()[:2]
    battles = from_columns(names, pa.array(["Y", "X"]), ["model_a", "tie"])

    assert battles.names == ("X", "Y")


def test_names_discovered_late_and_a_first_column_are_folded_right():
    collector = Collector(keep_rows=True)
    one = [("b", "a", "model_a"), ("a", "b", "tie")]
    two = [("z", "a", "model_b"), ("a", "0", "model_a")]
    collector.add(
        Chunk(*(encode([row[k] for row in one]) for k in range(3)), first=encode(["model_b", "model_a"]))
    )
    collector.add(Chunk(*(encode([row[k] for row in two]) for k in range(3))))
    battles = collector.battles()

    cells = [
        (battles.names[i], battles.names[j], int(outcome), int(first))
        for i, j, outcome, first in zip(battles.i, battles.j, battles.outcome, battles.first, strict=True)
    ]
    assert battles.rows is not None
    assert [cells[at] for at in battles.rows.cell] == [
        ("a", "b", 0, 1),
        ("a", "b", 1, 1),
        ("a", "z", 2, 0),
        ("0", "a", 0, 0),
    ]


def test_many_models_take_the_sparse_way_and_count_the_same(monkeypatch):
    from arena.ratings import cells as module

    rows = random_rows(3, 30, 500)
    plain = from_columns(
        *([row[k] for row in rows] for k in range(3)), cluster=[str(n % 9) for n in range(len(rows))]
    )
    monkeypatch.setattr(module, "_DENSE_CELLS", 10)
    sparse = from_columns(
        *([row[k] for row in rows] for k in range(3)), cluster=[str(n % 9) for n in range(len(rows))]
    )

    _same(plain, sparse)
    assert plain.rows is not None and sparse.rows is not None
    assert np.array_equal(plain.rows.cell, sparse.rows.cell)


def test_swapping_sides_changes_nothing():
    rows = random_rows(4, 5, 200)
    turned = [swapped(row) for row in rows]

    _same(
        from_columns(*([row[k] for row in rows] for k in range(3))),
        from_columns(*([r[k] for r in turned] for k in range(3))),
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("P,Q,draw,1,", r"battles.csv:4: winner: found draw, expected model_a.*data row 3"),
        ("P,Q,,1,", r"battles.csv:4: winner: found '', expected model_a"),
        ("P, ,tie,1,", r"battles.csv:4: model_b: .*expected a model's name.*data row 3"),
        ("P,Q,tie,-1,", r"battles.csv:4: weight: found -1.0, expected a finite number"),
        ("P,Q,tie,heavy,", r"weight: found .*heavy.*, expected a number"),
        ("P,Q,tie,1,left", r"battles.csv:4: first: found left, expected model_a, model_b"),
    ],
)
def test_rows_that_make_no_sense_are_named(tmp_path, line: str, message: str):
    path = tmp_path / "battles.csv"
    path.write_text(f"model_a,model_b,winner,weight,first\nP,Q,model_a,1,\nQ,P,tie,2,model_a\n{line}\n")

    with pytest.raises(InputProblem, match=message):
        read_battles(path)


def test_the_row_number_counts_across_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_JSON_ROWS", 2)
    path = tmp_path / "battles.jsonl"
    row = '{"model_a": "P", "model_b": "Q", "winner": "%s"}\n'
    path.write_text(row % "tie" * 5 + row % "P")

    with pytest.raises(InputProblem, match=r"battles.jsonl:6: winner: found P"):
        read_battles(path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("b.csv", "model_a,model_b,result\nP,Q,tie\n", "expected a column winner"),
        ("b.csv", "", "found an empty file, expected a header line"),
        ("b.csv", "model_a,model_b,winner\nP,Q\n", "b.csv:2: found 2 cells, expected 3 cells"),
        ("b.csv", "model_a,model_b,winner\nP,Q,tie\n\nP,Q,tie,x\n", "b.csv:4: found 4 cells, expected 3 cells"),
        ("b.jsonl", '{"model_a": "P"\n', "b.jsonl:1"),
        ("b.jsonl", "[1]\n", "expected a JSON object"),
        ("b.json", '{"a": 1}', "expected a list of objects"),
        ("b.parquet", "PAR", "b.parquet"),
        ("b.xlsx", "", "expected an XLSX workbook"),
        ("b.ods", "", "expected a file ending in"),
    ],
)
def test_files_that_are_not_battles_are_refused(tmp_path, name: str, text: str, message: str):
    (tmp_path / name).write_text(text)

    with pytest.raises(InputProblem, match=message):
        read_battles(tmp_path / name)


def test_a_missing_file_and_a_missing_category_are_named(tmp_path):
    with pytest.raises(InputProblem, match="no such file"):
        read_battles(tmp_path / "none.csv")
    with pytest.raises(InputProblem, match="expected a column grade"):
        read_battles(_written(tmp_path, "csv"), Columns(categories=["grade"]))


def test_names_keep_their_formula_signs_through_csv(tmp_path):
    path = tmp_path / "battles.csv"
    write_csv(path, HEADER[:3], [("=SUM(A1)", "@x", "model_a"), ("@x", "NA", "tie")])

    assert read_battles(path).names == ("=SUM(A1)", "@x", "NA")


def test_names_must_be_text_or_whole_numbers():
    assert from_columns([1, 2], [2, 1], ["tie", "tie"]).names == ("1", "2")
    with pytest.raises(Problem, match="must be text"):
        from_columns([1.5], ["x"], ["tie"])


def test_half_an_emoji_in_a_name_is_no_crash():
    names = np.array(["\ud83d", "x"] * 6000, object)

    assert from_columns(names, names[::-1].copy(), np.array(["tie"] * 12_000, object)).names == ("x", "\ud83d")
