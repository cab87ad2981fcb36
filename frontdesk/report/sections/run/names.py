"""Factors, levels and criteria by the names their files give them in the report's language; else by their ids."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from arena import criteria
from frontdesk.runner.config import Config
from personas import factors_file
from runstore.languages import Words, words
from runstore.problems import Problem
from runstore.records import Language
from seed_questions.banks import subject_name


def factor_name(config: Config, factor: str, language: Language) -> str:
    """The name of a persona factor."""
    return dict(_factors(config.personas.factors, language)).get(factor, factor)


def criterion_name(config: Config, criterion: str, language: Language) -> str:
    """The name of a criterion of the judges, and of the verdict over all of them."""
    if criterion == criteria.OVERALL:
        return words("frontdesk.report", "run", language)("overall_verdict")
    asked = config.judge.criteria if config.judge is not None else None
    prompts = config.run.prompts
    return dict(_criteria(asked, prompts, language)).get(criterion, criterion)


def category_name(category: str, language: Language) -> str:
    """What a run's results are broken down by (``depth``, ``persona.FACTOR``); a column of one's own as it is."""
    if category.startswith("persona."):
        return dict(_factors(None, language)).get(category.partition(".")[2], category)
    return words("frontdesk.report", "run", language).texts.get(f"category_{category}", category)


def level_name(config: Config, category: str, level: str, say: Words) -> str:
    """How a level of a category (``criterion``, ``persona.FACTOR``, ``subject``, ``depth``) is called."""
    if category == "criterion":
        return criterion_name(config, level, say.language)
    if category == "subject":
        return subject_name(level, say.language)
    return known_level(level, say) if category.startswith("persona.") else level


def known_level(level: str, say: Words) -> str:
    """A level of a factor that has a name in the report's words; another is called what it is called."""
    return say.texts.get(f"level_{level}", level)


@lru_cache(16)
def _factors(own: str | None, language: str) -> tuple[tuple[str, str], ...]:
    try:
        loaded = factors_file.load(Path(own) if own else None, language)
    except Problem:  # the run's own file may be gone, or have no texts in this language
        return ()
    return tuple((factor.id, factor.name) for factor in loaded.factors)


@lru_cache(16)
def _criteria(
    asked: str | tuple[str, ...] | None, prompts: str | None, language: str
) -> tuple[tuple[str, str], ...]:
    try:
        loaded = criteria.load(asked, language, Path(prompts) if prompts else None)
    except Problem:
        return ()
    return tuple((each.id, each.name) for each in loaded)
