"""A page of a run that is under way: what it shows while the run goes on, and whom it tells nothing."""

import json
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from aiohttp import web

from frontdesk.cli import main
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.watching import Watched
from frontdesk.web.chromium import find_chromium, flags
from frontdesk.web.watch import watching
from runstore.problems import Problem
from tests.support.fake_faults import Reply
from tests.support.small_runs import start, write_config

HOSTILE = "<script>document.title = 'taken'</script> I cannot say"


def fetched(address: str, **headers: str) -> str:
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=10) as answer:
        return answer.read().decode()


@contextmanager
def held_back(provider) -> Iterator[threading.Event]:
    """Every third judge writes what nobody can read; after 30 of them the provider answers no more until told."""
    go_on, count, lock = threading.Event(), [0], threading.Lock()
    said = {"candidates": [{"content": {"parts": [{"text": HOSTILE}]}, "finishReason": "STOP"}]}

    def script(asked, attempt):
        if asked.role != "judge":
            return None
        with lock:
            count[0] += 1
            now = count[0]
        if now > 30:
            go_on.wait(30)
        return Reply(json.dumps(said).encode()) if now % 3 == 0 else None

    provider.script = script
    try:
        yield go_on
    finally:
        go_on.set()


def eventually(look, holds):
    for _ in range(200):
        if holds(found := look()):
            return found
        time.sleep(0.05)
    raise AssertionError(found)


def test_a_run_is_shown_as_it_goes_and_at_its_end(provider, tmp_path):
    config = write_config(tmp_path / "c.toml", provider, dialogues=8, subsets=20, concurrency=4)
    run = tmp_path / "run"
    with held_back(provider) as go_on, watching(Watched(RunFolder(run))) as address:
        assert json.loads(fetched(f"{address}live.json"))["state"] == "waiting"
        process = start("run", config, "--run", run)
        live = eventually(
            lambda: json.loads(fetched(f"{address}live.json")),
            lambda now: now["judged"] >= 5 and now["unreadable"],
        )
        assert live["state"] == "under way"
        assert [stage["stage"] for stage in live["stages"]] == ["simulate", "collect", "judge"]
        assert live["stages"][1]["is_ended"]
        assert live["stages"][1]["done"] == 40
        assert live["provisional"]
        assert sum(model["wins"] + model["ties"] / 2 for model in live["board"]["models"]) <= live["judged"]
        assert not (run / "leaderboard.json").exists()
        page = fetched(address)
        assert "provisional" in page
        assert "&lt;script&gt;document.title" in page
        assert "<script>document" not in page
        go_on.set()
        process.communicate(timeout=60)
        assert process.returncode == 1
        ended = json.loads(fetched(f"{address}live.json"))
        assert (ended["state"], ended["provisional"], ended["judged"]) == ("ended", False, 20)
        assert ended["board"]["models"] == json.loads((run / "leaderboard.json").read_text())["models"]
        spent = {each["endpoint"]: each["calls"] for each in ended["endpoints"]}
        assert sum(spent.values()) == sum(provider.stats.by_role.values())
        assert "provisional" not in fetched(address)


def test_what_a_log_tells_of_is_the_last_session(provider, tmp_path, capsys):
    config = write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=3)
    for _ in range(2):
        assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    assert main(["watch", str(tmp_path / "run"), "--json"]) == 0
    live = json.loads(capsys.readouterr().out)
    assert [each["calls"] for each in live["endpoints"]] == [0, 0]
    assert live["judged"] == 3
    assert not live["provisional"]


def test_nobody_else_is_told_anything(tmp_path):
    (tmp_path / "run").mkdir()
    with watching(Watched(RunFolder(tmp_path / "run"))) as address:
        root = address.rsplit("/", 2)[0]
        wrong = [(f"{root}/", {}), (f"{root}/{'x' * 24}/", {}), (address, {"Host": "tutor.example.org"})]
        for place, headers in wrong:
            with pytest.raises(urllib.error.HTTPError) as refused:
                fetched(place, **headers)
            with refused.value:
                assert refused.value.code == 404
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(urllib.request.Request(address, method="POST"), timeout=10)
        with refused.value:
            assert refused.value.code in (404, 405)
        with urllib.request.urlopen(address, timeout=10) as answer:
            assert "connect-src 'self'" in answer.headers["Content-Security-Policy"]
            assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert root.startswith("http://127.0.0.1:")
    assert list((tmp_path / "run").iterdir()) == []


def test_a_folder_without_a_run_is_refused(tmp_path, capsys):
    assert main(["watch", str(tmp_path)]) == 2
    assert "run.toml" in capsys.readouterr().err


def test_live_serves_the_page_while_it_runs(provider, tmp_path):
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=20, concurrency=4)
    with held_back(provider) as go_on:
        process = start("run", config, "--run", tmp_path / "run", "--live", "--json")
        told = re.fullmatch(r"watch: (http://\S+)\n", process.stderr.readline().decode())
        live = eventually(lambda: json.loads(fetched(f"{told[1]}live.json")), lambda now: now["judged"] > 0)
        assert live["name"] == "main-job"
        go_on.set()
        out, _ = process.communicate(timeout=60)
    assert json.loads(out)["command"] == "run"


@pytest.mark.browser
def test_the_page_renews_itself_in_a_browser(provider, tmp_path):
    if find_chromium() is None:
        pytest.skip("no Chromium on this machine")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=20, concurrency=4)
    trouble: list[str] = []
    with (
        held_back(provider) as go_on,
        watching(Watched(RunFolder(tmp_path / "run"))) as address,
        playwright.sync_playwright() as engine,
    ):
        browser = engine.chromium.launch(executable_path=find_chromium(), args=flags())
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.on("console", lambda line: trouble.append(line.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.goto(address)
        assert "has not begun" in page.inner_text("body")
        process = start("run", config, "--run", tmp_path / "run")
        page.get_by_text("I cannot say").first.wait_for(timeout=30_000)
        for width in (390, 800, 1400):
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        go_on.set()
        process.communicate(timeout=60)
        page.get_by_text("has ended").wait_for(timeout=30_000)
        assert page.title() != "taken"
        assert page.locator("#board table").count() == 1
        browser.close()
    assert trouble == []


def test_a_page_that_cannot_be_served_is_refused_and_nobody_waits_for_it(tmp_path, monkeypatch):
    async def refuse(_) -> None:
        raise OSError("too many open files")

    monkeypatch.setattr(web.SockSite, "start", refuse)
    page = watching(Watched(RunFolder(tmp_path)))
    with pytest.raises(Problem, match="the page cannot be served: too many open files"), page:
        raise AssertionError("served all the same")
