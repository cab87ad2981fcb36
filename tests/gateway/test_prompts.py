from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import prompts
from runstore.problems import InputProblem, Problem
from runstore.records import ACTS

SHIPPED = {
    "simulator": {
        "student": {"persona"},
        "student_opening": set[str](),
        "student_planned": {"act"},
        "teacher.socratic": set[str](),
        "teacher.plain": set[str](),
    },
    "arena": {
        "judge": {"criteria", "fence", "history", "reply_a", "reply_b"},
        "judge_json": {"criteria", "fence", "history", "reply_a", "reply_b"},
        "judge_single_criterion": {"criterion", "fence", "history", "reply_a", "reply_b"},
        "judge_single_criterion_json": {"criterion", "fence", "history", "reply_a", "reply_b"},
    },
}
EVERY = [
    (package, name, language) for package, names in SHIPPED.items() for name in names for language in ("en", "ko")
]


@given(value=st.text(), other=st.text())
def test_values_go_in_as_they_are(value: str, other: str) -> None:
    assert prompts.fill("<{a}|{b}|{a}> {{x}}", a=value, b=other) == f"<{value}|{other}|{value}> {{x}}"


def test_braces_and_backslashes_inside_values_are_only_text() -> None:
    assert prompts.fill("{a} {b}", a="{b} {{b}} \\1 \\g<0>", b="B") == "{b} {{b}} \\1 \\g<0> B"


def test_a_missing_and_an_unused_value_are_errors() -> None:
    with pytest.raises(prompts.FieldProblem, match=r"no value for \{b\}, \{c\}"):
        prompts.fill("{a} {b} {c}", a="1")
    with pytest.raises(prompts.FieldProblem, match=r"the text has no \{z\}"):
        prompts.fill("{a}", a="1", z="2")


@pytest.mark.parametrize("text", ["{", "a } b", "{a b}", "{}", "{0}", "{{a}", "{a}}", "{a:>10}", "{a.b}", "{a!r}"])
def test_stray_braces_and_format_tricks_are_errors(text: str) -> None:
    with pytest.raises(prompts.FieldProblem, match="a single"):
        prompts.fields_of(text)


@pytest.mark.parametrize(("package", "name", "language"), EVERY)
def test_shipped_prompts_have_their_fields_and_fill(package: str, name: str, language: str) -> None:
    prompt = prompts.load(package, name, language)
    expected = SHIPPED[package][name]
    assert prompt.fields == expected
    filled = prompt.fill(**{field: f"«{field}»" for field in expected})
    assert all(f"«{field}»" in filled for field in expected)
    assert "{{" not in filled
    korean = len(re.findall("[가-힣]", filled))
    assert korean == 0 if language == "en" else korean > 10


@pytest.mark.parametrize("language", ["en", "ko"])
def test_there_is_a_text_for_each_kind_of_student_utterance(language: str) -> None:
    table = prompts.load_table("simulator", "student_acts", language)
    assert tuple(table.texts) == ACTS
    assert all(table.texts.values())


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_student_prompt_lists_six_kinds_and_the_end_marker_and_puts_the_persona_last(language: str) -> None:
    prompt = prompts.load("simulator", "student", language)
    kinds = prompt.text.split("\n\n")[1]
    assert len(re.findall(r"^- ", kinds, re.MULTILINE)) == 6
    assert "<END>" in prompt.text
    assert prompt.text.endswith("{persona}")


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("name", list(SHIPPED["arena"]))
def test_judge_prompts_keep_what_varies_behind_what_does_not(name: str, language: str) -> None:
    text = prompts.load("arena", name, language).text
    order = [text.index(field) for field in ("{criteri", "{fence}", "{history}", "{reply_a}", "{reply_b}")]
    assert order == sorted(order)
    assert text.count("{fence}") == 6
    before = text[: text.index("{fence}")]
    assert len(before) > 0.6 * len(text)
    assert ('"verdict"' in text) == name.endswith("_json")
    assert ("###" in text) != name.endswith("_json")
    if "###" in text:
        assert all(letter in before for letter in ("(a)", "(b)", "(c)"))
        assert not re.search(r"^###", text, re.MULTILINE), (
            "an echo of the instructions must not look like a decision"
        )


def _shipped(folder: Path, **files: str) -> Path:
    (folder / "prompts").mkdir(parents=True)
    for name, text in files.items():
        (folder / "prompts" / f"{name}.en.md").write_text(text, encoding="utf-8")
    return folder / "prompts"


def test_the_hash_names_the_text_wherever_it_lies(tmp_path: Path) -> None:
    shipped = _shipped(tmp_path / "a", ask="say {x}\nnow\n")
    own = tmp_path / "own"
    own.mkdir()
    (own / "ask.en.md").write_bytes(b"\xef\xbb\xbfsay {x}\r\nnow\r\n\r\n")
    first, same = prompts.load(shipped, "ask"), prompts.load(shipped, "ask", override_dir=own)
    assert first.hash == same.hash == prompts.text_hash("say {x}\nnow")
    (own / "ask.en.md").write_text("say {x}\nlater\n")
    other = prompts.load(shipped, "ask", override_dir=own)
    assert other.fill(x="hi") == "say hi\nlater"
    assert other.hash != first.hash


def test_a_folder_without_that_file_leaves_the_shipped_one(tmp_path: Path) -> None:
    assert prompts.load("simulator", "student", "ko", tmp_path) == prompts.load("simulator", "student", "ko")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no field at all", r"found none, expected the fields \{x\}"),
        (b"{x} {y}", r"found \{x\}, \{y\}, expected the fields \{x\}"),
        (b"fine\n{x} {", r"line 2: a single '\{'"),
        (b"  \n", "an empty file"),
        (b"{x} \xff", "UTF-8"),
    ],
)
def test_an_own_prompt_that_does_not_fit_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    shipped = _shipped(tmp_path / "a", ask="say {x}")
    (tmp_path / "ask.en.md").write_bytes(content)
    with pytest.raises(InputProblem, match=message):
        prompts.load(shipped, "ask", override_dir=tmp_path)


def test_an_own_table_needs_the_same_keys(tmp_path: Path) -> None:
    own = tmp_path / "student_acts.en.yaml"
    own.write_text("follow_up: Ask on.\n")
    with pytest.raises(InputProblem, match="found follow_up, expected the keys follow_up, clarification"):
        prompts.load_table("simulator", "student_acts", "en", tmp_path)
    shipped = prompts.load_table("simulator", "student_acts", "en")
    own.write_text("\n".join(f"{act}: Do {act}." for act in reversed(ACTS)))
    table = prompts.load_table("simulator", "student_acts", "en", tmp_path)
    assert table.texts["wrong_answer"] == "Do wrong_answer."
    assert table.hash != shipped.hash


def test_unknown_names_and_paths_are_refused(tmp_path: Path) -> None:
    for name, language in (("nobody", "en"), ("student", "fr"), ("../prompts/student", "en"), ("", "en")):
        with pytest.raises(Problem, match=r"no prompt .*student\.en\.md"):
            prompts.load("simulator", name, language)
    with pytest.raises(InputProblem, match="a folder of prompt files"):
        prompts.load("simulator", "student", "en", tmp_path / "none")


def test_a_file_that_would_replace_nothing_is_found(tmp_path: Path) -> None:
    packages = ("simulator", "arena")
    (tmp_path / "student.en.md").write_text("{persona}")
    (tmp_path / "criteria.yaml").write_text("criteria: []")
    (tmp_path / "notes.txt").write_text("mine")
    prompts.check_overrides(tmp_path, packages)
    (tmp_path / "studnet.ko.md").write_text("{persona}")
    with pytest.raises(InputProblem, match=r"studnet\.ko\.md.*'student\.ko\.md'"):
        prompts.check_overrides(tmp_path, packages)
    with pytest.raises(InputProblem, match="found no folder"):
        prompts.check_overrides(tmp_path / "none", packages)
