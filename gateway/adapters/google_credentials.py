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

from gateway import proxies
from gateway.adapters import reading
from gateway.adapters.base import CredentialsWay
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
_METADATA = frozenset({"169.254.169.254", "metadata.google.internal"})
_METADATA_VARIABLES = ("GCE_METADATA_HOST", "GCE_METADATA_ROOT", "GCE_METADATA_IP")

logging.getLogger("google.auth").addHandler(logging.NullHandler())


class Credentials:
    """What google-auth found, and one token of it for all who ask at the same time.

    ``handed``: for the client; holds the last token and can fetch none.
    """

    def __init__(self, credentials: Any, way: CredentialsWay) -> None:
        self._found, self._way = credentials, way
        self.handed = Handed(token=None, quota_project_id=credentials.quota_project_id)
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
                self._found.refresh(_OnOurWay(session, self._way))
        except exceptions.TransportError as error:
            raise Fault("connection", f"no access token for Vertex AI: {_said(error)}", TRANSIENT) from None
        except exceptions.GoogleAuthError as error:
            is_passing = bool(getattr(error, "retryable", False))
            kind, retry = ("server", TRANSIENT) if is_passing else ("auth", NO)
            raise Fault(kind, f"no access token for Vertex AI: {_said(error)}", retry) from None


class _OnOurWay(Request):
    """google-auth's requests as the calls go: by the endpoint's proxy, trusting the same certificates, none longer
    than it may take, and none where calls are switched off."""

    def __init__(self, session: requests.Session, way: CredentialsWay) -> None:
        session.trust_env = False
        session.verify = os.environ.get("SSL_CERT_FILE") or os.environ.get("REQUESTS_CA_BUNDLE") or True
        super().__init__(session=session)
        self._way = way
        self._send: Any = super().__call__  # pyright: ignore[reportUnknownMemberType] - untyped

    def __call__(  # pyright: ignore[reportIncompatibleMethodOverride] - what it answers is read alike
        self,
        url: str,
        method: str = "GET",
        body: Any = None,
        headers: Any = None,
        timeout: Any = None,
        **more: Any,
    ) -> Any:
        host = urlsplit(url).hostname or ""
        check_allowed(host)
        proxy = None if _is_metadata(host) else proxies.chosen(url, self._way.proxy)
        if proxy is not None:
            check_allowed(proxy.address.host or "")
            more["proxies"] = dict.fromkeys(("http", "https"), str(proxy.address))
        seconds = min(self._way.timeout_s, timeout or self._way.timeout_s)
        return self._send(url, method, body, headers, timeout=seconds, **more)


def _is_metadata(host: str) -> bool:
    """Whether it is this machine's own metadata server: through a proxy, another machine's would answer."""
    named = (os.environ.get(name, "") for name in _METADATA_VARIABLES)
    return host in _METADATA or host in {urlsplit(f"//{address}").hostname for address in named if address}


def application_default(way: CredentialsWay) -> Credentials:
    """The credentials of this machine or user; nothing is asked for a token yet.

    ``way``: how tokens are asked for. Raises Problem, with the way out, where there are none.
    """
    is_named = os.environ.get(_FILE_VARIABLE) or os.environ.get("GCE_METADATA_HOST") or _gcloud_file().is_file()
    if os.environ.get(FORBID_VARIABLE) and not is_named:
        raise Problem(f"no credentials for Vertex AI were found in a file, and calls are switched off; {_WAY_OUT}")
    try:
        with requests.Session() as session:
            search: Any = getattr(google.auth, "default")  # noqa: B009 - untyped
            credentials, _ = search(
                scopes=[SCOPE], request=_OnOurWay(session, way._replace(timeout_s=_LONGEST_SEARCH_S))
            )
    except Fault as fault:
        raise Problem(f"no credentials for Vertex AI: {fault.message}") from None
    except (exceptions.GoogleAuthError, ValueError, OSError) as error:
        raise Problem(f"no credentials for Vertex AI: {_said(error)}; {_WAY_OUT}") from None
    return Credentials(credentials, way)


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
