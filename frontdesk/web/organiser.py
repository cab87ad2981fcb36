"""The organiser's page: progress per rater and cell, time per item, signs of inattention, links, exports.

Behind its own token. Conditions appear here by letter only; their names are in no page.
"""

from __future__ import annotations

import hmac
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from aiohttp import web

from arena.human.attention import attention
from arena.human.forms import say
from arena.human.ratings import HEADER, Rating
from frontdesk.web.answers import Item, Rater
from frontdesk.web.exports import rating_rows
from frontdesk.web.guard import Refused
from frontdesk.web.site import Site
from frontdesk.web.store import Store
from runstore.languages import words
from runstore.publish import csv_text


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


class Organiser:
    """Handlers of the organiser's page."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/o/{token}", self.page), web.get("/o/{token}/ratings.csv", self.ratings)]

    async def _allowed(self, request: web.Request) -> None:
        secret = await self.site.ask(self.site.store.persons.secret, "organiser")
        if not hmac.compare_digest(secret.encode(), request.match_info["token"].encode()):
            raise Refused(403, "refused")

    async def page(self, request: web.Request) -> web.Response:
        await self._allowed(request)
        site = self.site
        raters, items, ratings, links = await site.ask(_all, site.store)
        language = site.study.languages[0]
        done, called = sum(1 for item in items if item.submitted_at), words("frontdesk.web", "pages", language)
        shown: dict[str, Any] = {
            "title": say(site.study.title, language),
            "language": language,
            "words": called.texts,
            "heading": called("org_done", done=done, planned=len(items)),
            "languages": (),
            "narrow": False,
            "progress": [self.progress(rater, items, ratings, called.texts) for rater in raters],
            "cells": cells(items),
            "links": [(rater, f"{site.address}/r/{token}") for rater, token, _ in links],
            "export": f"/o/{request.match_info['token']}/ratings.csv",
            "done": done,
            "planned": len(items),
        }
        html = site.templates.get_template("organiser.html.j2").render(**shown)
        return web.Response(text=html, content_type="text/html")

    def progress(
        self, rater: Rater, items: list[Item], ratings: list[Rating], called: Mapping[str, str]
    ) -> Progress:
        mine = [item for item in items if item.rater == rater.rater and item.submitted_at]
        answers: dict[str, dict[str, str]] = defaultdict(dict)
        for rating in ratings:
            if rating.rater == rater.rater:
                answers[rating.document][rating.question] = rating.value
        found = attention(
            [(item.seconds, answers[item.document]) for item in mine],
            self.site.questions(rater),
            self.site.study.time.too_fast_seconds,
        )
        times = [item.seconds for item in mine if item.seconds is not None]
        return Progress(
            rater.rater, rater.group, _where(self.site.place(rater), called), rater.submitted, rater.items,
            median(times) if times else None, tuple(called[_SIGNS[flag]] for flag in found.flags),
        )  # fmt: skip

    async def ratings(self, request: web.Request) -> web.Response:
        await self._allowed(request)
        rows = rating_rows(await self.site.ask(self.site.store.answers.ratings))
        name = {"Content-Disposition": 'attachment; filename="ratings.csv"'}
        return web.Response(text=csv_text(HEADER, rows), content_type="text/csv", headers=name)


_SIGNS = {"straight-lining": "org_sign_straight", "too fast": "org_sign_fast"}


def _where(place: str, called: Mapping[str, str]) -> str:
    """``item/3`` in words: the step, and which of them."""
    step, _, number = place.partition("/")
    return f"{called['org_at_' + step]} {number}".strip()


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
