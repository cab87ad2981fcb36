"""AWS credentials for Bedrock: found before anything is asked, refreshed when they end, used to sign requests.

botocore finds them in its own order (environment, shared files, SSO, assumed roles, containers, the machine's
role), refreshes them, and signs; they live in this process alone.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from typing import Any

from gateway.adapters import reading
from gateway.adapters.base import CredentialsWay
from gateway.errors import NO, TRANSIENT, Fault
from gateway.wire import FORBID_VARIABLE
from runstore.problems import Problem

try:
    from botocore import exceptions
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.config import Config
    from botocore.session import Session
except ImportError as missing:
    raise Problem(
        f"AWS credentials need the extra [bedrock]: pip install 'tutor-arena[bedrock]' ({missing}); an API key "
        "of Bedrock, named in api_key_env, does without"
    ) from None

SERVICE = "bedrock"
KEY_VARIABLE = "AWS_BEARER_TOKEN_BEDROCK"
_LOCAL = frozenset({"env", "shared-credentials-file", "config-file", "custom-process"})
"""Where credentials can be found without asking another machine."""
_WAY_OUT = (
    "run `aws configure` or `aws sso login`, set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile in "
    f'profile, or write api_key_env = "{KEY_VARIABLE}"'
)

logging.getLogger("botocore").addHandler(logging.NullHandler())


class Signer:
    """Signs requests for one region (Signature Version 4) with what botocore found."""

    def __init__(self, credentials: Any, region: str) -> None:
        self._found, self._region = credentials, region
        self._lock = asyncio.Lock()

    async def headers(self, url: str, body: bytes, hide: Callable[[str], None]) -> dict[str, str]:
        """The headers that sign ``POST url`` with that body, now. ``hide`` is told what is secret in the
        credentials. Raises Fault."""
        if self._must_ask():
            async with self._lock:
                if self._must_ask():
                    await asyncio.to_thread(self._refresh)
        known = self._refresh()
        for secret in (known.secret_key, known.token):
            if secret:
                hide(secret)
        request: Any = AWSRequest("POST", url, data=body)
        signer: Any = SigV4Auth(known, SERVICE, self._region)
        signer.add_auth(request)
        return dict(request.headers.items())

    def _must_ask(self) -> bool:
        must_ask: Callable[[], bool] | None = getattr(self._found, "refresh_needed", None)
        return must_ask is not None and must_ask()

    def _refresh(self) -> Any:
        """The credentials as they are, fetched anew if they are about to end."""
        try:
            return self._found.get_frozen_credentials()
        except (exceptions.HTTPClientError, exceptions.ConnectionError) as error:
            raise Fault("connection", f"no AWS credentials: {_said(error)}", TRANSIENT) from None
        except (exceptions.BotoCoreError, exceptions.ClientError, RuntimeError, OSError, ValueError) as error:
            raise Fault("auth", f"no AWS credentials: {_said(error)}", NO) from None


def found(profile: str | None, region: str, way: CredentialsWay) -> Signer:
    """The credentials of this machine or user. Raises Problem, with the way out, where there are none.

    ``profile``: of the shared files, else botocore's own choice; ``way``: how they are asked for.
    """
    proxies: dict[str, str] | None = None
    if way.proxy is not None:
        proxies = {"http": way.proxy, "https": way.proxy} if isinstance(way.proxy, str) else {}
    try:
        session: Any = Session(profile=profile)
        session.set_default_client_config(
            Config(proxies=proxies, connect_timeout=way.timeout_s, read_timeout=way.timeout_s)
        )
        if os.environ.get(FORBID_VARIABLE):
            chain = session.get_component("credential_provider")
            for method in [each.METHOD for each in chain.providers if each.METHOD not in _LOCAL]:
                chain.remove(method)
        known = session.get_credentials()
    except (exceptions.BotoCoreError, exceptions.ClientError, OSError, ValueError) as error:
        raise Problem(f"no AWS credentials: {_said(error)}; {_WAY_OUT}") from None
    if known is None:
        raise Problem(f"no AWS credentials were found; {_WAY_OUT}")
    return Signer(known, region)


def _said(error: Exception) -> str:
    return reading.shown(str(error).rstrip("."), reading.LONGEST_MESSAGE)
