"""The study server, killed again and again while six raters write."""

from __future__ import annotations

import asyncio
import random
import re
import socket
import subprocess
from html import unescape
from pathlib import Path

import aiohttp

from frontdesk.web.store import Store
from tests.support.human_site import answers, planned, walk
from tests.support.small_runs import start

WRITERS = 6


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


class Server:
    """The command in a process of its own, that can be killed and started again on the same port."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port
        self.root = f"http://127.0.0.1:{port}"

    async def __aenter__(self) -> Server:
        self.process: subprocess.Popen[bytes] = start("human", "serve", self.folder, "--port", str(self.port))
        async with aiohttp.ClientSession() as session:
            for _ in range(600):
                try:
                    async with session.get(f"{self.root}/favicon.ico"):
                        return self
                except aiohttp.ClientError:
                    await asyncio.sleep(0.1)
        raise RuntimeError("the server did not start")

    async def __aexit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


class Writer:
    """A rater who saves one form again and again; ``sent`` and ``acknowledged`` count the texts."""

    def __init__(self, link: str) -> None:
        self.link, self.sent, self.acknowledged = link, 0, 0

    async def write(self) -> None:
        async with aiohttp.ClientSession() as session:
            try:
                while True:
                    async with session.get(f"{self.link}/item/1") as answer:
                        html = await answer.text()
                    hidden = re.search(r'name="_seen" value="([^"]*)"', html)
                    assert answer.status == 200 and hidden, answer.status
                    self.sent += 1
                    form = answers(html, self.sent) | {"_seen": unescape(hidden[1])}
                    async with session.post(f"{self.link}/save/1", data=form) as answer:
                        if answer.status == 200 and (await answer.json())["saved"]:
                            self.acknowledged = self.sent
            except aiohttp.ClientError:
                return

    def is_kept(self, stored: dict[str, str]) -> bool:
        texts = [int(found[1]) for value in stored.values() if (found := re.match(r"text (\d+) ", value))]
        return not self.acknowledged or (len(set(texts)) == 1 and self.acknowledged <= texts[0] <= self.sent)


async def killed(folder: Path, kills: int, generator: random.Random) -> tuple[int, int, int]:
    """(saves acknowledged, raters whose last one is not on file after a kill, pages that failed)."""
    study = planned(folder)
    port = free_port()
    store = Store(study)
    people = {rater: f"http://127.0.0.1:{port}/r/{token}" for rater, token, _ in store.links()[:WRITERS]}
    store.close()
    async with Server(study.path, port), aiohttp.ClientSession() as session:
        for link in people.values():
            await walk(session, link, stop="item/1")
    writers = {rater: Writer(link) for rater, link in people.items()}
    saved = lost = failed = 0
    for _ in range(kills):
        before = sum(writer.acknowledged for writer in writers.values())
        async with Server(study.path, port) as server:
            tasks = [asyncio.ensure_future(writer.write()) for writer in writers.values()]
            await asyncio.sleep(0.1 + generator.random())
            server.process.kill()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        failed += sum(isinstance(one, BaseException) for one in ended)
        saved += sum(writer.acknowledged for writer in writers.values()) - before
        store = Store(study)
        kept = {rater: writer.is_kept(store.answers.of(rater, "item", 1)) for rater, writer in writers.items()}
        store.close()
        lost += sum(not fine for fine in kept.values())
    return saved, lost, failed
