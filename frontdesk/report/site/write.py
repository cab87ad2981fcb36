"""A run as a static site to publish: one folder, no server needed, nothing fetched from anywhere."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from frontdesk.report.blocks import charts
from frontdesk.report.figures import level_text
from frontdesk.report.sections.comparison.document import document as comparison_page
from frontdesk.report.sections.run.data import RunData
from frontdesk.report.sections.run.document import banner
from frontdesk.report.sections.run.document import document as run_report
from frontdesk.report.sections.run.made import money, total
from frontdesk.report.sections.run.result import headline
from frontdesk.report.sentences import spoken
from frontdesk.report.site import data as site_data
from frontdesk.report.site.downloads import FILES, FOLDER, write_downloads
from frontdesk.report.site.endpoint import FIRST_PAGE, page_name
from frontdesk.report.site.endpoint import document as endpoint_page
from frontdesk.report.writers.html import common, environment, html, render
from frontdesk.runner.comparing import Comparison, Texts
from frontdesk.runner.config import SiteSection
from runstore.languages import words
from runstore.problems import Problem
from runstore.publish import to_json, write_bytes, write_text
from runstore.records import Language

SCRIPTS = (
    "core.js",
    "address.js",
    "figures.js",
    "charts.js",
    "board.js",
    "differences.js",
    "matches.js",
    "start.js",
)
FACTS = ("date", "method", "judges", "cost_usd", "licence", "contact")
FIGURES = ("history", "cost", "seconds", "judges", "first-effect", "length-effect")
COMPARISON = "comparison.html"
MARK = "tutor-arena-site.txt"
_MOST_FREEDOM = 200


Moved = tuple[Comparison, tuple[Texts, Texts]]
"""A comparison with an earlier run, and the texts of both."""


def write_site(data: RunData, out: Path, language: Language | None = None, moved: Moved | None = None) -> Path:
    """Write the site of a judged and rated run into ``out``; returns its first page.

    ``moved``: what a page of its own tells of an earlier run.
    Raises Problem for a folder that holds anything but an earlier site.
    """
    language = language or data.config.run.language
    told = about(data, language)
    _claim(out)
    parts = [("summary", summary(data, language)), ("index", site_data.index(data))]
    wanted: set[str] = set()
    for name, value in (*parts, *site_data.pieces(data)):
        wanted.add(f"{name}.js")
        write_bytes(out / "data" / f"{name}.js", _script(name, value))
    for path in (out / "data").glob("*.js"):
        if path.name not in wanted:
            path.unlink()
    static = files("frontdesk.report.site") / "static"
    for name in (*SCRIPTS, "site.css"):
        write_bytes(out / name, (static / name).read_bytes())
    write_text(out / "page.css", environment("frontdesk.report").get_template("page.css").render())
    say = words("frontdesk.report", "run", language)
    write_downloads(data, out, told)
    _endpoints(data, out, str(told["title"]), language)
    _comparison(moved, out, str(told["title"]), language)
    drawn = {chart.key: chart for chart in charts(run_report(data, language))}
    page = render(
        "site.html.j2",
        language=language,
        title=told["title"],
        about=told,
        facts=[(words("frontdesk.report", "site", language)(key), told[key]) for key in FACTS if told[key]],
        downloads=[(name, f"{FOLDER}/{name}") for name in FILES],
        figures=[drawn[key] for key in drawn if key in FIGURES or key.startswith("by-")],
        compared=COMPARISON if moved is not None else "",
        **common(language),
        say=say,
        words=words("frontdesk.report", "site", language).texts,
        scripts=SCRIPTS,
        demonstration=say("demonstration", judges=", ".join(data.small_judges)) if data.small_judges else None,
        banner=banner(data, say),
        headline=headline(data, say),
    )
    write_text(out / "index.html", page)
    return out / "index.html"


def summary(data: RunData, language: Language) -> dict[str, object]:
    """What the page shows before any match is looked at."""
    from scipy.special import ndtri, stdtrit

    tail = (1 + data.level) / 2
    return {
        "words": dict(words("frontdesk.report", "site", language).texts),
        "level": level_text(data.level),
        "ratings": site_data.ratings(data),
        "judges": site_data.judging(data),
        "levels": site_data.levels(data),
        "student": [round(float(stdtrit(freedom, tail)), 6) for freedom in range(1, _MOST_FREEDOM + 1)],
        "normal": round(float(ndtri(tail)), 6),
        "piece": site_data.SUBSETS_A_PIECE,
        "criterion": data.criteria[0] if data.criteria else "",
    }


def about(data: RunData, language: Language) -> dict[str, object]:
    """What the site says of itself: of ``[site]`` where that says it, else of the run."""
    own = data.config.site or SiteSection()
    refreshed = data.refreshed.at[:10] if data.refreshed is not None else data.spending.last_day
    run = words("frontdesk.report", "run", language)
    return {
        "title": own.title or data.config.run.name,
        "description": own.description,
        "date": own.date.isoformat() if own.date is not None else refreshed,
        "method": spoken(data.board.method, language),
        "judges": ", ".join(data.judges),
        "cost_usd": money(total(data.spending.lines), run) if data.spending.lines else None,
        "licence": own.licence,
        "contact": own.contact,
    }


def _endpoints(data: RunData, out: Path, title: str, language: Language) -> None:
    """A page for each endpoint; those of endpoints that are gone go."""
    wanted = {page_name(name): name for name in data.names}
    for path in out.glob("endpoint-*.html"):
        if path.name not in wanted:
            path.unlink()
    for file, name in wanted.items():
        write_text(out / file, html(endpoint_page(data, name, title, language)))


def _comparison(moved: Moved | None, out: Path, title: str, language: Language) -> None:
    """The page of what moved, or none."""
    if moved is None:
        (out / COMPARISON).unlink(missing_ok=True)
    else:
        page = replace(comparison_page(*moved, language), back=(title, FIRST_PAGE))
        write_text(out / COMPARISON, html(page))


def _script(name: str, value: object) -> bytes:
    return b'"use strict";Arena.take(' + to_json(name) + b"," + to_json(value) + b");\n"


def _claim(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise Problem(f"--site {out}: found a file, expected a folder")
    if out.is_dir() and any(out.iterdir()) and not (out / MARK).is_file():
        raise Problem(f"--site {out}: found other files, expected a new folder or an earlier site")
    write_text(
        out / MARK, "Made by tutor-arena report --site. Everything in this folder is written again by it.\n"
    )
