"""The organiser's page: progress per rater and cell, time per item, signs of inattention, links, exports.

Behind its own token. Conditions appear here by letter only; their names are in no page.
"""

from __future__ import annotations

import hmac
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from aiohttp import web

from arena.human.analysis import analyse
from arena.human.attention import attention
from arena.human.forms import say
from arena.human.ratings import HEADER, Rating
from arena.human.study import Condition
from frontdesk.report.sections.study.document import document
from frontdesk.report.sentences import spoken
from frontdesk.report.writers.html import html
from frontdesk.web import recruits
from frontdesk.web.answers import Item, Rater
from frontdesk.web.exports import rating_rows
from frontdesk.web.guard import Refused
from frontdesk.web.pages import texts
from frontdesk.web.recruits import checks, summary
from frontdesk.web.site import Site
from frontdesk.web.store import Store
from runstore.languages import languages, name_of
from runstore.publish import Cell, csv_text

REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True)
class Progress:
    """One rater's line."""

    rater: str
    group: str
    stage: str
    submitted: int
    items: int
    median_s: float | None
    flags: tuple[str, ...]
    checks: tuple[int, int] = (0, 0)


class Organiser:
    """Handlers of the organiser's page."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/o/{token}", self.page),
            web.get("/o/{token}/ratings.csv", self.ratings),
            web.get("/o/{token}/invitations.csv", self.invitations),
            web.get("/o/{token}/participants.csv", self.participants),
            web.get("/o/{token}/results", self.results),
        ]

    async def _allowed(self, request: web.Request) -> None:
        secret = await self.site.ask(self.site.store.persons.secret, "organiser")
        if not hmac.compare_digest(secret.encode(), request.match_info["token"].encode()):
            raise Refused(403, "refused")

    def _language(self, request: web.Request) -> str:
        asked = request.query.get("language", self.site.study.languages[0])
        return asked if asked in languages() else self.site.study.languages[0]

    async def page(self, request: web.Request) -> web.Response:
        await self._allowed(request)
        site, language = self.site, self._language(request)
        raters, items, ratings, links = await site.ask(_all, site.store)
        root, text, study = f"/o/{request.match_info['token']}", texts(language), site.study
        files = [("ratings.csv", f"{root}/ratings.csv"), (text["invitations"], f"{root}/invitations.csv")]
        files += [(text["participants"], f"{root}/participants.csv")] if study.recruitment is not None else []
        files += [(text["results_so_far"], f"{root}/results?language={language}")] if ratings else []
        progress = [self.progress(rater, items, ratings) for rater in raters]
        done, planned = sum(1 for item in items if item.submitted_at), len(items)
        parameter = study.recruitment.parameter if study.recruitment is not None else ""
        shown: dict[str, object] = {
            "title": say(study.title, language),
            "language": language,
            "languages": (),
            "tongues": [(code, name_of(code)) for code in languages()],
            "words": text,
            "narrow": False,
            "heading": text["finished_of"].format(done=done, planned=planned),
            "stages": Counter(_stage(row.stage.partition("/")[0], text) for row in progress).most_common(),
            "progress": [
                replace(
                    row,
                    stage=_stage(row.stage, text),
                    flags=tuple(spoken(flag, language) for flag in row.flags),
                )
                for row in progress
            ],
            "checked": study.recruitment is not None and bool(study.recruitment.attention),
            "cells": cells(items),
            "links": [(rater, f"{site.address}/r/{token}") for rater, token, _ in links],
            "join": [(g, f"{site.address}/join/{g}?{parameter}=…") for g in study.groups] if parameter else [],
            "files": files,
            "done": done,
            "planned": planned,
        }
        text_of_page = site.templates.get_template("organiser.html.j2").render(**shown)
        return web.Response(text=text_of_page, content_type="text/html")

    def progress(self, rater: Rater, items: list[Item], ratings: list[Rating]) -> Progress:
        mine = [item for item in items if item.rater == rater.rater and item.submitted_at]
        answers: dict[str, dict[str, str]] = defaultdict(dict)
        for rating in ratings:
            if rating.rater == rater.rater:
                answers[rating.document][rating.question] = rating.value
        noticed = attention(
            [(item.seconds, answers[item.document]) for item in mine],
            self.site.questions(rater),
            self.site.study.time.too_fast_seconds,
        )
        times = [item.seconds for item in mine if item.seconds is not None]
        return Progress(
            rater.rater, rater.group, self.site.place(rater), rater.submitted, rater.items,
            median(times) if times else None, noticed.flags,
            checks(self.site.study.recruitment, rater.rater, ratings),
        )  # fmt: skip

    async def invitations(self, request: web.Request) -> web.Response:
        """A line a rater: their link, and how far they are, for a mail program to fill in."""
        await self._allowed(request)
        raters, items, ratings, links = await self.site.ask(_all, self.site.store)
        rows = {row.rater: row for row in (self.progress(rater, items, ratings) for rater in raters)}
        listed = [
            [name, row.group, f"{self.site.address}/r/{token}", row.stage, row.submitted, row.items]
            for name, token, _ in links
            if (row := rows.get(name)) is not None
        ]
        return _csv("invitations.csv", ("rater", "group", "link", "is_at", "finished", "items"), listed)

    async def participants(self, request: web.Request) -> web.Response:
        """A line a participant of a panel: what it needs to know before it pays."""
        await self._allowed(request)
        raters, items, ratings, _ = await self.site.ask(_all, self.site.store)
        signs = {rater.rater: self.progress(rater, items, ratings).flags for rater in raters}
        seconds: dict[str, list[float]] = defaultdict(list)
        for item in items:
            if item.submitted_at and item.seconds is not None:
                seconds[item.rater].append(item.seconds)
        rows = await self.site.ask(summary, self.site, raters, ratings, signs, seconds)
        return _csv("participants.csv", recruits.HEADER, rows)

    async def results(self, request: web.Request) -> web.Response:
        """The analysis so far, with conditions by their letters: who looks early stays blind."""
        await self._allowed(request)
        site, language = self.site, self._language(request)
        _, items, ratings, _ = await site.ask(_all, site.store)
        if not ratings:
            raise Refused(404, "not_found")
        study = site.study.model_copy(
            update={"conditions": {key: Condition(name=key, label=key) for key in site.study.conditions}}
        )
        planned, finished = len(items), sum(1 for item in items if item.submitted_at)
        done = {"planned": planned, "finished": finished, "missing": planned - finished}
        analysis = analyse(study, ratings, site.documents.values(), language)
        back = (texts(language)["raters"], f"/o/{request.match_info['token']}?language={language}")
        page = replace(document(say(study.title, language), language, analysis, done, (), None), back=back)
        answer = web.Response(text=html(page), content_type="text/html")
        answer.headers["Content-Security-Policy"] = REPORT_POLICY
        return answer

    async def ratings(self, request: web.Request) -> web.Response:
        await self._allowed(request)
        rows = rating_rows(await self.site.ask(self.site.store.answers.ratings))
        return _csv("ratings.csv", HEADER, rows)


def _stage(place: str, text: Mapping[str, str]) -> str:
    """Where a rater is, in words: ``item 3``."""
    name, _, number = place.partition("/")
    return f"{text[f'stage_{name}']} {number}".strip()


def _csv(name: str, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> web.Response:
    saved = {"Content-Disposition": f'attachment; filename="{name}"'}
    return web.Response(text=csv_text(header, rows), content_type="text/csv", headers=saved)


def _all(store: Store) -> tuple[list[Rater], list[Item], list[Rating], list[tuple[str, str, str]]]:
    return store.answers.raters(), store.answers.items(), store.answers.ratings(), store.links()


def cells(items: list[Item]) -> list[tuple[str, str, str, list[tuple[str, int, int]]]]:
    """(group, document, stratum, [(condition, finished, planned)]) of every document that is planned."""
    planned = Counter((item.group, item.document, item.stratum, item.condition) for item in items)
    done = Counter(
        (item.group, item.document, item.stratum, item.condition) for item in items if item.submitted_at
    )
    rows: dict[tuple[str, str, str], list[tuple[str, int, int]]] = defaultdict(list)
    for key in sorted(planned):
        rows[key[:3]].append((key[3], done[key], planned[key]))
    return [(*key, counts) for key, counts in sorted(rows.items())]
