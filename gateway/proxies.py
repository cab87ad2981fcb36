"""Through which proxy an address is reached: what the endpoint's settings say, else what the environment says.

HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY are read as curl and requests read them (in lower case too; after
them, a system's own settings). This machine is never asked through a proxy that only the environment names.
"""

from __future__ import annotations

import ipaddress
import os
from base64 import b64encode
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from yarl import URL

from runstore.problems import Problem

EXPECTED = "expected an address such as http://proxy.example:3128"


@dataclass(frozen=True, slots=True)
class Proxy:
    """``address`` holds the credentials, if any, and is only for the wire; ``shown`` is for people."""

    address: URL = field(repr=False)
    shown: str

    @property
    def secrets(self) -> list[str]:
        """What must appear nowhere: the password (or a name without one), also as a header carries it."""
        user, password = self.address.user or "", self.address.password or ""
        if not user and not password:
            return []
        return [password or user, b64encode(f"{user}:{password}".encode()).decode()]


def parsed(address: str) -> Proxy:
    """The proxy at an address (``http://`` is understood). Raises ValueError in words that hold no credentials."""
    try:
        url = URL(address if "://" in address else f"http://{address}")
        port = url.port
    except ValueError:
        raise ValueError(f"found no address of a proxy, {EXPECTED}") from None
    if url.scheme.startswith("socks"):
        raise ValueError(f"found a {url.scheme} proxy, which is not supported; {EXPECTED}")
    if url.scheme not in ("http", "https") or not url.host or not port:
        raise ValueError(f"found no address of an HTTP proxy, {EXPECTED}")
    origin = url.origin()
    return Proxy(origin.with_user(url.user).with_password(url.password), str(origin).rstrip("/"))


def chosen(url: str, setting: str | bool | None) -> Proxy | None:
    """The proxy for an address, None for a direct connection.

    ``setting``: a proxy's address, False for none, None for the environment's. Raises Problem for what the
    environment names and cannot be used, ValueError for such a setting.
    """
    parts = urlsplit(url)
    host = parts.hostname
    if setting is False or parts.scheme not in ("http", "https") or not host:
        return None
    if isinstance(setting, str):
        return parsed(setting)
    known = getproxies()
    address = known.get(parts.scheme) or known.get("all")
    if not address or is_loopback(host):
        return None
    port = parts.port or (443 if parts.scheme == "https" else 80)
    exempt = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
    if is_exempt(host, port, exempt) or proxy_bypass(f"{host}:{port}"):
        return None
    try:
        return parsed(address)
    except ValueError as error:
        name = f"{parts.scheme.upper()}_PROXY" if known.get(parts.scheme) else "ALL_PROXY"
        raise Problem(f"{name}: {error}") from None


def is_exempt(host: str, port: int, exempt: str) -> bool:
    """Whether NO_PROXY names the host: ``*``, a name with all below it (``.x``, ``*.x``), an address, a network;
    each but a network with or without a port; between them commas or blanks."""
    name = _ascii(host.lower())
    return any(_names(_ascii(entry.lower()), name, port) for entry in exempt.replace(",", " ").split())


def _ascii(name: str) -> str:
    """A name as it is asked for: without the dot of the root, and in the form that names have on the wire."""
    name = name.removesuffix(".")
    try:
        return name if name.isascii() else name.encode("idna").decode()
    except UnicodeError:
        return name


def _names(entry: str, host: str, port: int) -> bool:
    if entry == "*":
        return True
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        pass  # a name, no network
    name, colon, given = entry.rpartition(":")
    if colon and given.isdecimal():
        if int(given) != port:
            return False
        entry = name
    name = entry.strip("[]").removeprefix("*").removeprefix(".")
    return bool(name) and (host == name or host.endswith(f".{name}"))


def is_loopback(host: str) -> bool:
    """Whether a host's name or address means this machine."""
    if host.removesuffix(".") == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback
