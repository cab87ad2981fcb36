"""A language added by files alone: run, report, site, score and study speak it, and nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, cast

import aiohttp
import pytest

from arena.human.studies import FOLDER
from frontdesk.cli import main
from runstore.languages import VARIABLE
from tests.support import pseudo_language
from tests.support.fake_provider import FakeProvider
from tests.support.human_site import links, planned, running, walk
from tests.support.scoring_command import prepared
from tests.support.small_runs import write_config

_PLAIN = re.compile(r"(?<![⟦\w])[A-Za-z][a-z]+(?: [a-z][a-z]+){2,}(?![\w⟧])")
"""Three words in a row that no words file spoke."""


class Visible(HTMLParser):
    """The text a reader sees, but what people and models said (class ``words``) and code."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._hidden or tag in {"script", "style", "pre", "code"} or ("class", "words") in attrs:
            self._hidden.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._hidden and self._hidden[-1] == tag:
            self._hidden.pop()

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.texts.append(data)


@pytest.fixture
def language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(VARIABLE, str(pseudo_language.write(tmp_path / "languages")))
    return pseudo_language.CODE


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in cast("dict[str, Any]", value).values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in cast("list[Any]", value):
            yield from _strings(part)


def _recorded(folder: Path) -> str:
    """Every text that stands in a record or a prompt: data wherever it is shown."""
    texts = [path.read_text("utf-8") for path in (pseudo_language.ROOT / "simulator" / "prompts").glob("*.en.md")]
    for path in folder.rglob("*.json*"):
        if "journal" not in path.parts:
            for line in (
                [path.read_text("utf-8")] if path.suffix == ".json" else path.read_text("utf-8").splitlines()
            ):
                texts += _strings(json.loads(line))
    return "\n".join(texts)


def _untranslated(page: Path, folder: Path) -> list[str]:
    parser = Visible()
    text = page.read_text("utf-8")
    parser.feed(
        text
        if page.suffix == ".html"
        else re.sub(r"^(`{3,})text\n.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    )
    recorded = _recorded(folder)
    return [
        match[0]
        for shown in parser.texts
        for match in _PLAIN.finditer(shown)
        if match[0] not in recorded and match[0].lower() not in recorded.lower()
    ]


def test_a_run_its_report_and_its_site_speak_it(provider: FakeProvider, tmp_path: Path, language: str) -> None:
    config = write_config(tmp_path / "c.toml", provider, dialogues=6, subsets=12)
    config.write_text(config.read_text().replace("[run]\n", f'[run]\nlanguage = "{language}"\n'))
    run = tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) == 0
    assert main(["quality", "--run", str(run)]) in (0, 1)
    assert main(["report", "--run", str(run), "--site", str(tmp_path / "site")]) == 0
    for name in ("report.html", "report.md", "leaderboard.md", "quality.md"):
        assert "⟦" in (run / name).read_text("utf-8")
        assert _untranslated(run / name, run) == [], name
    assert "⟦" in (tmp_path / "site" / "index.html").read_text("utf-8")
    assert _untranslated(tmp_path / "site" / "index.html", run) == []


def test_a_score_report_speaks_it(provider: FakeProvider, tmp_path: Path, language: str) -> None:
    command = prepared(tmp_path, provider, 6)
    out = tmp_path / "scored"
    done = subprocess.run([*command, "--language", language, "--out", str(out)], capture_output=True, check=False,
                          env={**os.environ, "A_KEY": "k-0123456789"})  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    for name in ("score.html", "score.md"):
        assert "⟦" in (out / name).read_text("utf-8")
        assert _untranslated(out / name, out) == [], name


def test_a_run_in_a_language_nobody_wrote_is_refused_before_anything_is_asked(
    provider: FakeProvider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write_config(tmp_path / "c.toml", provider, dialogues=1, subsets=1)
    config.write_text(config.read_text().replace("[run]\n", '[run]\nlanguage = "xx"\n'))
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 2
    assert "expected one of en, ko" in capsys.readouterr().err
    assert provider.stats.calls == 0


async def test_the_raters_pages_of_a_study_speak_it(tmp_path: Path, language: str) -> None:
    text = (FOLDER / "document_review.toml").read_text("utf-8").replace('["ko", "en"]', f'["{language}"]')
    folder = planned(tmp_path, text=text)
    studied = tomllib.loads(text)
    shown = "\n".join([*_strings(studied), (tmp_path / "documents.jsonl").read_text("utf-8")])
    with running(folder) as (root, store):
        async with aiohttp.ClientSession() as session:
            served = await walk(session, links(store, root)["lay-01"])
    pages = [body.decode() for body in served]
    assert all("⟦" in page for page in pages)
    parsers = [Visible() for _ in pages]
    for parser, page in zip(parsers, pages, strict=True):
        parser.feed(page)
    spoken = [match[0] for parser in parsers for text in parser.texts for match in _PLAIN.finditer(text)]
    assert [words for words in spoken if words not in shown] == []
