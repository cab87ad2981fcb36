"""Records that stay on the disk, and an index of many keys: as a list and a dictionary would have it."""

import random
from pathlib import Path

import pytest

from runstore.key_index import KeyIndex
from runstore.problems import InputProblem
from runstore.records import Utterance
from runstore.stored import Stored, writing


def written(path: Path, count: int) -> list[Utterance]:
    rows = [Utterance(role="student", text=f"{number} 번째 질문") for number in range(count)]
    with writing(path, Utterance) as out:
        out.extend(rows)
    return rows


def test_a_file_of_records_is_a_sequence(tmp_path):
    rows = written(tmp_path / "u.jsonl", 50)
    stored = Stored(tmp_path / "u.jsonl", Utterance)
    assert list(stored) == rows
    assert len(stored) == 50
    assert stored[7] == rows[7]
    assert stored[-1] == rows[-1]
    assert stored[3:6] == rows[3:6]
    with pytest.raises(IndexError):
        stored[50]


def test_blank_lines_are_passed_over_and_a_wrong_record_is_named(tmp_path):
    path = tmp_path / "u.jsonl"
    path.write_bytes(b'\n{"role":"student","text":"a"}\n\n{"role":"nobody","text":"b"}\n')
    stored = Stored(path, Utterance)
    assert len(stored) == 2
    assert stored[0].text == "a"
    with pytest.raises(InputProblem, match="role"):
        stored[1]
    with pytest.raises(InputProblem, match="readable file"):
        list(Stored(tmp_path / "none.jsonl", Utterance))


def test_half_written_records_leave_the_file_as_it_was(tmp_path):
    path = tmp_path / "u.jsonl"
    written(path, 3)
    with pytest.raises(RuntimeError), writing(path, Utterance) as out:
        out.add(Utterance(role="teacher", text="x"))
        raise RuntimeError
    assert len(Stored(path, Utterance)) == 3
    assert [entry.name for entry in tmp_path.iterdir()] == ["u.jsonl"]


def test_what_a_killed_process_left_half_written_goes(tmp_path):
    (tmp_path / ".u.jsonl.4711.tmp").write_text("half")
    written(tmp_path / "u.jsonl", 2)
    assert [entry.name for entry in tmp_path.iterdir()] == ["u.jsonl"]


def test_an_index_of_keys_is_a_dictionary(monkeypatch):
    monkeypatch.setattr("runstore.key_index._RECENT", 64)
    generator, index, known = random.Random(3), KeyIndex(), dict[int, int]()
    keys = [generator.getrandbits(64) for _ in range(700)]
    for number in range(3000):
        key = generator.choice(keys)
        known[key] = index[key] = number  # type: ignore[index]
        if number % 500 == 0:
            assert len(index) == len(known)
    assert all(index.get(key) == value for key, value in known.items())
    assert len(index) == len(known)
    absent = [key for key in keys if key not in known]
    assert not any(key in index for key in absent)
    assert generator.getrandbits(64) not in index
    assert len(KeyIndex()) == 0


def test_a_mark_at_the_beginning_and_blank_lines_are_no_records(tmp_path):
    path = tmp_path / "u.jsonl"
    lines = [b'\xef\xbb\xbf{"role":"student","text":"a"}', b"", b'{"role":"teacher","text":"b"}', b"{", b""]
    path.write_bytes(b"\n".join(lines))
    stored = Stored(path, Utterance)
    assert (len(stored), stored[0].text, stored[1].text) == (3, "a", "b")
    for read in (lambda: stored[2], lambda: stored[-1], lambda: list(stored)):
        with pytest.raises(InputProblem, match=r"u\.jsonl:4"):
            read()
