"""A run as Inspect logs: read by Inspect itself, and rated again from them as from the run."""

import json
import subprocess

import pytest

from frontdesk.cli import main
from runstore.publish import read_records
from runstore.records import Reply, Subset
from tests.support.run_folders import RunBuilder
from tests.support.small_runs import REPOSITORY

PYTHON = REPOSITORY / ".venv-inspect" / "bin" / "python"
NAMES = ("ureka", "gemini-2.5", "gpt/5 한글")
PAIRS = ((NAMES[0], NAMES[2]), (NAMES[1], NAMES[2]), (NAMES[0], NAMES[1]))


@pytest.fixture
def run(tmp_path):
    built = RunBuilder(list(NAMES))
    for pair, codes in zip(PAIRS, ("aaa aab abt ttt axx", "bbb bbb aaa ttb", "aaa bba aaa"), strict=True):
        built.play(codes.split(), pair)
    built.write(tmp_path / "run")
    return tmp_path / "run"


def rated(capsys, *source):
    main(["rate", *map(str, source), "--json"])
    return json.loads(capsys.readouterr().out)


def told(board):
    keys = ("name", "rating", "lower", "upper", "wins", "losses", "ties", "rank")
    pairs = sorted((*sorted((pair["a"], pair["b"])), pair["ties"], pair["invalid"]) for pair in board["pairs"])
    return sorted([[model[key] for key in keys] for model in board["models"]]), pairs


def test_the_logs_give_the_runs_own_ratings(run, tmp_path, capsys):
    assert main(["export", str(run), "--as", "inspect"]) == 0
    capsys.readouterr()
    logs = run / "export" / "inspect" / "logs"
    again = rated(capsys, "--battles", logs, "--out", tmp_path / "again")
    own = rated(capsys, "--run", run, "--out", tmp_path / "own", "--position", "ignore")
    assert told(again) == told(own)
    about = json.loads((logs.parent / "export.json").read_text())
    assert sum(each["rows"] for each in about["sets"].values()) == len(read_records(run / "replies.jsonl", Reply))
    assert (logs.parent / "data-card.md").is_file()
    before = {path.name: path.read_bytes() for path in logs.iterdir()}
    assert main(["export", str(run), "--as", "inspect"]) == 0
    assert {path.name: path.read_bytes() for path in logs.iterdir()} == before
    assert main(["export", str(run), "--as", "inspect", "--split", "0.2"]) == 2


def test_inspect_opens_the_logs_and_its_packed_ones_are_read(run, tmp_path, capsys):
    if not PYTHON.exists():
        pytest.skip("inspect_ai has an environment of its own, which make inspect sets up")
    assert main(["export", str(run), "--as", "inspect"]) == 0
    capsys.readouterr()
    logs, packed = run / "export" / "inspect" / "logs", tmp_path / "packed"
    packed.mkdir()
    command = [PYTHON, "-I", REPOSITORY / "tests" / "frontdesk" / "export" / "read_by_inspect.py", logs, packed]
    read = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert read.returncode == 0, read.stderr
    said = json.loads(read.stdout)
    replies = read_records(run / "replies.jsonl", Reply)
    subsets = {subset.id: subset for subset in read_records(run / "subsets.jsonl", Subset)}
    assert set(said["logs"]) == set(NAMES)
    for name, log in said["logs"].items():
        assert log["status"] == "success"
        assert log["answers"] == {reply.subset: reply.text for reply in replies if reply.endpoint == name}
        assert log["roles"] == ["assistant", "user"]
        values = [value for sample in log["values"].values() for value in sample.values()]
        assert set(values) <= {0.0, 0.5, 1.0}
    assert said["frames"]["evals"] == 3
    assert said["frames"]["samples"] == len(replies)
    assert said["frames"]["messages"] == sum(len(subsets[reply.subset].history) + 1 for reply in replies)
    assert any("against_ureka" in column or "against ureka" in column for column in said["columns"])
    from_packed = rated(capsys, "--battles", packed, "--out", tmp_path / "packed-rated")
    assert told(from_packed) == told(rated(capsys, "--battles", logs, "--out", tmp_path / "again"))
