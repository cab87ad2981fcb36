"""Judgment files of other benchmarks as battles: MT-bench and arena-hard.

MT-bench (``model_judgment/JUDGE_pair.jsonl``): two games a row, the second with the sides turned; each game is a
battle, with who was shown first. A game that ended in ``error`` is an invalid match.

arena-hard (``model_judgment/JUDGE/MODEL.jsonl``): two games a row between a model and the baseline, which is shown
first in the first one; ``A>>B`` counts as three battles, as there. Version 2 names the baseline; for files that do
not, it must be given. A game without a score is an invalid match.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from runstore.problems import InputProblem
from runstore.tables import read_table

Row = Mapping[str, Any]
"""A row of a judgment file."""
STRONG = 3.0
"""What a much better answer counts, where arena-hard's own reader repeats the row so often."""
COLUMNS = ("model_a", "model_b", "winner", "first", "weight", "cluster", "judge", "turn", "category", "criterion")
_SCORES = {"A>>B": ("A", STRONG), "A>B": ("A", 1.0), "A=B": ("", 1.0), "B>A": ("B", 1.0), "B>>A": ("B", STRONG)}


@dataclass
class Found:
    """Battles by column, all of one length, and the matches of each pair (in sorted order) without an outcome."""

    columns: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in COLUMNS})
    invalid: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    def battle(self, shown: tuple[str, str], winner: str | None, weight: float = 1.0, **about: Any) -> None:
        """One battle of ``shown`` (the first one first) and the winner's name, None for a tie."""
        names = {shown[0]: "model_a", shown[1]: "model_b"}
        row = {
            "model_a": shown[0],
            "model_b": shown[1],
            "winner": "tie" if winner is None else names[winner],
            "first": "model_a",
            "weight": weight,
            **about,
        }
        for name, values in self.columns.items():
            values.append(row.get(name))

    def without(self, one: str, other: str) -> None:
        """A match of two models that came to no outcome."""
        self.invalid[min(one, other), max(one, other)] += 1

    @property
    def used(self) -> dict[str, list[Any]]:
        """The columns that hold anything."""
        filled = {name for name, values in self.columns.items() if any(value is not None for value in values)}
        return {name: values for name, values in self.columns.items() if name in filled}


def judgments(path: Path, baseline: str | None = None) -> Found | None:
    """The battles of a judgment file, or of a folder of them; None where it is neither kind.

    Raises InputProblem naming file, line and field for what such a file cannot hold.
    """
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files or any(file.suffix not in (".jsonl", ".ndjson", ".json") for file in files):
        return None
    kept = Found()
    for file in files:
        first = next(_first_row(file), None)
        if first is None or (read := _reader(first)) is None:
            return None
        for line, row in read_table(file).rows:
            read(kept, _Place(file, line, baseline), row)
    return kept


def _first_row(file: Path) -> Iterator[Row]:
    """The first object of a file by its first line alone: whatever is no judgment file is read elsewhere."""
    import orjson

    with file.open("rb") as lines:
        for line in lines:
            if not line.strip():
                continue
            try:
                row: object = orjson.loads(line)
            except orjson.JSONDecodeError:
                return
            if isinstance(row, dict):
                yield cast("Row", row)
            return


@dataclass(frozen=True)
class _Place:
    file: Path
    line: int | None
    baseline: str | None

    def text(self, row: Row, name: str) -> str:
        value = row.get(name)
        if not isinstance(value, str | int) or value == "":
            raise InputProblem(self.file, "a name", found=repr(value), line=self.line, field=name)
        return str(value)


def _reader(row: Row) -> Any:
    if {"model_1", "model_2", "g1_winner", "g2_winner"} <= set(row):
        return _mt_bench
    return _arena_hard if {"model", "games"} <= set(row) else None


def _mt_bench(kept: Found, place: _Place, row: Row) -> None:
    sides = {"model_1": place.text(row, "model_1"), "model_2": place.text(row, "model_2")}
    about: dict[str, Any] = {
        "cluster": place.text(row, "question_id"),
        "judge": _judge(row),
        "turn": _told(row.get("turn")),
    }
    for name, shown in (("g1_winner", ("model_1", "model_2")), ("g2_winner", ("model_2", "model_1"))):
        word = row.get(name)
        if word == "error":
            kept.without(*sides.values())
        elif isinstance(word, str) and (word == "tie" or word in sides):
            names = (sides[shown[0]], sides[shown[1]])
            kept.battle(names, None if word == "tie" else sides[word], **about)
        else:
            expected = "model_1, model_2, tie or error"
            raise InputProblem(place.file, expected, found=repr(word), line=place.line, field=name)


def _arena_hard(kept: Found, place: _Place, row: Row) -> None:
    model = place.text(row, "model")
    baseline = row.get("baseline") or place.baseline
    if not isinstance(baseline, str):
        expected = "the baseline's name, which this file does not hold: give it with --baseline NAME"
        raise InputProblem(place.file, expected, found="none", line=place.line, field="baseline")
    games: object = row["games"]
    if not isinstance(games, list):
        raise InputProblem(place.file, "a list of games", found=repr(games)[:80], line=place.line, field="games")
    key = "question_id" if "question_id" in row else "uid"
    about: dict[str, Any] = {
        "cluster": place.text(row, key),
        "judge": _judge(row),
        "category": _told(row.get("category")),
    }
    for number, game in enumerate(cast("Sequence[object]", games)):
        shown = (model, baseline) if number % 2 else (baseline, model)
        if game is not None and not isinstance(game, Mapping):
            raise InputProblem(place.file, "a game", found=repr(game)[:80], line=place.line, field="games")
        word: object = None if game is None else cast("Row", game).get("score")
        if word is None:
            kept.without(*shown)
            continue
        if not isinstance(word, str) or word not in _SCORES:
            expected = f"one of {', '.join(_SCORES)}"
            raise InputProblem(place.file, expected, found=repr(word), line=place.line, field="games.score")
        side, weight = _SCORES[word]
        kept.battle(shown, shown["AB".index(side)] if side else None, weight, **about)


def _judge(row: Row) -> str | None:
    """The judge's name; MT-bench gives it with the prompt's."""
    judge: Any = row.get("judge")
    return _told(cast("list[object]", judge)[0] if isinstance(judge, list) and judge else cast("object", judge))


def _told(value: object) -> str | None:
    return None if value is None else str(value)
