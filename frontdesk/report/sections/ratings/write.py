"""The leaderboard's files: records for programs, Markdown, LaTeX and pictures for people."""

from __future__ import annotations

from pathlib import Path

from arena.ratings.result import Leaderboard, RatedModel
from frontdesk.report.plots.dots import Dot, dots
from frontdesk.report.plots.files import draw
from frontdesk.report.sections.ratings.document import document, latex_tables
from frontdesk.report.writers.latex import tabular
from frontdesk.report.writers.markdown import markdown
from frontdesk.runner.rating import write_records
from runstore.languages import words
from runstore.publish import write_text


def write_leaderboard(
    folder: Path,
    board: Leaderboard,
    *,
    latex: bool = False,
    svg: bool = False,
    png: bool = False,
    language: str = "en",
    own: str | None = None,
) -> list[Path]:
    """``leaderboard.json``, ``.csv`` and ``.md``, and ``.tex``, ``.svg``, ``.png`` where asked for; the paths.

    ``own``: the language of the folder, whose Markdown in another one has that language in its name.
    Raises Problem where a PNG is asked for and matplotlib is not installed.
    """
    paths = [*write_records(folder, board), write_markdown(folder, board, language, own)]
    if latex:
        paths.append(folder / "leaderboard.tex")
        write_text(paths[-1], tabular(latex_tables(board, language)))
    if svg or png:
        say = words("frontdesk.report", "ratings", language)
        rows = [_dot(at, model) for at, model in enumerate(board.models)]
        picture = dots(rows, say("picture"), axis=say("rating"))
        for ending in [*(["svg"] if svg else []), *(["png"] if png else [])]:
            paths.append(folder / f"leaderboard.{ending}")
            draw(picture, paths[-1])
    return paths


def write_markdown(folder: Path, board: Leaderboard, language: str = "en", own: str | None = None) -> Path:
    """``leaderboard.md``, or with its language in the name where that is not the folder's ``own``."""
    path = folder / ("leaderboard.md" if own in (None, language) else f"leaderboard.{language}.md")
    write_text(path, markdown(document(board, language)))
    return path


def _dot(colour: int, model: RatedModel) -> Dot:
    shown = "" if model.rating is None else f"{model.rating:.0f}"
    return Dot(model.name, model.rating, model.lower, model.upper, colour, shown, model.reason or "–")
