"""A language made from English by a rule: every word of a words file in brackets, so that what is shown without
them came from somewhere else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import yaml

CODE = "xx"
ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("personas", "seed_questions", "runstore", "gateway", "simulator", "arena", "frontdesk")
_FIELD = re.compile(r"(\{[^{}]*\})")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")


def bracketed(text: str) -> str:
    """``Report: {name}`` -> ``⟦Report⟧: {name}``."""
    parts = _FIELD.split(text)
    return "".join(
        part if at % 2 else _WORD.sub(lambda word: f"⟦{word[0]}⟧", part) for at, part in enumerate(parts)
    )


def write(folder: Path) -> Path:
    """All files of the language below ``folder``, laid out like the product's own; returns the folder."""
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*"):
            if path.suffix not in {".yaml", ".md", ".txt"} or "human" in path.parts:
                continue
            target = folder / path.relative_to(ROOT)
            if ".en." in path.name:
                target = target.with_name(path.name.replace(".en.", f".{CODE}."))
                text = path.read_text(encoding="utf-8")
                _put(target, _words(text) if path.parent.name == "words" else text)
            elif path.suffix == ".yaml" and ".ko." not in path.name:
                loader = yaml.SafeLoader if path.parent.name == "rubrics" else yaml.BaseLoader
                data: object = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
                if (added := _with_translations(data)) != data:
                    _put(target, yaml.safe_dump(added, allow_unicode=True, sort_keys=False, width=10_000))
    return folder


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _words(text: str) -> str:
    texts = cast("dict[str, str]", yaml.load(text, Loader=yaml.BaseLoader))
    kept = {"cased": texts["cased"]} if "cased" in texts else {}
    return yaml.safe_dump({key: bracketed(value) for key, value in texts.items()} | kept, allow_unicode=True)


def _with_translations(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_translations(part) for part in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    table = cast("dict[str, Any]", value)
    added = {key: _with_translations(part) for key, part in table.items()}
    return added | {CODE: bracketed(str(table["en"]))} if isinstance(table.get("en"), str) else added
