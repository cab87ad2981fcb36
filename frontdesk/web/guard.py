"""What every request passes: security headers, same origin, sizes, and errors as plain pages."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Middleware

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
MAX_BODY = 256 * 1024

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # "no-referrer" would make browsers send "Origin: null" with our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Refused(Exception):
    """A request that is not answered: the status and the key of the text that says why."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


@web.middleware
async def headers(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Security headers on every answer, errors included."""
    try:
        answer = await handler(request)
    except web.HTTPException as error:
        error.headers.update(HEADERS)
        raise
    for name, value in HEADERS.items():
        answer.headers.setdefault(name, value)
    return answer


def same_origin(address: str | None) -> Middleware:
    """Whatever is not a plain read must come from our own pages, as far as the browser tells.

    ``address`` is how raters reach the site where a proxy stands in front of it.
    """
    public = urlsplit(address).netloc if address else None

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.method not in ("GET", "HEAD"):
            site = request.headers.get("Sec-Fetch-Site")
            origin = request.headers.get("Origin")
            ours = origin is None or urlsplit(origin).netloc in (request.host, public)
            if site not in (None, "same-origin") or not ours:
                raise Refused(403, "forged")
        return await handler(request)

    return check


def form_token(secret: str, link: str) -> str:
    """The form token that belongs to a personal link: nobody makes it without the server's secret."""
    return hmac.new(secret.encode(), link.encode(), hashlib.sha256).hexdigest()[:32]


def check_form_token(secret: str, link: str, given: object) -> None:
    """Raises Refused (403) where the form was not ours."""
    if not isinstance(given, str) or not hmac.compare_digest(form_token(secret, link).encode(), given.encode()):
        raise Refused(403, "forged")
