from __future__ import annotations

from pathlib import Path

import pytest

from runstore.problems import InputProblem
from runstore.yaml_file import read_yaml


def _file(folder: Path, content: bytes) -> Path:
    path = folder / "f.yaml"
    path.write_bytes(content)
    return path


def test_scalars_stay_texts_unless_asked(tmp_path: Path) -> None:
    path = _file(tmp_path, b"a: no\nb: 1\nc: 2020-01-01\nd:\n")
    assert read_yaml(path).data == {"a": "no", "b": "1", "c": "2020-01-01", "d": ""}
    assert read_yaml(path, plain_scalars=False).data["b"] == 1


def test_every_place_keeps_its_line(tmp_path: Path) -> None:
    file = read_yaml(_file(tmp_path, b"a:\n  - x: 1\n    y: 2\n  - z\n"))
    assert file.line(("a", 0, "y")) == 3
    assert file.line(("a", 1)) == 4
    assert file.line(("a", 0, "nowhere", 5)) == 2


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"a: 1\nb:\n  c: 1\n  c: 2\n", 4, r"found 'c' again \(first on line 3\)"),
        (b"a: [1\n", None, "expected YAML"),
        (b"a: 1\nb: \x00\n", 2, "character number 0"),
        (b"a: 1\nb: \xff\n", 2, "byte 0xff"),
        (b"a: 1\n---\nb: 2\n", None, "another document"),
        (b"a: &x [*x]\n", 1, "recursive"),
        (b"[" * 3000, None, "expected YAML"),
        (b"a: *nobody\n", 1, "undefined alias"),
        (b"? [a]\n: 1\n", 1, "unhashable"),
    ],
)
def test_what_is_not_plain_yaml_is_refused(tmp_path: Path, content: bytes, line: int | None, message: str) -> None:
    with pytest.raises(InputProblem, match=message) as caught:
        read_yaml(_file(tmp_path, content))
    if line is not None:
        assert caught.value.line == line


def test_nothing_is_run_and_aliases_do_not_multiply(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    tag = f"!!python/object/apply:pathlib.Path.touch [{marker}]"
    with pytest.raises(InputProblem):
        read_yaml(_file(tmp_path, f"a: {tag}".encode()), plain_scalars=False)
    assert not marker.exists()
    bomb = "a0: &a0 [x]\n" + "".join(f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]\n" for at in range(1, 30))
    assert len(read_yaml(_file(tmp_path, bomb.encode())).data) == 30
