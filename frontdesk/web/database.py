"""A SQLite file of a study: opened, changed in transactions, and rid of what was deleted."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from runstore.problems import InputProblem

WAIT_S = 5.0
"""How long a write waits for another process to let go of the file; then the person is told."""


def for_owner_alone(*paths: Path) -> None:
    """Files that hold what people gave are read by nobody else on the machine."""
    for path in paths:
        path.chmod(0o600)


def timestamp(seconds: float) -> str:
    """ISO 8601 in UTC, with milliseconds, of seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def connect(path: Path, schema: str) -> sqlite3.Connection:
    """Open the file, made at first use, for its owner alone. Raises InputProblem."""
    try:
        path.touch(mode=0o600)
        path.chmod(0o600)
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=WAIT_S)
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
        db.execute("COMMIT")
    except BaseException:  # an interrupt, too, leaves nothing by halves
        if db.in_transaction:  # a full disk has ended it already
            db.execute("ROLLBACK")
        raise


def vacuum(db: sqlite3.Connection) -> None:
    """Leave nothing of deleted rows in the file or beside it."""
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
