"""Run the site until it is stopped, and say where it is."""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
import socket
from collections.abc import Callable
from urllib.parse import urlsplit

from aiohttp import web

from arena.human.folder import StudyFolder
from frontdesk.web.app import make_app
from frontdesk.web.store import Store
from runstore.problems import InputProblem, Problem
from runstore.publish import write_csv
from runstore.runlock import RunLock


def serve(folder: StudyFolder, *, host: str, port: int, address: str | None, tell: Callable[[str], None]) -> None:
    """Serve until interrupted or terminated; ``tell`` is given the lines for the organiser. Raises Problem."""
    blank = [row.document for row in folder.rows() if not _has_text(folder, row.document)]
    if blank:
        raise InputProblem(
            folder.path / "documents.jsonl", "a text for every planned document", found=f"none for {blank[0]}"
        )
    root = declared_root(address)
    with RunLock(folder.path):
        store = Store(folder)
        try:
            listening = socket.create_server(
                (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
            )
        except OSError as error:
            store.close()
            raise Problem(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
        try:
            asyncio.run(_serve(store, folder, host, listening, root, tell))
        finally:
            store.close()


_SUCH_AS = "an address such as https://study.example.org"
_HOST = re.compile(r"[a-z0-9.-]+|\[[0-9a-f:.]+\]")


def declared_root(address: str | None) -> str | None:
    """The declared address as browsers write an origin: host in lower case and in ASCII, no usual port, no slash.

    Raises Problem for anything but scheme and host.
    """
    if address is None:
        return None
    try:
        parts = urlsplit(address.strip())
        name, port = parts.hostname or "", parts.port
        host = f"[{name}]" if ":" in name else name.encode("idna").decode("ascii")
    except ValueError:
        raise Problem(f"--address: found {address!r}, expected {_SUCH_AS}") from None
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    if usual is None or not _HOST.fullmatch(host) or "@" in parts.netloc:
        raise Problem(f"--address: found {address!r}, expected {_SUCH_AS}")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise Problem(f"--address: found {address!r}, expected scheme and host alone: the pages are at the root")
    return f"{parts.scheme}://{host}{'' if port in (None, usual) else f':{port}'}"


def _has_text(folder: StudyFolder, name: str) -> bool:
    document = folder.documents().get(name)
    return document is not None and bool(document.turns or any(document.original.values()))


async def _serve(
    store: Store,
    folder: StudyFolder,
    host: str,
    listening: socket.socket,
    address: str | None,
    tell: Callable[[str], None],
) -> None:
    bound = listening.getsockname()[1]
    name = f"[{host}]" if ":" in host else host
    root = address or f"http://{name}:{bound}"
    runner = web.AppRunner(
        make_app(store, root), access_log=None
    )  # addresses hold the personal links: never logged
    await runner.setup()
    site = web.SockSite(runner, listening)
    await site.start()
    links = folder.path / "links.csv"
    write_csv(links, ("rater", "link"), [(rater, f"{root}/r/{token}") for rater, token, _ in store.links()])
    links.chmod(0o600)
    if host not in ("127.0.0.1", "::1", "localhost") and not root.startswith("https://"):
        tell("warning: open to other machines without TLS: put a proxy with https in front of it")
    tell(f"raters: {links}")
    tell(f"organiser: {root}/o/{store.persons.secret('organiser')}")
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows has no signal handlers in its loop
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()
    await runner.cleanup()
