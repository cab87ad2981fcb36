"""Tables in many files: a folder, a pattern, an address; read by every command as one table."""

import json
from importlib.util import find_spec
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest
from pyarrow import parquet

from frontdesk.cli import main
from runstore.problems import InputProblem, Problem
from runstore.tables import read_table, shards_of

RATINGS = [
    {"item": f"문항 {item}", "rater": rater, "value": (item * 7 + (rater == "b") * (item % 3 == 0)) % 5 + 1}
    for item in range(30)
    for rater in ("a", "b")
]


def write_shards(folder: Path, rows: list[dict[str, object]], count: int = 3) -> Path:
    folder.mkdir(parents=True)
    size = -(-len(rows) // count)
    for number in range(count):
        table = pa.Table.from_pylist(rows[number * size : (number + 1) * size])
        parquet.write_table(table, folder / f"part-{number}.parquet")
    return folder


def in_memory(folder: Path, name: str) -> str:
    """The same files in an object store: one of this process."""
    system = fsspec.filesystem("memory")
    for path in folder.iterdir():
        system.pipe_file(f"/{name}/{path.name}", path.read_bytes())
    return f"memory://{name}"


def test_a_source_is_a_file_or_all_that_it_stands_for(tmp_path):
    folder = write_shards(tmp_path / "many", RATINGS)
    (folder / "_SUCCESS").touch()
    for source in (folder, str(folder / "part-*.parquet"), f"file://{folder}", in_memory(folder, "found")):
        rows = [row for shard in shards_of(source) for _, row in read_table(shard).rows]
        assert rows == RATINGS
    assert [shard.path for shard in shards_of(folder / "part-0.parquet")] == [folder / "part-0.parquet"]
    with pytest.raises(InputProblem, match=r"expected files ending in \.parquet"):
        shards_of("memory://nothing/there")
    if find_spec("s3fs") is None:
        with pytest.raises(Problem, match="s3fs"):
            shards_of("s3://bucket/battles")


def test_agreement_over_shards_is_that_of_one_table(tmp_path, capsys):
    parquet.write_table(pa.Table.from_pylist(RATINGS), tmp_path / "one.parquet")
    folder = write_shards(tmp_path / "many", RATINGS)
    said = []
    for source in (tmp_path / "one.parquet", folder, in_memory(folder, "ratings")):
        assert main(["agree", "--ratings", str(source), "--out", str(tmp_path / "out"), "--json"]) == 0
        found = json.loads((tmp_path / "out" / "agreement.json").read_text(encoding="utf-8"))
        said.append({name: value for name, value in found.items() if name != "source"})
    assert said[0] == said[1] == said[2]
    again = write_shards(tmp_path / "twice", [*RATINGS, RATINGS[0]])
    assert main(["agree", "--ratings", str(again), "--out", str(tmp_path / "out")]) == 2
    assert "each item and rater once" in capsys.readouterr().err


def test_agent_runs_over_shards_are_scored_as_one_table(tmp_path):
    rows = [
        {"Query ID": f"q-{number}", "Query": "은행 어디로 가나요", "Response": "은행" if number % 3 else "길"}
        for number in range(40)
    ]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "one.parquet")
    folder = write_shards(tmp_path / "many", rows)
    said = []
    for source in (tmp_path / "one.parquet", folder, in_memory(folder, "runs")):
        main(["agent-runs", str(source), "--out", str(tmp_path / "out")])
        found = json.loads((tmp_path / "out" / "agent_runs.json").read_text(encoding="utf-8"))
        assert found["rows"] == 40
        said.append((found["set"], found["rounds"], found["consistency"]))
    assert said[0] == said[1] == said[2]
