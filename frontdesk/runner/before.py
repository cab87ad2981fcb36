"""What a run folder held before a refresh, or before another configuration: kept in ``refresh.before/`` until that
has ended or is abandoned."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from frontdesk.runner import published
from frontdesk.runner.runfolder import RunFolder
from runstore.publish import replacing

FOLDER = "refresh.before"
_ALWAYS = ("run.toml", "manifest.json", published.FILE)


def keep(folder: RunFolder) -> None:
    """Copy what the run has published, whole or not at all, with the calls that it was made of.

    A segment of the journal is never written again once its process has ended: a link to it is enough.
    """
    forget(folder)
    temporary = folder.file(f".{FOLDER}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    for name in _names(folder):
        shutil.copy2(folder.file(name), temporary / name)
    (temporary / "journal").mkdir()
    for segment in sorted(folder.journal.iterdir()):
        if segment.is_file():
            _linked(segment, temporary / "journal" / segment.name)
    temporary.replace(folder.file(FOLDER))


def begin_change(folder: RunFolder) -> None:
    """Another configuration is about to be written: until what was asked for with it has ended, files of both are
    there."""
    if published.CHANGE not in published.read(folder.path).under_way:
        keep(folder)
    published.begin(folder.path, published.CHANGE)


def end_change(folder: RunFolder) -> None:
    """What was asked for with another configuration, if anything was, has ended."""
    if published.CHANGE in published.read(folder.path).under_way:
        published.end(folder.path, published.CHANGE)
        forget(folder)


def put_back(folder: RunFolder) -> None:
    """The run as it was: its files byte for byte, and none that was published since."""
    before = kept(folder)
    names = _names(before)
    for name in set(_names(folder)) - set(names):
        folder.file(name).unlink()
    for name in sorted(names, key=lambda name: name == "run.toml"):
        with replacing(folder.file(name)) as temporary:
            shutil.copy2(before.file(name), temporary)


def forget(folder: RunFolder) -> None:
    """The copies are no longer needed."""
    shutil.rmtree(folder.file(FOLDER), ignore_errors=True)


def kept(folder: RunFolder) -> RunFolder:
    """The run as it was; its inputs are where those of the run as it is are."""
    return RunFolder(folder.file(FOLDER), home=folder.home)


def _linked(segment: Path, copy: Path) -> None:
    try:
        os.link(segment, copy)
    except OSError:  # another kind of file system
        shutil.copy2(segment, copy)


def _names(folder: RunFolder) -> list[str]:
    names = dict.fromkeys((*_ALWAYS, *published.read(folder.path).files))
    return [name for name in names if folder.file(name).is_file()]
