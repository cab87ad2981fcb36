"""What is wrong with a configuration is found before a folder is made or anybody asked, and its place is named."""

from pathlib import Path

import pytest

from frontdesk.cli import main
from frontdesk.runner.toml_places import line_of
from tests.support.small_runs import write_config


def refused(provider, folder: Path, capsys, find: str, put: str) -> str:
    """The message for the main job with one thing in it changed; nothing was called, nothing was left behind."""
    config = write_config(folder / "c.toml", provider)
    text = config.read_text(encoding="utf-8")
    assert find in text
    config.write_text(text.replace(find, put, 1), encoding="utf-8")
    assert main(["run", str(config), "--run", str(folder / "run")]) == 2
    shown = capsys.readouterr()
    assert provider.stats.calls == 0
    assert shown.out == ""
    assert not (folder / "run").exists()
    return shown.err


@pytest.mark.parametrize(
    ("find", "put", "message"),
    [
        ("turns = 4", 'turns = "4"', 'simulate.turns: found "4", expected a whole number'),
        ("turns = 4", "turns = true", "simulate.turns: found true, expected a whole number"),
        ("turns = 4", "turns = 2.5", "simulate.turns: found 2.5, expected a whole number"),
        ("seed = 7", "seed = 99999999999999999999", "run.seed: found 99999999999999999999, expected less than"),
        ('name = "main-job"', 'name = ""', "run.name"),
        ("resamples = 200", "resamples = 200\nlevel = nan", "rate.level"),
        ("rounds = 3", 'rounds = 3\norder = "balance"', "did you mean 'balanced'"),
        ("rounds = 3", 'rounds = 3\none_by_one = "no"', 'found "no", expected true or false'),
        ("rounds = 3", 'rounds = 3\ncriteria = ["understading"]', "'understading' is unknown"),
        ("rounds = 3", 'rounds = 3\ncriteria = "no-such.yaml"', "no-such.yaml"),
        ("rounds = 3", 'rounds = 3\npairs = [["gemini", "gemini"]]', "cannot meet itself"),
        ("rounds = 3", "rounds = 3\npairs = []", "judge.pairs: found none"),
        ('endpoints = ["ureka", "gemini"]', 'endpoints = ["ureka"]', "expected two at least"),
        ("resamples = 200", 'resamples = 200\nreference = "gemni"', "rate.reference: found 'gemni'"),
        ("resamples = 200", "resamples = 200\nanchor = { gemni = 1000 }", "rate.anchor: found 'gemni'"),
        ("[cut]", '[questions]\nsubjects = ["netwroks"]\n[cut]', "questions.subjects: found 'netwroks'"),
        ("[cut]", '[questions]\nfile = "no-such.yaml"\n[cut]', "no-such.yaml"),
        ("[cut]", '[personas]\nfactors = "no-such.yaml"\n[cut]', "no-such.yaml"),
        ("[cut]", "[personas]\nsize = 5\n[cut]", "32 personas, not 5"),
        (
            "[cut]",
            '[personas]\nfactors = "studnets"\n[cut]',
            "expected a file, or one of school-students, students",
        ),
        ("[cut]", '[personas]\nfile = "p.csv"\nsize = 5\n[cut]', "personas.file goes without factors"),
        ("[cut]", '[personas]\nfile = "no-such.csv"\n[cut]', "no-such.csv"),
        ("[cut]", '[questions]\nbank = "school-maths"\n[cut]', "one of computer-science, school-mathematics"),
        ("[cut]", '[questions]\nbank = "computer-science"\nfile = "q.csv"\n[cut]', "expected one of them"),
        ("turns = 4", 'turns = 4\nends = "fixd"', "did you mean 'fixed'"),
        ("turns = 4", "turns = 4\nmatch_level = 1", "expected true or false"),
        ("turns = 4", 'turns = 4\nrephrase_openings = "yes"', "expected true or false"),
        ("turns = 4", 'turns = 4\nstyle = "socratc"', "teacher.socratc"),
        ("turns = 4", 'turns = 4\nact_weights = { "motivation-lwo" = { follow_up = 1 } }', "'motivation-lwo'"),
        ("turns = 4", 'turns = 4\nact_weights = { "*" = { follow_up = -1 } }', "greater than or equal to 0"),
        ("concurrency = 64", "concurrency = 64\nprice = { input = -1 }", "endpoints.gemini.price.input: found -1"),
        ("concurrency = 64", 'concurrency = "8"', "endpoints.gemini.concurrency: found '8'"),
        ("[endpoints.ureka]", '[endpoints." "]\nkind = "local"\n[endpoints.ureka]', "a name of printable"),
        (
            "[endpoints.ureka]",
            '[endpoints."ureka\u200b"]\nkind = "local"\n[endpoints.ureka]',
            "one spelling of each",
        ),
        (
            "[endpoints.ureka]",
            '[endpoints."ureka\u00a0"]\nkind = "local"\n[endpoints.ureka]',
            "one spelling of each",
        ),
        (
            "[endpoints.ureka]",
            '[endpoints."\u00e9"]\nkind = "local"\n[endpoints."e\u0301"]\nkind = "local"\n[endpoints.ureka]',
            "found 'e\\u0301' beside '\\xe9', expected one spelling",
        ),
    ],
)
def test_it_is_refused_before_a_call(provider, tmp_path, capsys, find, put, message):
    assert message in refused(provider, tmp_path, capsys, find, put)


def test_weights_that_leave_a_student_nothing_to_say_are_refused(provider, tmp_path, capsys):
    kinds = ("follow_up", "clarification", "new_question", "irrelevant_question", "right_answer", "wrong_answer")
    none = ", ".join(f"{kind} = 0" for kind in kinds)
    said = refused(
        provider, tmp_path, capsys, "turns = 4", f'turns = 4\nact_weights = {{ "year-2" = {{ {none} }} }}'
    )
    assert "year-2 none to choose from" in said


@pytest.mark.parametrize(
    ("find", "put", "line"),
    [
        ('endpoints = ["gemini"]', "endpoints = 3", "endpoints = 3"),
        ('endpoints = ["gemini"]', 'endpoints = ["gemni"]', 'endpoints = ["gemni"]'),
        ('kind = "ureka"', 'kind = "urkea"', 'kind = "urkea"'),
        ('kind = "ureka"', 'kind = "ureka"\ntimeout = 3', "timeout = 3"),
        ('teacher = "gemini"\n', "", "[simulate]"),
    ],
)
def test_the_message_names_the_line(provider, tmp_path, capsys, find, put, line):
    said = refused(provider, tmp_path, capsys, find, put)
    lines = (tmp_path / "c.toml").read_text(encoding="utf-8").splitlines()
    assert f"c.toml:{lines.index(line) + 1}: " in said


def test_a_missing_variable_is_named_with_its_endpoint(provider, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    said = refused(provider, tmp_path, capsys, 'model = "fake-1"', 'model = "fake-1"\napi_key_env = "NO_SUCH_KEY"')
    assert "endpoints.gemini.api_key_env: the environment variable NO_SUCH_KEY is not set" in said


def test_a_section_that_is_missing_is_named_with_the_file(tmp_path, capsys):
    config = tmp_path / "c.toml"
    config.write_text("", encoding="utf-8")
    assert main(["run", str(config)]) == 2
    assert f"{config}: found no [simulate] section" in capsys.readouterr().err


def test_lines_are_found_through_headers_quotes_and_dots():
    text = 'a.b = 1\n[endpoints."x.y"] # [judge]\nkind = "k"\n[judge]\nkind = 2\n'
    assert line_of(text, "a", "b") == 1
    assert line_of(text, "endpoints", "x.y", "kind") == 3
    assert line_of(text, "judge", "kind", "0") == 5
    assert line_of(text, "judge", "no-such") == 4
    assert line_of(text, "nowhere") is None


def test_the_embedded_model_is_not_asked_to_rephrase(provider, tmp_path, capsys):
    small = 'student = "small"\nrephrase_openings = true'
    config = write_config(tmp_path / "c.toml", provider)
    text = config.read_text(encoding="utf-8").replace('student = "gemini"', small)
    config.write_text(f'{text}\n[endpoints.small]\nkind = "local"\n', encoding="utf-8")
    assert main(["run", str(config), "--run", str(tmp_path / "run"), "--dry-run"]) == 2
    assert "name another student" in capsys.readouterr().err
