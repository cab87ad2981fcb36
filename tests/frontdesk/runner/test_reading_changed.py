"""A run whose settings of reading were changed is made again from its journal, unpaid, and can be verified."""

from frontdesk.cli import main
from runstore.publish import read_records
from runstore.records import Failure, Reply
from tests.support.refreshing import is_verified
from tests.support.small_runs import write_config


def with_http(path, provider, reply, **more):
    config = write_config(path, provider, dialogues=2, subsets=4, concurrency=8)
    body = '{ history = "{messages}", question = "{last_student}" }'
    lines = [f'url = "{provider.url}/reply"', f"body = {body}", f'reply = "{reply}"', *more.get("lines", [])]
    table = '[endpoints.ureka]\nkind = "http"\nidentity = "u"\nconcurrency = 8\n' + "\n".join(lines) + "\n"
    text = config.read_text()
    start = text.index("[endpoints.ureka]")
    config.write_text(text[:start] + table + text[text.index("[simulate]") :])
    return str(config)


def texts(run):
    return [reply.text for reply in read_records(run / "replies.jsonl", Reply) if reply.endpoint == "ureka"]


def test_a_corrected_path_makes_other_replies_without_asking_for_them_again(provider, tmp_path, capsys):
    run = tmp_path / "run"
    assert main(["run", with_http(tmp_path / "c.toml", provider, "id"), "--run", str(run)]) in (0, 1)
    assert all(text.startswith("s-") for text in texts(run)) and len(texts(run)) == 4
    asked = provider.stats.by_shape["http"]
    config = with_http(tmp_path / "c.toml", provider, "data.answer")
    assert main(["run", config, "--run", str(run)]) == 2
    assert main(["run", config, "--run", str(run), "--change"]) in (0, 1)
    assert not any(text.startswith("s-") for text in texts(run)) and len(texts(run)) == 4
    assert provider.stats.by_shape["http"] == asked
    assert is_verified(run, capsys)


def test_a_path_that_leads_nowhere_makes_failures_and_no_calls(provider, tmp_path, capsys):
    run = tmp_path / "run"
    assert main(["run", with_http(tmp_path / "c.toml", provider, "data.answer"), "--run", str(run)]) in (0, 1)
    calls = provider.stats.calls
    config = with_http(tmp_path / "c.toml", provider, "data.text")
    assert main(["collect", "--config", config, "--run", str(run), "--change"]) == 1
    failures = [one for one in read_records(run / "failures.jsonl", Failure) if one.stage == "collect"]
    assert [(one.endpoint, one.kind) for one in failures] == [("ureka", "malformed")] * 4
    assert texts(run) == [] and provider.stats.calls == calls
    config = with_http(tmp_path / "c.toml", provider, "data.answer")
    assert main(["run", config, "--run", str(run), "--change"]) in (0, 1)
    assert len(texts(run)) == 4 and provider.stats.calls == calls
    assert is_verified(run, capsys)
