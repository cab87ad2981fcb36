"""What ``check`` says of each endpoint."""

import asyncio

from frontdesk.cli import main
from frontdesk.runner import config_file as configuration
from tests.support.proxy_server import proxy_server
from tests.support.small_runs import write_config


async def test_the_way_through_a_proxy_is_said_without_its_password(provider, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PROXY_PASSWORD", "Pa55word")
    port = int(provider.url.rpartition(":")[2])
    async with proxy_server(port, credentials="ada:Pa55word") as proxy:
        own = {"proxy": "http://ada:${PROXY_PASSWORD}@" + proxy.address}
        config = write_config(tmp_path / "c.toml", provider, endpoint=own)
        assert await asyncio.to_thread(main, ["check", str(config)]) == 0
        shown = capsys.readouterr().out
        assert f"gemini: is reached through the proxy http://{proxy.address}\n" in shown
        assert f"ureka: is reached through the proxy http://{proxy.address}\n" in shown
        assert "Pa55word" not in shown and proxy.heads


async def test_nothing_is_said_of_a_way_without_a_proxy(provider, tmp_path, capsys):
    config = write_config(tmp_path / "c.toml", provider)
    assert await asyncio.to_thread(main, ["check", str(config)]) == 0
    shown = capsys.readouterr().out
    assert "answers in" in shown and "proxy" not in shown


def test_the_shipped_configuration_is_the_sources_size(tmp_path):
    assert main(["init", str(tmp_path / "arena.toml")]) == 0
    config = configuration.load(tmp_path / "arena.toml")
    assert (config.simulate.dialogues, config.simulate.turns, config.cut.subsets) == (100, 4, 200)
    assert config.judge.rounds == 3


def test_a_configuration_begun_in_korean_makes_a_korean_run(tmp_path):
    assert main(["init", str(tmp_path / "arena.toml"), "--language", "ko"]) == 0
    assert configuration.load(tmp_path / "arena.toml").run.language == "ko"
