"""A table of scores as battles, kept as ``battles.jsonl``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arena.ratings.battles import Battles
from arena.ratings.reading import Columns, read_battles
from arena.scoring.battles import battles_from_scores, read_scores
from runstore.problems import Problem
from runstore.publish import write_jsonl


@dataclass(frozen=True, slots=True)
class ScoreColumns:
    """Whom a row scores, and on what: rows of one ``item`` meet. Up to ``margin`` of ``measure`` is a tie."""

    model: str
    item: str
    measure: str = "total"
    margin: float = 0.0


def battles_of_scores(source: Path, columns: ScoreColumns, categories: Sequence[str], folder: Path) -> Battles:
    """The battles of a scores.csv, written to ``battles.jsonl`` of ``folder`` as well.

    Pairs that could not meet because one has no score count as invalid. Raises Problem, InputProblem.
    """
    scores = read_scores(source, model=columns.model, item=columns.item, measure=columns.measure)
    met = battles_from_scores(scores, columns.margin)
    if not met.rows:
        expected = f"found no two rows of different {columns.model!r} that share {columns.item!r}, expected some"
        raise Problem(f"{source}: {expected}")
    file = folder / "battles.jsonl"
    write_jsonl(file, met.rows)
    battles = read_battles(file, Columns(categories=categories))
    return replace(battles, invalid={**battles.invalid, **met.without_score})
