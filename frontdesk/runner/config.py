"""The run configuration: TOML in, checked sections out. Nothing is called before all of it is right."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    model_validator,
)

from arena.sequential import goal as goals
from frontdesk.runner import inputs
from frontdesk.runner.toml_places import explained, line_of, suggestion
from runstore.numbers import NotNegative, Real, Whole, YesNo
from runstore.problems import InputProblem, Problem
from runstore.records import Act, Language
from runstore.tables.names import clean_name, name_key

LARGEST_SEED = 2**63 - 1
PHRASES = "phrases"
RULES = "rules"
"""The labeller that reads moves by the topics' own phrases, without a call."""


EndpointName = Annotated[str, AfterValidator(clean_name)]


class Section(BaseModel):
    """One table of the configuration. Unknown keys are refused with the nearest known one."""

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)


class RunSection(Section):
    name: str = Field(default="run", min_length=1)
    seed: Whole = Field(default=0, ge=-LARGEST_SEED, le=LARGEST_SEED)
    language: Language = "en"
    prompts: str | None = None
    domain: str | None = None
    on: str | None = None


class PersonasSection(Section):
    file: str | None = None
    factors: str | None = None
    design: Literal["full", "balanced"] = "full"
    size: Whole | None = None


class QuestionsSection(Section):
    file: str | None = None
    bank: str | None = None
    subjects: tuple[str, ...] | None = None


class SimulateSection(Section):
    dialogues: Whole = Field(default=100, ge=1)
    turns: Whole = Field(default=4, ge=1)
    student: EndpointName
    teacher: EndpointName
    acts: Literal["free", "planned", "knowledge"] = "free"
    act_weights: dict[str, dict[Act, NotNegative]] | None = None
    act_retries: Whole = Field(default=1, ge=0)
    act_reader: EndpointName | None = None
    style: str = "simple"
    ends: Literal["natural", "fixed"] = "natural"
    match_level: YesNo = True
    rephrase_openings: YesNo = False
    blank_retries: Whole = Field(default=2, ge=0)


class StyleSection(Section):
    """How the simulated students' typing is steered: to ``profile``, a shipped one or a file.

    ``candidates``: of how many messages the nearest is used; ``instruct``: whether the model is told; ``typing``:
    whether case, full stop and slips are set by code (the clean text is kept); ``typos``: their share of messages.
    """

    profile: str
    candidates: Whole = Field(default=3, ge=1, le=16)
    instruct: YesNo = True
    typing: YesNo = True
    typos: Real | None = Field(default=None, ge=0, le=1)
    examples: str | None = None


class CutSection(Section):
    subsets: Whole = Field(default=200, ge=1)
    depth: Literal["uniform", "any"] = "uniform"
    last_turns: Whole | None = Field(default=None, ge=1)


class CollectSection(Section):
    endpoints: tuple[EndpointName, ...] = Field(min_length=1)


class JudgeSection(Section):
    endpoints: tuple[EndpointName, ...] = Field(min_length=1)
    rounds: Whole = Field(default=3, ge=1)
    order: Literal["random", "balanced"] = "random"
    criteria: str | tuple[str, ...] | None = None
    one_by_one: YesNo = False
    format: Literal["marker", "json"] = "marker"
    rounds_mode: Literal["all", "decisive"] = "all"
    reask: Whole = Field(default=0, ge=0)
    pairs: tuple[tuple[EndpointName, EndpointName], ...] | None = None
    goal: Literal["best", "place", "ranking", "decide"] | None = None
    error: Real | None = Field(default=None, gt=0, lt=1)
    batch: Whole | None = Field(default=None, ge=1)
    newcomer: EndpointName | None = None
    width_elo: Real | None = Field(default=None, gt=0)

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


def _rating_model(name: str) -> str:
    from arena.ratings.models import MODELS  # numpy: only where a configuration is read

    if name not in MODELS:
        raise ValueError(f"one of {', '.join(MODELS)}")
    return name


class StudentSection(Section):
    """The student's side. ``student`` defaults to the one that is simulated; ``phrases`` labels without a call.

    ``quiz``: ``rules`` scores it from the state, an endpoint takes it in the student's place.
    """

    student: str | None = None
    labellers: tuple[str, ...] = Field(default=(PHRASES,), min_length=1)
    branches: tuple[Annotated[Whole, Field(ge=1, le=32)], ...] = Field(default=(2, 1), min_length=1, max_length=8)
    continued: Literal["own", "baseline"] = Field(default="own", alias="continue")
    panel: Whole = Field(default=60, ge=5)
    quiz: str = RULES
    own_rating: YesNo = False
    topics: str | None = None
    learning: str | None = None
    outcomes: str | None = None
    drafts: YesNo = False


class RateSection(Section):
    ties: Annotated[str, AfterValidator(_rating_model)] = "half"
    intervals: Literal["jackknife", "bootstrap", "sandwich", "none"] = "jackknife"
    level: Real = Field(default=0.95, gt=0, lt=1)
    resamples: Whole = Field(default=1000, ge=1)
    cluster: Literal["dialogue", "none"] = "dialogue"
    anchor: dict[EndpointName, Real] = {}
    prior: Real | None = Field(default=None, gt=0)
    reference: EndpointName | None = None


class BudgetSection(Section):
    usd: Real | None = Field(default=None, gt=0)
    calls: Whole | None = Field(default=None, gt=0)
    tokens: Whole | None = Field(default=None, gt=0)
    trial_rounds: Whole = Field(default=30, ge=0)


class SiteSection(Section):
    """What a published site says of itself. No result depends on it: it may change at any time."""

    title: str | None = Field(default=None, min_length=1)
    description: str | None = None
    date: datetime.date | None = None
    licence: str | None = None
    contact: str | None = None


class Config(Section):
    """A whole configuration. A stage that a command does not run may be left out."""

    run: RunSection = RunSection()
    endpoints: dict[EndpointName, dict[str, Any]] = {}
    personas: PersonasSection = PersonasSection()
    questions: QuestionsSection = QuestionsSection()
    simulate: SimulateSection | None = None
    style: StyleSection | None = None
    cut: CutSection = CutSection()
    collect: CollectSection | None = None
    judge: JudgeSection | None = None
    student: StudentSection | None = None
    rate: RateSection = RateSection()
    budget: BudgetSection = BudgetSection()
    site: SiteSection | None = None
    _source: str = PrivateAttr("the configuration")

    def model_post_init(self, context: object, /) -> None:
        """Messages about this configuration name its source, which is the context of its validation."""
        if context is not None:
            self._source = str(context)

    @property
    def is_data_set(self) -> bool:
        """Whether a run makes dialogues alone: no tutors are compared."""
        return self.collect is None and self.judge is None

    def require_whole(self) -> None:
        """Raises Problem where a section is missing that a run of every stage needs."""
        self.require_simulate()
        if not self.is_data_set:
            self.require_collect()
            self.require_judge()

    def require_simulate(self) -> SimulateSection:
        """``[simulate]``, which is needed now. Raises Problem where the file has none."""
        return self.simulate or self._lacks("simulate")

    def require_collect(self) -> CollectSection:
        """``[collect]``, which is needed now. Raises Problem where the file has none."""
        return self.collect or self._lacks("collect")

    def require_judge(self) -> JudgeSection:
        """``[judge]``, which is needed now. Raises Problem where the file has none."""
        return self.judge or self._lacks("judge")

    def require_student(self) -> StudentSection:
        """``[student]``, which is needed now. Raises Problem where the file has none."""
        return self.student or self._lacks("student")

    def _lacks(self, name: str) -> NoReturn:
        raise Problem(f"{self._source}: found no [{name}] section, which this command needs")

    def naming(self) -> dict[str, list[str]]:
        """The fields that name endpoints, with the names."""
        fields: dict[str, list[str]] = {}
        if self.simulate is not None:
            fields["simulate.student"] = [self.simulate.student]
            fields["simulate.teacher"] = [self.simulate.teacher]
            if self.simulate.act_reader is not None:
                fields["simulate.act_reader"] = [self.simulate.act_reader]
        if self.collect is not None:
            fields["collect.endpoints"] = list(self.collect.endpoints)
        if self.judge is not None:
            fields["judge.endpoints"] = list(self.judge.endpoints)
        if self.student is not None:
            fields["student.labellers"] = [name for name in self.student.labellers if name != PHRASES]
            if self.student.quiz != RULES:
                fields["student.quiz"] = [self.student.quiz]
            if self.student.student is not None:
                fields["student.student"] = [self.student.student]
        return fields

    def used_endpoints(self) -> list[str]:
        """Every endpoint that some stage names, in order of first use."""
        return list(dict.fromkeys(name for names in self.naming().values() for name in names))


def load(path: Path, *folders: Path) -> Config:
    """Read and check a configuration file. Raises InputProblem naming file, line and field.

    The files that it names are looked for in ``folders``: here and beside it, where none are given.
    """
    data, text = read_toml(path)
    return parse(inputs.with_whole_paths(data, *(folders or (Path(), path.parent))), path, text)


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
    except ValueError as error:  # of TOML, or of a number with thousands of digits
        line = re.search(r"line (\d+)", str(error))
        raise InputProblem(path, "TOML", found=str(error), line=int(line[1]) if line else None) from error


def parse(data: Mapping[str, Any], source: Path | str = "configuration", text: str = "") -> Config:
    """Check parsed TOML. Raises InputProblem, Problem."""
    _tell_apart(data.get("endpoints"), source, text)
    data = _style_of_students(data)
    try:
        config = Config.model_validate(data, context=str(source))
    except ValidationError as error:
        raise explained(error, source, text, _known_keys(error.errors()[0]["loc"][:-1])) from error
    _check_endpoints(config, source, text)
    _check_goal(config, source, text)
    return config


def _style_of_students(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """``[student] style = …`` is ``[style] profile = …``: by itself it asks for no student's side."""
    student = data.get("student")
    if not isinstance(student, dict) or "style" not in student:
        return data
    rest = dict(cast("dict[str, Any]", student))
    style = {"profile": rest.pop("style"), **cast("dict[str, Any]", data.get("style") or {})}
    kept = {key: value for key, value in data.items() if key != "student"}
    return {**kept, **({"student": rest} if rest else {}), "style": style}


def _tell_apart(endpoints: object, source: Path | str, text: str) -> None:
    """Two names that look alike would silently become one table."""
    spellings: dict[str, str] = {}
    for name in map(str, cast("dict[object, object]", endpoints) if isinstance(endpoints, dict) else ()):
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


def _known_keys(path: Sequence[int | str]) -> list[str]:
    """The keys that a table of the configuration may have."""
    if not path:
        return list(Config.model_fields)
    sections = {section.__name__.removesuffix("Section").lower(): section for section in Section.__subclasses__()}
    section = sections.get(str(path[0]))
    if section is None:
        return []
    return [field.alias or name for name, field in section.model_fields.items()]


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


def settled(config: Config) -> dict[str, Any]:
    """What a run's results depend on: all but budget, site, limits, prices, keys (and a moved server's address).

    Files are named by what they hold.
    """
    left_out: dict[str, Any] = {"budget": True, "site": True, "run": {"on"}}
    data = inputs.contained(config.model_dump(mode="json", exclude=left_out, exclude_none=True))
    for endpoint in cast("dict[str, dict[str, Any]]", data["endpoints"]).values():
        moved = {"base_url", "url"} if endpoint.get("identity") else set[str]()
        for key in (CHANGEABLE | moved) & endpoint.keys():
            del endpoint[key]
        if endpoint.get("cache_prompt") in ("dialogue", False):  # neither is part of a call's key
            del endpoint["cache_prompt"]
    data["endpoints"] = _sorted(data["endpoints"])
    return data


def _sorted(value: Any) -> Any:
    """Tables by their keys: TOML puts inner tables last, wherever they stood."""
    if not isinstance(value, dict):
        return value
    table = cast("dict[str, Any]", value)
    return {key: _sorted(table[key]) for key in sorted(table)}


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
    """The resolved configuration as TOML, every default filled in, files named as a run folder keeps them.

    Where the calls are made is no part of what a run is made of.
    """
    import tomli_w

    data = config.model_dump(mode="json", exclude={"run": {"on"}}, exclude_none=True)
    return tomli_w.dumps(inputs.contained(data))
