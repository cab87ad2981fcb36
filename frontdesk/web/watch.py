"""The page of a run that is under way: on this machine only, behind a token, and it changes nothing."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
import threading
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import contextmanager
from importlib.resources import files

from aiohttp import web

from frontdesk.report.sections.watch.document import document
from frontdesk.report.writers.html import html
from frontdesk.runner.watching import Live, Watched
from frontdesk.web.guard import HEADERS, Handler
from runstore.problems import Problem
from runstore.publish import to_json

HOST = "127.0.0.1"
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'self'; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)


class Watcher:
    """The handlers. One look at a time: whoever asks meanwhile is given the same one."""

    def __init__(self, watched: Watched, token: str) -> None:
        self._watched, self._token = watched, token
        self._looking = asyncio.Lock()
        self._script = files("frontdesk.web").joinpath("static/watch.js").read_text(encoding="utf-8")

    def app(self) -> web.Application:
        app = web.Application(middlewares=[self._guarded])
        app.add_routes(
            [
                web.get("/{token}/", self._page),
                web.get("/{token}/live.json", self._json),
                web.get("/{token}/watch.js", self._js),
            ]
        )
        return app

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Only with the token, and only under a name of this machine: a page elsewhere that has its own name
        point here is told nothing."""
        token = request.match_info.get("token", "")
        is_here = request.host.rpartition(":")[0] in (HOST, "localhost")
        if is_here and hmac.compare_digest(token.encode(), self._token.encode()):
            answer = await handler(request)
        else:
            answer = web.Response(status=404, text="404")
        answer.headers.update(HEADERS | {"Content-Security-Policy": _POLICY, "Referrer-Policy": "no-referrer"})
        return answer

    async def _look(self) -> Live:
        async with self._looking:
            return await asyncio.to_thread(self._watched.look)

    async def _page(self, _: web.Request) -> web.Response:
        live = await self._look()
        return web.Response(text=html(document(live), "watch.html.j2"), content_type="text/html")

    async def _json(self, _: web.Request) -> web.Response:
        return web.Response(body=to_json(await self._look()), content_type="application/json")

    async def _js(self, _: web.Request) -> web.Response:
        return web.Response(text=self._script, content_type="text/javascript")


@contextmanager
def watching(watched: Watched, port: int = 0) -> Generator[str]:
    """The page's address, token included, as long as the context lasts; served by a thread of its own.

    Raises Problem for a port that is taken, and for a page that cannot be served.
    """
    try:
        listening = socket.create_server((HOST, port))
    except OSError as error:
        raise Problem(f"cannot listen on {HOST}:{port}: {error.strerror or error}") from error
    token, loop = secrets.token_urlsafe(18), asyncio.new_event_loop()
    stop = asyncio.Event()
    started = Future[None]()

    async def serve() -> None:
        try:
            runner = web.AppRunner(Watcher(watched, token).app(), access_log=None)
            await runner.setup()
            await web.SockSite(runner, listening).start()
        except Exception as error:  # told to the thread that waits for the page
            started.set_exception(Problem(f"the page cannot be served: {error}"))
            return
        started.set_result(None)
        await stop.wait()
        await runner.cleanup()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    try:
        started.result()
        yield f"http://{HOST}:{listening.getsockname()[1]}/{token}/"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
        listening.close()
