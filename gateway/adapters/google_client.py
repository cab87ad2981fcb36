"""Google's own client, google-genai, as one endpoint uses it: it makes address, authorization and request.

Connections, bounds, and the reading of what comes back are ours, over the run's session. The client takes no key,
no address and no project from the environment, tries nothing again, follows no redirect, and goes on with no reply
by itself. It takes half a second to import, so only an endpoint of kind ``gemini`` does.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from google import genai
from google.genai import types

if TYPE_CHECKING:
    from aiohttp import ClientRequest, ClientResponse
    from aiohttp.client_middlewares import ClientHandlerType

    from gateway.adapters.google_credentials import Credentials
    from gateway.transport import Loan

KEY_HEADER = "x-goog-api-key"
_NO_KEY = "none"
"""What the client is told, since it cannot be made without one: keys are the wire's."""
_NO_CONTENTS = "."
"""The same for the contents: the wire sends the body that was composed."""

_CONFIG = types.GenerateContentConfig(
    should_return_http_response=True,
    automatic_continuation=False,
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
)


class GoogleClient:
    """``version``: of the interface; ``credentials``, ``project`` and ``location`` where it is Vertex AI's."""

    def __init__(
        self,
        version: str,
        timeout_s: float,
        credentials: Credentials | None = None,
        project: str | None = None,
        location: str | None = None,
    ) -> None:
        self._version, self._timeout_ms = version, math.ceil(timeout_s * 1000)
        self._credentials, self._project, self._location = credentials, project, location
        self._clients: dict[tuple[Loan, str], genai.Client] = {}

    async def generate(self, loan: Loan, base_url: str, model: str) -> None:
        """One request of ``generateContent``; ``loan`` is where it leads to, with a body of its own."""
        models = self._client(loan, base_url).aio.models
        await models.generate_content(model=model, contents=_NO_CONTENTS, config=_CONFIG)

    def _client(self, loan: Loan, base_url: str) -> genai.Client:
        """A client is bound to the session, its certificates and a proxy; it is cheaper to have one an address."""
        client = self._clients.get((loan, base_url))
        if client is None:
            for old in [old for old in self._clients if old[0].session.closed]:
                del self._clients[old]
            client = self._clients[loan, base_url] = self._made(loan, base_url)
        return client

    def _made(self, loan: Loan, base_url: str) -> genai.Client:
        arguments = {**loan.arguments, "verify": loan.tls}
        arguments["middlewares"] = (_without_key, *loan.arguments["middlewares"])
        options = types.HttpOptions(
            base_url=base_url,
            api_version=self._version,
            timeout=self._timeout_ms,
            aiohttp_client=loan.session,
            client_args={"verify": loan.tls},
            async_client_args=arguments,
            retry_options=types.HttpRetryOptions(attempts=1),
        )
        if self._credentials is None:
            return genai.Client(vertexai=False, api_key=_NO_KEY, http_options=options)
        return genai.Client(
            vertexai=True,
            project=self._project,
            location=self._location,
            credentials=self._credentials.handed,
            http_options=options,
        )


async def _without_key(request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
    request.headers.pop(KEY_HEADER, None)
    return await handler(request)
