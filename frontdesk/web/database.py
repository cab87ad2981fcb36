"""A SQLite file of a study: opened, changed in transactions, and rid of what was deleted."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from runstore.problems import InputProblem


def timestamp(seconds: float) -> str:
    """ISO 8601 in UTC, with milliseconds, of seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def connect(path: Path, schema: str) -> sqlite3.Connection:
    """Open the file, made at first use, for its owner alone. Raises InputProblem."""
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
def transaction(db: sqlite3.Connection) -> Generator[sqlite3.Connection]:
    """All of the block or none of it; it is on disk when the block is left."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield db
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def vacuum(db: sqlite3.Connection) -> None:
    """Leave nothing of deleted rows in the file or beside it."""
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
