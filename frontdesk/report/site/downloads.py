"""The figures of a site as files beside it: CSV for spreadsheets, JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from frontdesk.report.sections.run import outcomes
from frontdesk.report.sections.run.data import RunData
from frontdesk.runner.rating import write_records
from runstore.publish import Cell, write_csv, write_json

FOLDER = "downloads"
FILES = ("leaderboard.csv", "leaderboard.json", "pairs.csv", "matches.csv", "site.json")


def write_downloads(data: RunData, out: Path, about: Mapping[str, object]) -> None:
    """Write :data:`FILES` into ``out/downloads``; ``about`` is what the site says of itself."""
    folder = out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    write_records(folder, data.board)
    pairs = [pair.to_json() for pair in data.board.pairs]
    head = [key for key, value in pairs[0].items() if not isinstance(value, (dict, list))] if pairs else ["a", "b"]
    write_csv(folder / "pairs.csv", head, [[pair[key] for key in head] for pair in pairs])
    _matches(data, folder / "matches.csv")
    write_json(folder / "site.json", dict(about))


def _matches(data: RunData, path: Path) -> None:
    """One line a verdict: which match, who won, how far the rounds agreed, and the levels of its context."""
    categories = {
        key: of for key, of in outcomes.categories(data.subset, data.criteria).items() if key != "criterion"
    }

    rows: list[list[Cell]] = []
    for verdict in data.verdicts:
        fixed = [verdict.subset, verdict.dialogue, *verdict.endpoints, verdict.criterion, verdict.outcome]
        rows.append([*fixed, verdict.winner, verdict.agreement, *(of(verdict) for of in categories.values())])
    head = ("subset", "dialogue", "endpoint_1", "endpoint_2", "criterion", "outcome", "winner", "agreement")
    write_csv(path, (*head, *categories), rows)
