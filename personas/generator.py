"""Personas by crossing factors: all combinations, or a balanced fraction of them."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Literal

from personas.balance import balanced_rows
from personas.factors_file import FactorSet, Level, load
from runstore.problems import Problem
from runstore.records import DIFFICULTIES, Language, Persona

Design = Literal["full", "balanced"]
LARGEST_CROSSING = 100_000


def generate(
    factors: FactorSet | Path | str | None = None,
    language: Language = "en",
    design: Design = "full",
    size: int | None = None,
    seed: int = 0,
) -> list[Persona]:
    """Personas in the order of their crossing (the last factor varies fastest).

    ``factors`` is a factor file or what was read of one; by default the 32 students. ``design="full"`` gives every
    combination; ``"balanced"`` gives ``size`` different ones in which every level of a factor occurs equally often
    within one, and pairs of levels as evenly as the search finds (see :func:`personas.balance.balanced_rows`).

    Raises InputProblem for a wrong file, Problem for a size that the design cannot have.
    """
    chosen = factors if isinstance(factors, FactorSet) else load(factors or None, language)
    if design == "full":
        if size not in (None, chosen.combinations):
            raise Problem(
                f"a full crossing has {chosen.combinations} personas, not {size}; ask for a balanced one"
            )
        if chosen.combinations > LARGEST_CROSSING:
            raise Problem(
                f"the full crossing has {chosen.combinations:,} personas (at most {LARGEST_CROSSING:,});"
                " ask for a balanced design with a size"
            )
        rows = itertools.product(*(factor.levels for factor in chosen.factors))
        return [_persona(chosen, row) for row in rows]
    return [_persona(chosen, row) for row in _fraction(chosen, size, seed)]


def _fraction(chosen: FactorSet, size: int | None, seed: int) -> list[tuple[Level, ...]]:
    largest = min(chosen.combinations, LARGEST_CROSSING)
    if size is None or not 1 <= size <= largest:
        found = "none was given" if size is None else f"{size} was given"
        raise Problem(f"a balanced design needs a size from 1 to {largest:,}; {found}")
    names = {factor.id: [level.id for level in factor.levels] for factor in chosen.factors}
    rows = balanced_rows(names, size, seed)
    picked = [tuple(names[factor.id].index(row[factor.id]) for factor in chosen.factors) for row in rows]
    return [
        tuple(factor.levels[at] for factor, at in zip(chosen.factors, row, strict=True)) for row in sorted(picked)
    ]


def _persona(chosen: FactorSet, row: tuple[Level, ...]) -> Persona:
    levels = {factor.id: level.id for factor, level in zip(chosen.factors, row, strict=True)}
    added = [each for each in chosen.interactions if each.when.items() <= levels.items()]
    parts = [chosen.intro, *(level.text for level in row), *(each.text for each in added), chosen.outro]
    return Persona(
        id=".".join(f"{factor.short}-{levels[factor.id]}" for factor in chosen.factors),
        levels=levels,
        language=chosen.language,
        opens=_opened_by(row),
        leaves_early=any(each.leaves_early for each in (*row, *added)),
        text="\n".join(part for part in parts if part),
    )


def _opened_by(row: tuple[Level, ...]) -> tuple[str, ...]:
    """The difficulties that every level of the row opens with; none where they leave none in common."""
    said = [set(level.opens) for level in row if level.opens]
    return tuple(name for name in DIFFICULTIES if said and all(name in each for each in said))
