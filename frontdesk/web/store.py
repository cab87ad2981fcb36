"""Where answers live: one SQLite file for ratings under pseudonyms, another for persons.

``ratings.sqlite`` knows raters only as the plan does. ``persons.sqlite`` holds links, withdrawal codes, and what
people gave about themselves; deleting it makes the ratings anonymous. A method returns after its transaction is
on disk, so what was acknowledged survives a killed server. Methods are called from one thread at a time.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from arena.human.certificate import Assignment
from arena.human.folder import StudyFolder
from arena.human.ratings import Rating
from runstore.problems import InputProblem, Problem

Part = Literal["item", "training", "survey"]
IDLE_S = 300.0
_CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"

_RATINGS = """
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
_PERSONS = """
CREATE TABLE IF NOT EXISTS secrets(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS persons(
  rater TEXT PRIMARY KEY, token TEXT UNIQUE NOT NULL, code TEXT UNIQUE NOT NULL,
  name TEXT, email TEXT, phone TEXT, consented_at TEXT);
"""


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


class Store:
    """Open the data of a planned study, making the files at first use."""

    def __init__(self, folder: StudyFolder, *, now: Callable[[], float] = time.time) -> None:
        self.folder, self._now = folder, now
        if folder.purged_json.exists():
            raise Problem(f"{folder.path}: the data of this study were purged; see {folder.purged_json.name}")
        rows = folder.rows()
        self._ratings = _connect(folder.ratings_db, _RATINGS)
        self._persons = _connect(folder.persons_db, _PERSONS)
        self._add_rows(rows)

    def close(self) -> None:
        self._ratings.close()
        self._persons.close()

    def _stamp(self) -> str:
        return datetime.fromtimestamp(self._now(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _add_rows(self, rows: Sequence[Assignment]) -> None:
        known = self._ratings.execute("SELECT COUNT(*) FROM items").fetchone()[0]
        with _transaction(self._ratings) as db:
            if not known:
                db.executemany(
                    _NEW_ITEM,
                    [_planned(row) for row in rows],
                )
            db.execute("INSERT OR IGNORE INTO raters(rater, grp) SELECT DISTINCT rater, grp FROM items")
        self._invite()

    def _invite(self) -> None:
        """A link and a withdrawal code for every rater who has none and has not left."""
        if self._ratings.execute("SELECT 1 FROM meta WHERE key = 'anonymous'").fetchone():
            return
        known = {row[0] for row in self._persons.execute("SELECT rater FROM persons")}
        waiting = [row[0] for row in self._ratings.execute("SELECT rater FROM raters WHERE left_at IS NULL")]
        with _transaction(self._persons) as db:
            for key in ("form", "organiser"):
                db.execute("INSERT OR IGNORE INTO secrets VALUES(?, ?)", (key, secrets.token_urlsafe(24)))
            db.executemany(
                # Another process may have opened the study at the same moment: whose link came first stays.
                "INSERT OR IGNORE INTO persons(rater, token, code) VALUES(?, ?, ?)",
                [(rater, secrets.token_urlsafe(18), _code()) for rater in waiting if rater not in known],
            )

    # ---- who is there -------------------------------------------------------------------------------------

    def secret(self, key: Literal["form", "organiser"]) -> str:
        return str(self._persons.execute("SELECT value FROM secrets WHERE key = ?", (key,)).fetchone()[0])

    def rater_of(self, token: str) -> str | None:
        row = self._persons.execute("SELECT rater FROM persons WHERE token = ?", (token,)).fetchone()
        return str(row[0]) if row else None

    def links(self) -> list[tuple[str, str, str]]:
        """(rater, token, withdrawal code) in the order of the plan."""
        order = {row.rater: number for number, row in enumerate(self.folder.rows())}
        found = [tuple(map(str, row)) for row in self._persons.execute("SELECT rater, token, code FROM persons")]
        return [(r, t, c) for r, t, c in sorted(found, key=lambda row: order.get(row[0], len(order)))]

    def code_of(self, rater: str) -> str:
        return str(self._persons.execute("SELECT code FROM persons WHERE rater = ?", (rater,)).fetchone()[0])

    def rater(self, rater: str) -> Rater:
        row = self._ratings.execute(
            "SELECT grp, language, trained, consented_at, declined_at, survey_at, left_at FROM raters "
            "WHERE rater = ?",
            (rater,),
        ).fetchone()
        counts = self._ratings.execute(
            "SELECT COUNT(*), COUNT(submitted_at), MIN(CASE WHEN submitted_at IS NULL THEN position END) "
            "FROM items WHERE rater = ?",
            (rater,),
        ).fetchone()
        return Rater(rater, row[0], row[1], row[2], *(value is not None for value in row[3:]), *counts)

    def raters(self) -> list[Rater]:
        return [self.rater(row[0]) for row in self._ratings.execute("SELECT rater FROM raters ORDER BY rater")]

    # ---- what raters do -----------------------------------------------------------------------------------

    def set_language(self, rater: str, language: str) -> None:
        self._set(rater, "language", language)

    def consent(self, rater: str, personal: Mapping[str, str]) -> None:
        """Record consent; personal data go to the persons' file."""
        stamp = self._stamp()
        with _transaction(self._persons) as db:
            db.execute(
                "UPDATE persons SET name = ?, email = ?, phone = ?, consented_at = ? WHERE rater = ?",
                (personal.get("name"), personal.get("email"), personal.get("phone"), stamp, rater),
            )
        with _transaction(self._ratings) as db:
            db.execute(
                "UPDATE raters SET consented_at = COALESCE(consented_at, ?), declined_at = NULL WHERE rater = ?",
                (stamp, rater),
            )

    def decline(self, rater: str) -> None:
        self._set(rater, "declined_at", self._stamp())

    def trained(self, rater: str, count: int) -> None:
        with _transaction(self._ratings) as db:
            db.execute("UPDATE raters SET trained = MAX(trained, ?) WHERE rater = ?", (count, rater))

    def surveyed(self, rater: str) -> None:
        with _transaction(self._ratings) as db:
            db.execute(
                "UPDATE raters SET survey_at = COALESCE(survey_at, ?) WHERE rater = ?", (self._stamp(), rater)
            )

    def _set(self, rater: str, column: Literal["language", "declined_at", "left_at"], value: str) -> None:
        with _transaction(self._ratings) as db:
            db.execute(f"UPDATE raters SET {column} = ? WHERE rater = ?", (value, rater))  # noqa: S608 - a literal

    def item(self, rater: str, position: int) -> Item | None:
        row = self._ratings.execute(f"{_ITEM} WHERE rater = ? AND position = ?", (rater, position)).fetchone()
        return Item(*row) if row else None

    def items(self) -> list[Item]:
        return [Item(*row) for row in self._ratings.execute(f"{_ITEM} ORDER BY rater, position")]

    def opened(self, rater: str, position: int) -> None:
        """The rater sees the item now: time runs from here."""
        with _transaction(self._ratings) as db:
            db.execute(
                "UPDATE items SET opened_at = COALESCE(opened_at, ?), seen = ? WHERE rater = ? AND position = ?",
                (self._stamp(), self._now(), rater, position),
            )
            db.execute("UPDATE raters SET last_at = ? WHERE rater = ?", (self._stamp(), rater))

    def answers(self, rater: str, part: Part, position: int) -> dict[str, str]:
        found = self._ratings.execute(
            "SELECT question, value FROM answers WHERE rater = ? AND part = ? AND position = ?",
            (rater, part, position),
        )
        return dict(found.fetchall())

    def saved(self, rater: str, position: int) -> dict[str, tuple[str, str]]:
        """Answers on file about an item: question -> (value, when)."""
        found = self._ratings.execute(
            "SELECT question, value, saved_at FROM answers WHERE rater = ? AND part = 'item' AND position = ?",
            (rater, position),
        )
        return {str(question): (str(value), str(at)) for question, value, at in found}

    def save(
        self,
        rater: str,
        part: Part,
        position: int,
        values: Mapping[str, str],
        *,
        submit: bool = False,
        keep: Sequence[str] = (),
    ) -> None:
        """The whole form as it stands. Sending the same form again changes nothing.

        ``keep``: questions whose answers on file stay although none came (what was sent could not be read).
        ``submit`` marks the item finished; a finished item stays finished when it is corrected.
        """
        stamp, now = self._stamp(), self._now()
        with _transaction(self._ratings) as db:
            changed = self._put(db, rater, part, position, values, keep, stamp, "web")
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
                    (stamp, changed, stamp, rater, position, submit),
                )
            db.execute("UPDATE raters SET last_at = ? WHERE rater = ?", (stamp, rater))

    def _put(
        self,
        db: sqlite3.Connection,
        rater: str,
        part: Part,
        position: int,
        values: Mapping[str, str],
        keep: Sequence[str],
        stamp: str,
        source: str,
    ) -> bool:
        had = dict(
            db.execute(
                "SELECT question, value FROM answers WHERE rater = ? AND part = ? AND position = ?",
                (rater, part, position),
            ).fetchall()
        )
        gone = [question for question in had if question not in values and question not in keep]
        new = {question: value for question, value in values.items() if had.get(question) != value}
        key = (rater, part, position)
        db.executemany(
            "DELETE FROM answers WHERE rater = ? AND part = ? AND position = ? AND question = ?",
            [(*key, question) for question in gone],
        )
        db.executemany(
            "INSERT INTO answers VALUES(?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET "
            "value = excluded.value, saved_at = excluded.saved_at, source = excluded.source",
            [(*key, question, value, stamp, source) for question, value in new.items()],
        )
        return bool(gone or new)

    def import_item(
        self, rater: str, position: int, values: Mapping[str, str], submitted_at: str | None, seconds: float | None
    ) -> bool:
        """A form that came back as CSV, which ends its item; False where all of it is on file already."""
        stamp = submitted_at or self._stamp()
        with _transaction(self._ratings) as db:
            changed = self._put(
                db, rater, "item", position, values, list(self.saved(rater, position)), stamp, "import"
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
        with _transaction(self._ratings) as db:
            db.execute(
                "DELETE FROM answers WHERE rater = ? AND part = 'item' AND position IN "
                "(SELECT position FROM items WHERE rater = ? AND submitted_at IS NULL)",
                (rater, rater),
            )
            db.execute("DELETE FROM items WHERE rater = ? AND submitted_at IS NULL", (rater,))
            db.executemany(
                _NEW_ITEM,
                [_planned(r) for r in rows if r.rater == by],
            )
            db.execute("INSERT OR IGNORE INTO raters(rater, grp) SELECT DISTINCT rater, grp FROM items")
            db.execute("UPDATE raters SET left_at = ? WHERE rater = ?", (self._stamp(), rater))
        self._invite()

    def withdraw(self, code: str) -> str:
        """Delete everything a person gave, in both files, and their link. Raises Problem for an unknown code."""
        wanted = code.strip().upper()
        row = self._persons.execute("SELECT rater FROM persons WHERE code = ?", (wanted,)).fetchone()
        if row is None:
            raise Problem("this withdrawal code is not known (or was used already); nothing was deleted")
        rater = str(row[0])
        with _transaction(self._ratings) as db:
            db.execute("DELETE FROM answers WHERE rater = ?", (rater,))
            db.execute(
                "UPDATE items SET opened_at = NULL, seen = NULL, active_s = 0, submitted_at = NULL "
                "WHERE rater = ?",
                (rater,),
            )
            db.execute(
                "UPDATE raters SET trained = 0, consented_at = NULL, survey_at = NULL, last_at = NULL, "
                "left_at = ? WHERE rater = ?",
                (self._stamp()[:10], rater),
            )
            db.execute("INSERT OR IGNORE INTO meta VALUES(?, ?)", (f"withdrawn:{rater}", self._stamp()[:10]))
        with _transaction(self._persons) as db:
            db.execute("DELETE FROM persons WHERE rater = ?", (rater,))
        for db in (self._ratings, self._persons):
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return rater

    def has_withdrawn(self, rater: str) -> bool:
        """Whether everything of this rater was deleted at their wish, so that nothing may come back."""
        found = self._ratings.execute("SELECT 1 FROM meta WHERE key = ?", (f"withdrawn:{rater}",))
        return found.fetchone() is not None

    def forget_persons(self) -> None:
        """Delete names, links and codes for good: what remains is anonymous, and nobody can go on or withdraw."""
        with _transaction(self._ratings) as db:
            db.execute("INSERT OR IGNORE INTO meta VALUES('anonymous', ?)", (self._stamp()[:10],))
        with _transaction(self._persons) as db:
            db.execute("DELETE FROM persons")
        self._persons.execute("VACUUM")
        self._persons.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def ratings(self) -> list[Rating]:
        """Answers of finished items, in the order of rater, position and question."""
        found = self._ratings.execute(
            "SELECT i.rater, i.grp, i.document, i.stratum, i.condition, a.question, a.value, "
            "NULLIF(i.active_s, 0), i.submitted_at FROM items i "
            "JOIN answers a ON a.rater = i.rater AND a.position = i.position AND a.part = 'item' "
            "WHERE i.submitted_at IS NOT NULL ORDER BY i.rater, i.position, a.rowid"
        )
        return [Rating(*row) for row in found]

    def survey_answers(self) -> list[tuple[str, str, str]]:
        """(rater, question, value) of the closing survey."""
        found = self._ratings.execute(
            "SELECT rater, question, value FROM answers WHERE part = 'survey' ORDER BY rater, question"
        )
        return [(str(a), str(b), str(c)) for a, b, c in found]

    def last_answer_at(self) -> str | None:
        """When the last answer came (ISO 8601, UTC): the retention period runs from here."""
        row = self._ratings.execute("SELECT MAX(saved_at) FROM answers").fetchone()
        return str(row[0]) if row[0] else None


_NEW_ITEM = "INSERT OR IGNORE INTO items(rater, position, grp, document, stratum, condition) VALUES(?,?,?,?,?,?)"
_ITEM = "SELECT rater, grp, position, document, stratum, condition, NULLIF(active_s, 0), submitted_at FROM items"


def _planned(row: Assignment) -> tuple[str, int, str, str, str, str]:
    return row.rater, row.position, row.group, row.document, row.stratum, row.condition


def _code() -> str:
    letters = "".join(secrets.choice(_CODE_LETTERS) for _ in range(8))
    return f"{letters[:4]}-{letters[4:]}"


def _connect(path: Path, schema: str) -> sqlite3.Connection:
    try:
        path.touch(mode=0o600)
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA secure_delete = ON")
        db.executescript(schema)
    except (sqlite3.DatabaseError, OSError) as error:
        raise InputProblem(path, "a SQLite file of this study", found=str(error)) from error
    return db


@contextmanager
def _transaction(db: sqlite3.Connection) -> Generator[sqlite3.Connection]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield db
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
