"""Ratings and agreement of anybody's tables: a file, a run, a data frame, or rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from arena.agreement.alpha import Measurement
from arena.agreement.report import AgreementReport
from arena.ratings.categories import with_breakdowns
from arena.ratings.leaderboard import build
from arena.ratings.reading import Columns, read_battles
from arena.ratings.result import Leaderboard
from arena.ratings.settings import IntervalMethod, Settings
from frontdesk.report.sections.agreement.document import document as agreement_document
from frontdesk.report.sections.ratings.document import document as ratings_document
from frontdesk.report.untrusted import one_line
from frontdesk.report.writers.html import fragment
from frontdesk.runner import agreement
from frontdesk.runner.rating import battles_of, with_stop
from frontdesk.runner.runfolder import RunFolder
from tutor_arena.frames import Frame, Rows, as_file

SHOWN = 10
"""Models that a ranking's one line names."""


class Ranking(Leaderboard, Rows):
    """A leaderboard that a notebook shows as its report does."""

    @classmethod
    def of(cls, board: Leaderboard) -> Ranking:
        return cls.model_construct(board.model_fields_set, **dict(board))

    def __repr__(self) -> str:
        rated = (
            f"{one_line(m.name)} {'–' if m.rating is None else f'{m.rating:.0f}'}" for m in self.models[:SHOWN]
        )
        more = f", and {len(self.models) - SHOWN} more" if len(self.models) > SHOWN else ""
        return f"<ranking by {self.counts.battles:g} battles: {', '.join(rated)}{more}>"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return fragment(ratings_document(self))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One plain row a model, best first, as in the file."""
        return [model.model_dump(mode="json") for model in self.models]


@dataclass(frozen=True)
class Agreement(AgreementReport):
    """An agreement report that a notebook shows as its report does."""

    def __repr__(self) -> str:
        of = self.overall
        return f"<agreement of {len(of.raters)} raters on {of.units} items: {of.rated} ratings>"

    def _repr_html_(self) -> str:
        return fragment(agreement_document(self))


def rate(
    source: Frame | Path | str,
    *,
    by: Sequence[str] = (),
    cluster: str | None = "cluster",
    ties: Literal["half", "davidson", "rao_kupper"] = "half",
    intervals: IntervalMethod = "jackknife",
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    anchor: tuple[str, float] | None = None,
    prior: float = 0.0,
    reference: str | None = None,
    position: Literal["adjust", "ignore"] = "adjust",
) -> Ranking:
    """Ratings with intervals of battles: a table in any form, a run folder, or a ``verdicts.jsonl``.

    ``by`` names columns to rate within; ``cluster`` the column of battles that depend on each other, None for
    none. The others are as in :class:`arena.ratings.settings.Settings`. Raises Problem for a table that cannot be
    read.
    """
    settings = Settings(
        ties=ties,
        intervals=intervals,
        level=level,
        resamples=resamples,
        seed=seed,
        clustered=cluster is not None,
        anchor=anchor,
        prior=prior,
        reference=reference,
        position=position,
    )
    with as_file(source) as path:
        if path.is_dir() or path.name == "verdicts.jsonl":
            battles = battles_of(path / "verdicts.jsonl" if path.is_dir() else path)
        else:
            battles = read_battles(path, Columns(categories=list(by), cluster=cluster))
        board = with_breakdowns(build(battles, settings), battles, list(by))
        return Ranking.of(with_stop(board, RunFolder(path)) if path.is_dir() else board)


def agree(
    source: Frame | Path | str,
    *,
    scale: str | None = None,
    measurement: Measurement | None = None,
    by: str | None = None,
    reference: str | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Agreement:
    """Agreement between raters over a table with the columns item, rater and value.

    ``scale`` is ``"1..5"`` or categories in order with commas between; ``measurement`` is decided by the values
    unless given. Raises Problem for a table that cannot be read.
    """
    wishes = agreement.Wishes(scale, measurement, by, reference, level, resamples, seed)
    with as_file(source) as path:
        agreed = agreement.agree(path, wishes)
    values: dict[str, Any] = {field.name: getattr(agreed, field.name) for field in fields(agreed)}
    if not isinstance(source, Path | str):
        values["source"] = type(source).__name__  # its file was there for a moment only
    return Agreement(**values)
