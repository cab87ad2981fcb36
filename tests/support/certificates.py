"""A certificate of the tests' own, for servers on this machine."""

from __future__ import annotations

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Authority:
    """``certificate``: what a client has to trust, in PEM; for localhost, 127.0.0.1 and tutor.invalid."""

    certificate: Path
    server_context: ssl.SSLContext


def own_authority_in(folder: Path) -> Authority:
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    names = "subjectAltName=DNS:localhost,DNS:tutor.invalid,IP:127.0.0.1"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
         "-days", "2", "-subj", "/CN=localhost", "-addext", names],
        check=True,
        capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return Authority(certificate, context)
