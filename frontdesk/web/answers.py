"""Answers under pseudonyms: who rates what, how far they are, and what they said; all in ``ratings.sqlite``."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from arena.human.certificate import Assignment
from arena.human.ratings import Rating
from frontdesk.web.database import connect, timestamp, transaction, vacuum
from frontdesk.web.merging import Merged, merge

Part = Literal["item", "training", "survey"]
IDLE_S = 300.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS raters(
  rater TEXT PRIMARY KEY, grp TEXT NOT NULL, language TEXT NOT NULL DEFAULT '', trained INTEGER NOT NULL DEFAULT 0,
  consented_at TEXT, declined_at TEXT, survey_at TEXT, left_at TEXT, last_at TEXT);
CREATE TABLE IF NOT EXISTS items(
  rater TEXT NOT NULL, position INTEGER NOT NULL, grp TEXT NOT NULL, document TEXT NOT NULL, stratum TEXT NOT NULL,
  condition TEXT NOT NULL, opened_at TEXT, seen REAL, active_s REAL NOT NULL DEFAULT 0, submitted_at TEXT,
  PRIMARY KEY(rater, position));
CREATE TABLE IF NOT EXISTS answers(
  rater TEXT NOT NULL, part TEXT NOT NULL, position INTEGER NOT NULL, question TEXT NOT NULL, value TEXT NOT NULL,
  saved_at TEXT NOT NULL, source TEXT NOT NULL, PRIMARY KEY(rater, part, position, question));
"""
_NEW_ITEM = "INSERT OR IGNORE INTO items(rater, position, grp, document, stratum, condition) VALUES(?,?,?,?,?,?)"
_ITEM = "SELECT rater, grp, position, document, stratum, condition, NULLIF(active_s, 0), submitted_at FROM items"


@dataclass(frozen=True, slots=True)
class Rater:
    """How far a rater is. ``next_item`` is the first open position, or None."""

    rater: str
    group: str
    language: str
    trained: int
    consented: bool
    declined: bool
    surveyed: bool
    left: bool
    items: int
    submitted: int
    next_item: int | None


@dataclass(frozen=True, slots=True)
class Item:
    """One planned item and its state.

    ``seconds`` is active time, a pause counting five minutes at most; None where no time was taken (on paper).
    """

    rater: str
    group: str
    position: int
    document: str
    stratum: str
    condition: str
    seconds: float | None
    submitted_at: str | None


class Answers:
    """The raters of one study and their answers. The plan's rows come in when it is opened for the first time."""

    def __init__(self, path: Path, rows: Sequence[Assignment], *, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._db = connect(path, _SCHEMA)
        known = self._db.execute("SELECT COUNT(*) FROM items").fetchone()[0]
        with transaction(self._db) as db:
            _add(db, () if known else rows)

    def close(self) -> None:
        self._db.close()

    def _stamp(self) -> str:
        return timestamp(self._now())

    # ---- who is there -------------------------------------------------------------------------------------

    def to_invite(self) -> list[str]:
        """Raters who may have a link: all who have not left; none once the study was made anonymous."""
        if self._db.execute("SELECT 1 FROM meta WHERE key = 'anonymous'").fetchone():
            return []
        return [row[0] for row in self._db.execute("SELECT rater FROM raters WHERE left_at IS NULL")]

    def rater(self, rater: str) -> Rater:
        row = self._db.execute(
            "SELECT grp, language, trained, consented_at, declined_at, survey_at, left_at FROM raters "
            "WHERE rater = ?",
            (rater,),
        ).fetchone()
        counts = self._db.execute(
            "SELECT COUNT(*), COUNT(submitted_at), MIN(CASE WHEN submitted_at IS NULL THEN position END) "
            "FROM items WHERE rater = ?",
            (rater,),
        ).fetchone()
        return Rater(rater, row[0], row[1], row[2], *(value is not None for value in row[3:]), *counts)

    def raters(self) -> list[Rater]:
        return [self.rater(row[0]) for row in self._db.execute("SELECT rater FROM raters ORDER BY rater")]

    # ---- what raters do -----------------------------------------------------------------------------------

    def set_language(self, rater: str, language: str) -> None:
        self._set(rater, "language", language)

    def consented(self, rater: str, at: str) -> None:
        with transaction(self._db) as db:
            db.execute(
                "UPDATE raters SET consented_at = COALESCE(consented_at, ?), declined_at = NULL WHERE rater = ?",
                (at, rater),
            )

    def decline(self, rater: str) -> None:
        self._set(rater, "declined_at", self._stamp())

    def trained(self, rater: str, count: int) -> None:
        with transaction(self._db) as db:
            db.execute("UPDATE raters SET trained = MAX(trained, ?) WHERE rater = ?", (count, rater))

    def surveyed(self, rater: str) -> None:
        with transaction(self._db) as db:
            db.execute(
                "UPDATE raters SET survey_at = COALESCE(survey_at, ?) WHERE rater = ?", (self._stamp(), rater)
            )

    def _set(self, rater: str, column: Literal["language", "declined_at", "left_at"], value: str) -> None:
        with transaction(self._db) as db:
            db.execute(f"UPDATE raters SET {column} = ? WHERE rater = ?", (value, rater))  # noqa: S608 - a literal

    def item(self, rater: str, position: int) -> Item | None:
        row = self._db.execute(f"{_ITEM} WHERE rater = ? AND position = ?", (rater, position)).fetchone()
        return Item(*row) if row else None

    def items(self) -> list[Item]:
        return [Item(*row) for row in self._db.execute(f"{_ITEM} ORDER BY rater, position")]

    def opened(self, rater: str, position: int) -> None:
        """The rater sees the item now: time runs from here."""
        with transaction(self._db) as db:
            db.execute(
                "UPDATE items SET opened_at = COALESCE(opened_at, ?), seen = ? WHERE rater = ? AND position = ?",
                (self._stamp(), self._now(), rater, position),
            )
            db.execute("UPDATE raters SET last_at = ? WHERE rater = ?", (self._stamp(), rater))

    def of(self, rater: str, part: Part, position: int) -> dict[str, str]:
        """Question -> value, as it stands."""
        return _values(self._db, rater, part, position)

    def saved(self, rater: str, position: int) -> dict[str, tuple[str, str]]:
        """Answers on file about an item: question -> (value, when)."""
        rows = self._db.execute(
            "SELECT question, value, saved_at FROM answers WHERE rater = ? AND part = 'item' AND position = ?",
            (rater, position),
        )
        return {str(question): (str(value), str(at)) for question, value, at in rows}

    def save(
        self,
        rater: str,
        part: Part,
        position: int,
        values: Mapping[str, str],
        *,
        submit: bool = False,
        keep: Sequence[str] = (),
        seen: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """The form as it stands; returns what is stored where another page changed the same answer.

        Sending the same form again changes nothing. ``keep``: questions whose answers on file stay although none
        came (what was sent could not be read). ``seen``: what the page showed (see ``merging``).
        ``submit`` marks the item finished; a finished item stays finished when it is corrected.
        """
        stamp, now = self._stamp(), self._now()
        with transaction(self._db) as db:
            merged = merge(_values(db, rater, part, position), values, seen, keep)
            changed = self._put(db, rater, part, position, merged, stamp, "web")
            if part == "item":
                db.execute(
                    "UPDATE items SET active_s = active_s + MIN(?, MAX(0, ? - COALESCE(seen, ?))), seen = ? "
                    "WHERE rater = ? AND position = ? AND (? OR submitted_at IS NULL)",
                    (IDLE_S, now, now, now, rater, position, changed),
                )
                db.execute(
                    "UPDATE items SET submitted_at = CASE WHEN submitted_at IS NULL THEN ? ELSE "
                    "CASE WHEN ? THEN ? ELSE submitted_at END END "
                    "WHERE rater = ? AND position = ? AND (? OR submitted_at IS NOT NULL)",
                    (stamp, changed, stamp, rater, position, submit and not merged.conflicts),
                )
            db.execute("UPDATE raters SET last_at = ? WHERE rater = ?", (stamp, rater))
        return merged.conflicts

    def _put(
        self,
        db: sqlite3.Connection,
        rater: str,
        part: Part,
        position: int,
        merged: Merged,
        stamp: str,
        source: str,
    ) -> bool:
        key = (rater, part, position)
        db.executemany(
            "DELETE FROM answers WHERE rater = ? AND part = ? AND position = ? AND question = ?",
            [(*key, question) for question in merged.gone],
        )
        db.executemany(
            "INSERT INTO answers VALUES(?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET "
            "value = excluded.value, saved_at = excluded.saved_at, source = excluded.source",
            [(*key, question, value, stamp, source) for question, value in merged.new.items()],
        )
        return bool(merged.gone or merged.new)

    def import_item(
        self, rater: str, position: int, values: Mapping[str, str], submitted_at: str | None, seconds: float | None
    ) -> bool:
        """A form that came back as CSV, which ends its item; False where all of it is on file already."""
        stamp = submitted_at or self._stamp()
        with transaction(self._db) as db:
            stored = _values(db, rater, "item", position)
            changed = self._put(
                db,
                rater,
                "item",
                position,
                merge(stored, values, None, set(stored) - set(values)),
                stamp,
                "import",
            )
            if changed:
                db.execute(
                    "UPDATE items SET submitted_at = ?, active_s = COALESCE(?, active_s) "
                    "WHERE rater = ? AND position = ?",
                    (stamp, seconds, rater, position),
                )
        return changed

    # ---- leaving, deleting, exporting ---------------------------------------------------------------------

    def finished(self, rater: str) -> list[str]:
        return [item.document for item in self.items() if item.rater == rater and item.submitted_at]

    def hand_over(self, rater: str, by: str, rows: Sequence[Assignment]) -> None:
        """Open items of ``rater`` now belong to ``by``, as in the changed plan; unfinished answers are dropped."""
        with transaction(self._db) as db:
            db.execute(
                "DELETE FROM answers WHERE rater = ? AND part = 'item' AND position IN "
                "(SELECT position FROM items WHERE rater = ? AND submitted_at IS NULL)",
                (rater, rater),
            )
            db.execute("DELETE FROM items WHERE rater = ? AND submitted_at IS NULL", (rater,))
            _add(db, [row for row in rows if row.rater == by])
            db.execute("UPDATE raters SET left_at = ? WHERE rater = ?", (self._stamp(), rater))

    def erase(self, rater: str) -> None:
        """Delete everything this rater answered, at their wish."""
        today = self._stamp()[:10]
        with transaction(self._db) as db:
            db.execute("DELETE FROM answers WHERE rater = ?", (rater,))
            db.execute(
                "UPDATE items SET opened_at = NULL, seen = NULL, active_s = 0, submitted_at = NULL "
                "WHERE rater = ?",
                (rater,),
            )
            db.execute(
                "UPDATE raters SET trained = 0, consented_at = NULL, survey_at = NULL, last_at = NULL, "
                "left_at = ? WHERE rater = ?",
                (today, rater),
            )
            db.execute("INSERT OR IGNORE INTO meta VALUES(?, ?)", (f"withdrawn:{rater}", today))
        vacuum(self._db)

    def has_withdrawn(self, rater: str) -> bool:
        """Whether everything of this rater was deleted at their wish, so that nothing may come back."""
        withdrawn = self._db.execute("SELECT 1 FROM meta WHERE key = ?", (f"withdrawn:{rater}",))
        return withdrawn.fetchone() is not None

    def make_anonymous(self) -> None:
        """From now on nobody is invited."""
        with transaction(self._db) as db:
            db.execute("INSERT OR IGNORE INTO meta VALUES('anonymous', ?)", (self._stamp()[:10],))

    def ratings(self) -> list[Rating]:
        """Answers of finished items, in the order of rater, position and question."""
        rows = self._db.execute(
            "SELECT i.rater, i.grp, i.document, i.stratum, i.condition, a.question, a.value, "
            "NULLIF(i.active_s, 0), i.submitted_at FROM items i "
            "JOIN answers a ON a.rater = i.rater AND a.position = i.position AND a.part = 'item' "
            "WHERE i.submitted_at IS NOT NULL ORDER BY i.rater, i.position, a.rowid"
        )
        return [Rating(*row) for row in rows]

    def survey_answers(self) -> list[tuple[str, str, str]]:
        """(rater, question, value) of the closing survey."""
        rows = self._db.execute(
            "SELECT rater, question, value FROM answers WHERE part = 'survey' ORDER BY rater, question"
        )
        return [(str(rater), str(question), str(value)) for rater, question, value in rows]

    def last_answer_at(self) -> str | None:
        """When the last answer came (ISO 8601, UTC): the retention period runs from here."""
        row = self._db.execute("SELECT MAX(saved_at) FROM answers").fetchone()
        return str(row[0]) if row[0] else None


def _add(db: sqlite3.Connection, rows: Sequence[Assignment]) -> None:
    """Planned items, and their raters."""
    planned = [(row.rater, row.position, row.group, row.document, row.stratum, row.condition) for row in rows]
    db.executemany(_NEW_ITEM, planned)
    db.execute("INSERT OR IGNORE INTO raters(rater, grp) SELECT DISTINCT rater, grp FROM items")


def _values(db: sqlite3.Connection, rater: str, part: Part, position: int) -> dict[str, str]:
    rows = db.execute(
        "SELECT question, value FROM answers WHERE rater = ? AND part = ? AND position = ?",
        (rater, part, position),
    )
    return dict(rows.fetchall())
