"""What each stage of a configuration needs before its first call: files read, names looked up, pairs made.

Everything that can be wrong without asking anybody is found here, before a run folder is touched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena import criteria
from arena.judge import JudgePanel, Judging
from arena.matches import all_pairs, chosen_pairs
from frontdesk.runner.config import Config, SimulateSection
from gateway.adapters.base import EndpointSettings
from gateway.adapters.catalog import settings_of
from gateway.prompts import check_overrides
from personas import assign, factors_file, generate
from personas.factors_file import FactorSet
from runstore.ids import digest
from runstore.problems import Problem
from runstore.records import Persona, SeedQuestion
from simulator.collect import styles_of
from simulator.conversation import Conversation, weights_of
from simulator.knowledge.knowing import Knowing
from simulator.roles import Roles


@dataclass(frozen=True, slots=True)
class Simulation:
    """Who talks about what, and how."""

    people: Sequence[Persona]
    questions: Sequence[SeedQuestion]
    conversation: Conversation
    roles: Roles
    knowing: Knowing | None = None

    @property
    def inputs(self) -> dict[str, Any]:
        """What the manifest says about the personas and questions."""
        return {
            name: {"count": len(records), "hash": digest([record.model_dump() for record in records])}
            for name, records in (("personas", self.people), ("questions", self.questions))
        }

    def castings(self, dialogues: int, seed: int) -> list[tuple[Persona, SeedQuestion, int]]:
        """Persona, question and copy of each dialogue; the copy tells apart those of the same two."""
        copies: Counter[tuple[str, str]] = Counter()
        cast: list[tuple[Persona, SeedQuestion, int]] = []
        for person, question in assign(self.people, self.questions, dialogues, seed):
            cast.append((person, question, copies[person.id, question.id]))
            copies[person.id, question.id] += 1
        return cast


def check(config: Config) -> None:
    """Everything about a configuration that can be wrong without asking anybody. Raises Problem, InputProblem."""
    if config.simulate is not None:
        simulation(config)
    if config.collect is not None:
        teachers(config)
    if config.judge is not None:
        panel(config)
        if config.collect is not None:
            pairs(config)
    if config.student is not None:
        from frontdesk.runner.student import StudentStage  # it needs what this module prepares

        StudentStage.prepared(config, prompts_of(config))
    if config.collect is not None:
        named = [("rate.anchor", name) for name in config.rate.anchor]
        named += [("rate.reference", config.rate.reference)] if config.rate.reference is not None else []
        for field, name in named:
            if name not in config.collect.endpoints:
                listed = ", ".join(config.collect.endpoints)
                raise Problem(f"{field}: found {name!r}, expected one of collect.endpoints ({listed})")


def prompts_of(config: Config) -> Path | None:
    """The user's own prompt folder, looked through. Raises Problem where it holds what replaces nothing."""
    if config.run.prompts is None:
        return None
    folder = Path(config.run.prompts)
    styles = [table.get("style") for table in config.endpoints.values()]
    styles += [config.simulate.style] if config.simulate is not None else []
    own = {f"teacher.{style}.{config.run.language}.md" for style in styles if style}
    check_overrides(folder, ("simulator", "arena"), own)
    return folder


def simulation(config: Config) -> Simulation:
    """Personas, questions and prompts of ``simulate``. Raises Problem, InputProblem."""
    run, how = config.run, config.require_simulate()
    factors = _factors(config)
    everybody = people(config)
    conversation = _conversation(how, factors, run.seed)
    if silent := [person.id for person in everybody if not any(weights_of(conversation, person).values())]:
        raise Problem(f"the weights of kinds of utterance leave {silent[0]} none to choose from")
    roles = Roles.load(run.language, prompts_of(config), [how.style])
    questions = _questions(config)
    if how.acts != "knowledge":
        return Simulation(everybody, questions, conversation, roles)
    from frontdesk.runner.knowing import knowing  # topics are read only where they are used

    known = knowing(config, prompts_of(config))
    on_topics = [question for question in questions if question.id in known.topics]
    if not on_topics:
        raise Problem('simulate.acts: found "knowledge", expected questions with a reviewed topic: there are none')
    return Simulation(everybody, on_topics, conversation, roles, known)


def _factors(config: Config) -> FactorSet:
    own = config.personas.factors
    return factors_file.load(Path(own) if own else None, config.run.language)


def people(config: Config) -> Sequence[Persona]:
    """The students of a configuration. Raises Problem, InputProblem."""
    return generate(
        _factors(config),
        language=config.run.language,
        design=config.personas.design,
        size=config.personas.size,
        seed=config.run.seed,
    )


def _conversation(how: SimulateSection, factors: FactorSet, seed: int) -> Conversation:
    levels = [f"{factor.id}-{level.id}" for factor in factors.factors for level in factor.levels]
    for name in how.act_weights or {}:
        if name not in ("*", *levels):
            raise Problem(f"simulate.act_weights: found {name!r}, expected one of *, {', '.join(levels)}")
    weights = how.act_weights or factors.act_weights
    return Conversation(
        student=how.student,
        teacher=how.teacher,
        turns=how.turns,
        acts=how.acts,
        **({"weights": weights} if weights else {}),
        style=how.style,
        blank_retries=how.blank_retries,
        seed=seed,
    )


def _questions(config: Config) -> list[SeedQuestion]:
    from seed_questions import load

    questions = load(config.questions.file, language=config.run.language)
    wanted = config.questions.subjects
    if wanted is None:
        return questions
    known = {question.subject for question in questions}
    if unknown := [name for name in wanted if name not in known]:
        raise Problem(f"questions.subjects: found {unknown[0]!r}, expected some of {', '.join(sorted(known))}")
    return [question for question in questions if question.subject in wanted]


def teachers(config: Config) -> tuple[Roles, Mapping[str, EndpointSettings]]:
    """Prompts and settings of the endpoints that answer. Raises Problem, InputProblem."""
    names = config.require_collect().endpoints
    settings = {name: settings_of(name, config.endpoints[name]) for name in names}
    return Roles.load(config.run.language, prompts_of(config), styles_of(settings)), settings


def judging(config: Config) -> Judging:
    """How matches are judged. Raises Problem, InputProblem."""
    section = config.require_judge()
    chosen = criteria.load(section.criteria, config.run.language, prompts_of(config))
    return Judging(
        judges=section.endpoints,
        criteria=tuple(chosen),
        rounds=section.rounds,
        order=section.order,
        answer_format=section.format,
        one_by_one=section.one_by_one,
        rounds_mode=section.rounds_mode,
        reask=section.reask,
        seed=config.run.seed,
    )


def panel(config: Config) -> JudgePanel:
    """The judges' prompt and how it is used. Raises Problem, InputProblem."""
    return JudgePanel.load(judging(config), config.run.language, prompts_of(config))


def pairs(config: Config, replied: Sequence[str] = ()) -> list[tuple[str, str]]:
    """The pairs that meet: those chosen, or all of the endpoints collected (or of those that ``replied``).

    Raises Problem where nobody meets anybody.
    """
    collected = config.collect
    names = list(collected.endpoints) if collected is not None else list(replied)
    chosen = config.require_judge().pairs
    made = all_pairs(names) if chosen is None else chosen_pairs(names, chosen)
    if not made and chosen is None:
        listed = ", ".join(names) or "none"
        raise Problem(f"collect.endpoints: found {listed}, expected two at least: judges compare two replies")
    if not made:
        raise Problem("judge.pairs: found none, expected one at least (or leave it out: all pairs)")
    return made
