"""The leaderboard's files: JSON and CSV for programs, Markdown, LaTeX and plots for people."""

from __future__ import annotations

from pathlib import Path

from arena.ratings.result import Leaderboard, RatedModel
from arena.ratings.tables import latex_table, markdown
from runstore.publish import Cell, write_csv, write_json, write_text

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


def write_leaderboard(
    folder: Path, board: Leaderboard, *, latex: bool = False, svg: bool = False, png: bool = False
) -> list[Path]:
    """``leaderboard.json``, ``.csv`` and ``.md``, and ``.tex``, ``.svg``, ``.png`` where asked for; the paths."""
    paths = [folder / f"leaderboard.{kind}" for kind in ("json", "csv", "md")]
    write_json(paths[0], board.to_json())
    write_csv(paths[1], CSV_HEADER, [_csv_row(model) for model in board.models])
    write_text(paths[2], markdown(board))
    if latex:
        paths.append(folder / "leaderboard.tex")
        write_text(paths[-1], latex_table(board))
    if svg or png:
        from arena.ratings.plots import png_plot, svg_plot

        if svg:
            paths.append(folder / "leaderboard.svg")
            write_text(paths[-1], svg_plot(board))
        if png:
            paths.append(folder / "leaderboard.png")
            png_plot(board, paths[-1])
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
