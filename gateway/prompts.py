"""Prompt files: found, loaded, filled and hashed.

A prompt is a text file ``NAME.LANGUAGE.md`` in the ``prompts`` folder of the package that asks. ``{field}`` is
filled, ``{{`` and ``}}`` are braces. A field without a value and a value without a field are both errors: either
would send a model something nobody meant. Values go in as they are; a brace inside a value is only a brace.

A user's folder (``--prompts DIR``) replaces any file by one of the same name, which must use the same fields.
Files put what never changes first, so that the providers' prefix caches serve it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from runstore.languages import listed, resource
from runstore.problems import InputProblem, Problem, nearest
from runstore.yaml_file import YamlFile, read_text, read_yaml

_TOKEN = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}|[{}]")
_SUFFIXES = (".md", ".yaml")


class FieldProblem(Problem):
    """A template and the values for it do not fit each other."""


@dataclass(frozen=True, slots=True)
class PromptFile:
    """One prompt as loaded. ``hash`` names its text (line ends made equal), wherever the file lay."""

    name: str
    language: str
    text: str
    hash: str

    @property
    def fields(self) -> frozenset[str]:
        return fields_of(self.text)

    def fill(self, **fields: str) -> str:
        """The text with its fields filled. Raises FieldProblem naming the prompt."""
        try:
            return fill(self.text, **fields)
        except FieldProblem as problem:
            raise FieldProblem(f"prompt {self.name}.{self.language}: {problem}") from problem


@dataclass(frozen=True, slots=True)
class PromptTable:
    """Short texts under keys (the kinds of student utterance, say), from one YAML file."""

    name: str
    language: str
    texts: dict[str, str]
    hash: str


def load(
    package: str | Path,
    name: str,
    language: str = "en",
    override_dir: Path | None = None,
    *,
    like: str | None = None,
) -> PromptFile:
    """The prompt ``NAME.LANGUAGE.md`` of ``package`` (a package's name, or a folder), or the user's own.

    ``like`` names the shipped prompt that the user's own may stand beside, with the same fields.

    Raises Problem where there is no such prompt, InputProblem where the user's file is unreadable, blank, has a
    stray brace, or does not use the same fields as the file it replaces.
    """
    own = _override(override_dir, f"{name}.{language}.md")
    shipped = _shipped(package, like if like is not None and own is not None else name, language, ".md")
    path = own or shipped
    text = _template(path)
    if own is not None:
        _same_fields(own, fields_of(text), fields_of(_template(shipped)))
    return PromptFile(name, language, text, text_hash(text))


def load_table(
    package: str | Path, name: str, language: str = "en", override_dir: Path | None = None
) -> PromptTable:
    """The keyed texts of ``NAME.LANGUAGE.yaml``; a user's own file must have the same keys."""
    shipped = _shipped(package, name, language, ".yaml")
    own = _override(override_dir, shipped.name)
    texts = _texts(read_yaml(own or shipped))
    if own is not None:
        expected = _texts(read_yaml(shipped))
        if set(texts) != set(expected):
            raise InputProblem(own, f"the keys {', '.join(expected)}", found=", ".join(texts))
    return PromptTable(
        name, language, texts, text_hash("\n".join(f"{key}: {texts[key]}" for key in sorted(texts)))
    )


def fill(template: str | PromptFile, **fields: str) -> str:
    """``template`` with every ``{field}`` replaced by its value, in one pass.

    Raises FieldProblem for a field without a value, a value without a field, or a stray brace.
    """
    if isinstance(template, PromptFile):
        return template.fill(**fields)
    wanted = fields_of(template)
    if wanted != fields.keys():
        if missing := sorted(wanted - fields.keys()):
            raise FieldProblem(f"no value for {_listed(missing)}")
        raise FieldProblem(f"the text has no {_listed(sorted(fields.keys() - wanted))}")

    return "".join([fields[text] if is_field else text for text, is_field in _parts(template)])


@lru_cache(maxsize=1024)
def fields_of(template: str) -> frozenset[str]:
    """The names of a template's fields. Raises FieldProblem for a brace that is neither field nor doubled."""
    return frozenset(name for name, is_field in _parts(template) if is_field)


@lru_cache(maxsize=1024)
def _parts(template: str) -> tuple[tuple[str, bool], ...]:
    """Texts that stay and names of fields (True) in turn; the same template is filled many times."""
    parts: list[tuple[str, bool]] = []
    kept, end = "", 0
    for match in _TOKEN.finditer(template):
        kept += template[end : match.start()]
        end = match.end()
        if match.group(1):
            parts += [(kept, False), (match.group(1), True)]
            kept = ""
        elif len(match.group()) == 1:
            line = template.count("\n", 0, match.start()) + 1
            raise FieldProblem(f"line {line}: a single {match.group()!r}; write {match.group() * 2!r} for a brace")
        else:
            kept += match.group()[0]
    return (*parts, (kept + template[end:], False))


def text_hash(text: str) -> str:
    """The first 16 hex digits of the SHA-256 of the text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def check_overrides(override_dir: Path, packages: Iterable[str | Path], further: Collection[str] = ()) -> None:
    """Refuse a user's folder that is not there, or a file in it that would replace nothing (a name mistyped).

    ``further``: names of files that may stand beside the shipped ones.
    """
    if not override_dir.is_dir():
        raise InputProblem(override_dir, "a folder of prompt files", found="no folder")
    known = sorted(path.name for package in packages for path in _prompts(package))
    for path in sorted(override_dir.iterdir()):
        if path.suffix in _SUFFIXES and path.name not in known and path.name not in further:
            near = nearest(path.name, known)
            hint = f"{near!r}" if near else f"one of {', '.join(known)}"
            raise InputProblem(path, f"the name of a prompt it replaces: {hint}", found=path.name)


def _prompts(package: str | Path, pattern: str = "*") -> list[Path]:
    """The prompt files of a package, or of a folder."""
    return sorted(package.glob(pattern)) if isinstance(package, Path) else listed(package, "prompts", pattern)


def _shipped(package: str | Path, name: str, language: str, suffix: str) -> Path:
    file = f"{name}.{language}{suffix}"
    path = package / file if isinstance(package, Path) else resource(package, f"prompts/{file}")
    if not re.fullmatch(r"[A-Za-z0-9._-]+", f"{name}.{language}") or not path.is_file():
        known = sorted(entry.name for entry in _prompts(package, f"*{suffix}"))
        raise Problem(f"no prompt {name!r} in language {language!r}; there are: {', '.join(known) or 'none'}")
    return path


def _override(override_dir: Path | None, file_name: str) -> Path | None:
    if override_dir is None:
        return None
    if not override_dir.is_dir():
        raise InputProblem(override_dir, "a folder of prompt files", found="no folder")
    path = override_dir / file_name
    return path if path.exists() else None


def _template(path: Path) -> str:
    text = read_text(path).replace("\r\n", "\n").strip()
    if not text:
        raise InputProblem(path, "a prompt", found="an empty file")
    try:
        fields_of(text)
    except FieldProblem as problem:
        raise InputProblem(path, "{field}, or {{ and }} for braces", found=str(problem)) from problem
    return text


def _same_fields(path: Path, fields: frozenset[str], expected: frozenset[str]) -> None:
    if fields != expected:
        raise InputProblem(path, f"the fields {_listed(sorted(expected))}", found=_listed(sorted(fields)))


def _texts(file: YamlFile) -> dict[str, str]:
    return {key: file.text(value, (key,)) for key, value in file.mapping(file.data, ()).items()}


def _listed(names: list[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names) or "none"
