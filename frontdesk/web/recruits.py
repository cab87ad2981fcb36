"""Participants that a panel sends (Prolific and similar): whoever comes with an id gets a free rater's link."""

from __future__ import annotations

import re
from statistics import median

from aiohttp import web

from arena.human.ratings import Rating
from arena.human.study import Recruitment
from frontdesk.web.answers import Rater
from frontdesk.web.guard import Refused
from frontdesk.web.site import Site
from frontdesk.web.store import Store
from runstore.publish import Cell

ID = re.compile(r"[\w-]{1,80}")
HEADER = (
    "participant",
    "rater",
    "group",
    "joined_at",
    "stage",
    "finished",
    "items",
    "median_s",
    "checks_passed",
    "checks_answered",
    "signs",
)


class Recruits:
    """The way in: ``/join/GROUP?PROLIFIC_PID=…`` leads to a personal link, the same one for the same id."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/join/{group}", self.join)] if self.site.study.recruitment is not None else []

    async def join(self, request: web.Request) -> web.Response:
        recruitment, group = self.site.study.recruitment, request.match_info["group"]
        if recruitment is None or group not in self.site.study.groups:
            raise Refused(403, "refused")
        participant = request.query.get(recruitment.parameter, "")
        if not ID.fullmatch(participant):
            raise Refused(403, "no_participant")
        token = await self.site.ask(_assigned, self.site.store, participant, group)
        if token is None:
            raise Refused(409, "full")
        return web.Response(status=303, headers={"Location": f"/r/{token}"})


def _assigned(store: Store, participant: str, group: str) -> str | None:
    """The token of this participant's link; a first one is given the next rater of the group whom nobody is."""
    free = [
        rater.rater
        for rater in store.answers.raters()
        if rater.group == group and not (rater.consented or rater.declined or rater.left or rater.submitted)
    ]
    return store.persons.recruit(participant, free)


def checks(recruitment: Recruitment | None, rater: str, ratings: list[Rating]) -> tuple[int, int]:
    """(passed, answered) of a rater's attention checks."""
    wanted = recruitment.attention if recruitment is not None else {}
    given = [rating for rating in ratings if rating.rater == rater and rating.question in wanted]
    return sum(rating.value == wanted[rating.question] for rating in given), len(given)


def summary(
    site: Site,
    raters: list[Rater],
    ratings: list[Rating],
    signs: dict[str, tuple[str, ...]],
    seconds: dict[str, list[float]],
) -> list[list[Cell]]:
    """A line a participant: what their panel needs to know before it pays."""
    by_name = {rater.rater: rater for rater in raters}
    rows: list[list[Cell]] = []
    for participant, name, at in site.store.persons.recruits():
        rater = by_name.get(name)
        if rater is None:
            continue
        passed, answered = checks(site.study.recruitment, name, ratings)
        times = seconds.get(name, [])
        rows.append(
            [participant, name, rater.group, at, site.place(rater), rater.submitted, rater.items,
             round(median(times), 1) if times else None, passed, answered, ", ".join(signs.get(name, ()))]
        )  # fmt: skip
    return rows
