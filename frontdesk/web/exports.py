"""Collected data as the files that everything else reads: ``ratings.csv`` and ``survey.csv``."""

from __future__ import annotations

from collections.abc import Iterable

from arena.human.folder import StudyFolder
from arena.human.ratings import HEADER, Rating
from frontdesk.web.database import for_owner_alone
from frontdesk.web.store import Store
from runstore.publish import Cell, write_csv


def rating_rows(ratings: Iterable[Rating]) -> list[list[Cell]]:
    """The lines of ``ratings.csv``; seconds are active time on the whole item."""
    return [
        [
            r.rater,
            r.document,
            r.condition,
            r.question,
            r.value,
            None if r.seconds is None else round(r.seconds, 1),
            r.submitted_at,
        ]
        for r in ratings
    ]


def publish(store: Store, folder: StudyFolder) -> int:
    """Write ``ratings.csv`` and ``survey.csv``; returns the number of ratings."""
    rows = rating_rows(store.answers.ratings())
    write_csv(folder.ratings_csv, HEADER, rows)
    write_csv(folder.path / "survey.csv", ("rater", "question", "value"), store.answers.survey_answers())
    for_owner_alone(folder.ratings_csv, folder.path / "survey.csv")
    return len(rows)
