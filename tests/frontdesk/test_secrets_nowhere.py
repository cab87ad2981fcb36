"""A key that a run was given stands in no byte of the run folder, of the console, or of what verify prints."""

import json

import orjson
import pytest

from frontdesk.cli import main
from tests.support.fake_faults import Reply
from tests.support.small_runs import write_config

SECRET = "test-KEY-93f1-not-real"


def echo(asked, attempt):
    """A provider that shows what it was sent wherever it can."""
    shown = json.dumps(asked.headers)
    if asked.role == "judge" and attempt == 1:
        return Reply(orjson.dumps({"error": {"message": shown}}), 503, {"X-Seen": shown})
    if asked.role == "student" and asked.key[0] % 4 == 0:
        return Reply(orjson.dumps({"error": {"code": 400, "message": shown, "details": [shown]}}), 400)
    return None


@pytest.mark.parametrize("debug", [True, False])
def test_no_byte_of_a_run_holds_the_key(provider, tmp_path, capfd, monkeypatch, debug):
    monkeypatch.setenv("THE_KEY", f"  {SECRET}\n")
    provider.script = echo
    config = write_config(tmp_path / "c.toml", provider, dialogues=12, subsets=12)
    text = config.read_text().replace('identity = "g"', 'identity = "g"\napi_key_env = "THE_KEY"')
    text = text.replace('identity = "u"', 'identity = "u"\nheaders = {"X-Own" = "Bearer ${THE_KEY}"}')
    config.write_text(text)
    run = tmp_path / "run"
    flags = ["--debug"] if debug else []
    assert main([*flags, "run", str(config), "--run", str(run)]) == 1
    assert main([*flags, "verify", "--run", str(run)]) == 0
    assert main([*flags, "calls", "--run", str(run), "--full"]) == 0
    assert main([*flags, "calls", "--run", str(run)]) == 0
    sent = [asked.headers for asked in provider.requests]
    assert any(SECRET in headers.get("x-goog-api-key", "") for headers in sent)
    assert any(SECRET in headers.get("x-own", "") for headers in sent)
    assert not any(SECRET in asked.path for asked in provider.requests)
    out, err = capfd.readouterr()
    assert "[redacted]" in out
    assert SECRET not in out and SECRET not in err
    files = [path for path in run.rglob("*") if path.is_file()]
    assert len(files) > 12
    for path in files:
        assert SECRET.encode() not in path.read_bytes(), path


def test_a_key_instead_of_a_variable_name_is_not_repeated(provider, tmp_path, capfd):
    config = write_config(tmp_path / "c.toml", provider)
    config.write_text(config.read_text().replace('identity = "g"', f'api_key_env = "{SECRET}"'))
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 2
    assert SECRET not in "".join(capfd.readouterr())
    assert provider.stats.calls == 0
