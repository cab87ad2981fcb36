"""One study's site over its store: who is asking, what comes next for them, and the pages' common frame."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from aiohttp import web

from arena.human.forms import Question, say
from arena.human.study import Example
from frontdesk.report.writers.html import environment
from frontdesk.web.answers import Rater
from frontdesk.web.guard import Refused, check_form_token, form_token
from frontdesk.web.pages import texts
from frontdesk.web.store import Store
from frontdesk.web.views import fields

T = TypeVar("T")


class Site:
    """One study's pages over its store. The store is used from one thread of its own."""

    def __init__(self, store: Store, address: str = "") -> None:
        self.store, self.address = store, address
        self.study = store.folder.study()
        self.documents = store.folder.documents()
        self.templates = environment("frontdesk.web", fills_forms=True)
        self.secret = store.persons.secret("form")
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="answers")

    async def ask(self, work: Callable[..., T], *args: object, **named: object) -> T:
        """Run a method of the store on its thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: work(*args, **named))

    def close(self) -> None:
        self._thread.shutdown()

    # ---- who is asking --------------------------------------------------------------------------------------

    async def rater(self, request: web.Request) -> Rater:
        """The rater of the personal link. Raises Refused (403) without one."""
        name = await self.ask(self.store.persons.rater_of, request.match_info["token"])
        if name is None:
            raise Refused(403, "refused")
        return await self.ask(self.store.answers.rater, name)

    async def form(self, request: web.Request) -> dict[str, str]:
        """The fields of a form that is ours. Raises Refused."""
        try:
            data = fields(await request.post())
        except (ValueError, LookupError) as error:  # not the encoding that it says, or no such encoding
            raise Refused(400, "unreadable") from error
        check_form_token(self.secret, request.match_info["token"], data.pop("csrf", None))
        return data

    def language(self, rater: Rater | None) -> str:
        chosen = rater.language if rater else ""
        return chosen if chosen in self.study.languages else self.study.languages[0]

    def examples(self, rater: Rater) -> list[Example]:
        return [example for example in self.study.training if not example.groups or rater.group in example.groups]

    def questions(self, rater: Rater) -> tuple[Question, ...]:
        return self.study.forms[self.study.groups[rater.group].form].questions

    def place(self, rater: Rater) -> str:
        """Where a rater goes on: the last part of the address."""
        if rater.left:
            return "left"
        if not rater.consented:
            return "declined" if rater.declined else "consent"
        if rater.trained < len(self.examples(rater)):
            return f"training/{rater.trained + 1}"
        if rater.next_item is not None:
            return f"item/{rater.next_item}"
        return "survey" if self.study.survey and not rater.surveyed else "thanks"

    def page(
        self, request: web.Request, template: str, rater: Rater, *, status: int = 200, **context: Any
    ) -> web.Response:
        token, language = request.match_info["token"], self.language(rater)
        html = self.templates.get_template(template).render(
            title=say(self.study.title, language),
            language=language,
            languages=self.study.languages,
            words=texts(language),
            token=token,
            csrf=form_token(self.secret, token),
            here=request.path,
            **{"narrow": False, **context},
        )
        return web.Response(text=html, content_type="text/html", status=status)

    def refusal(self, refused: Refused) -> web.Response:
        language = self.language(None)
        html = self.templates.get_template("message.html.j2").render(
            title=say(self.study.title, language) if refused.status != 403 else "",
            language=language,
            languages=(),
            words=texts(language),
            narrow=True,
            heading=texts(language)[refused.reason],
            note="",
            code="",
            link=None,
        )
        return web.Response(text=html, content_type="text/html", status=refused.status)

    def onward(self, request: web.Request, place: str) -> web.Response:
        """See the page at this place next (303, so that going back or reloading never sends a form again)."""
        return web.Response(
            status=303,
            headers={"Location": "/".join(part for part in ("/r", request.match_info["token"], place) if part)},
        )
