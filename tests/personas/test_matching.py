"""Who opens with what: by difficulty and level, balanced as far as that lets them, and off by a key."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from personas import assign, factors_file, fits, generate, load_personas
from runstore.problems import InputProblem
from runstore.records import Persona, SeedQuestion
from seed_questions import load, path_of_bank


def test_a_first_year_never_opens_with_a_hard_question_and_nothing_else_moves() -> None:
    people, questions = generate(), load()
    matched, free = (assign(people, questions, 448, 7, match_level=match) for match in (True, False))
    assert {each.question.difficulty for each in matched if each.persona.levels["year"] == "1"} == {"middling"}
    assert {each.question.difficulty for each in free if each.persona.levels["year"] == "1"} == {
        "middling",
        "hard",
    }
    assert [(each.persona, each.question.subject) for each in matched] == [
        (each.persona, each.question.subject) for each in free
    ]


@pytest.mark.parametrize("n", [28, 100, 448, 2000])
def test_questions_stay_balanced_although_not_everybody_may_open_with_each(n: int) -> None:
    counts: dict[str, Counter[str]] = {}
    questions = load()
    for each in questions:
        counts.setdefault(each.subject, Counter())[each.id] = 0
    for each in assign(generate(), questions, n, 3):
        counts[each.question.subject][each.question.id] += 1
    assert all(max(used.values()) - min(used.values()) <= 1 for used in counts.values())


def test_school_years_open_with_what_they_have_met_and_everybody_is_used_alike() -> None:
    people, questions = generate("school-students"), load(path_of_bank("school-mathematics"))
    made = assign(people, questions, 960, 1)
    assert all(fits(each.persona, each.question) for each in made)
    assert set(Counter(each.persona.id for each in made).values()) == {20}
    crossed = Counter((each.persona.id, each.question.subject) for each in made)
    for person in people:
        own = {each.subject for each in questions if fits(person, each)}
        used = [crossed[person.id, subject] for subject in own]
        assert max(used) - min(used) <= 1
    assert made[:100] == assign(people, list(reversed(questions)), 100, 1)


def test_who_fits_nothing_opens_with_any_and_without_a_rule_nothing_changes() -> None:
    hard = [SeedQuestion(id=f"h{at}", subject="s", difficulty="hard", text="?") for at in range(3)]
    alone = Persona(id="p", levels={}, opens=("middling",), text="t")
    assert {each.question.id for each in assign([alone], hard, 3)} == {"h0", "h1", "h2"}
    anybody = [Persona(id=f"p{at}", levels={"year": "1"}, text="t") for at in range(4)]
    assert assign(anybody, hard, 50, 2) == assign(anybody, hard, 50, 2, match_level=False)


def test_a_level_that_the_persona_has_no_factor_for_excludes_nobody() -> None:
    question = SeedQuestion(id="q", subject="s", levels={"year": ("2",)}, text="?")
    assert fits(Persona(id="p", levels={"mood": "1"}, text="t"), question)
    assert fits(Persona(id="p", levels={"year": "2"}, text="t"), question)
    assert not fits(Persona(id="p", levels={"year": "1"}, text="t"), question)


def test_a_list_says_itself_what_its_personas_open_with(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("id,year,opens,leaves_early,text\na,1,middling,true,A.\nb,2,,,B.\n", encoding="utf-8")
    first, second = load_personas(path)
    assert (first.opens, first.leaves_early, first.levels) == (("middling",), True, {"year": "1"})
    assert (second.opens, second.leaves_early, second.levels) == ((), False, {"year": "2"})
    for line, field in (("a,1,easy,,A.", "opens"), ("a,1,,maybe,A.", "leaves_early")):
        path.write_text(f"id,year,opens,leaves_early,text\n{line}\n", encoding="utf-8")
        with pytest.raises(InputProblem, match=field):
            load_personas(path)


LISTED = {
    "p.csv": "id,year,text\na,1,You guess.\n",
    "p.yaml": "personas:\n  - {id: a, year: 1, text: {en: You guess., ko: 찍는다.}}\n",
    "p.jsonl": '{"id": "a", "levels": {"year": "1"}, "text": {"en": "You guess.", "ko": "찍는다."}}\n',
}


@pytest.mark.parametrize("name", LISTED)
def test_personas_are_listed_one_a_row_in_every_form(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(LISTED[name], encoding="utf-8")
    assert load_personas(path) == [Persona(id="a", levels={"year": "1"}, text="You guess.")]
    if name != "p.csv":
        assert load_personas(path, "ko")[0].text == "찍는다."
        path.write_text(LISTED[name].replace("ko", "en-GB"), encoding="utf-8")
        with pytest.raises(InputProblem, match=r"text\.ko"):
            load_personas(path, "ko")


def test_what_a_factor_file_says_wrongly_is_named(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    levels = "factors:\n  - id: a\n    levels:\n      - {id: x, text: X., %s}\n      - {id: y, text: Y.}\n"
    path.write_text(levels % "opens: [easy]")
    with pytest.raises(InputProblem, match="expected some of middling, hard"):
        factors_file.load(path)
    path.write_text(levels % "leaves_early: perhaps")
    with pytest.raises(InputProblem, match="expected true or false"):
        factors_file.load(path)
