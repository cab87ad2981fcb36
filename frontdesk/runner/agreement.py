"""Agreement statistics of anybody's table of ratings, and their record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from arena.agreement.alpha import Measurement
from arena.agreement.report import AgreementReport, report
from arena.agreement.table import load, parse_scale
from runstore.problems import Problem
from runstore.publish import write_json


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is asked of a table.

    ``scale`` is declared as ``1..5`` or as categories in order with commas between; ``measurement`` says what the
    values are (None: decided by them); ``by`` names a column to report per value of; ``reference`` a rater to
    compare every other with; ``level`` is the share that intervals cover.
    """

    scale: str | None = None
    measurement: Measurement | None = None
    by: str | None = None
    reference: str | None = None
    level: float = 0.95
    resamples: int = 1000
    seed: int = 0


def agree(source: Path | str, wishes: Wishes) -> AgreementReport:
    """Read the table and compute. Raises Problem where wishes cannot be, InputProblem for what cannot be read."""
    if not 0.5 <= wishes.level < 1:
        raise Problem(f"--confidence: found {wishes.level:g}, expected 0.5 or more and less than 1")
    if wishes.resamples < 0:
        raise Problem(f"--resamples: found {wishes.resamples}, expected 0 or more")
    scale = parse_scale(wishes.scale) if wishes.scale else None
    table = load(source, scale=scale, measurement=wishes.measurement, by=wishes.by)
    return report(
        table,
        measurement=wishes.measurement,
        reference=wishes.reference,
        level=wishes.level,
        resamples=wishes.resamples,
        seed=wishes.seed,
    )


def write_record(folder: Path, agreed: AgreementReport) -> Path:
    """``agreement.json``; its path."""
    path = folder / "agreement.json"
    write_json(path, agreed.row())
    return path
