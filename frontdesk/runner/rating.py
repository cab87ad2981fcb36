"""From a run's verdicts to its leaderboard files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from arena.ratings.battles import Battles
from arena.ratings.categories import with_breakdowns
from arena.ratings.leaderboard import build
from arena.ratings.result import Leaderboard, RatedModel, read_leaderboard
from arena.ratings.service import with_service
from arena.ratings.settings import Settings
from arena.ratings.verdicts import from_verdicts, reply_styles, subset_labels
from frontdesk.runner import published
from frontdesk.runner.config import Config
from frontdesk.runner.families import family_of
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.shortfall import Shortfall, shortfall
from gateway.adapters.catalog import settings_of as endpoint_settings
from runstore.english import in_number
from runstore.problems import InputProblem, Problem
from runstore.publish import Cell, write_csv, write_json
from runstore.records import Judgment, Reply, Subset, Verdict
from runstore.stored import Stored

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
    "latency_s",
    "latency_p95_s",
    "usd_per_1000",
    "notes",
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


@dataclass(frozen=True, slots=True)
class How:
    """How a run is rated: the settings, categories with a table per level, and whether freed of style too."""

    settings: Settings
    by: tuple[str, ...] = ()
    style: bool = False


def as_configured(config: Config) -> How:
    """The ``[rate]`` section alone."""
    return How(settings_of(config))


def as_rated(folder: RunFolder, config: Config) -> How:
    """How the ratings that are there were made; as configured where none can be read."""
    with suppress(InputProblem):
        board = read_leaderboard(folder.file("leaderboard.json"))
        return How(board.settings, tuple(table.category for table in board.by), board.style is not None)
    return as_configured(config)


def rate_run(
    folder: RunFolder,
    config: Config,
    judgments: Sequence[Judgment],
    verdicts: Sequence[Verdict],
    how: How | None = None,
) -> Leaderboard:
    """Rate a run's verdicts; write leaderboard.json and .csv, and judges.json, into its folder.

    Raises Problem for a category that the run's verdicts don't have.
    """
    how = how or as_configured(config)
    board = rated(folder, config, judgments, verdicts, how)
    published.begin(folder.path, "rate")
    write_records(folder.path, board)
    write_judges(folder, config, judgments, board)
    published.record(folder.path, "leaderboard.json", "leaderboard.csv", "judges.json")
    published.end(folder.path, "rate")
    return board


def rated(
    folder: RunFolder, config: Config, judgments: Sequence[Judgment], verdicts: Sequence[Verdict], how: How
) -> Leaderboard:
    """The leaderboard of a run's verdicts."""
    labels = subset_labels(folder.subsets()) if folder.file("subsets.jsonl").is_file() else None
    styles = reply_styles(folder.replies()) if how.style else None
    battles = from_verdicts(verdicts, judgments, labels, styles)
    board = with_breakdowns(build(battles, how.settings), battles, how.by)
    board = with_shortfall(with_stop(board, folder, config), shortfall(folder, config, verdicts))
    board = with_replies(board, folder)
    if not how.style:
        return board
    from arena.ratings.style import style_control

    return board.model_copy(update={"style": style_control(battles, how.settings)})


def rate_again_if_stale(folder: RunFolder) -> list[str]:
    """Rate anew where the ratings were made of other judgments or verdicts than there are now.

    Returns the files that are newer than the ratings (none: they were left as they are). The settings are those
    of the ratings that were there.
    """
    newer = published.newer_inputs(folder.path, "leaderboard.json")
    if newer and folder.file("leaderboard.json").is_file() and folder.file("verdicts.jsonl").is_file():
        config = folder.config()
        rate_run(folder, config, folder.judgments(), folder.verdicts(), as_rated(folder, config))
        return newer
    return []


def with_shortfall(board: Leaderboard, short: Shortfall | None) -> Leaderboard:
    """The board that says first of how many matches asked for it is made, and who has none."""
    if short is None or short.note is None:
        return board
    return board.model_copy(update={"notes": (short.note, *short.absent, *board.notes)})


def with_stop(board: Leaderboard, folder: RunFolder, config: Config | None = None) -> Leaderboard:
    """The board as it holds where a goal chose the matches; unchanged without a goal, or a configuration."""
    if config is None:
        if not folder.file("run.toml").is_file():
            return board
        config = folder.config()
    goal = None if config.judge is None else config.judge.wanted()
    if goal is None:
        return board
    from arena.sequential.result import read_goal
    from arena.sequential.stopped import at_the_stop

    file = folder.file("goal.json")
    return at_the_stop(board, goal, read_goal(file) if file.is_file() else None)


def with_replies(board: Leaderboard, folder: RunFolder) -> Leaderboard:
    """The board with what replies took and cost, where the run has its replies."""
    return with_service(board, folder.replies()) if folder.file("replies.jsonl").is_file() else board


def write_records(folder: Path, board: Leaderboard) -> list[Path]:
    """``leaderboard.json`` and ``leaderboard.csv``; the paths."""
    paths = [folder / "leaderboard.json", folder / "leaderboard.csv"]
    write_json(paths[0], board.to_json())
    notes = in_number(" · ".join(board.notes))
    write_csv(paths[1], CSV_HEADER, [[*_csv_row(model), notes] for model in board.models])
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
        model.latency_s,
        model.latency_p95_s,
        model.usd_per_1000,
    ]


def write_judges(folder: RunFolder, config: Config, judgments: Sequence[Judgment], board: Leaderboard) -> None:
    """Analyse a run's judges and write judges.json, where the run has its replies."""
    from arena.judges.analysis import analyse

    if not folder.file("replies.jsonl").is_file():
        return
    families = {name: family_of(endpoint_settings(name, table)) for name, table in config.endpoints.items()}
    write_json(folder.file("judges.json"), analyse(judgments, folder.replies(), board, families).to_json())


def battles_of(path: Path, *, style: bool = False) -> Battles:
    """The battles of a ``verdicts.jsonl``, with what stands beside it: rounds, subsets' labels, replies' style.

    Raises InputProblem.
    """
    judgments, subsets = path.with_name("judgments.jsonl"), path.with_name("subsets.jsonl")
    return from_verdicts(
        Stored(path, Verdict),
        Stored(judgments, Judgment) if judgments.is_file() else (),
        subset_labels(Stored(subsets, Subset)) if subsets.is_file() else None,
        reply_styles(Stored(path.with_name("replies.jsonl"), Reply)) if style else None,
    )


def is_incomplete(folder: RunFolder, judgments: Sequence[Judgment] = (), verdicts: Sequence[Verdict] = ()) -> bool:
    """Whether something of a run failed, was unreadable or invalid."""
    return (
        bool(folder.failures())
        or any(judgment.outcome == "unreadable" for judgment in judgments)
        or any(verdict.outcome == "invalid" for verdict in verdicts)
    )
