from __future__ import annotations

import re
from pathlib import Path

import pytest

from personas import factors_file, generate
from runstore.problems import InputProblem, Problem
from runstore.records import ACTS, Language

LEVELS = {"goal_commitment": 2, "motivation": 2, "self_efficacy": 2, "year": 4}


def test_the_default_crossing_has_thirty_two_different_students() -> None:
    people = generate()
    assert len(people) == 32
    assert len({person.id for person in people}) == 32
    assert len({person.text for person in people}) == 32
    for factor, levels in LEVELS.items():
        counts = [sum(person.levels[factor] == level for person in people) for level in _levels(factor)]
        assert counts == [32 // levels] * levels


def _levels(factor: str) -> list[str]:
    return ["1", "2", "3", "4"] if factor == "year" else ["low", "high"]


def test_ids_can_be_read_and_do_not_depend_on_language() -> None:
    ids = [person.id for person in generate()]
    assert "commit-high.motiv-low.effic-low.year-2" in ids
    assert ids == [person.id for person in generate(language="ko")]


def test_texts_are_in_the_language_asked_for() -> None:
    english, korean = generate(language="en"), generate(language="ko")
    assert not any(re.search("[가-힣]", person.text) for person in english)
    for person in korean:
        assert len(re.findall("[가-힣]", person.text)) > 150
        assert person.language == "ko"


def test_a_text_holds_its_levels_and_only_its_own_interactions() -> None:
    file = factors_file.load()
    for person in generate(file):
        for factor in file.factors:
            for level in factor.levels:
                assert (level.text in person.text) == (person.levels[factor.id] == level.id)
        for interaction in file.interactions:
            applies = all(person.levels[factor] == level for factor, level in interaction.when.items())
            assert (interaction.text in person.text) == applies


def test_texts_have_no_braces_that_a_prompt_could_take_for_fields() -> None:
    assert not any("{" in person.text for language in ("en", "ko") for person in generate(language=language))


OWN = """
intro: You learn to cook.
factors:
  - id: patience
    levels:
      - {id: short, text: You hurry.}
      - {id: long, text: You take your time.}
  - id: tools
    short: kit
    levels:
      - {id: 1, text: One pan.}
      - {id: 2, text: Two pans.}
      - {id: 3, text: Three pans.}
interactions:
  - when: {patience: short, tools: 3}
    text: Pans get in your way.
outro: Stay yourself.
"""


def test_own_factors_are_crossed_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "cooks.yaml"
    path.write_text(OWN, encoding="utf-8")
    people = generate(path)
    assert [person.id for person in people][:4] == [
        "patience-short.kit-1",
        "patience-short.kit-2",
        "patience-short.kit-3",
        "patience-long.kit-1",
    ]
    assert people[2].levels == {"patience": "short", "tools": "3"}
    assert people[2].text == "You learn to cook.\nYou hurry.\nThree pans.\nPans get in your way.\nStay yourself."
    assert people[0].text == "You learn to cook.\nYou hurry.\nOne pan.\nStay yourself."


@pytest.mark.parametrize(
    ("change", "line", "field", "message"),
    [
        (("short: kit", "shrt: kit"), 9, "factors.1.shrt", "expected 'short'"),
        (("id: tools", "id: patience"), 8, "factors.1.id", "found patience"),
        (("short: kit", "short: patience"), 9, "factors.1.short", "a different short (first on line 4)"),
        (
            ("{id: 2, text: Two pans.}", "{id: 1, text: Two pans.}"),
            12,
            "factors.1.levels.1.id",
            "first on line 11",
        ),
        (("text: One pan.", "text: ''"), 11, "factors.1.levels.0.text", "found nothing, expected a text"),
        (("id: 1", "id: a.b"), 11, "factors.1.levels.0.id", "letters, digits"),
        (("tools: 3", "tools: 4"), 15, "interactions.0.when.tools", "found 4, expected one of the levels 1, 2, 3"),
        (("patience: short, ", "patients: short, "), 15, "interactions.0.when.patients", "'patience'"),
        (("text: You hurry.", "text: {ko: 서두른다.}"), 6, "factors.0.levels.0.text.en", "a text in 'en'"),
        (("intro: You", "intro: &a [You"), None, None, "expected YAML"),
        (("outro:", "intro:"), 17, None, "found 'intro' again (first on line 2)"),
    ],
)
def test_a_wrong_factor_file_is_named_with_line_and_field(
    tmp_path: Path, change: tuple[str, str], line: int | None, field: str | None, message: str
) -> None:
    path = tmp_path / "cooks.yaml"
    assert change[0] in OWN
    path.write_text(OWN.replace(*change), encoding="utf-8")
    with pytest.raises(InputProblem) as caught:
        generate(path)
    assert message in str(caught.value)
    assert caught.value.file == str(path)
    assert caught.value.field == field
    if line is not None:
        assert caught.value.line == line


@pytest.mark.parametrize(
    "content",
    [
        "",
        "factors: []",
        "factors: {}",
        "factors",
        "- a",
        "factors:\n - x",
        "factors:\n - {id: a, levels: [{id: 1, text: t}]}",
    ],
)
def test_a_file_without_usable_factors_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputProblem):
        generate(path)


def test_a_missing_file_a_folder_and_wrong_bytes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match="a readable file"):
        generate(tmp_path / "none.yaml")
    with pytest.raises(InputProblem, match="a readable file"):
        generate(tmp_path)
    path = tmp_path / "latin.yaml"
    path.write_bytes(b"intro: ok\nfactors: \xe9\n")
    with pytest.raises(InputProblem, match=r"latin.yaml:2: found byte 0xe9, expected UTF-8"):
        generate(path)


@pytest.mark.parametrize("size", [None, 0, -1, 33])
def test_a_balanced_design_needs_a_size_it_can_have(size: int | None) -> None:
    with pytest.raises(Problem, match="a size from 1 to 32"):
        generate(design="balanced", size=size)


def test_a_full_design_does_not_take_another_size() -> None:
    assert len(generate(size=32)) == 32
    with pytest.raises(Problem, match="32 personas, not 8"):
        generate(size=8)


def test_a_crossing_too_large_to_write_out_still_has_a_balanced_fraction(tmp_path: Path) -> None:
    levels = ", ".join(f"{{id: l{level}, text: t}}" for level in range(4))
    path = tmp_path / "many.yaml"
    path.write_text("factors:\n" + "".join(f"  - {{id: f{at}, levels: [{levels}]}}\n" for at in range(12)))
    with pytest.raises(Problem, match="16,777,216"):
        generate(path)
    people = generate(path, design="balanced", size=32)
    assert len({person.id for person in people}) == 32
    assert all(sum(person.levels[f"f{at}"] == "l0" for person in people) == 8 for at in range(12))


def test_each_student_has_its_own_weights_of_the_kinds_of_utterance() -> None:
    weights = factors_file.load().act_weights
    assert set(weights["*"]) == set(ACTS)
    factors = {factor.id: factor for factor in factors_file.load().factors}
    assert set(weights) == {"*"} | {
        f"{name}-{level.id}" for name, each in factors.items() for level in each.levels
    }
    assert weights["motivation-high"]["new_question"] > 1 > weights["motivation-low"]["new_question"]
    assert weights["year-1"]["wrong_answer"] > weights["year-4"]["wrong_answer"]
    assert factors_file.load(language="ko").act_weights == weights


@pytest.mark.parametrize(
    ("acts", "message"),
    [
        ("{folow_up: 1}", "factors.0.levels.0.acts.folow_up: found folow_up, expected 'follow_up'"),
        ("{follow_up: -1}", "found -1, expected a weight of 0 or more"),
        ("{follow_up: .nan}", "a weight of 0 or more"),
        ("{follow_up: much}", "found much"),
        ("{follow_up: [1]}", "a weight of 0 or more"),
        (f"{{{', '.join(f'{act}: 0' for act in ACTS)}}}", "a weight above 0"),
    ],
)
def test_wrong_weights_are_refused(tmp_path: Path, acts: str, message: str) -> None:
    path = tmp_path / "cooks.yaml"
    path.write_text(OWN.replace("text: You hurry.", f"text: You hurry., acts: {acts}"), encoding="utf-8")
    with pytest.raises(InputProblem, match=re.escape(message)):
        generate(path)
    path.write_text(OWN.replace("text: You hurry.", "text: You hurry., acts: {wrong_answer: 3}"), encoding="utf-8")
    assert factors_file.load(path).act_weights == {"patience-short": {"wrong_answer": 3.0}}


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_example_in_the_documentation_is_a_factor_file(tmp_path: Path, language: Language) -> None:
    page = (Path(__file__).parents[2] / "docs" / "personas.md").read_text(encoding="utf-8")
    path = tmp_path / "nurses.yaml"
    path.write_text(page.split("```yaml\n")[1].split("```")[0], encoding="utf-8")
    people = generate(path, language)
    assert [person.id for person in people] == [
        "exp-ward.hurry-no",
        "exp-ward.hurry-yes",
        "exp-none.hurry-no",
        "exp-none.hurry-yes",
    ]
    assert ("short version" in people[3].text, "short version" in people[1].text) == (True, False)
