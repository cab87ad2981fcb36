"""Exports of any size: in pieces, gone on with after a kill, several forms at once, and read by others."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from frontdesk.cli import main
from frontdesk.export import parts
from frontdesk.export.write import How, export
from frontdesk.runner.runfolder import RunFolder
from runstore.lookup import Lookup
from runstore.publish import read_records, write_jsonl
from runstore.records import Dialogue, Utterance
from tests.support.run_folders import RunBuilder
from tests.support.small_runs import REPOSITORY

HOSTILE = "=cmd|' /C calc'!A0 <script>alert(1)</script>\n둘째 줄"


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    built = RunBuilder(["a", "b"])
    built.play(["aaa", "bbb", "ttt", "abx"] * 5)
    made = built.write(tmp_path / "run")
    base = read_records(made.file("dialogues.jsonl"), Dialogue)
    say = (
        Utterance(role="student", text=HOSTILE, clean="It is. " + HOSTILE),
        Utterance(role="teacher", text="hm?"),
    )
    rows = [*base, *(base[0].model_copy(update={"id": f"more-{at}", "utterances": say}) for at in range(30))]
    write_jsonl(made.file("dialogues.jsonl"), rows)
    return made


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("form", ["openai", "sharegpt", "preference", "lmarena", "csv"])
def test_pieces_make_the_same_files(folder: RunFolder, tmp_path: Path, form: Any, monkeypatch: Any) -> None:
    how = How(form, split=None if form == "csv" else 0.25)
    export(folder, how, tmp_path / "one")
    monkeypatch.setattr(parts, "PIECE", 7)
    export(folder, how, tmp_path / "many")
    assert tree(tmp_path / "one") == tree(tmp_path / "many")


@pytest.mark.parametrize("form", ["openai", "hf"])
def test_an_export_that_ended_while_its_files_were_joined_goes_on(
    folder: RunFolder, tmp_path: Path, form: Any
) -> None:
    how, out = How(form, split=0.25), tmp_path / "out"
    export(folder, how, tmp_path / "whole")
    last = max(name for name in tree(tmp_path / "whole") if "test" in name)
    (out / last / "in the way").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        export(folder, how, out)
    (out / last / "in the way").rmdir()
    (out / last).rmdir()
    export(folder, how, out)
    assert tree(out) == tree(tmp_path / "whole")


def test_what_another_form_left_unfinished_in_a_folder_stops_none(folder: RunFolder, tmp_path: Path) -> None:
    (tmp_path / ".unfinished" / "other").mkdir(parents=True)
    assert export(folder, How("csv"), tmp_path).files["utterances.csv"] > 0


def test_parquet_in_pieces_holds_the_same_rows(folder: RunFolder, tmp_path: Path, monkeypatch: Any) -> None:
    parquet: Any = import_module("pyarrow.parquet")
    export(folder, How("hf", split=0.25), tmp_path / "one")
    monkeypatch.setattr(parts, "PIECE", 7)
    export(folder, How("hf", split=0.25), tmp_path / "many")
    for path in (tmp_path / "one/data").iterdir():
        one, many = (parquet.read_table(tmp_path / way / "data" / path.name) for way in ("one", "many"))
        assert one.equals(many)
    said = parquet.read_table(tmp_path / "one/data/dialogues-train.parquet").to_pylist()[-1]["utterances"][0]
    assert said["clean"] == "It is. " + HOSTILE


def test_from_a_size_on_a_data_set_is_several_files_with_the_same_rows(
    folder: RunFolder, tmp_path: Path, monkeypatch: Any
) -> None:
    parquet: Any = import_module("pyarrow.parquet")
    whole = export(folder, How("hf"), tmp_path / "one")
    monkeypatch.setattr(parts, "PIECE", 7)
    monkeypatch.setattr(parts, "SHARD", 14)
    made = export(folder, How("hf"), tmp_path / "many")
    names = sorted(name for name in made.files if "dialogues" in name)
    assert names == [f"data/dialogues-train-0000{at}-of-00003.parquet" for at in range(3)]
    assert sum(made.files[name] for name in names) == whole.files["data/dialogues-train.parquet"] > 28
    many = parquet.read_table([tmp_path / "many" / name for name in names])
    assert many.equals(parquet.read_table(tmp_path / "one/data/dialogues-train.parquet"))
    assert "path: data/dialogues-train-*.parquet" in (tmp_path / "many/README.md").read_text()
    monkeypatch.setattr(parts, "SHARD", 500_000)
    export(folder, How("hf"), tmp_path / "many")
    assert {path.name for path in (tmp_path / "many/data").iterdir()} == {
        path.name for path in (tmp_path / "one/data").iterdir()
    }


def test_shards_of_battles_are_rated_as_one_file(folder: RunFolder, tmp_path: Path, monkeypatch: Any) -> None:
    export(folder, How("lmarena"), tmp_path / "one")
    monkeypatch.setattr(parts, "PIECE", 7)
    monkeypatch.setattr(parts, "SHARD", 7)
    assert len(export(folder, How("lmarena"), tmp_path / "many").files) > 1
    for source, out in (("one/train.jsonl", "a"), ("many/train-*.jsonl", "b")):
        assert main(["rate", "--battles", str(tmp_path / source), "--out", str(tmp_path / out)]) == 0
    a, b = (json.loads((tmp_path / out / "leaderboard.json").read_text()) for out in "ab")
    assert a["counts"] == b["counts"]
    assert a["models"] == b["models"]


def test_an_export_that_broke_off_goes_on_where_it_was(
    folder: RunFolder, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(parts, "PIECE", 7)
    export(folder, How("sharegpt"), tmp_path / "whole")
    made: list[str] = []
    real = parts.Pieces._piece

    def piece(self: Any, at: int, *rest: Any) -> Any:
        if len(made) == 3:
            raise KeyboardInterrupt
        made.append(str(at))
        return real(self, at, *rest)

    monkeypatch.setattr(parts.Pieces, "_piece", piece)
    with pytest.raises(KeyboardInterrupt):
        export(folder, How("sharegpt"), tmp_path / "again")
    assert not (tmp_path / "again/train.jsonl").exists()
    made.clear()
    monkeypatch.setattr(
        parts.Pieces, "_piece", lambda self, at, *rest: (made.append(str(at)), real(self, at, *rest))[1]
    )
    export(folder, How("sharegpt"), tmp_path / "again")
    assert made[0] == "3"
    assert tree(tmp_path / "again") == tree(tmp_path / "whole")


def test_pieces_of_another_source_are_not_used(folder: RunFolder, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(parts, "PIECE", 7)
    real = parts.Pieces._join
    monkeypatch.setattr(parts.Pieces, "_join", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        export(folder, How("sharegpt"), tmp_path / "out")
    monkeypatch.setattr(parts.Pieces, "_join", real)
    rows = read_records(folder.file("dialogues.jsonl"), Dialogue)[-9:]
    write_jsonl(folder.file("dialogues.jsonl"), rows)
    done = export(folder, How("sharegpt"), tmp_path / "out")
    assert done.files == {"train.jsonl": 9}


def test_a_killed_export_leaves_no_half_file_and_can_be_made_again(folder: RunFolder, tmp_path: Path) -> None:
    program = (
        "import sys, time\nfrom frontdesk.export import parts\nparts.PIECE = 3\nreal = parts.Pieces._piece\n"
        "def slow(*a):\n    print('piece', flush=True)\n    time.sleep(0.2)\n    return real(*a)\n"
        "parts.Pieces._piece = slow\nfrom frontdesk.cli import main\n"
        f"main(['export', {str(folder.path)!r}, '--as', 'openai', '--out', {str(tmp_path / 'out')!r}])\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], cwd=REPOSITORY, stdout=subprocess.PIPE)
    assert process.stdout is not None
    for _ in range(4):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert not (tmp_path / "out/train.jsonl").exists()
    export(folder, How("openai"), tmp_path / "out")
    export(folder, How("openai"), tmp_path / "fresh")
    assert tree(tmp_path / "out") == tree(tmp_path / "fresh")


def test_several_forms_in_one_call(folder: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(folder.path), "--as", "openai,csv,page", "--json"]) == 0
    assert [about["form"] for about in json.loads(capsys.readouterr().out)["exports"]] == ["openai", "csv", "page"]
    assert main(["export", str(folder.path), "--as", "openai,cvs"]) == 2
    assert "expected 'csv'" in capsys.readouterr().err


def test_a_csv_opens_in_spreadsheets_and_runs_nothing(folder: RunFolder) -> None:
    export(folder, How("csv"))
    path = folder.path / "export/csv/utterances.csv"
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    hostile = [row for row in rows if row["dialogue"] == "more-3"]
    assert [row["role"] for row in hostile] == ["student", "teacher"]
    assert hostile[0]["text"] == "'" + HOSTILE
    assert hostile[0]["clean"].startswith("It is. =cmd")
    dialogues = read_records(folder.file("dialogues.jsonl"), Dialogue)
    assert len(rows) == sum(len(each.utterances) for each in dialogues)


def test_the_page_shows_whole_dialogues_and_runs_nothing(folder: RunFolder) -> None:
    export(folder, How("page"))
    page = (folder.path / "export/page/dialogues.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "the model wrote: It is." in page
    again = export(folder, How("page"))
    assert (again.folder / "dialogues.html").read_text("utf-8") == page


def test_a_dataset_folder_loads_offline(folder: RunFolder) -> None:
    datasets = import_module("pyarrow.dataset")
    export(folder, How("hf", split=0.25))
    data = folder.path / "export/hf/data"
    rows = {
        part: datasets.dataset(data / f"dialogues-{part}.parquet").to_table().to_pylist()
        for part in ("train", "test")
    }
    ids = {part: {row["id"] for row in found} for part, found in rows.items()}
    assert not ids["train"] & ids["test"]
    assert len(ids["train"] | ids["test"]) == len(read_records(folder.file("dialogues.jsonl"), Dialogue))


def test_lines_are_found_by_key_and_the_last_of_two_counts(folder: RunFolder) -> None:
    found = Lookup(folder.file("dialogues.jsonl"), Dialogue, lambda row: row["id"])
    assert found.get("nobody") is None
    assert [found.get(f"more-{at}").id for at in (0, 29)] == ["more-0", "more-29"]  # type: ignore[union-attr]
    write_jsonl(folder.file("two.jsonl"), [*read_records(folder.file("dialogues.jsonl"), Dialogue)[:2]] * 2)
    assert Lookup(folder.file("two.jsonl"), Dialogue, lambda _: "same").get("same") is not None


def test_memory_does_not_grow_with_the_number_of_dialogues(folder: RunFolder, tmp_path: Path) -> None:
    base = read_records(folder.file("dialogues.jsonl"), Dialogue)[-1]
    peaks: list[int] = []
    for size in (4_000, 24_000):
        write_jsonl(
            folder.file("dialogues.jsonl"), (base.model_copy(update={"id": f"n{at}"}) for at in range(size))
        )
        call = f"main(['export', {str(folder.path)!r}, '--as', 'sharegpt'])"
        program = f"from frontdesk.cli import main; {call}"
        process = subprocess.Popen([sys.executable, "-c", program], cwd=REPOSITORY, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = status
        assert status == 0
        peaks.append(used.ru_maxrss)
    assert peaks[1] < 1.2 * peaks[0]
