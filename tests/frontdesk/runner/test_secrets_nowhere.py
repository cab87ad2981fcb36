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


OWN = 'kind = "http"\nbody = {q = "{last_student}"}\nurl = "http://127.0.0.1:9/reply'


@pytest.mark.parametrize(
    "lines",
    [
        f'kind = "gemini"\nmodel = "m"\napi_key_env = "{SECRET}"',
        f'kind = "gemini"\nmodel = "m"\napi_key = "{SECRET}"',
        f'kind = "gemini"\nmodel = "m"\nbase_url = "http://127.0.0.1:9/?key={SECRET}"',
        f'kind = "gemini"\nmodel = "m"\nbase_url = "http://{SECRET}@127.0.0.1:9"',
        f'{OWN}?key={SECRET}"',
        f'{OWN}?lang=ko&access_token={SECRET}"',
        f'{OWN}"\nheaders = {{Authorization = "Bearer {SECRET}"}}',
        f'{OWN}"\nheaders = {{X-Api-Key = "{SECRET}"}}',
        f'kind = "http"\nbase_url = "http://127.0.0.1:9"\nsteps = [{{path = "/chat?token={SECRET}"}}]',
        f'kind = "openai"\nmodel = "m"\nextra_headers = {{api-key = "{SECRET}"}}',
        f'kind = "openai"\nmodel = "m"\nextra_body = {{api_key = "{SECRET}"}}',
        f'kind = "openai"\nmodel = "m"\nextra_body = {{deep = [{{access_token = "{SECRET}"}}]}}',
        f'{OWN}"\nerror = "sk-{SECRET}"',
        f'kind = "openai"\nmodel = "m"\nextra_headers = {{X-Tenant = "sk-{SECRET}"}}',
        f'kind = "http"\nbase_url = "http://a.example"\nsteps = [{{path = "/c", body = {{token = "{SECRET}"}}}}]',
    ],
)
def test_a_key_in_the_configuration_is_refused_and_not_repeated(provider, tmp_path, capfd, lines):
    config = write_config(tmp_path / "c.toml", provider)
    config.write_text(
        config.read_text().replace('"ureka", "gemini"', '"own", "gemini"') + f"\n[endpoints.own]\n{lines}\n"
    )
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 2
    told = "".join(capfd.readouterr())
    assert "endpoints.own" in told and SECRET not in told
    assert provider.stats.calls == 0
    assert not any(
        SECRET.encode() in path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()
    )


def test_headers_that_hold_no_key_are_taken(provider, tmp_path):
    config = write_config(tmp_path / "c.toml", provider, dialogues=1, subsets=1)
    headers = '{Authorization = "Bearer EMPTY", X-Team = "mathematics", X-Tokens-Per-Reply = "1000000"}'
    config.write_text(config.read_text().replace('identity = "u"', f'identity = "u"\nheaders = {headers}'))
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 0


@pytest.mark.parametrize("key", ["gemini", "student", "dialogues", "main-job"])
def test_a_key_that_is_a_word_of_the_configuration_damages_no_run_on_this_machine(
    provider, tmp_path, monkeypatch, key
):
    monkeypatch.setenv("THE_KEY", key)
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=4)
    text = config.read_text().replace('identity = "g"', 'identity = "g"\napi_key_env = "THE_KEY"')
    config.write_text(text)
    run = tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) == 0
    assert main(["verify", "--run", str(run)]) == 0
    assert "[redacted]" not in (run / "run.toml").read_text()


def test_a_key_that_is_a_word_of_the_configuration_is_refused_elsewhere(provider, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("THE_KEY", "main-job")
    config = write_config(tmp_path / "c.toml", provider)
    text = config.read_text().replace('identity = "g"', 'identity = "g"\napi_key_env = "THE_KEY"')
    config.write_text(text.replace(f'"{provider.url}"\nmodel', '"https://models.example"\nmodel', 1))
    assert "models.example" in config.read_text()
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 2
    assert "also stands in the configuration" in capfd.readouterr().err
    assert provider.stats.calls == 0 and not (tmp_path / "run" / "run.toml").exists()
