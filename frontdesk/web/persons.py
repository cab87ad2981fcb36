"""Persons behind the pseudonyms: their links, withdrawal codes, and what they gave about themselves.

All of it is in ``persons.sqlite``; deleting that file makes the ratings anonymous.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from frontdesk.web.database import connect, timestamp, transaction, vacuum

_CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS secrets(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS persons(
  rater TEXT PRIMARY KEY, token TEXT UNIQUE NOT NULL, code TEXT UNIQUE NOT NULL,
  name TEXT, email TEXT, phone TEXT, consented_at TEXT);
CREATE TABLE IF NOT EXISTS recruits(
  participant TEXT PRIMARY KEY, rater TEXT UNIQUE NOT NULL, joined_at TEXT NOT NULL);
"""


class Persons:
    """The persons of one study."""

    def __init__(self, path: Path) -> None:
        self._db = connect(path, _SCHEMA)

    def close(self) -> None:
        self._db.close()

    def invite(self, raters: Iterable[str]) -> None:
        """A link and a withdrawal code for every rater who has none."""
        known = {row[0] for row in self._db.execute("SELECT rater FROM persons")}
        with transaction(self._db) as db:
            for key in ("form", "organiser"):
                db.execute("INSERT OR IGNORE INTO secrets VALUES(?, ?)", (key, secrets.token_urlsafe(24)))
            db.executemany(
                # Another process may have opened the study at the same moment: whose link came first stays.
                "INSERT OR IGNORE INTO persons(rater, token, code) VALUES(?, ?, ?)",
                [(rater, secrets.token_urlsafe(18), _code()) for rater in raters if rater not in known],
            )

    def secret(self, key: Literal["form", "organiser"]) -> str:
        return str(self._db.execute("SELECT value FROM secrets WHERE key = ?", (key,)).fetchone()[0])

    def rater_of(self, token: str) -> str | None:
        row = self._db.execute("SELECT rater FROM persons WHERE token = ?", (token,)).fetchone()
        return str(row[0]) if row else None

    def links(self) -> list[tuple[str, str, str]]:
        """(rater, token, withdrawal code), in no order."""
        rows = self._db.execute("SELECT rater, token, code FROM persons")
        return [(str(rater), str(token), str(code)) for rater, token, code in rows]

    def code_of(self, rater: str) -> str:
        return str(self._db.execute("SELECT code FROM persons WHERE rater = ?", (rater,)).fetchone()[0])

    def with_code(self, code: str) -> str | None:
        """The rater who was given this withdrawal code, however it was typed."""
        row = self._db.execute("SELECT rater FROM persons WHERE code = ?", (code.strip().upper(),)).fetchone()
        return str(row[0]) if row else None

    def consented(self, rater: str, personal: Mapping[str, str], at: str) -> None:
        with transaction(self._db) as db:
            db.execute(
                "UPDATE persons SET name = ?, email = ?, phone = ?, consented_at = ? WHERE rater = ?",
                (personal.get("name"), personal.get("email"), personal.get("phone"), at, rater),
            )

    def recruit(self, participant: str, free: Sequence[str]) -> str | None:
        """The token of a panel's participant; who comes first gets the first of the ``free`` that nobody is.

        None where there is none left.
        """
        with transaction(self._db) as db:
            row = db.execute("SELECT rater FROM recruits WHERE participant = ?", (participant,)).fetchone()
            taken = {name for (name,) in db.execute("SELECT rater FROM recruits")}
            rater = row[0] if row else next((name for name in free if name not in taken), None)
            if rater is None:
                return None
            joined = timestamp(time.time())
            db.execute("INSERT OR IGNORE INTO recruits VALUES(?, ?, ?)", (participant, rater, joined))
            known = db.execute("SELECT token FROM persons WHERE rater = ?", (rater,)).fetchone()
        return str(known[0]) if known else None

    def recruits(self) -> list[tuple[str, str, str]]:
        """(participant, rater, when they came), in the order of their coming."""
        rows = self._db.execute("SELECT participant, rater, joined_at FROM recruits ORDER BY joined_at, rater")
        return [(str(participant), str(rater), str(at)) for participant, rater, at in rows]

    def forget(self, rater: str) -> None:
        """Delete one person and their link."""
        with transaction(self._db) as db:
            db.execute("DELETE FROM persons WHERE rater = ?", (rater,))
            db.execute("DELETE FROM recruits WHERE rater = ?", (rater,))
        vacuum(self._db)

    def forget_all(self) -> None:
        with transaction(self._db) as db:
            db.execute("DELETE FROM persons")
            db.execute("DELETE FROM recruits")
        vacuum(self._db)


def _code() -> str:
    letters = "".join(secrets.choice(_CODE_LETTERS) for _ in range(8))
    return f"{letters[:4]}-{letters[4:]}"
