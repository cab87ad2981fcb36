"""``check`` plays each role once, as the run would: real prompts and answer formats, read by the real readers."""

import json
import socket
from collections import Counter

import orjson
import pytest

from frontdesk.cli import main
from tests.support import fake_shapes
from tests.support.fake_faults import Reply
from tests.support.fake_provider import FakeProvider
from tests.support.small_runs import write_config
from tests.support.student_runs import write_student_config
from tests.support.student_world import provider_script


def config_of(path, provider, endpoints, judge="", sections="", budget=""):
    """Student, teacher and contestants ``one`` and ``two``, judged by ``judge``; all of them OpenAI-like."""
    text = "[run]\nname = 'checked'\n"
    for name in ("one", "two", "arbiter"):
        settings = provider.settings("openai", **{"model": f"model-{name}", **endpoints.get(name, {})})
        text += f"[endpoints.{name}]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in settings.items())
    text += '[simulate]\nstudent = "one"\nteacher = "two"\n[collect]\nendpoints = ["one", "two"]\n'
    path.write_text(f'{text}{sections}[judge]\nendpoints = ["arbiter"]\n{judge}\n{budget}')
    return path


def refusal(message, status=400):
    return Reply(orjson.dumps(fake_shapes.error("openai", status, message)), status)


def check(path, capsys, *options):
    code = main(["check", str(path), *options])
    return code, capsys.readouterr().out


def test_each_role_is_played_once_and_what_came_is_shown(provider, tmp_path, capsys):
    code, shown = check(write_config(tmp_path / "c.toml", provider), capsys)
    assert code == 0
    for who in ("gemini as student", "gemini as teacher", "ureka as contestant", "gemini as contestant"):
        assert f"{who}: answers in" in shown
    assert "gemini as judge: answers in" in shown and "### (" in shown
    assert Counter(asked.role for asked in provider.requests) == {"student": 1, "teacher": 3, "judge": 1}
    assert any("<END>" in asked.texts[0] for asked in provider.requests)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_judge_is_sent_what_a_run_would_send(provider, tmp_path, capsys, language):
    path = write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=2)
    path.write_text(path.read_text().replace("[run]", f'[run]\nlanguage = "{language}"'))
    assert check(path, capsys)[0] == 0
    [checked] = [asked.last for asked in provider.requests if asked.role == "judge"]
    assert main(["run", str(path), "--run", str(tmp_path / "run")]) in (0, 1)
    judged = [asked.last for asked in provider.requests if asked.role == "judge"][1]
    assert checked.splitlines()[0] == judged.splitlines()[0]
    assert checked.splitlines()[-1] == judged.splitlines()[-1]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("'response_format' is not supported by this model", 400),
        ("Unrecognized request argument supplied", 400),
        ("grammar could not be compiled", 500),
    ],
)
def test_a_server_that_refuses_the_answer_format_is_found_with_the_setting_to_change(
    provider, tmp_path, capsys, said, status
):
    provider.script = lambda asked, attempt: refusal(said, status) if asked.schema else None
    code, shown = check(config_of(tmp_path / "c.toml", provider, {}, 'format = "json"'), capsys)
    assert code == 1
    assert "arbiter as judge: FAILED" in shown and said in shown
    assert 'endpoints.arbiter.json_format = "json_object" or "none", or judge.format = "marker"' in shown
    assert shown.count("FAILED") == 1 and "two as contestant: answers in" in shown
    settings = {"arbiter": {"json_format": "none"}}
    assert check(config_of(tmp_path / "c.toml", provider, settings, 'format = "json"'), capsys)[0] == 1
    code, shown = check(config_of(tmp_path / "c.toml", provider, {}), capsys)
    assert code == 0


def test_a_setting_that_a_model_does_not_take_is_named(provider, tmp_path, capsys):
    said = "Unsupported value: 'temperature' does not support 0.3 with this model."
    provider.script = lambda asked, attempt: refusal(said, 400) if asked.role == "judge" else None
    code, shown = check(config_of(tmp_path / "c.toml", provider, {"arbiter": {"temperature": 0.3}}), capsys)
    assert code == 1
    assert "the server may not take temperature: leave endpoints.arbiter.temperature out" in shown


def test_a_judge_that_never_decides_is_found_and_its_reply_is_shown(provider, tmp_path, capsys):
    provider.configure(unreadable=1.0)
    code, shown = check(config_of(tmp_path / "c.toml", provider, {}), capsys)
    assert code == 1 and "arbiter as judge: FAILED, unreadable" in shown
    assert "a run could not read this" in shown and "judge.format" in shown
    [request] = [asked for asked in provider.requests if asked.role == "judge"]
    assert provider.text(request).splitlines()[0] in shown


def test_a_model_of_gemini_without_a_system_role_is_found_too(provider, tmp_path, capsys):
    def script(asked, attempt):
        if "systemInstruction" not in asked.body:
            return None
        said = "Developer instruction is not enabled for models/gemma-3-27b-it"
        return Reply(orjson.dumps(fake_shapes.error("gemini", 400, said)), 400)

    provider.script = script
    for more, code in ({}, 1), ({"system_role": False}, 0):
        config = write_config(tmp_path / "c.toml", provider)
        table = "[endpoints.gemini]\n"
        keys = "".join(f"{key} = {json.dumps(value)}\n" for key, value in more.items())
        config.write_text(config.read_text().replace(table, table + keys))
        found, shown = check(config, capsys)
        assert found == code
        assert ("endpoints.gemini.system_role = false" in shown) == (code == 1)


def test_a_server_without_a_system_role_is_found_and_the_setting_mends_it(provider, tmp_path, capsys):
    def script(asked, attempt):
        if any(message["role"] == "system" for message in asked.body["messages"]):
            return refusal("System role not supported")
        return None

    provider.script = script
    code, shown = check(config_of(tmp_path / "c.toml", provider, {}), capsys)
    assert code == 1
    for role in ("one as student", "two as teacher", "one as contestant", "two as contestant"):
        assert f"{role}: FAILED, bad_request" in shown
    assert "arbiter as judge: answers" in shown and "endpoints.one.system_role = false" in shown
    own = {name: {"system_role": False} for name in ("one", "two")}
    assert check(config_of(tmp_path / "c.toml", provider, own), capsys)[0] == 0


@pytest.mark.parametrize(
    ("path", "mend"), [("", "/v1"), ("/v1/chat/completions", "/v1"), ("/?version=3", "/v1?version=3")]
)
def test_an_address_without_its_path_is_shown_with_the_likely_mend(provider, tmp_path, capsys, path, mend):
    def script(asked, attempt):
        is_there = asked.path.partition("?")[0] == "/v1/chat/completions"
        return None if is_there else Reply(b'{"detail":"Not Found"}', 404)

    provider.script = script
    own = {"one": {"base_url": provider.url + path}}
    code, shown = check(config_of(tmp_path / "c.toml", provider, own), capsys)
    assert code == 1 and "two as teacher: answers" in shown
    base, _, query = (provider.url + path).partition("?")
    asked = base.rstrip("/") + "/chat/completions" + (f"?{query}" if query else "")
    assert f"(asked at {asked})" in shown
    assert f'perhaps endpoints.one.base_url = "{provider.url}{mend}"' in shown
    assert (
        check(config_of(tmp_path / "d.toml", provider, {"one": {"base_url": provider.url + mend}}), capsys)[0] == 0
    )


def test_a_refused_connection_is_not_tried_again(provider, tmp_path, capsys):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {"two": {"base_url": f"http://127.0.0.1:{port}/v1", "retries": 9}}
    code, shown = check(config_of(tmp_path / "c.toml", provider, own), capsys)
    assert code == 1 and "two as teacher: FAILED, connection" in shown
    assert "attempts" not in shown and f"nothing answers at http://127.0.0.1:{port}/v1" in shown
    assert "one as student: answers" in shown


def test_a_server_that_is_busy_for_a_moment_is_asked_once_more(provider, tmp_path, capsys):
    provider.script = lambda asked, attempt: "503" if asked.role == "student" and attempt == 1 else None
    assert check(config_of(tmp_path / "c.toml", provider, {}), capsys)[0] == 0
    provider.script = lambda asked, attempt: "503" if asked.role == "student" else None
    provider.reset()
    assert check(config_of(tmp_path / "c.toml", provider, {}), capsys)[0] == 1
    assert provider.stats.by_role["student"] == 2


def test_a_configuration_of_a_data_set_is_not_called_refused(provider, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = config_of(tmp_path / "c.toml", provider, {})
    path.write_text(path.read_text().partition("[collect]")[0])
    code, shown = check(path, capsys, "--offline")
    assert code == 0 and "refuse" not in shown
    assert main(["estimate", str(path)]) == 0
    assert "subsets" not in capsys.readouterr().out


def test_what_run_would_refuse_is_said(provider, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = config_of(tmp_path / "c.toml", provider, {}, budget="[budget]\nusd = 1.0\n")
    code, shown = check(path, capsys, "--offline")
    assert code == 1 and "run would refuse it: budget.usd: the price of one, two, arbiter is not known" in shown
    assert main(["run", str(path)]) == 2
    path.write_text(
        path.read_text().replace("usd = 1.0", "calls = 4").replace('[collect]\nendpoints = ["one", "two"]', "")
    )
    code, shown = check(path, capsys, "--offline")
    assert code == 0 and "run would refuse it: found no [collect] section" in shown
    path = config_of(tmp_path / "c.toml", provider, {}, sections="[cut]\nsubsets = 3\n")
    (tmp_path / "runs" / "checked").mkdir(parents=True)
    other = config_of(tmp_path / "other.toml", provider, {}, sections="[cut]\nsubsets = 2\n")
    (tmp_path / "runs" / "checked" / "run.toml").write_text(other.read_text())
    code, shown = check(path, capsys, "--offline")
    assert code == 0 and "cut.subsets: was 2, is now 3" in shown and "--change" in shown
    assert provider.stats.calls == 0


def test_endpoints_that_no_section_names_are_asked_all_the_same(provider, tmp_path, capsys):
    settings = provider.settings("openai")
    path = tmp_path / "c.toml"
    path.write_text("[endpoints.sole]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in settings.items()))
    code, shown = check(path, capsys)
    assert code == 0 and "sole as contestant: answers" in shown


def test_who_reads_acts_and_moves_is_played_too(tmp_path, capsys):
    world = provider_script()
    with FakeProvider(script=world) as provider:
        path = write_student_config(
            tmp_path / "c.toml", provider, ("good", "fair"), dialogues=2, subsets=2, panel=5
        )
        assert "moves as labeller: answers in" in check(path, capsys)[1]
        text = path.read_text().replace("[simulate]\n", '[simulate]\nacts = "planned"\nact_reader = "judge"\n')
        path.write_text("".join(line for line in text.splitlines(True) if line != 'acts = "knowledge"\n'))
        code, shown = check(path, capsys)
        assert code == 0 and "judge as act reader: answers in" in shown
        provider.script = lambda asked, attempt: (
            Reply(fake_shapes.answer(asked, "I would rather not say."))
            if asked.schema and set(asked.schema["properties"]) & {"act", "labels"}
            else world(asked, attempt)
        )
        code, shown = check(path, capsys)
        provider.script = lambda asked, attempt: (
            refusal("'response_format' is not supported") if asked.schema else world(asked, attempt)
        )
        refused = check(path, capsys)[1]
    assert (
        'the server refuses the form of the answer: endpoints.moves.json_format = "json_object" or "none"\n'
        in refused
    )
    assert code == 1
    for who in ("judge as act reader", "moves as labeller"):
        assert f"{who}: FAILED, unreadable" in shown


def test_who_takes_the_quiz_and_rates_the_tutor_is_played_too(tmp_path, capsys):
    world = provider_script()
    with FakeProvider(script=world) as provider:
        path = write_student_config(
            tmp_path / "c.toml", provider, ("good", "fair"), quiz="student", own_rating=True, student="judge"
        )
        code, shown = check(path, capsys)
        assert code == 0
        for who in ("judge as student", "student as quiz", "student as own rating"):
            assert f"{who}: answers in" in shown
        prompts = [asked.last for asked in provider.requests if asked.schema]
        assert any('"support"' in last for last in prompts) and any('"rating"' in last for last in prompts)
        provider.script = lambda asked, attempt: (
            Reply(fake_shapes.answer(asked, "I would rather not say."))
            if asked.schema and set(asked.schema["properties"]) & {"support", "rating"}
            else world(asked, attempt)
        )
        code, shown = check(path, capsys)
    assert code == 1
    for who in ("student as quiz", "student as own rating"):
        assert f"{who}: FAILED, unreadable" in shown
    assert "judge as student: answers in" in shown
