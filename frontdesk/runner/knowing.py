"""Topics, rules and labellers as a configuration has them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from arena.learning.labelling import ModelLabeller
from arena.learning.phrases import PhraseLabeller
from arena.learning.quiz import ModelStudent
from frontdesk.runner.config import PHRASES, RULES, Config, StudentSection
from knowledge import Learning, Outcomes, TopicBank, load_learning, load_outcomes, load_topics
from runstore.problems import Problem
from simulator.knowledge.acts import Directions
from simulator.knowledge.knowing import Knowing
from simulator.knowledge.rollout import Labeller


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Topics and rules."""

    bank: TopicBank
    learning: Learning
    outcomes: Outcomes

    @classmethod
    def load(cls, config: Config) -> Knowledge:
        """Of ``[student]``, or the shipped ones where there is no such section. Raises Problem, InputProblem."""
        how = config.student or StudentSection()
        topics, learning, outcomes = (Path(p) if p else None for p in (how.topics, how.learning, how.outcomes))
        bank = load_topics(topics, config.run.language, drafts=how.drafts)
        return cls(bank, load_learning(learning), load_outcomes(outcomes))


def labellers_of(config: Config, prompts: Path | None) -> tuple[Labeller, ...]:
    """Endpoints with the moves prompt, or the labeller that needs no model. Raises Problem, InputProblem."""
    if PHRASES in config.endpoints:
        raise Problem(f"endpoints.{PHRASES}: expected another name, as student.labellers means its own by it")
    return tuple(
        PhraseLabeller() if name == PHRASES else ModelLabeller.load(name, config.run.language, prompts)
        for name in config.labellers
    )


def taker_of(config: Config, student: str | None, prompts: Path | None) -> ModelStudent | None:
    """Who takes the quiz, or rates its tutor, by a model; None where nobody does. Raises Problem, InputProblem."""
    how = config.require_student()
    if RULES in config.endpoints:
        raise Problem(f"endpoints.{RULES}: expected another name, as student.quiz means the declared rules by it")
    name = student if how.quiz == RULES else how.quiz
    if name is None or (how.quiz == RULES and not how.own_rating):
        return None
    return ModelStudent.load(
        name, config.run.seed, config.run.language, prompts, takes=how.quiz != RULES, rates=how.own_rating
    )


def hashes_of(labellers: tuple[Labeller, ...]) -> dict[str, str]:
    """The prompt files that labellers use."""
    return {
        name: hash_
        for labeller in labellers
        if isinstance(labeller, ModelLabeller)
        for name, hash_ in labeller.hashes.items()
    }


def knowing(config: Config, prompts: Path | None) -> Knowing:
    """What a student with a state needs in plain dialogues. Raises Problem, InputProblem."""
    known = Knowledge.load(config)
    directions = Directions.load(config.run.language, prompts)
    return Knowing(known.bank.topics, known.learning, labellers_of(config, prompts)[0], directions)
