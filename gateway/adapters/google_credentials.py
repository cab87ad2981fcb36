"""Application default credentials for Vertex AI: found before anything is asked, tokens fetched when needed.

google-auth finds them (GOOGLE_APPLICATION_CREDENTIALS, gcloud's file, the machine's own service account) and
fetches the tokens; they live in this process alone.
"""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import google.auth
import requests
from google.auth import exceptions
from google.auth.transport.requests import Request
from google.oauth2.credentials import Credentials as Handed

from gateway.adapters import reading
from gateway.errors import NO, TRANSIENT, Fault
from gateway.wire import FORBID_VARIABLE, check_allowed
from runstore.problems import Problem

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_FILE_VARIABLE = "GOOGLE_APPLICATION_CREDENTIALS"
_WAY_OUT = (
    "run `gcloud auth application-default login`, or name the file of a service account in "
    f"{_FILE_VARIABLE}; with an API key instead, leave vertexai out"
)
_LONGEST_SEARCH_S = 10.0

logging.getLogger("google.auth").addHandler(logging.NullHandler())


class Credentials:
    """What google-auth found, and one token of it for all who ask at the same time.

    ``handed``: for the client; holds the last token and can fetch none.
    """

    def __init__(self, found: Any, timeout_s: float) -> None:
        self._found, self._timeout_s = found, timeout_s
        self.handed = Handed(token=None, quota_project_id=found.quota_project_id)
        self._lock = asyncio.Lock()

    async def token(self) -> str:
        """A token that is good for some minutes yet. Raises Fault."""
        if not self._is_fresh():
            async with self._lock:
                if not self._is_fresh():
                    await asyncio.to_thread(self._refresh)
        self.handed.token = token = cast("str", self._found.token)
        return token

    def _is_fresh(self) -> bool:
        return bool(self._found.token) and not self._found.expired

    def _refresh(self) -> None:
        try:
            with requests.Session() as session:
                self._found.refresh(_Bounded(session, self._timeout_s))
        except exceptions.TransportError as error:
            raise Fault("connection", f"no access token for Vertex AI: {_said(error)}", TRANSIENT) from None
        except exceptions.GoogleAuthError as error:
            is_passing = bool(getattr(error, "retryable", False))
            kind, retry = ("server", TRANSIENT) if is_passing else ("auth", NO)
            raise Fault(kind, f"no access token for Vertex AI: {_said(error)}", retry) from None


class _Bounded(Request):
    """google-auth's requests, none longer than ``longest_s``, and none where calls are switched off."""

    def __init__(self, session: requests.Session, longest_s: float) -> None:
        super().__init__(session=session)
        self._longest_s = longest_s
        self._send: Any = super().__call__  # pyright: ignore[reportUnknownMemberType]

    def __call__(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        url: str,
        method: str = "GET",
        body: Any = None,
        headers: Any = None,
        timeout: Any = None,
        **more: Any,
    ) -> Any:
        check_allowed(urlsplit(url).hostname or "")
        seconds = min(self._longest_s, timeout or self._longest_s)
        return self._send(url, method, body, headers, timeout=seconds, **more)


def application_default(timeout_s: float) -> Credentials:
    """The credentials of this machine or user; nothing is asked for a token yet.

    ``timeout_s``: of one request for a token. Raises Problem, with the way out, where there are none.
    """
    if os.environ.get(FORBID_VARIABLE) and not (os.environ.get(_FILE_VARIABLE) or _gcloud_file().is_file()):
        raise Problem(f"no credentials for Vertex AI were found in a file, and calls are switched off; {_WAY_OUT}")
    try:
        with requests.Session() as session:
            search: Any = google.auth.default  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            found, _ = search(scopes=[SCOPE], request=_Bounded(session, _LONGEST_SEARCH_S))
    except Fault as fault:
        raise Problem(f"no credentials for Vertex AI: {fault.message}") from None
    except (exceptions.GoogleAuthError, ValueError, OSError) as error:
        raise Problem(f"no credentials for Vertex AI: {_said(error)}; {_WAY_OUT}") from None
    return Credentials(found, timeout_s)


def _gcloud_file() -> Path:
    """Where gcloud keeps the user's credentials."""
    named = os.environ.get("CLOUDSDK_CONFIG")
    if named:
        folder = Path(named)
    elif os.name == "nt":
        folder = Path(os.environ.get("APPDATA", "")) / "gcloud"
    else:
        folder = Path.home() / ".config" / "gcloud"
    return folder / "application_default_credentials.json"


def _said(error: Exception) -> str:
    return reading.shown(str(error.args[0] if error.args else error).rstrip("."), reading.LONGEST_MESSAGE)
