"""Run the site until it is stopped, and say where it is."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable

from aiohttp import web

from arena.human.folder import StudyFolder
from frontdesk.web.app import make_app
from frontdesk.web.store import Store
from runstore.problems import InputProblem, Problem
from runstore.publish import write_csv


def serve(folder: StudyFolder, *, host: str, port: int, address: str | None, tell: Callable[[str], None]) -> None:
    """Serve until interrupted or terminated; ``tell`` is given the lines for the organiser. Raises Problem."""
    blank = [row.document for row in folder.rows() if not _has_text(folder, row.document)]
    if blank:
        raise InputProblem(
            folder.path / "documents.jsonl", "a text for every planned document", found=f"none for {blank[0]}"
        )
    store = Store(folder)
    try:
        asyncio.run(_serve(store, folder, host, port, address, tell))
    except OSError as error:
        raise Problem(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    finally:
        store.close()


def _has_text(folder: StudyFolder, name: str) -> bool:
    document = folder.documents().get(name)
    return document is not None and bool(document.turns or any(document.original.values()))


async def _serve(
    store: Store, folder: StudyFolder, host: str, port: int, address: str | None, tell: Callable[[str], None]
) -> None:
    runner = web.AppRunner(
        make_app(store, address), access_log=None
    )  # addresses hold the personal links: never logged
    await runner.setup()
    site = web.TCPSite(runner, host, port)
    await site.start()
    bound = runner.addresses[0][1]
    root = (address or f"http://{host}:{bound}").rstrip("/")
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
