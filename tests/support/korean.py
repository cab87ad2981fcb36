"""What stands in English where everything should be Korean, and is neither data nor a name."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

from frontdesk.cli import COMMANDS
from tests.frontdesk.test_another_language import Visible

ROOT = Path(__file__).resolve().parents[2]


def _split(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = re.compile(r"[A-Za-z][A-Za-z'’]+")
_RUN = re.compile(r"[A-Za-z][A-Za-z'’-]*(?:[,;:]? +[A-Za-z][A-Za-z'’-]*){2,}")
_NAME = re.compile(
    r"""tutor-arena[ ][a-z-]+([ ][a-z]+\b)?|human[ ]plan|pip[ ]install[ ]\S+|--[a-z][a-z-]*|\[[a-z]+\]
    |[a-z]+[ ]=[ ][a-z0-9]+|\{\w+\}|^[a-z]+(?=:[ ])|price|\{[ ][^}\n]*\}|'[^'\n]*'|"[^"\n]*"|`[^`\n]*`|https?:\S+
    |[\w./~@:=*\\\[\]$-]*(?:[A-Za-z0-9][_=/\\@~*]|[_=/\\@~*][A-Za-z0-9]|[A-Za-z0-9][.-][A-Za-z0-9]|[0-9])
     [\w./~@:=*\\\[\]-]*""",
    re.VERBOSE,
)
"""Commands, options, sections, keys, files, addresses, hashes, and what stands in quotes as it was given."""
_PROPER = _split(
    """
    Krippendorff Cronbach Cohen Holm Wilcoxon McNemar Bradley Terry Davidson Rao Kupper Wilson Pearson
    Spearman Kendall Fleiss Gwet Welch Bridge MathDial SimulatorArena SocraticBench Google Anthropic Vertex
    Cloud Storage Bedrock BigQuery Chromium Parquet OpenTelemetry Ctrl SQLite id ids csv tsv json jsonl yaml
    toml true false dict pip pyarrow pandas matplotlib litellm xllamacpp Hedges Olkin Cliff Borenstein Pratt
    Arrow Inspect Zstandard deflate polars
    Satterthwaite responseTimeSec parquet tls Chen Crowd BT Elo choix Raw ddof CPython
    """
)
"""Authors of methods, sets of data and programs, which have no other name."""
_SAID = ("dialogues", "subsets", "replies", "judgments", "sheets", "documents", "ratings", "items", "in")
"""Files of what models and people said: shown as it was said."""
_IDS = _split(
    """
    id endpoint endpoints persona question model judge dialogue rater run item a b document name family
    """
)
TYPED = _split(
    """
    repeat run file tab best place ranking decide all openai headers body items factors design size role text
    workers options kind inspect
    teacher
    """
)
"""Values of options and keys of a configuration, as they are typed."""


def data_of(*folders: Path) -> str:
    """Everything said in the records of these folders, and the prompts, in one line a text."""
    paths = [path for folder in folders for path in folder.rglob("*") if path.stem in _SAID and path.is_file()
             and path.suffix != ".sqlite"]  # fmt: skip
    said: list[str] = []
    for path in paths:
        text = path.read_text("utf-8-sig")
        said.append(text)
        if path.suffix in {".jsonl", ".json"}:
            said += [part for line in text.splitlines() if line for part in strings(json.loads(line))]
    return " ".join("\n".join(said).split()).lower()


def names_of(*folders: Path) -> frozenset[str]:
    """The words of what people named: ids, endpoints, models, raters in the records of these folders."""
    found: set[str] = set()
    for folder in folders:
        for path in folder.rglob("run.toml"):
            found |= set(_typed(tomllib.loads(path.read_text("utf-8"))))
        for path in folder.rglob("*.json*"):
            if path.is_file() and "journal" not in path.parts:
                lines = path.read_text("utf-8-sig").splitlines()
                for line in lines if path.suffix == ".jsonl" else [" ".join(lines)]:
                    found |= set(_ids(json.loads(line))) if line.strip() else set()
    return frozenset(word for name in found for word in _WORD.findall(name))


def _typed(value: object) -> Iterator[str]:
    """Keys and values of a configuration that are single words."""
    if isinstance(value, dict):
        for key, part in cast("dict[str, object]", value).items():
            yield key
            yield from _typed(part)
    elif isinstance(value, str) and " " not in value:
        yield value
    elif isinstance(value, list):
        for part in cast("list[object]", value):
            yield from _typed(part)


def _ids(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in cast("dict[str, object]", value).items():
            if key in _IDS:
                yield from (name for name in strings(part) if " " not in name)
            else:
                yield from _ids(part)
    elif isinstance(value, list):
        for part in cast("list[object]", value):
            yield from _ids(part)


def strings(value: object) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in cast("dict[str, object]", value).values():
            yield from strings(part)
    elif isinstance(value, list):
        for part in cast("list[object]", value):
            yield from strings(part)


def english(texts: Iterable[str], data: str = "", names: Iterable[str] = ()) -> list[str]:
    """English words that are no names, each with what it stands in; three words may be quoted from ``data``.

    A word in capitals alone is an abbreviation or a placeholder; names are commands, keys, files and ``names``.
    """
    known = _PROPER | set(COMMANDS) | set(names) | {"tutor", "arena"}
    found: set[str] = set()
    for text in texts:
        own = _RUN.sub(lambda run: " · " if data and run[0].lower() in data else run[0], text)
        for match in _WORD.finditer(_NAME.sub(" · ", own)):
            word = match[0]
            is_cut = match.string.startswith("…", match.end())
            if is_cut and any(name.startswith(word) for name in known):
                continue
            if word not in known and not word.isupper():
                found.add(f"{word} in {text.strip()[:90]!r}")
    return sorted(found)


def shown(path: Path) -> list[str]:
    """What a reader sees of a page or a Markdown file, but what stands there as code or as somebody's words."""
    text = path.read_text("utf-8")
    if path.suffix != ".html":
        text = re.sub(r"^(`{3,})text\n.*?^\1$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
        return [line.replace("\\", "") for line in text.splitlines()]
    parser = Visible()
    parser.feed(text)
    return parser.texts


def said_in(path: Path, *, raised: bool = False) -> Iterator[str]:
    """The sentences that a module writes, fields as a number: of results, or with ``raised`` of refusals."""
    tree = ast.parse(path.read_text("utf-8"))
    refusals = {id(part) for node in ast.walk(tree) if _refuses(node) for part in ast.walk(node)}
    passed = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.Raise) for part in ast.walk(node)
    } - refusals
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            passed.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            passed |= {id(each) for each in ast.walk(node) if each is not node}
    for node in ast.walk(tree):
        if id(node) in passed or (id(node) in refusals) is not raised:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _refuses(node: ast.AST) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    name = getattr(called, "id", getattr(called, "attr", ""))
    return str(name).endswith("Problem")
