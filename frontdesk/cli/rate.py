"""``tutor-arena rate``: ratings with intervals from a run's verdicts or from anybody's battles."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from frontdesk.cli import options, score_battles
from frontdesk.runner.told import console_language, head, tell, told
from runstore.languages import languages, words
from runstore.problems import Problem

if TYPE_CHECKING:
    from arena.ratings.battles import Battles
    from arena.ratings.result import Leaderboard
    from arena.ratings.settings import Settings
    from runstore.records import Judgment


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    options.add_run_first(parser)
    source = parser.add_argument_group("what to rate (one of)")
    source.add_argument(
        "--battles",
        type=options.source,
        metavar="FILE",
        help="battles: CSV, TSV, XLSX, JSON lines, a JSON array or Parquet; many files as FOLDER, PATTERN or "
        "s3://…; judgments of MT-bench or arena-hard, Inspect logs, or a folder of these",
    )
    source.add_argument("--run", type=Path, dest="run_dir", metavar="DIR", help="the same as RUN")
    source.add_argument("--input", type=Path, metavar="FILE", help="a verdicts.jsonl anywhere")
    source.add_argument(
        "--scores",
        type=Path,
        metavar="FILE",
        help="a scores.csv, or such a table of any form: the higher score wins",
    )
    parser.add_argument(
        "--config", type=Path, metavar="CONFIG", help="take [rate] settings from this configuration"
    )
    parser.add_argument("--baseline", metavar="NAME", help="whom arena-hard compared with, if its files lack it")
    parser.add_argument(
        "--out",
        "--output",
        type=Path,
        dest="out",
        metavar="DIR",
        help="where to write (default: RUN; of anything else nothing is written)",
    )
    parser.add_argument(
        "--by", action="append", default=[], metavar="COLUMN", help="a table per level; repeatable"
    )
    parser.add_argument("--ties", metavar="MODEL", help="what a tie is: half, davidson, rao_kupper (half)")
    parser.add_argument(
        "--intervals",
        choices=("jackknife", "bootstrap", "sandwich", "none"),
        help="how limits are found (jackknife)",
    )
    parser.add_argument("--resamples", type=int, metavar="N", help="of the bootstrap (1000)")
    parser.add_argument("--refit", choices=("auto", "exact", "one-step"), help="of the bootstrap (auto)")
    parser.add_argument("--level", type=float, metavar="SHARE", help="of the intervals (0.95)")
    parser.add_argument("--cluster", metavar="COLUMN", help="column of dependent battles, or 'none' (cluster)")
    parser.add_argument("--seed", type=int, metavar="N", help="of the bootstrap (0)")
    parser.add_argument(
        "--anchor", metavar="NAME=VALUE", help="fix one model's rating; others are measured from it"
    )
    parser.add_argument("--prior", type=float, metavar="GAMES", help="even games against an average opponent (0)")
    parser.add_argument("--reference", metavar="NAME", help="also show win rates against this model")
    parser.add_argument("--position", choices=("adjust", "ignore"), help="the order of showing (adjust)")
    parser.add_argument("--check", action="store_true", help="also compare the fit with the library choix")
    parser.add_argument("--style", action="store_true", help="also ratings freed of length and layout")
    parser.add_argument("--latex", action="store_true", help="also write leaderboard.tex")
    parser.add_argument("--svg", action="store_true", help="also write leaderboard.svg")
    parser.add_argument("--png", action="store_true", help="also write leaderboard.png")
    parser.add_argument(
        "--language", choices=languages(), help="of what is written for people (default: the run's)"
    )
    parser.add_argument("--json", action="store_true", help="print the leaderboard object instead of a table")
    options.add_partial_option(parser)
    score_battles.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Rate and write. 0 done, 1 where matches asked for have no verdict or ``--check`` found another result."""
    options.take_run_first(args)
    settings = _settings(args)
    source = _source(args)
    is_run = source == "run_dir" and (args.run_dir / "run.toml").is_file()
    board, paths, missing = _rated_run(args, settings) if is_run else _rated_battles(args, settings, source)
    refuted = args.check and _check(_battles(args, source), settings)
    _print(board, as_json=args.json)
    for path in paths:
        tell(f"wrote {path}", file=sys.stderr)
    return int(refuted or missing > (args.allow_partial or 0.0))


def _rated_battles(
    args: argparse.Namespace, settings: Settings, source: str
) -> tuple[Leaderboard, list[Path], float]:
    """The leaderboard of battles or verdicts alone, the files written, and the share without an outcome."""
    from arena.ratings.categories import with_breakdowns
    from arena.ratings.leaderboard import build
    from arena.ratings.style import style_control
    from frontdesk.runner.rating import with_replies
    from frontdesk.runner.runfolder import RunFolder

    battles = _battles(args, source)
    board = with_breakdowns(build(battles, settings), battles, args.by)
    if args.run_dir is not None:
        board = with_replies(board, RunFolder(args.run_dir))
    if args.style:
        board = board.model_copy(update={"style": style_control(battles, settings)})
    folder = args.out or args.run_dir
    paths = [] if folder is None else _write(args, folder, board, args.language or "en")
    return board, paths, _invalid_share(board)


def _rated_run(args: argparse.Namespace, settings: Settings) -> tuple[Leaderboard, list[Path], float]:
    """The same of a run, of which it is known how many matches were asked for."""
    from frontdesk.runner import leaderboard_history as history
    from frontdesk.runner import published
    from frontdesk.runner.rating import How, rate_run, rated
    from frontdesk.runner.runfolder import RunFolder
    from frontdesk.runner.shortfall import shortfall

    folder = RunFolder(args.run_dir)
    config, how = folder.config(), How(settings, tuple(args.by), args.style)
    judgments: Sequence[Judgment] = folder.judgments() if folder.file("judgments.jsonl").is_file() else ()
    judged = judgments, folder.verdicts()
    short = shortfall(folder, config, judged[1])
    missing = short.share if short is not None else None
    if args.out is not None:
        history.refuse_mixed(folder)
        board = rated(folder, config, *judged, how)
        paths = _write(args, args.out, board, args.language or config.run.language)
    else:
        with history.held(folder):
            board = rate_run(folder, config, *judged, how)
            paths = _write(args, folder.path, board, args.language, own=config.run.language)
            published.record(folder.path, *(path.name for path in paths))
    return board, paths, _invalid_share(board) if missing is None else missing


def _write(
    args: argparse.Namespace, folder: Path, board: Leaderboard, language: str | None, *, own: str | None = None
) -> list[Path]:
    from frontdesk.report.sections.ratings.write import write_leaderboard

    pictures = {"latex": args.latex, "svg": args.svg, "png": args.png}
    return write_leaderboard(folder, board, **pictures, language=language or own or "en", own=own)


def _invalid_share(board: Leaderboard) -> float:
    invalid = board.counts.invalid
    return invalid / (board.counts.battles + invalid) if invalid else 0.0


def _check(battles: Battles, settings: Settings) -> bool:
    """Say how far the fit is from the one of another library; whether they contradict each other."""
    from arena.ratings.check import AGREED, check

    checked = check(battles, settings)
    if checked.largest is None:
        tell(f"check: nothing to compare: {checked.reason}", file=sys.stderr)
        return False
    verdict = f"more than {AGREED:g}: they contradict each other" if checked.is_refuted else "they agree"
    tell(
        f"check: ties as halves, {checked.models} models, largest difference from choix {checked.largest:.6f} "
        f"rating points ({verdict})",
        file=sys.stderr,
    )
    return checked.is_refuted


def _source(args: argparse.Namespace) -> str:
    given = [name for name in ("battles", "run_dir", "input", "scores") if getattr(args, name) is not None]
    if len(given) != 1:
        expected = "one of RUN, --battles FILE, --input FILE, --scores FILE"
        raise Problem(f"rate: found {len(given)} sources, expected {expected}")
    return given[0]


def _battles(args: argparse.Namespace, source: str) -> Battles:
    if source == "scores":
        from frontdesk.runner.score_battles import battles_of_scores

        return battles_of_scores(args.scores, score_battles.columns(args), args.by, args.out)
    if source == "battles":
        from arena.ratings.reading import Columns, read_battles

        if args.out is None:
            raise Problem("rate: found --battles without --out, expected a folder to write to")
        cluster = {None: "cluster", "none": None}.get(args.cluster, args.cluster)
        columns = Columns(categories=args.by, cluster=cluster, style=args.style)
        return read_battles(args.battles, columns, args.baseline)
    from frontdesk.runner.rating import battles_of

    return battles_of(args.input or args.run_dir / "verdicts.jsonl", style=args.style)


def _settings(args: argparse.Namespace) -> Settings:
    given: dict[str, object] = {
        name: value
        for name in (
            "ties",
            "intervals",
            "resamples",
            "refit",
            "level",
            "seed",
            "prior",
            "reference",
            "position",
        )
        if (value := getattr(args, name)) is not None
    }
    if args.anchor is not None:
        given["anchor"] = options.named_number("--anchor", args.anchor)
    if args.cluster == "none":
        given["clustered"] = False
    return replace(_configured(args), **given)


def _configured(args: argparse.Namespace) -> Settings:
    """[rate] and the seed of a configuration; a run's own resolved one is used where none is named."""
    from arena.ratings.settings import Settings
    from frontdesk.runner.config_file import load
    from frontdesk.runner.rating import settings_of

    if args.config is not None:
        return settings_of(load(args.config))
    if args.run_dir is not None and (args.run_dir / "run.toml").is_file():
        return settings_of(load(args.run_dir / "run.toml"))
    return Settings()


def _print(board: Leaderboard, *, as_json: bool) -> None:
    from runstore.publish import to_json

    if as_json:
        sys.stdout.write(to_json(board.to_json(), indent=True).decode() + "\n")
        return
    from frontdesk.report.figures import count, level_text, limits, percent, service_texts
    from frontdesk.report.sections.ratings.stop import stop_told
    from frontdesk.report.sentences import spoken
    from frontdesk.report.untrusted import one_line
    from frontdesk.report.writers import terminal
    from frontdesk.report.writers.terminal import Head

    console = terminal.console()
    language = console_language()
    stop = stop_told(board, language)
    notes = [*(spoken(note, language) for note in board.notes), *([] if stop is None else [stop])]
    if invalid := board.counts.invalid:
        say = words("frontdesk.report", "ratings", language)
        notes.insert(0, say("invalid", n=count(invalid), of=count(board.counts.battles + invalid)))
    for note in notes:
        console.print(terminal.styled(told(f"note: {note}")))
    titles = ["rank", "places", "model", "rating", level_text(board.level), "w / l / t", "win rate"]
    titles += ["s: median (95%)", "$ / 1,000"] if board.has_service else []
    heads = [Head(head(title), number=title != "model", name=title == "model") for title in titles]
    for number, group in enumerate(board.groups, 1):
        rows = [
            [
                "–" if model.rank is None else str(model.rank),
                "–" if model.rank_range is None else f"{model.rank_range[0]}–{model.rank_range[1]}",
                model.name,
                "–" if model.rating is None else f"{model.rating:.0f}",
                limits(model.lower, model.upper),
                " / ".join(map(count, (model.wins, model.losses, model.ties))),
                percent(model.win_rate),
                *(service_texts(model) if board.has_service else ()),
            ]
            for model in board.models
            if model.name in set(group)
        ]
        title = f"group {number} of {len(board.groups)}" if len(board.groups) > 1 else ""
        terminal.print_grid(console, told(title), heads, rows)
    for model in board.models:
        if model.reason:
            console.print(terminal.styled(f"{one_line(model.name)}: {spoken(model.reason, language)}"))
