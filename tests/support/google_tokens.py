"""Google's sign-in on loopback: a service account's file, the server that gives tokens for it, and the metadata
server of a machine of Google Cloud."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa


class TokenServer:
    """``given``: the tokens it gave, in order. ``lives_s``: for how long each is good, the last for all after it;
    ``status``: what it answers with; ``slow_s``: how long that takes."""

    def __init__(self) -> None:
        self.given: list[str] = []
        self.lives_s: list[int] = [3600]
        self.status = 200
        self.slow_s = 0.0
        self.asked = 0
        self.flavors: set[str | None] = set()
        self.port = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/token"

    @property
    def metadata_host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def metadata(self, path: str) -> str | dict[str, Any] | None:
        """What the metadata server says under a path; None for what it does not know."""
        name = path.partition("?")[0].removeprefix("/computeMetadata/v1/")
        if name == "instance/service-accounts/default/token":
            return self.answer()[1]
        about = {"aliases": ["default"], "email": "machine@school-42.iam.gserviceaccount.com", "scopes": ["all"]}
        known: dict[str, str | dict[str, Any]] = {
            "/": "computeMetadata/",
            "project/project-id": "school-42",
            "universe/universe-domain": "googleapis.com",
            "universe/universe_domain": "googleapis.com",
            "instance/service-accounts/default/": about,
            f"instance/service-accounts/{about['email']}/": about,
        }
        if name == f"instance/service-accounts/{about['email']}/token":
            return self.answer()[1]
        return known.get(name)

    def answer(self) -> tuple[int, dict[str, Any]]:
        self.asked += 1
        time.sleep(self.slow_s)
        if self.status != 200:
            return self.status, {"error": "invalid_grant", "error_description": "the account is gone"}
        lives_s = self.lives_s[min(len(self.given), len(self.lives_s) - 1)]
        self.given.append(f"ya29.secret-token-{len(self.given)}")
        return 200, {"access_token": self.given[-1], "expires_in": lives_s, "token_type": "Bearer"}


@contextmanager
def token_server() -> Generator[TokenServer]:
    tokens = TokenServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self._say(*tokens.answer())

        def do_GET(self) -> None:
            tokens.flavors.add(self.headers.get("Metadata-Flavor"))
            said = tokens.metadata(self.path)
            self._say(404 if said is None else 200, said or "")

        def _say(self, status: int, body: str | dict[str, Any]) -> None:
            data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/plain" if isinstance(body, str) else "application/json")
            self.send_header("Metadata-Flavor", "Google")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    tokens.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield tokens
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def service_account(folder: Path, token_uri: str) -> Path:
    """The file of a service account with a key of its own."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "service-account.json"
    about = {
        "type": "service_account",
        "project_id": "of-the-file",
        "private_key_id": "k1",
        "private_key": pem.decode(),
        "client_email": "tutor@of-the-file.iam.gserviceaccount.com",
        "token_uri": token_uri,
    }
    path.write_text(json.dumps(about))
    return path
