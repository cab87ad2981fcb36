"""Which language a command speaks on the console: ``--language``, else that of what it works on, else English."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import cast

from runstore.languages import languages

_PLACES = ("config", "place", "study", "after", "folder", "folder_first", "run_dir", "run_first", "repair", "runs")
"""Where a command's options keep what it works on, a configuration before the run that it changes."""
_FILES = ("run.toml", "study.json")
"""What says it in the folder of a run, and of a planned study."""


def asked_for(arguments: list[str]) -> str | None:
    """What ``--language`` says, known before the command line is read: a refusal of it speaks so too."""
    given = [after for word, after in pairwise([*arguments, ""]) if word == "--language"]
    given += [word.partition("=")[2] for word in arguments if word.startswith("--language=")]
    return given[-1] if given else None


def language_of(args: argparse.Namespace) -> str | None:
    """The language of the run, the configuration or the study that a command was given; None where there is none.

    What cannot be read is passed over: whoever reads it in earnest says what is wrong.
    """
    declared = (_declared(path) for path in _paths(args))
    return next((code for code in declared if isinstance(code, str) and code in languages()), None)


def _paths(args: argparse.Namespace) -> Iterator[Path]:
    for name in _PLACES:
        given: object = getattr(args, name, None)
        for each in cast("list[object]", given) if isinstance(given, list) else [given]:
            if isinstance(each, str | Path):
                path = Path(each)
                yield from (path / name for name in _FILES) if path.is_dir() else (path,)


def _declared(path: Path) -> object:
    try:
        data = _data(path)
    except (OSError, ValueError, RecursionError):
        return None
    run, spoken = data.get("run"), data.get("languages")
    if isinstance(spoken, list) and spoken:
        return cast("list[object]", spoken)[0]
    return cast("dict[str, object]", run).get("language") if isinstance(run, dict) else None


def _data(path: Path) -> dict[str, object]:
    match path.suffix:
        case ".toml":
            import tomllib  # a command that only prints its help reads no file

            return tomllib.loads(path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode())
        case ".json" | ".yaml" | ".yml":
            read: object = _json_or_yaml(path)
            return cast("dict[str, object]", read) if isinstance(read, dict) else {}
        case _:
            return {}


def _json_or_yaml(path: Path) -> object:
    if path.suffix == ".json":
        import json

        return json.loads(path.read_bytes())
    import yaml  # only a study is written so

    try:
        return yaml.safe_load(path.read_bytes())
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
