"""A run's report: ``report.md``, ``report.html`` and the summary on the console.

Everything in the files comes from the run's stage files, configuration and journal: the same journal gives the
same bytes, in any folder and at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from arena.learning.result import read_student
from arena.ratings.result import Leaderboard
from frontdesk.report.blocks import Document, charts
from frontdesk.report.plots.files import write_pictures
from frontdesk.report.sections.ratings.write import write_markdown
from frontdesk.report.sections.run.data import RunData, load
from frontdesk.report.sections.run.document import document
from frontdesk.report.sections.run.student import student_side
from frontdesk.report.writers import console
from frontdesk.report.writers.html import html
from frontdesk.report.writers.markdown import markdown
from frontdesk.runner import published
from frontdesk.runner.runfolder import RunFolder
from runstore.languages import languages
from runstore.publish import write_text
from runstore.records import Language
from runstore.results import Result


class Reported(Result):
    """What ``report --json`` prints: the files made, and how whole the run is.

    ``lost``: the largest share missing in any stage; ``banner``: what the report says at its top, if anything.
    """

    run: str
    exit_code: int
    files: tuple[str, ...]
    incomplete: bool
    lost: float
    banner: tuple[str, ...]
    leaderboard: Leaderboard


def write_report(folder: RunFolder, language: Language | None = None, data: RunData | None = None) -> list[Path]:
    """Write the report into the run folder; returns the files.

    In the run's own language they are ``report.md`` and ``report.html``; in another one the language is part of
    the names, so that the run's own files stay what ``verify`` expects. Raises InputProblem where the run has not
    been judged and rated. ``data`` saves reading the folder where it has been read.
    """
    data = data or load(folder)
    report = document(data, language or data.config.run.language)
    own = language in (None, data.config.run.language)
    stem = "report" if own else f"report.{language}"
    paths = [folder.file(f"{stem}.md"), folder.file(f"{stem}.html")]
    was_under_way = "report" in published.read(folder.path).under_way
    published.begin(folder.path, "report")
    write_text(paths[0], markdown(report))
    write_text(paths[1], html(report))
    if own:
        write_markdown(folder.path, data.board, data.config.run.language)
    names = [path.name for path in paths] + (["leaderboard.md"] if own else [])
    published.record(folder.path, *names)
    if own or not was_under_way:
        published.end(folder.path, "report")
    return paths


def write_plots(data: RunData, out: Path, formats: Sequence[str], language: Language | None = None) -> list[Path]:
    """Every picture of the report as a file of each format (svg, png, pdf); the paths.

    Raises Problem where PNG or PDF is asked for and matplotlib is not installed.
    """
    report = document(data, language or data.config.run.language)
    return write_pictures(charts(report), out, formats)


def write_reports_again(folder: RunFolder) -> list[Path]:
    """Every report that the folder has, in each of its languages, made anew; the files."""
    own = folder.config().run.language
    reported = {path.name.split(".")[1:-1][0] for path in folder.path.glob("report.*.md")} & set(languages())
    wanted = [*([own] if folder.file("report.md").is_file() else []), *sorted(reported - {own})]
    return [path for language in wanted for path in write_report(folder, language)]


def student_summary(folder: RunFolder, language: Language | None = None, out: TextIO | None = None) -> None:
    """Print the student's side of a run. Raises InputProblem where it has none."""
    side = read_student(folder.file("student.json"))
    config = folder.config()
    spoken = language or config.run.language
    section = student_side(side, config, spoken)
    console.show(Document(section.title, spoken, None, [], [section]), out, sections=None)


def console_summary(
    folder: RunFolder,
    language: Language | None = None,
    out: TextIO | None = None,
    data: RunData | None = None,
) -> None:
    """Print banner, result, reliability and leaderboard. Raises InputProblem as :func:`write_report` does."""
    data = data or load(folder, journal=False)
    console.show(document(data, language or data.config.run.language), out)
