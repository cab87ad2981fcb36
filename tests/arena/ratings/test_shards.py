"""Battles in many files: the same ratings as of one, in memory that the rows do not fill."""

import csv
import random
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from arena.ratings.leaderboard import build
from arena.ratings.reading import read_battles
from arena.ratings.settings import Settings
from frontdesk.cli import main
from runstore.problems import InputProblem

NAMES = ("가람", "나래", "다솜", "라온")


def rows(count: int, seed: int = 1, clusters: int = 40) -> list[dict[str, str]]:
    generator = random.Random(seed)
    made = []
    for _ in range(count):
        a, b = generator.sample(range(len(NAMES)), 2)
        ahead = 1 / (1 + 10 ** (0.3 * (a - b)))
        drawn = generator.random()
        winner = "tie" if drawn < 0.15 else "model_a" if generator.random() < ahead else "model_b"
        first = generator.choice(["model_a", "model_b"])
        cluster = f"d-{generator.randrange(clusters)}"
        made.append(
            {"model_a": NAMES[a], "model_b": NAMES[b], "winner": winner, "first": first, "cluster": cluster}
        )
    return made


def write_shards(folder: Path, made: list[dict[str, str]], count: int) -> None:
    folder.mkdir(parents=True)
    size = -(-len(made) // count)
    for number in range(count):
        table = pa.Table.from_pylist(made[number * size : (number + 1) * size])
        parquet.write_table(table, folder / f"part-{number:03d}.parquet")


@pytest.mark.parametrize("intervals", ["jackknife", "bootstrap", "sandwich"])
def test_shards_are_rated_as_one_file(tmp_path, intervals):
    made = rows(3000)
    parquet.write_table(pa.Table.from_pylist(made), tmp_path / "one.parquet")
    write_shards(tmp_path / "many", made, 7)
    settings = Settings(intervals=intervals, resamples=100)
    one, many = (
        build(read_battles(tmp_path / "one.parquet"), settings),
        build(read_battles(tmp_path / "many"), settings),
    )
    assert one.counts == many.counts
    for left, right in zip(one.models, many.models, strict=True):
        assert (left.name, left.rank, left.rank_range, left.wins, left.ties) == (
            right.name,
            right.rank,
            right.rank_range,
            right.wins,
            right.ties,
        )
        assert (left.rating, left.lower, left.upper) == pytest.approx((right.rating, right.lower, right.upper))
    for left, right in zip(one.pairs, many.pairs, strict=True):
        assert left.model_dump() == pytest.approx(right.model_dump(), nan_ok=True)


def test_a_folder_a_pattern_and_an_address_are_the_same_shards(tmp_path):
    write_shards(tmp_path / "many" / "year=2026", rows(500), 3)
    (tmp_path / "many" / "_SUCCESS").write_text("")
    folder = read_battles(tmp_path / "many")
    assert read_battles(str(tmp_path / "many" / "*" / "part-*.parquet")).total == folder.total == 500
    assert read_battles(f"file://{tmp_path / 'many'}").total == 500
    assert read_battles(f"file://{tmp_path / 'many' / 'year=2026' / '*-00[01].parquet'}").total == 334


def test_the_command_rates_shards_of_csv_too(tmp_path, capsys):
    made = rows(400)
    (tmp_path / "many").mkdir()
    for number in range(2):
        with (tmp_path / "many" / f"{number}.csv").open("w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, list(made[0]))
            writer.writeheader()
            writer.writerows(made[number::2])
    assert main(["rate", "--battles", str(tmp_path / "many"), "--out", str(tmp_path / "out")]) == 0
    assert "가람" in (tmp_path / "out" / "leaderboard.json").read_text(encoding="utf-8")


def test_what_is_wrong_in_a_shard_is_named_with_its_file_and_row(tmp_path):
    made = rows(40)
    made[31]["winner"] = "model_c"
    write_shards(tmp_path / "many", made, 4)
    with pytest.raises(InputProblem, match=r"part-003.*model_c.*data row 2"):
        read_battles(tmp_path / "many")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputProblem, match="found none"):
        read_battles(tmp_path / "empty")
    (tmp_path / "many" / "more.csv").write_text("model_a,model_b,winner\n")
    with pytest.raises(InputProblem, match="files of one kind"):
        read_battles(tmp_path / "many")


def test_shards_with_other_columns_are_refused(tmp_path):
    write_shards(tmp_path / "many", rows(40), 2)
    bare = [{name: row[name] for name in ("model_a", "model_b", "winner")} for row in rows(10)]
    parquet.write_table(pa.Table.from_pylist(bare), tmp_path / "many" / "z.parquet")
    with pytest.raises(InputProblem, match=r"z\.parquet.*the same columns"):
        read_battles(tmp_path / "many")


def test_memory_does_not_grow_with_the_number_of_shards_where_battles_stand_alone(tmp_path):
    def peak(shards: int) -> int:
        folder = tmp_path / f"s{shards}"
        folder.mkdir()
        generator = np.random.default_rng(3)
        size = 20_000
        for number in range(shards):
            a = generator.integers(0, 4, size)
            b = (a + generator.integers(1, 4, size)) % 4
            columns = {
                "model_a": np.array(NAMES)[a],
                "model_b": np.array(NAMES)[b],
                "winner": np.array(["model_a", "model_b", "tie"])[generator.integers(0, 3, size)],
            }
            parquet.write_table(pa.table(columns), folder / f"{number}.parquet")
        tracemalloc.start()
        assert read_battles(folder).total == shards * size
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(2)
    assert peak(16) < 1.5 * peak(4)


def test_so_many_battles_that_they_are_worked_on_in_ranges_are_rated_as_few(tmp_path, monkeypatch):
    write_shards(tmp_path / "many", rows(4000, clusters=90), 3)
    whole = build(read_battles(tmp_path / "many"))
    monkeypatch.setattr("arena.ratings.battles.BLOCK", 700)
    monkeypatch.setattr("arena.ratings.sandwich.BLOCK", 700)
    monkeypatch.setattr("arena.ratings.sandwich._SORTED", 700)
    parts = build(read_battles(tmp_path / "many"))
    for left, right in zip(whole.models, parts.models, strict=True):
        assert (left.rating, left.lower, left.upper) == pytest.approx((right.rating, right.lower, right.upper))
    for left, right in zip(whole.pairs, parts.pairs, strict=True):
        assert left.model_dump() == pytest.approx(right.model_dump(), nan_ok=True)
