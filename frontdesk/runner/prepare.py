"""What each stage of a configuration needs before its first call: files read, names looked up, pairs made.

Everything that can be wrong without asking anybody is found here, before a run folder is touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import seed_questions
from arena import criteria
from arena.acts import ModelActReader
from arena.judge import JudgePanel, Judging
from arena.matches import all_pairs, chosen_pairs
from frontdesk.runner.casting import Casting, Castings
from frontdesk.runner.cluster.shares import Share
from frontdesk.runner.config import Config, SimulateSection
from gateway.adapters.base import EndpointSettings
from gateway.adapters.catalog import settings_of
from gateway.prices import price_of
from gateway.prompts import check_overrides
from personas import assigned, factors_file, fits, generate, load_personas
from personas.factors_file import FactorSet
from runstore.ids import digest
from runstore.problems import Problem
from runstore.records import Persona, SeedQuestion
from runstore.tables.talks import read_talks
from simulator.collect import styles_of
from simulator.conversation import EVEN_ACTS, Conversation, dialogue_id, weights_of
from simulator.knowledge.knowing import Knowing
from simulator.roles import Roles
from simulator.style import profile as style_profiles
from simulator.style.learn import messages_of
from simulator.style.steering import Directions, Steering


@dataclass(frozen=True, slots=True)
class Simulation:
    """Who talks about what, and how. ``strangers``: the shipped students ask questions that are not shipped."""

    people: Sequence[Persona]
    questions: Sequence[SeedQuestion]
    conversation: Conversation
    roles: Roles
    match_level: bool = True
    strangers: bool = False
    knowing: Knowing | None = None

    @property
    def inputs(self) -> dict[str, object]:
        """What the manifest says about the personas and questions."""
        return {
            name: {"count": len(records), "hash": digest([record.model_dump() for record in records])}
            for name, records in (("personas", self.people), ("questions", self.questions))
        }

    @property
    def hashes(self) -> dict[str, str]:
        """Of every prompt file that students and teachers are sent."""
        how, hashes = self.conversation, dict(self.roles.hashes)
        if how.steering is not None:
            hashes |= how.steering.directions.hashes
        if isinstance(how.reader, ModelActReader):
            hashes |= how.reader.hashes
        return hashes

    def castings(self, dialogues: int, seed: int, share: Share) -> Castings:
        """The dialogues of a share."""
        castings = Castings(self.people, self.questions)
        given = assigned(self.people, self.questions, dialogues, seed, match_level=self.match_level)
        castings.take(given, lambda each: share.has(self.dialogue_id(each)))
        return castings

    def dialogue_id(self, casting: Casting) -> str:
        return dialogue_id(casting.persona, casting.question, self.conversation, casting.copy)

    @property
    def remarks(self) -> list[str]:
        """What is allowed, and yet hardly meant."""
        lines: list[str] = []
        if self.strangers:
            lines.append(
                "the questions are your own, and the students are still the shipped ones, of computer science: "
                "[personas] factors or file names others"
            )
        alone = [who.id for who in self.people if not any(fits(who, each) for each in self.questions)]
        if self.match_level and alone:
            lines.append(
                f"no question fits the level of {len(alone)} of {len(self.people)} personas, such as {alone[0]}; "
                "they open with any"
            )
        return lines


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


def unpriced(config: Config, names: Sequence[str] | None = None) -> str | None:
    """Why the cap in dollars would not count every call of these endpoints (None: all that are used), if so."""
    if config.budget.usd is None:
        return None
    names = config.used_endpoints() if names is None else names
    unknown = [name for name in names if price_of(settings_of(name, config.endpoints[name])) is None]
    if not unknown:
        return None
    return (
        f"budget.usd: the price of {', '.join(unknown)} is not known, so its calls cannot be counted in dollars; "
        f"give it as endpoints.{unknown[0]}.price, or cap calls or tokens"
    )


def is_capped_in_dollars_alone(config: Config) -> bool:
    """Whether nothing else would hold where prices are unknown: then ``run`` refuses them."""
    budget = config.budget
    return budget.usd is not None and budget.calls is None and budget.tokens is None


def check_prices(config: Config, names: Sequence[str] | None = None) -> str | None:
    """A cap in dollars holds only where prices are known; what to say where they are not.

    Raises Problem where it is the only cap.
    """
    said = unpriced(config, names)
    if said is not None and is_capped_in_dollars_alone(config):
        raise Problem(said)
    return said


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
    if how.rephrase_openings and config.endpoints[how.student].get("kind") == "local":
        raise Problem("simulate.rephrase_openings: the embedded model has no form for it; name another student")
    people, factors = students(config)
    conversation = replace(
        _conversation(how, people, factors, run.seed),
        steering=steering(config, people),
        reader=_act_reader(config),
    )
    if silent := [person.id for person in people if not any(weights_of(conversation, person).values())]:
        raise Problem(f"the weights of kinds of utterance leave {silent[0]} none to choose from")
    roles = Roles.load(
        run.language,
        prompts_of(config),
        [how.style],
        domain=domain_of(config),
        stays=how.ends == "fixed",
        rephrases=how.rephrase_openings,
    )
    own, bank = config.personas, config.questions
    strangers = own.file is None and own.factors is None and bank.file is not None
    strangers = strangers and _bank(config).factors is None
    known, bank_questions = None, questions(config)
    if how.acts == "knowledge":
        from frontdesk.runner.knowing import knowing  # topics are read only where they are used

        known = knowing(config, prompts_of(config))
        bank_questions = [question for question in bank_questions if question.id in known.topics]
        if not bank_questions:
            raise Problem('simulate.acts: found "knowledge", expected questions with a reviewed topic')
    return Simulation(people, bank_questions, conversation, roles, how.match_level, strangers, known)


def steering(config: Config, people: Sequence[Persona] = ()) -> Steering | None:
    """How typing is steered; None where no profile is named. Raises Problem, InputProblem."""
    how, run = config.style, config.run
    if how is None:
        return None
    profile = style_profiles.load(how.profile, run.language)
    unknown = (
        style_profiles.check_levels(profile, people) if people and how.profile.endswith((".yaml", ".yml")) else []
    )
    if unknown and not set(profile.levels) - set(unknown):
        raise Problem(f"style.profile: none of its levels is a persona's, such as {unknown[0]}")
    return Steering(
        profile,
        Directions.load(run.language, prompts_of(config)),
        candidates=how.candidates,
        tells=how.instruct,
        types=how.typing,
        examples=() if how.examples is None else messages_of(read_talks(Path(how.examples))),
        typos=how.typos,
    )


def _act_reader(config: Config) -> ModelActReader | None:
    reader = config.require_simulate().act_reader
    return None if reader is None else ModelActReader.load(reader, config.run.language, prompts_of(config))


def students(config: Config) -> tuple[list[Persona], FactorSet | None]:
    """The personas: those of a list, or of the crossed factors, which come with them.

    Factors are those configured, else those that the bank of questions is for. Raises Problem, InputProblem.
    """
    run, own = config.run, config.personas
    if own.file is not None:
        if own.factors is not None or own.design != "full" or own.size is not None:
            raise Problem(
                "personas.file goes without factors, design and size: its personas are taken as they are"
            )
        return load_personas(Path(own.file), run.language), None
    named = own.factors if own.factors is not None else _bank(config).factors
    factors = factors_file.load(named, run.language)
    return generate(factors, language=run.language, design=own.design, size=own.size, seed=run.seed), factors


def domain_of(config: Config) -> str | None:
    """What is taught: as configured, else what the bank of questions says; None where neither does."""
    if config.run.domain is not None or config.simulate is None:
        return config.run.domain
    return _bank(config).domain


def _bank(config: Config) -> seed_questions.Bank:
    questions = config.questions
    if questions.file is not None and questions.bank is not None:
        raise Problem("questions.bank: found beside questions.file, expected one of them")
    path = questions.file or seed_questions.path_of_bank(questions.bank or seed_questions.DEFAULT)
    return seed_questions.bank(path, config.run.language)


def _conversation(
    how: SimulateSection, people: Sequence[Persona], factors: FactorSet | None, seed: int
) -> Conversation:
    levels = list(dict.fromkeys(f"{factor}-{level}" for who in people for factor, level in who.levels.items()))
    if factors is not None:
        levels = [f"{factor.id}-{level.id}" for factor in factors.factors for level in factor.levels]
    for name in how.act_weights or {}:
        if name not in ("*", *levels):
            raise Problem(f"simulate.act_weights: found {name!r}, expected one of *, {', '.join(levels)}")
    weights = how.act_weights or (factors.act_weights if factors is not None else {})
    return Conversation(
        student=how.student,
        teacher=how.teacher,
        turns=how.turns,
        acts=how.acts,
        weights=weights or {"*": EVEN_ACTS},
        style=how.style,
        stays=how.ends == "fixed",
        rephrases=how.rephrase_openings,
        blank_retries=how.blank_retries,
        act_retries=how.act_retries,
        seed=seed,
    )


def questions(config: Config) -> list[SeedQuestion]:
    """The seed questions that dialogues may begin with. Raises Problem, InputProblem."""
    bank = seed_questions.load(_bank(config).path, language=config.run.language)
    wanted = config.questions.subjects
    if wanted is None:
        return bank
    known = {question.subject for question in bank}
    if unknown := [name for name in wanted if name not in known]:
        raise Problem(f"questions.subjects: found {unknown[0]!r}, expected some of {', '.join(sorted(known))}")
    return [question for question in bank if question.subject in wanted]


def teachers(config: Config, names: Sequence[str] | None = None) -> tuple[Roles, Mapping[str, EndpointSettings]]:
    """Prompts and settings of the endpoints that answer, or of ``names``. Raises Problem, InputProblem."""
    names = config.require_collect().endpoints if names is None else names
    settings = {name: settings_of(name, config.endpoints[name]) for name in names}
    roles = Roles.load(config.run.language, prompts_of(config), styles_of(settings), domain=domain_of(config))
    return roles, settings


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
    return JudgePanel.load(judging(config), config.run.language, prompts_of(config), domain_of(config))


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
