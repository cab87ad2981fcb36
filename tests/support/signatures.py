"""AWS's Signature Version 4, worked out from what arrived, as its documentation says, without AWS's code."""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import quote


def signature(secret: str, path: str, headers: dict[str, str], body: bytes) -> str:
    """The signature that ``POST path`` with those headers (names in lower case) must bear; the path as it was
    sent, without a query."""
    fields = dict(part.strip().split("=", 1) for part in headers["authorization"].split(" ", 1)[1].split(","))
    scope, names = fields["Credential"].split("/", 1)[1], fields["SignedHeaders"]
    signed = "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in names.split(";"))
    request = "\n".join(["POST", quote(path, safe="/~"), "", signed, names, hashlib.sha256(body).hexdigest()])
    hashed = hashlib.sha256(request.encode()).hexdigest()
    to_sign = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hashed])
    key = b"AWS4" + secret.encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()


def given(headers: dict[str, str]) -> str:
    """The signature that a request bears."""
    return headers["authorization"].rpartition("Signature=")[2]
