"""litellm with the run's wire under it: every request that it makes within a call of ours is sent there.

Its own code runs in a thread of its own, for it may take long over what a provider sent: other calls go on.
Its own retries, logs, telemetry, downloads and ``.env`` files are off. It takes seconds to import, so only an
endpoint of kind ``litellm`` does.
"""

from __future__ import annotations

import asyncio
import logging
import os
import warnings
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from gateway.adapters import classify, reading
from gateway.adapters.aside import aside, from_loop
from gateway.adapters.base import Wire, WireReply
from gateway.adapters.waits import Clock
from gateway.errors import NO, TRANSIENT, Fault
from runstore.problems import Problem

warnings.filterwarnings("ignore", ".*ReadOnly.*", UserWarning)
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
# Keys are taken out by their values, see gateway.secrets; litellm's search for what looks like one takes seconds.
os.environ.setdefault("LITELLM_DISABLE_REDACT_SECRETS", "true")
try:
    import httpx
    import litellm as library
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler
except ImportError as missing:
    raise Problem(
        f"kind litellm needs the extra [litellm]: pip install 'tutor-arena[litellm]' ({missing})"
    ) from None

_litellm: Any = library
_OFF: dict[str, Any] = {"num_retries": 0, "max_retries": 0, "stream": False, "drop_params": False}
_OF_THE_CONNECTION = frozenset({"host", "connection", "content-length", "transfer-encoding", "accept-encoding"})
"""Headers that the wire makes itself."""
MOST_PARTS = 20_000
"""Objects and lists of a response, which has a few dozen: litellm takes a second over twice as many."""


@dataclass(slots=True)
class _Under:
    """A call that is under way: its wire and the loop of that, the last response, and the fault that ended it."""

    wire: Wire
    loop: asyncio.AbstractEventLoop
    now: Clock
    reply: WireReply | None = None
    fault: Fault | None = None


_UNDER: ContextVar[_Under | None] = ContextVar("call of litellm", default=None)


class _Transport(httpx.AsyncBaseTransport):
    """Where a call of ours is under way, its wire; for anybody else who uses litellm here, litellm's own."""

    def __init__(self, own: httpx.AsyncBaseTransport) -> None:
        self._own = own

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        call = _UNDER.get()
        if call is None:
            return await self._own.handle_async_request(request)
        headers = {name: value for name, value in request.headers.items() if name not in _OF_THE_CONNECTION}
        try:
            fetched = call.wire.fetch(request.method, str(request.url), headers, await request.aread())
            call.reply = reply = await from_loop(call.loop, fetched)
            _check(reply, call.now)
        except Fault as fault:
            call.fault = call.fault or fault
            raise
        kept = {n: v for n, v in reply.headers.items() if n.lower() not in ("content-encoding", "content-length")}
        return httpx.Response(reply.status, headers=kept, content=reply.body, request=request)

    async def aclose(self) -> None:
        await self._own.aclose()


def _check(reply: WireReply, now: Clock) -> None:
    """What litellm would go through all of, for words of failures or to make objects of it, is not shown to it.

    Raises Fault.
    """
    if reply.status >= 400:
        raise classify.fault(reply, now)
    if reply.body.count(b"{") + reply.body.count(b"[") > MOST_PARTS:
        many = f"the response has more than {MOST_PARTS:,} parts"
        raise Fault("malformed", many, TRANSIENT, status=reply.status)
    if reply.body and (error := reading.as_dict(reading.load_any(reply)).get("error")):
        raise classify.embedded_fault(error, reply, now)


def _put_under() -> None:
    """Once a process: whatever client litellm makes from now on has our transport."""
    if getattr(AsyncHTTPHandler, "own_transport", None) is not None:
        return
    own: Any = getattr(AsyncHTTPHandler, "create_async_transport", None)
    if own is None:
        raise Problem(f"kind litellm: this version of litellm is not supported; {_NEEDED}")

    def made(*args: Any, **options: Any) -> httpx.AsyncBaseTransport:
        return _Transport(own(*args, **options) or httpx.AsyncHTTPTransport())

    handler: Any = AsyncHTTPHandler
    handler.own_transport, handler.create_async_transport = own, staticmethod(made)
    _litellm.in_memory_llm_clients_cache.flush_cache()
    _litellm.suppress_debug_info = True
    _litellm.telemetry = False
    logging.getLogger("LiteLLM").disabled = True


_NEEDED = "pip install 'tutor-arena[litellm]'"


class LitellmClient:
    """Asks, and gives what came in the form of a chat completion beside the response that it was made of."""

    def __init__(self, now: Clock) -> None:
        _put_under()
        self._now = now

    async def complete(self, arguments: Mapping[str, Any], wire: Wire) -> tuple[dict[str, Any], WireReply]:
        """One call of ``litellm.acompletion``. Raises Fault."""
        call = _Under(wire, asyncio.get_running_loop(), self._now)
        try:
            completion = await aside("litellm").run(_completed(arguments, call))
        except Fault as fault:
            raise (call.fault or fault) from None
        except Exception as error:  # whatever its providers raise
            raise (call.fault or _fault(error, call.reply, self._now)) from None
        if call.fault is not None:
            raise call.fault
        reply = call.reply or WireReply(200, {}, reading.dumps(completion))
        return completion, reply


async def _completed(arguments: Mapping[str, Any], call: _Under) -> dict[str, Any]:
    _UNDER.set(call)  # of the task that this is
    made: Any = await _litellm.acompletion(**arguments, **_OFF)
    return _as_said(reading.loads(reading.dumps(made.model_dump(mode="json", warnings=False))))


def _as_said(completion: dict[str, Any]) -> dict[str, Any]:
    """Where a provider counts nothing litellm writes zeros: nothing is known then."""
    usage = reading.as_dict(completion.get("usage"))
    is_known = any(usage.get(name) for name in ("prompt_tokens", "completion_tokens", "total_tokens"))
    return completion if is_known else completion | {"usage": None}


def _fault(error: Exception, reply: WireReply | None, now: Clock) -> Fault:
    """What litellm raised by itself: it could not read the response, or would not send the request."""
    said = reading.shown(str(error), reading.LONGEST_MESSAGE)
    if reply is not None:
        return Fault("malformed", f"litellm cannot read the response: {said}", TRANSIENT, status=reply.status)
    status = getattr(error, "status_code", None)
    if isinstance(error, _litellm.exceptions.AuthenticationError) or status in (401, 403):
        return Fault("auth", f"litellm sends nothing: {said}", NO)
    if isinstance(status, int) and status >= 500 and status != 501:
        return classify.fault(WireReply(status, {}, str(error).encode()), now)
    return Fault("bad_request", f"litellm sends nothing: {said}", NO)
