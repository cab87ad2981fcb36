"""What judges compare replies by: the shipped criteria, chosen by name, or a file of the user's own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from runstore.languages import resource
from runstore.problems import Problem
from runstore.yaml_file import Place, YamlFile, read_yaml

_ID = re.compile(r"[\w-]+")
OVERALL = "overall"


@dataclass(frozen=True, slots=True)
class Criterion:
    """One aspect of a reply. ``id`` is what records carry; name and description are what the judge reads.

    ``role``: who the judge is to be while judging, where that is not an expert on teaching.
    """

    id: str
    name: str
    description: str
    role: str = ""


def shipped_path(name: str = "") -> Path:
    """The shipped criteria, or the set called ``name`` (``criteria.NAME.yaml``)."""
    return resource("arena", f"prompts/{_file_name(name)}")


def _file_name(name: str) -> str:
    return f"criteria.{name}.yaml" if name else "criteria.yaml"


def load(
    names_or_file: Sequence[str] | Path | str | None = None,
    language: str = "en",
    override_dir: Path | None = None,
) -> list[Criterion]:
    """Criteria in the order asked for.

    ``names_or_file``: ids of shipped criteria; or a YAML file (a path, or a text that ends in .yaml or .yml), all
    of whose criteria are taken; or the name of a shipped set (``student``); or None for those of
    ``criteria.yaml``. A file of the same name in ``override_dir``, a user's prompt folder, replaces it.

    Raises Problem for an unknown or repeated name, InputProblem naming file, line and field for a wrong file.
    """
    if isinstance(names_or_file, Path):
        return _read(names_or_file, language)
    if isinstance(names_or_file, str):
        if names_or_file.endswith((".yaml", ".yml")):
            return _read(Path(names_or_file), language)
        if _ID.fullmatch(names_or_file) and shipped_path(names_or_file).exists():
            return _read(_own_or_shipped(override_dir, names_or_file), language)
        names_or_file = [names_or_file]
    known = {each.id: each for each in _read(_own_or_shipped(override_dir), language)}
    chosen = list(known) if names_or_file is None else list(names_or_file)
    if not chosen:
        raise Problem(f"judging needs at least one criterion of {', '.join(known)}, or a .yaml file")
    for at, name in enumerate(chosen):
        if name not in known:
            raise Problem(f"criterion {name!r} is unknown; there are {', '.join(known)}, or give a .yaml file")
        if name in chosen[:at]:
            raise Problem(f"criterion {name!r} is asked for twice")
    return [known[name] for name in chosen]


def render(criteria: Iterable[Criterion]) -> str:
    """The criteria as judges read them, one a line, below whom they are to be."""
    chosen = list(criteria)
    roles = list(dict.fromkeys(each.role for each in chosen if each.role))
    return "\n".join([*roles, *(f"- {each.name}: {each.description}" for each in chosen)])


def _own_or_shipped(override_dir: Path | None, name: str = "") -> Path:
    own = None if override_dir is None else override_dir / _file_name(name)
    return own if own is not None and own.exists() else shipped_path(name)


def _read(path: Path, language: str) -> list[Criterion]:
    file = read_yaml(path)
    top = file.mapping(file.data, (), ("criteria", "role"))
    role = " ".join(file.translated(top["role"], ("role",), language).split()) if "role" in top else ""
    entries = file.sequence(top.get("criteria"), ("criteria",))
    criteria = [_criterion(file, entry, ("criteria", at), language, role) for at, entry in enumerate(entries)]
    for field in ("id", "name"):
        values = [getattr(each, field) for each in criteria]
        for at, value in enumerate(values):
            if value in values[:at]:
                raise file.problem(("criteria", at, field), f"a different {field}", value)
    return criteria


def _criterion(file: YamlFile, entry: object, place: Place, language: str, role: str) -> Criterion:
    fields = file.mapping(entry, place, ("id", "name", "description"))
    identity = file.text(fields.get("id", ""), (*place, "id"))
    if not _ID.fullmatch(identity) or identity == OVERALL:
        raise file.problem((*place, "id"), f"letters, digits, _ or - only, and not {OVERALL!r}", identity)
    return Criterion(
        id=identity,
        name=file.translated(fields.get("name", identity), (*place, "name"), language),
        description=" ".join(
            file.translated(fields.get("description", ""), (*place, "description"), language).split()
        ),
        role=role,
    )
