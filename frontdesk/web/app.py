"""The raters' pages: consent, training, items one at a time, survey, thanks. One personal link each.

Pages know an item by its position only. Which document and condition it is, is looked up here and never sent.
"""

from __future__ import annotations

import re
import sqlite3
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal

from aiohttp import web

from arena.human.forms import Filled, Question, read_form, say
from frontdesk.web.answers import Part, Rater
from frontdesk.web.guard import MAX_BODY, Handler, Refused, headers, same_origin
from frontdesk.web.merging import FIELD, read_seen, seen_field
from frontdesk.web.organiser import Organiser
from frontdesk.web.pages import texts
from frontdesk.web.recruits import Recruits
from frontdesk.web.site import Site
from frontdesk.web.store import Store
from frontdesk.web.views import show_document, show_example, show_questions

_STATIC = {"form.css": "text/css", "form.js": "text/javascript", "organiser.js": "text/javascript"}


class Pages:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/r/{token}", self.start),
            web.post("/r/{token}/language", self.language),
            web.get("/r/{token}/consent", self.consent),
            web.post("/r/{token}/consent", self.agree),
            web.get("/r/{token}/declined", self.message),
            web.get("/r/{token}/screened", self.message),
            web.get("/r/{token}/left", self.message),
            web.get("/r/{token}/thanks", self.message),
            web.get(r"/r/{token}/training/{number:\d{1,4}}", self.training),
            web.post(r"/r/{token}/training/{number:\d{1,4}}", self.training),
            web.get(r"/r/{token}/item/{number:\d{1,4}}", self.item),
            web.post(r"/r/{token}/item/{number:\d{1,4}}", self.item),
            web.post(r"/r/{token}/save/{number:\d{1,4}}", self.autosave),
            web.post(r"/r/{token}/practised/{number:\d{1,4}}", self.practised),
            web.get("/r/{token}/survey", self.survey),
            web.post("/r/{token}/survey", self.survey),
        ]

    async def start(self, request: web.Request) -> web.Response:
        return self.site.onward(request, self.site.place(await self.site.rater(request)))

    async def language(self, request: web.Request) -> web.Response:
        rater, data = await self.site.rater(request), await self.site.form(request)
        if data.get("language") in self.site.study.languages:
            await self.site.ask(self.site.store.answers.set_language, rater.rater, data["language"])
        back = re.fullmatch(r"/r/[\w-]+/([a-z]+(?:/\d{1,4})?)", data.get("back", ""))
        return self.site.onward(request, back[1] if back else "")

    async def consent(self, request: web.Request) -> web.Response:
        rater = await self.site.rater(request)
        if rater.consented or rater.left:
            return self.site.onward(request, self.site.place(rater))
        return self._consent(request, rater, {}, complaint=False)

    def _consent(
        self,
        request: web.Request,
        rater: Rater,
        given: dict[str, str],
        *,
        complaint: bool,
        screened: Filled | None = None,
    ) -> web.Response:
        study, language = self.site.study, self.site.language(rater)
        group, text = study.groups[rater.group], texts(language)
        minutes = study.time.training + group.items * sum(study.time.per_item.values()) + study.time.survey
        fee = f"{group.fee:,.0f} {say(study.currency, language)}".strip() if group.fee else ""
        return self.site.page(
            request,
            "consent.html.j2",
            rater,
            status=422 if complaint or screened is not None else 200,
            narrow=True,
            paragraphs=[say(paragraph, language) for paragraph in study.told(rater.group)],
            screening=show_questions(study.screens(rater.group), language, given, screened),
            minutes=text["minutes"].format(minutes=f"{minutes:g}"),
            fee=text["fee"].format(fee=fee) if fee else "",
            retention=text["retention"].format(years=f"{study.retention_years:g}"),
            ethics=study.ethics_approval,
            contact=study.contact,
            personal=study.consent.personal,
            given=given,
            complaint=complaint,
        )

    async def agree(self, request: web.Request) -> web.Response:
        site = self.site
        rater, data = await site.rater(request), await site.form(request)
        if rater.left or rater.consented:
            return site.onward(request, site.place(rater))
        if data.get("choice") == "no":
            await site.ask(site.store.answers.decline, rater.rater)
            return site.onward(request, "declined")
        personal = {field: data[field][:200] for field in site.study.consent.personal if field in data}
        screened = read_form(site.study.screens(rater.group), data)
        agreed = data.get("agree") == "yes"
        if not (agreed and screened.complete):
            lacking = None if screened.complete else screened
            return self._consent(
                request, rater, personal | screened.values, complaint=not agreed, screened=lacking
            )
        if not site.study.admits(rater.group, screened.values):
            await site.ask(site.store.answers.decline, rater.rater)
            return site.onward(request, "screened")
        await site.ask(site.store.consent, rater.rater, personal)
        return site.onward(request, "")

    async def message(self, request: web.Request) -> web.Response:
        site = self.site
        rater = await site.rater(request)
        place, text = site.place(rater), texts(site.language(rater))
        here = request.path.rsplit("/", 1)[1]
        if here != place and (here, place) != ("screened", "declined"):
            return site.onward(request, place)
        shown: dict[str, Any] = {"heading": text["left_study"], "note": "", "code": "", "link": None}
        if place == "declined" and request.path.endswith("/screened"):
            shown = {
                "heading": text["screened"],
                "note": "",
                "code": "",
                "link": await self._onward(rater, "screened"),
            }
        elif place == "declined":
            link = (f"/r/{request.match_info['token']}/consent", text["reconsider"])
            shown = {"heading": text["declined"], "note": "", "code": "", "link": link}
        elif place == "thanks":
            code = await site.ask(site.store.persons.code_of, rater.rater)
            back = await self._onward(rater, "completion")
            shown = {"heading": text["thanks"], "note": text["all_saved"], "code": code, "link": back}
            if back is not None and (recruitment := site.study.recruitment) is not None and recruitment.code:
                shown["note"] += " " + text["completion_code"].format(code=recruitment.code)
        return site.page(request, "message.html.j2", rater, narrow=True, **shown)

    async def _onward(self, rater: Rater, where: Literal["completion", "screened"]) -> tuple[str, str] | None:
        """The way back to the panel that sent this person, if one did."""
        recruitment = self.site.study.recruitment
        address = getattr(recruitment, where) if recruitment is not None else ""
        sent = {name for _, name, _ in await self.site.ask(self.site.store.persons.recruits)}
        return (
            (address, texts(self.site.language(rater))["back_to_panel"])
            if address and rater.rater in sent
            else None
        )

    async def training(self, request: web.Request) -> web.Response:
        site = self.site
        rater, number = await site.rater(request), int(request.match_info["number"])
        examples = site.examples(rater)
        if not rater.consented or rater.left or not 1 <= number <= len(examples) or number > rater.trained + 1:
            return site.onward(request, site.place(rater))
        text, language = texts(site.language(rater)), site.language(rater)
        given = await self._given(request, rater, "training", number, site.questions(rater))
        if given.is_done:
            await site.ask(site.store.answers.trained, rater.rater, number)
            return site.onward(request, "")
        example = examples[number - 1]
        return self._form(
            request, rater, site.questions(rater), given,
            heading=f"{text['training']} {number} / {len(examples)}",
            shown=show_example(example, language),
            save=f"/r/{request.match_info['token']}/practised/{number}",
            note=" ".join([text["training_note"], say(example.explanation, language)]).strip(),
        )  # fmt: skip

    async def item(self, request: web.Request) -> web.Response:
        site = self.site
        rater, number = await site.rater(request), int(request.match_info["number"])
        item = await site.ask(site.store.answers.item, rater.rater, number)
        if item is None or not self._may_rate(rater, number):
            return site.onward(request, site.place(rater))
        given = await self._given(request, rater, "item", number, site.questions(rater))
        if given.is_done:
            return site.onward(request, "")
        with suppress(sqlite3.OperationalError):  # the time alone is lost; the person can read on
            await site.ask(site.store.answers.opened, rater.rater, number)
        text, language = texts(site.language(rater)), site.language(rater)
        first = await site.ask(site.store.answers.item, rater.rater, number - 1)
        root = f"/r/{request.match_info['token']}"
        return self._form(
            request, rater, site.questions(rater), given,
            heading=text["item"].format(position=number, total=max(number, rater.items)),
            shown=show_document(site.documents[item.document], item.condition, language),
            total=rater.items, done=rater.submitted, save=f"{root}/save/{number}",
            previous=f"{root}/item/{number - 1}" if first else "",
            practice=f"{root}/training/1" if site.examples(rater) else "",
        )  # fmt: skip

    def _may_rate(self, rater: Rater, number: int) -> bool:
        """Items are rated in their order: those before the first open one may be corrected."""
        ready = rater.consented and not rater.left and rater.trained >= len(self.site.examples(rater))
        return ready and (rater.next_item is None or number <= rater.next_item)

    async def autosave(self, request: web.Request) -> web.Response:
        site = self.site
        rater, number = await site.rater(request), int(request.match_info["number"])
        data = await site.form(request)
        item = await site.ask(site.store.answers.item, rater.rater, number)
        if item is None or not self._may_rate(rater, number):
            return web.json_response({"saved": False}, status=409)
        return await self._saved(rater, data, "item", number, item.submitted_at)

    async def practised(self, request: web.Request) -> web.Response:
        """Practice answers are kept as they are given, like those that count."""
        rater, number = await self.site.rater(request), int(request.match_info["number"])
        data = await self.site.form(request)
        last = min(len(self.site.examples(rater)), rater.trained + 1)
        if not rater.consented or rater.left or not 1 <= number <= last:
            return web.json_response({"saved": False}, status=409)
        return await self._saved(rater, data, "training", number, None)

    async def _saved(
        self, rater: Rater, data: dict[str, str], part: Part, number: int, finished: str | None
    ) -> web.Response:
        """Keep what a page has so far; ``seen`` in the answer is what the page knows from now on."""
        answers, ask = self.site.store.answers, self.site.ask
        seen = read_seen(data.pop(FIELD, None))
        filled = read_form(self.site.questions(rater), data)
        kept = _kept(filled, finished)
        conflicts = await ask(answers.save, rater.rater, part, number, filled.values, keep=kept, seen=seen)
        if conflicts:
            return web.json_response({"saved": False, "conflict": sorted(conflicts)}, status=409)
        answer: dict[str, object] = {"saved": True, "complete": filled.complete}
        if seen is not None:
            answer["seen"] = seen_field(await ask(answers.of, rater.rater, part, number))
        return web.json_response(answer)

    async def survey(self, request: web.Request) -> web.Response:
        site = self.site
        rater, text = await site.rater(request), texts(self.site.language(await site.rater(request)))
        if site.place(rater) not in ("survey", "thanks") or not site.study.survey:
            return site.onward(request, site.place(rater))
        given = await self._given(request, rater, "survey", 1, site.study.survey)
        if given.is_done:
            await site.ask(site.store.answers.surveyed, rater.rater)
            return site.onward(request, "thanks")
        return self._form(request, rater, site.study.survey, given, heading=text["survey"], last=True)

    async def _given(
        self, request: web.Request, rater: Rater, part: Part, number: int, questions: tuple[Question, ...]
    ) -> _Given:
        """What is on file, or for a posted form what was sent (saved first) and how it was read.

        Of what the page did not change, the answers on file are shown: another page may have stored them since.
        """
        site = self.site
        if request.method != "POST":
            stored = await site.ask(site.store.answers.of, rater.rater, part, number)
            return _Given(stored, seen_field(stored))
        data = await site.form(request)
        shown = data.pop(FIELD, None)
        seen = read_seen(shown)
        filled = read_form(questions, data)
        finished = None
        if part == "item":
            item = await site.ask(site.store.answers.item, rater.rater, number)
            finished = item.submitted_at if item else None
        try:
            conflicts = await site.ask(
                site.store.answers.save, rater.rater, part, number, filled.values,
                submit=filled.complete, keep=_kept(filled, finished), seen=seen,
            )  # fmt: skip
        except sqlite3.OperationalError:  # a full disk, or another program that holds the file
            return _Given(data, shown or "", filled, problem="not_stored")
        stored = await site.ask(site.store.answers.of, rater.rater, part, number)
        if seen is not None:
            mine = {name: data[name] for name in (*filled.wrong, *conflicts) if name in data}
            data = {**stored, **mine}
            filled = read_form(questions, data)
            if filled.complete and not conflicts and part == "item" and not finished:
                await site.ask(site.store.answers.save, rater.rater, part, number, filled.values, submit=True)
        return _Given(data, seen_field(stored), filled, conflicts, "conflict" if conflicts else "")

    def _form(
        self,
        request: web.Request,
        rater: Rater,
        questions: tuple[Question, ...],
        given: _Given,
        **context: Any,
    ) -> web.Response:
        language = self.site.language(rater)
        text = texts(language)
        last = context.pop("last", False)
        shown: dict[str, Any] = {
            "shown": None, "note": "", "total": 0, "done": 0, "save": "", "previous": "", "practice": "",
            "stored": bool(given.values) and not given.filled,
            "own_link": f"{self.site.address}/r/{request.match_info['token']}",
        }  # fmt: skip
        return self.site.page(
            request,
            "item.html.j2",
            rater,
            status=_STATUS[given.problem] if given.filled else 200,
            complaint=text[given.problem or "incomplete"] if given.filled else "",
            seen=given.seen,
            sections=show_questions(questions, language, given.values, given.filled, given.conflicts),
            button=text["finish"] if last else text["next"],
            **{**shown, **context},
        )


@dataclass(frozen=True, slots=True)
class _Given:
    """A form's fields, the hidden field that says what they were, how they were read, and what went wrong.

    ``conflicts``: by question what another page has stored.
    """

    values: dict[str, str]
    seen: str
    filled: Filled | None = None
    conflicts: Mapping[str, str] = field(default_factory=dict[str, str])
    problem: Literal["", "conflict", "not_stored"] = ""

    @property
    def is_done(self) -> bool:
        return self.filled is not None and self.filled.complete and not self.problem


_STATUS = {"": 422, "conflict": 409, "not_stored": 503}


def _kept(filled: Filled, finished: str | None) -> tuple[str, ...]:
    """Answers on file that this form does not delete: unreadable ones, and of a finished item the missing."""
    return (*filled.wrong, *(filled.missing if finished else ()))


async def _static(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    if name not in _STATIC:
        raise Refused(404, "not_found")
    text = files("frontdesk.web").joinpath("static", name).read_text(encoding="utf-8")
    return web.Response(text=text, content_type=_STATIC[name])


async def _no_icon(_: web.Request) -> web.Response:
    return web.Response(status=204)


def make_app(store: Store, address: str | None = None) -> web.Application:
    """The whole site over an open store, which the caller closes. ``address``: see ``guard.same_origin``."""
    site = Site(store, address or "")

    @web.middleware
    async def refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except Refused as refused:
            return site.refusal(refused)
        except web.HTTPRequestEntityTooLarge:
            return site.refusal(Refused(413, "too_large"))
        except web.HTTPNotFound:
            return site.refusal(Refused(403, "refused"))
        except web.HTTPException as error:
            return site.refusal(Refused(error.status, "not_found"))
        except sqlite3.OperationalError:
            return site.refusal(Refused(503, "not_stored"))
        except Exception:
            # With the page's own words and headers; the program's go to whoever runs it, without the address.
            traceback.print_exc()
            return site.refusal(Refused(500, "broken"))

    app = web.Application(middlewares=[headers, refusals, same_origin(address)], client_max_size=MAX_BODY)
    app.add_routes([web.get("/static/{name}", _static), web.get("/favicon.ico", _no_icon)])
    app.add_routes(Pages(site).routes())
    app.add_routes(Organiser(site).routes())
    app.add_routes(Recruits(site).routes())

    async def closed(_: web.Application) -> None:
        site.close()

    app.on_cleanup.append(closed)
    return app
