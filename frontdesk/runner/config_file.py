"""A configuration's file: TOML in, checked sections out, and back. Nothing is called before all of it is right."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from arena.sequential import goal as goals
from frontdesk.runner import inputs
from frontdesk.runner.config import Config, known_keys
from frontdesk.runner.inputs import Tables, is_table, table_of
from frontdesk.runner.toml_places import explained, line_of, suggestion
from runstore.problems import InputProblem, Problem
from runstore.tables.names import name_key

CHANGEABLE = frozenset(
    {
        "concurrency",
        "requests_per_minute",
        "tokens_per_minute",
        "timeout_s",
        "retries",
        "longest_wait_s",
        "total_s",
        "price",
        "api_key_env",
        "proxy",
        "largest_reply_mb",
    }
)
"""Keys of an endpoint on which no answer depends."""


def load(path: Path, *folders: Path) -> Config:
    """Read and check a configuration file. Raises InputProblem naming file, line and field.

    The files that it names are looked for in ``folders``: here and beside it, where none are given.
    """
    data, text = read_toml(path)
    return parse(inputs.with_whole_paths(data, *(folders or (Path(), path.parent))), path, text)


def read_toml(path: Path) -> tuple[Tables, str]:
    """A TOML file as data and as text. Raises InputProblem for what is not TOML in UTF-8."""
    try:
        text = path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except OSError as error:
        raise InputProblem(path, "a readable configuration file", found=error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise InputProblem(path, "UTF-8 text", found=f"byte {error.object[error.start]:#04x}") from error
    try:
        return tomllib.loads(text), text
    except ValueError as error:  # of TOML, or of a number with thousands of digits
        line = re.search(r"line (\d+)", str(error))
        raise InputProblem(path, "TOML", found=str(error), line=int(line[1]) if line else None) from error


def parse(data: Mapping[str, object], source: Path | str = "configuration", text: str = "") -> Config:
    """Check parsed TOML. Raises InputProblem, Problem."""
    _tell_apart(data.get("endpoints"), source, text)
    data = _style_of_students(data)
    try:
        config = Config.model_validate(data, context=str(source))
    except ValidationError as error:
        raise explained(error, source, text, known_keys(error.errors()[0]["loc"][:-1])) from error
    _check_endpoints(config, source, text)
    _check_goal(config, source, text)
    return config


def _style_of_students(data: Mapping[str, object]) -> Mapping[str, object]:
    """``[student] style = …`` is ``[style] profile = …``: by itself it asks for no student's side."""
    rest = dict(table_of(data.get("student")))
    if "style" not in rest:
        return data
    style = {"profile": rest.pop("style"), **table_of(data.get("style"))}
    kept = {key: value for key, value in data.items() if key != "student"}
    return {**kept, **({"student": rest} if rest else {}), "style": style}


def _tell_apart(endpoints: object, source: Path | str, text: str) -> None:
    """Two names that look alike would silently become one table."""
    spellings: dict[str, str] = {}
    for name in table_of(endpoints):
        first = spellings.setdefault(name_key(name), name)
        if first != name:
            line = line_of(text, "endpoints", name)
            found = f"{name!a} beside {first!a}"
            raise InputProblem(source, "one spelling of each name", found=found, field="endpoints", line=line)


def _check_goal(config: Config, source: Path | str, text: str) -> None:
    judge = config.judge
    if judge is None:
        return
    fitting = {"goal": judge.goal is not None, "place": judge.goal == "place"}
    for key, needs in (("error", "goal"), ("batch", "goal"), ("newcomer", "place"), ("width_elo", "place")):
        if getattr(judge, key) is not None and not fitting[needs]:
            expected = 'a goal beside it (goal = "best", ...)' if needs == "goal" else 'goal = "place" beside it'
            line = line_of(text, "judge", key)
            raise InputProblem(source, expected, found=getattr(judge, key), field=f"judge.{key}", line=line)
    if judge.goal is None:
        return
    line = line_of(text, "judge", "goal")
    if judge.pairs is not None:
        raise InputProblem(source, "a goal or pairs: a goal chooses the pairs", field="judge.goal", line=line)
    if config.collect is not None and (wanted := judge.wanted()) is not None:
        try:
            goals.check(wanted, config.collect.endpoints)
        except Problem as problem:
            raise Problem(f"{source}: judge.goal: {problem}") from problem


def _check_endpoints(config: Config, source: Path | str, text: str) -> None:
    from gateway.adapters.catalog import settings_of

    for name, raw in config.endpoints.items():
        if not name.strip() or not name.isprintable():
            line = line_of(text, "endpoints", name)
            raise InputProblem(source, "a name of printable characters", found=name, field="endpoints", line=line)
        try:
            settings_of(name, raw)
        except Problem as problem:
            field = str(problem).removeprefix(f"endpoints.{name}.").partition(":")[0]
            line = line_of(text, "endpoints", name, *field.split("."))
            raise Problem(f"{source}{f':{line}' if line else ''}: {problem}") from problem
    for field, names in config.naming().items():
        line = line_of(text, *field.split("."))
        for name in names:
            if name not in config.endpoints:
                known = list(config.endpoints)
                expected = suggestion(name, known) if known else "an [endpoints] section"
                raise InputProblem(source, expected, found=name, field=field, line=line)
        if twice := [name for name in names if names.count(name) > 1]:
            expected = "each endpoint once; to compare one with itself (an A/A control) give it a second name"
            raise InputProblem(source, expected, found=twice[0], field=field, line=line)


def settled(config: Config) -> Tables:
    """What a run's results depend on: all but budget, site, limits, prices, keys (and a moved server's address).

    Files are named by what they hold.
    """
    data: Tables = config.model_dump(
        mode="json", exclude={"budget": True, "site": True, "run": {"on"}}, exclude_none=True
    )
    endpoints = table_of(inputs.contained(data)["endpoints"])
    for endpoint in map(table_of, endpoints.values()):
        moved = {"base_url", "url"} if endpoint.get("identity") else set[str]()
        for key in (CHANGEABLE | moved) & endpoint.keys():
            del endpoint[key]
        if endpoint.get("cache_prompt") in ("dialogue", False):  # neither is part of a call's key
            del endpoint["cache_prompt"]
    data["endpoints"] = _sorted(endpoints)
    return data


def _sorted(table: Tables) -> Tables:
    """By their keys: TOML puts inner tables last, wherever they stood."""
    return {key: _sorted(value) if is_table(value) else value for key, value in sorted(table.items())}


def differences(old: Mapping[str, object], new: Mapping[str, object], at: str = "") -> list[str]:
    """The keys in which two settled configurations differ, with both values."""
    changes: list[str] = []
    for key in sorted({*old, *new}):
        name = f"{at}.{key}" if at else key
        before, after = old.get(key), new.get(key)
        if is_table(before) and is_table(after):
            changes += differences(before, after, name)
        elif before != after:
            changes.append(f"{name}: was {before!r}, is now {after!r}")
    return changes


def to_toml(config: Config) -> str:
    """The resolved configuration as TOML, every default filled in, files named as a run folder keeps them.

    Where the calls are made is no part of what a run is made of.
    """
    import tomli_w

    data = config.model_dump(mode="json", exclude={"run": {"on"}}, exclude_none=True)
    return tomli_w.dumps(inputs.contained(data))
