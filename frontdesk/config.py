"""The run configuration: TOML in, checked sections out. Nothing is called before all of it is right."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from arena.sequential import goal as goals
from runstore.problems import InputProblem, Problem
from runstore.records import Act, Language


class Section(BaseModel):
    """One table of the configuration. Unknown keys are refused with the nearest known one."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RunSection(Section):
    name: str = "run"
    seed: int = 0
    language: Language = "en"
    prompts: str | None = None


class PersonasSection(Section):
    factors: str | None = None
    design: Literal["full", "balanced"] = "full"
    size: int | None = None


class QuestionsSection(Section):
    file: str | None = None
    subjects: tuple[str, ...] | None = None


class SimulateSection(Section):
    dialogues: int = Field(default=100, ge=1)
    turns: int = Field(default=4, ge=1)
    student: str
    teacher: str
    acts: Literal["free", "planned"] = "free"
    act_weights: dict[str, dict[Act, float]] | None = None
    style: str = "socratic"
    blank_retries: int = Field(default=2, ge=0)


class CutSection(Section):
    subsets: int = Field(default=200, ge=1)
    depth: Literal["uniform", "any"] = "uniform"
    last_turns: int | None = Field(default=None, ge=1)


class CollectSection(Section):
    endpoints: tuple[str, ...] = Field(min_length=1)


class JudgeSection(Section):
    endpoints: tuple[str, ...] = Field(min_length=1)
    rounds: int = Field(default=3, ge=1)
    order: Literal["random", "balanced"] = "random"
    criteria: str | tuple[str, ...] | None = None
    one_by_one: bool = False
    format: Literal["marker", "json"] = "marker"
    rounds_mode: Literal["all", "decisive"] = "all"
    reask: int = Field(default=0, ge=0)
    pairs: tuple[tuple[str, str], ...] | None = None
    goal: Literal["best", "place", "ranking", "decide"] | None = None
    error: float | None = Field(default=None, gt=0, lt=1)
    batch: int | None = Field(default=None, ge=1)
    newcomer: str | None = None
    width_elo: float | None = Field(default=None, gt=0)

    @model_validator(mode="before")
    @classmethod
    def _goal_defaults(cls, data: Any) -> Any:
        """A goal's own defaults; without a goal its keys stay unset, and are refused."""
        given: dict[str, Any] = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
        if given.get("goal") is None:
            return cast("Any", data)
        defaults: dict[str, Any] = {"error": 0.05, "batch": 16}
        if given["goal"] == "place":
            defaults["width_elo"] = 35.0
        return {**defaults, **given}

    def wanted(self) -> goals.Goal | None:
        """The goal, if one is set."""
        if self.goal is None:
            return None
        given = {"error": self.error, "batch": self.batch, "width_elo": self.width_elo}
        settings: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        return goals.Goal(self.goal, newcomer=self.newcomer, **settings)


class RateSection(Section):
    ties: Literal["half", "davidson", "rao_kupper"] = "half"
    intervals: Literal["bootstrap", "sandwich", "none"] = "bootstrap"
    level: float = Field(default=0.95, gt=0, lt=1)
    resamples: int = Field(default=1000, ge=1)
    cluster: Literal["dialogue", "none"] = "dialogue"
    anchor: dict[str, float] = {}
    prior: float | None = Field(default=None, gt=0)
    reference: str | None = None


class BudgetSection(Section):
    usd: float | None = Field(default=None, gt=0)
    calls: int | None = Field(default=None, gt=0)
    tokens: int | None = Field(default=None, gt=0)


class Config(Section):
    """A whole configuration. A stage that a command does not run may be left out."""

    run: RunSection = RunSection()
    endpoints: dict[str, dict[str, Any]] = {}
    personas: PersonasSection = PersonasSection()
    questions: QuestionsSection = QuestionsSection()
    simulate: SimulateSection | None = None
    cut: CutSection = CutSection()
    collect: CollectSection | None = None
    judge: JudgeSection | None = None
    rate: RateSection = RateSection()
    budget: BudgetSection = BudgetSection()

    def section(self, name: Literal["simulate", "collect", "judge"]) -> Any:
        """A section that is needed now. Raises Problem if the file has none."""
        found = getattr(self, name)
        if found is None:
            raise Problem(f"the configuration has no [{name}] section")
        return found

    def used_endpoints(self) -> list[str]:
        """Every endpoint that some stage names, in order of first use."""
        names: list[str] = []
        if self.simulate is not None:
            names += [self.simulate.student, self.simulate.teacher]
        if self.collect is not None:
            names += self.collect.endpoints
        if self.judge is not None:
            names += self.judge.endpoints
        return list(dict.fromkeys(names))


def load(path: Path) -> Config:
    """Read and check a configuration file. Raises InputProblem naming file, line and field."""
    data, text = read_toml(path)
    return parse(with_whole_paths(data, path.parent), path, text)


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """A TOML file as data and as text. Raises InputProblem for what is not TOML in UTF-8."""
    try:
        text = path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except OSError as error:
        raise InputProblem(path, "a readable configuration file", found=error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise InputProblem(path, "UTF-8 text", found=f"byte {error.object[error.start]:#04x}") from error
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise InputProblem(path, "TOML", found=str(error), line=int(line[1]) if line else None) from error


_PATH_KEYS = (("run", "prompts"), ("personas", "factors"), ("questions", "file"), ("judge", "criteria"))


def with_whole_paths(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Files that the configuration names, found from here or from its own folder, as whole paths.

    So that a run folder can be verified from anywhere.
    """
    places: list[tuple[Any, str]] = [(data.get(section), key) for section, key in _PATH_KEYS]
    endpoints = data.get("endpoints")
    if isinstance(endpoints, dict):
        places += [(table, "replies") for table in cast("dict[str, Any]", endpoints).values()]
    for table, key in places:
        value = cast("dict[str, Any]", table).get(key) if isinstance(table, dict) else None
        if isinstance(value, str):
            found = next((p for p in (Path(value), folder / value) if p.exists()), None)
            if found is not None:
                table[key] = str(found.resolve())
    return data


def parse(data: Mapping[str, Any], source: Path | str = "configuration", text: str = "") -> Config:
    """Check parsed TOML. Raises InputProblem, Problem."""
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        raise _explained(error, source, text) from error
    _check_endpoints(config, source, text)
    _check_goal(config, source, text)
    return config


def _check_goal(config: Config, source: Path | str, text: str) -> None:
    judge = config.judge
    if judge is None:
        return
    fitting = {"goal": judge.goal is not None, "place": judge.goal == "place"}
    for key, needs in (("error", "goal"), ("batch", "goal"), ("newcomer", "place"), ("width_elo", "place")):
        if getattr(judge, key) is not None and not fitting[needs]:
            expected = 'a goal beside it (goal = "best", ...)' if needs == "goal" else 'goal = "place" beside it'
            raise InputProblem(
                source, expected, found=getattr(judge, key), field=f"judge.{key}", line=_line_of(text, key)
            )
    if judge.goal is None:
        return
    line = _line_of(text, "goal")
    if judge.pairs is not None:
        raise InputProblem(source, "a goal or pairs: a goal chooses the pairs", field="judge.goal", line=line)
    if config.collect is not None and (wanted := judge.wanted()) is not None:
        try:
            goals.check(wanted, config.collect.endpoints)
        except Problem as problem:
            raise Problem(f"{source}: judge.goal: {problem}") from problem


def _check_endpoints(config: Config, source: Path | str, text: str) -> None:
    from gateway.adapters.catalog import settings_of

    for name in config.used_endpoints():
        if name not in config.endpoints:
            raise InputProblem(
                source,
                _nearest(name, config.endpoints) if config.endpoints else "an [endpoints] section",
                found=name,
                field="endpoints",
                line=_line_of(text, name),
            )
    for name, raw in config.endpoints.items():
        try:
            settings_of(name, raw)
        except Problem as problem:
            raise Problem(f"{source}: {problem}") from problem
    for section, names in (("collect", config.collect), ("judge", config.judge)):
        listed = list(names.endpoints) if names is not None else []
        if twice := [name for name in listed if listed.count(name) > 1]:
            raise InputProblem(
                source,
                "each endpoint once; to compare one with itself (an A/A control) give it a second name",
                found=twice[0],
                field=f"{section}.endpoints",
                line=_line_of(text, twice[0]),
            )


def _explained(error: ValidationError, source: Path | str, text: str) -> InputProblem:
    first = error.errors()[0]
    parts = [str(part) for part in first["loc"] if not str(part).startswith(("tuple[", "str", "function-"))]
    field = ".".join(parts)
    line = _line_of(text, parts[-1] if parts else "")
    if first["type"] == "extra_forbidden":
        expected = _nearest(parts[-1], _known_keys(parts[:-1]))
        return InputProblem(source, f"a known key: {expected}", found=parts[-1], line=line, field=field)
    found = None if first["type"] == "missing" else first.get("input")
    return InputProblem(source, first["msg"].lower(), found=found, line=line, field=field)


def _known_keys(path: Sequence[str]) -> list[str]:
    if not path:
        return list(Config.model_fields)
    sections: dict[str, type[BaseModel]] = {
        "run": RunSection,
        "personas": PersonasSection,
        "questions": QuestionsSection,
        "simulate": SimulateSection,
        "cut": CutSection,
        "collect": CollectSection,
        "judge": JudgeSection,
        "rate": RateSection,
        "budget": BudgetSection,
    }
    return list(sections[path[0]].model_fields) if path[0] in sections else []


def _nearest(name: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(name, list(known), 1, 0.5)
    return f"did you mean {close[0]!r}?" if close else f"one of {', '.join(known)}"


def _line_of(text: str, word: str) -> int | None:
    """The first line on which the word stands as a key or a value: where to look."""
    pattern = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
    return next((n for n, line in enumerate(text.splitlines(), 1) if word and pattern.search(line)), None)


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
    }
)


def settled(config: Config) -> dict[str, Any]:
    """What a run's results depend on: all but budget, limits, prices, keys (and a moved server's address)."""
    data = config.model_dump(mode="json", exclude={"budget"}, exclude_none=True)
    for endpoint in cast("dict[str, dict[str, Any]]", data["endpoints"]).values():
        moved = {"base_url", "url"} if endpoint.get("identity") else set[str]()
        for key in (CHANGEABLE | moved) & endpoint.keys():
            del endpoint[key]
    return data


def differences(old: Mapping[str, Any], new: Mapping[str, Any], at: str = "") -> list[str]:
    """The keys in which two settled configurations differ, with both values."""
    found: list[str] = []
    for key in sorted({*old, *new}):
        name = f"{at}.{key}" if at else key
        before, after = old.get(key), new.get(key)
        if isinstance(before, dict) and isinstance(after, dict):
            found += differences(cast("dict[str, Any]", before), cast("dict[str, Any]", after), name)
        elif before != after:
            found.append(f"{name}: was {before!r}, is now {after!r}")
    return found


def to_toml(config: Config) -> str:
    """The resolved configuration as TOML, every default filled in."""
    import tomli_w

    return tomli_w.dumps(config.model_dump(mode="json", exclude_none=True))
