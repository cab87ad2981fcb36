"""The run configuration: its sections, and what each of their keys may be."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Annotated, Literal, NoReturn

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    model_validator,
)

from arena.sequential import goal as goals
from frontdesk.runner.inputs import Tables, table_of
from runstore.numbers import NotNegative, Real, Whole, YesNo
from runstore.problems import Problem
from runstore.records import Act, Language
from runstore.tables.names import clean_name

LARGEST_SEED = 2**63 - 1
PHRASES = "phrases"
"""The labeller that reads moves by the topics' own phrases, without a call."""
RULES = "rules"


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
    def _goal_defaults(cls, data: object) -> object:
        """A goal's own defaults; without a goal its keys stay unset, and are refused."""
        given = table_of(data)
        if given.get("goal") is None:
            return data
        defaults: Tables = {"error": 0.05, "batch": 16}
        if given["goal"] == "place":
            defaults["width_elo"] = 35.0
        return {**defaults, **given}

    def wanted(self) -> goals.Goal | None:
        """The goal, if one is set."""
        if self.goal is None:
            return None
        settings = self.model_dump(include={"error", "batch", "width_elo"}, exclude_none=True)
        return goals.Goal(self.goal, newcomer=self.newcomer, **settings)


def _rating_model(name: str) -> str:
    from arena.ratings.models import MODELS  # numpy: only where a configuration is read

    if name not in MODELS:
        raise ValueError(f"one of {', '.join(MODELS)}")
    return name


class StudentSection(Section):
    """The student's side. ``student`` defaults to the one that is simulated.

    ``labellers``: see :attr:`Config.labellers`; ``phrases`` labels without a call.
    ``quiz``: ``rules`` scores it from the state, an endpoint takes it in the student's place.
    """

    student: str | None = None
    labellers: tuple[str, ...] | None = Field(default=None, min_length=1)
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
    trial_calls: Whole = Field(default=30, ge=0)


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
    endpoints: dict[EndpointName, Tables] = {}
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
            if self.student.labellers is not None:
                fields["student.labellers"] = self.readers
            if self.student.quiz != RULES:
                fields["student.quiz"] = [self.student.quiz]
            if self.student.student is not None:
                fields["student.student"] = [self.student.student]
        return fields

    @property
    def labellers(self) -> tuple[str, ...]:
        """Who reads the tutors' moves; the first decides. Where ``[student]`` names nobody, it is the first judge
        that can, and the topics' own phrases where there is none: they miss most of what is said freely."""
        if self.student is not None and self.student.labellers is not None:
            return self.student.labellers
        judges = self.judge.endpoints if self.judge is not None else ()
        able = [name for name in judges if self.endpoints.get(name, {}).get("kind") not in ("local", "scripted")]
        return (*able[:1],) or (PHRASES,)

    @property
    def readers(self) -> list[str]:
        """The labellers that are endpoints."""
        return [name for name in self.labellers if name != PHRASES]

    def simulating(self) -> list[str]:
        """Everybody whom the simulation asks. Raises Problem where there is no ``[simulate]``."""
        how = self.require_simulate()
        names = [how.student, how.teacher, *([how.act_reader] if how.act_reader is not None else [])]
        if how.acts == "knowledge":
            names += [name for name in self.labellers[:1] if name != PHRASES]
        return list(dict.fromkeys(names))

    def used_endpoints(self) -> list[str]:
        """Every endpoint that some stage names, in order of first use."""
        return list(dict.fromkeys(name for names in self.naming().values() for name in names))


def known_keys(path: Sequence[int | str]) -> list[str]:
    """The keys that a table of the configuration may have."""
    if not path:
        return list(Config.model_fields)
    sections = {section.__name__.removesuffix("Section").lower(): section for section in Section.__subclasses__()}
    section = sections.get(str(path[0]))
    if section is None:
        return []
    return [field.alias or name for name, field in section.model_fields.items()]
