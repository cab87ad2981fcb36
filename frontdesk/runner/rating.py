"""From a run's verdicts to its leaderboard files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arena.ratings.battles import Battles
from arena.ratings.leaderboard import build
from arena.ratings.result import Leaderboard, RatedModel
from arena.ratings.settings import Settings
from arena.ratings.verdicts import from_verdicts, reply_styles, subset_labels
from frontdesk.runner import published
from frontdesk.runner.config import Config
from frontdesk.runner.families import family_of
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.shortfall import Shortfall, shortfall
from gateway.adapters.catalog import settings_of as endpoint_settings
from runstore.problems import Problem
from runstore.publish import Cell, read_records, write_csv, write_json
from runstore.records import Judgment, Reply, Subset, Verdict

CSV_HEADER = (
    "rank",
    "rank_lo",
    "rank_hi",
    "name",
    "rating",
    "lower",
    "upper",
    "wins",
    "losses",
    "ties",
    "matches",
    "win_rate",
    "group",
    "flags",
    "reason",
)


def settings_of(config: Config) -> Settings:
    """The ``[rate]`` section as settings of the rating engine."""
    rate = config.rate
    if len(rate.anchor) > 1:
        raise Problem(f"rate.anchor: found {len(rate.anchor)} endpoints, expected one")
    return Settings(
        ties=rate.ties,
        intervals=rate.intervals,
        level=rate.level,
        resamples=rate.resamples,
        seed=config.run.seed,
        clustered=rate.cluster == "dialogue",
        anchor=next(iter(rate.anchor.items()), None),
        prior=rate.prior or 0.0,
        reference=rate.reference,
    )


def rate_run(
    folder: RunFolder, config: Config, judgments: Sequence[Judgment], verdicts: Sequence[Verdict]
) -> Leaderboard:
    """Rate a run's verdicts; write leaderboard.json and .csv, and judges.json, into its folder."""
    labels = subset_labels(folder.subsets()) if folder.file("subsets.jsonl").is_file() else None
    board = build(from_verdicts(verdicts, judgments, labels), settings_of(config))
    board = with_shortfall(board, shortfall(folder, config, verdicts))
    write_records(folder.path, board)
    write_judges(folder, config, judgments, board)
    published.record(folder.path, "leaderboard.json", "leaderboard.csv", "judges.json")
    return board


def rate_again_if_stale(folder: RunFolder) -> list[str]:
    """Rate anew where the ratings were made of other judgments or verdicts than there are now.

    Returns the files that are newer than the ratings (none: they were left as they are). The settings are the
    configuration's.
    """
    newer = published.newer_inputs(folder.path, "leaderboard.json")
    if newer and folder.file("leaderboard.json").is_file() and folder.file("verdicts.jsonl").is_file():
        rate_run(folder, folder.config(), folder.judgments(), folder.verdicts())
        return newer
    return []


def with_shortfall(board: Leaderboard, short: Shortfall | None) -> Leaderboard:
    """The board that says first of how many matches asked for it is made."""
    if short is None or short.note is None:
        return board
    return board.model_copy(update={"notes": (short.note, *board.notes)})


def write_records(folder: Path, board: Leaderboard) -> list[Path]:
    """``leaderboard.json`` and ``leaderboard.csv``; the paths."""
    paths = [folder / "leaderboard.json", folder / "leaderboard.csv"]
    write_json(paths[0], board.to_json())
    write_csv(paths[1], CSV_HEADER, [_csv_row(model) for model in board.models])
    return paths


def _csv_row(model: RatedModel) -> list[Cell]:
    low, high = model.rank_range or (None, None)
    return [
        model.rank,
        low,
        high,
        model.name,
        model.rating,
        model.lower,
        model.upper,
        model.wins,
        model.losses,
        model.ties,
        model.matches,
        model.win_rate,
        model.group,
        " ".join(model.flags),
        model.reason,
    ]


def write_judges(folder: RunFolder, config: Config, judgments: Sequence[Judgment], board: Leaderboard) -> None:
    """Analyse a run's judges and write judges.json, where the run has its replies."""
    from arena.judges.analysis import analyse

    if not folder.file("replies.jsonl").is_file():
        return
    families = {name: family_of(endpoint_settings(name, table)) for name, table in config.endpoints.items()}
    write_json(folder.file("judges.json"), analyse(judgments, folder.replies(), board, families).to_json())


def analyse_judges(folder: RunFolder, board: Leaderboard) -> None:
    """judges.json of a run folder that has all it takes; otherwise nothing."""
    if all(folder.file(name).is_file() for name in ("run.toml", "judgments.jsonl")):
        write_judges(folder, folder.config(), folder.judgments(), board)


def battles_of(path: Path, *, style: bool = False) -> Battles:
    """The battles of a ``verdicts.jsonl``, with what stands beside it: rounds, subsets' labels, replies' style.

    Raises InputProblem.
    """
    judgments, subsets = path.with_name("judgments.jsonl"), path.with_name("subsets.jsonl")
    return from_verdicts(
        read_records(path, Verdict),
        read_records(judgments, Judgment) if judgments.is_file() else (),
        subset_labels(read_records(subsets, Subset)) if subsets.is_file() else None,
        reply_styles(read_records(path.with_name("replies.jsonl"), Reply)) if style else None,
    )


def is_incomplete(folder: RunFolder, judgments: Sequence[Judgment] = (), verdicts: Sequence[Verdict] = ()) -> bool:
    """Whether something of a run failed, was unreadable or invalid."""
    return (
        bool(folder.failures())
        or any(judgment.outcome == "unreadable" for judgment in judgments)
        or any(verdict.outcome == "invalid" for verdict in verdicts)
    )
