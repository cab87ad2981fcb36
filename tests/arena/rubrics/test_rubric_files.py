from pathlib import Path

import pytest

from arena.rubrics.rubric import load_rubric, shipped
from arena.scoring.tables import measures
from runstore.problems import InputProblem, Problem

GOOD = """
name: tiny
version: "1"
title: Tiny
areas:
  - key: A
    title: Area
    items:
      - key: first
        title: First
        elements:
          - {key: one, question: It is so}
          - {key: two, question: It is so again}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "own.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_shipped_rubric_speaks_both_languages() -> None:
    assert set(shipped()) >= {"qac", "meeting_minutes", "socratic"}
    for name in shipped():
        assert load_rubric(name).languages == ("en", "ko")


def test_the_checklist_has_eight_items_of_four_elements_and_forty_points() -> None:
    rubric = load_rubric("qac")
    assert [item.name for item in rubric.items] == ["A1", "A2", "A3", "B1", "B2", "B3", "C1", "C2"]
    assert {len(item.elements) for item in rubric.items} == {4}
    assert {area.key: area.bounds for area in rubric.areas} == {"A": (3, 15), "B": (3, 15), "C": (2, 10)}
    assert rubric.bounds == (8, 40)


def test_the_minutes_are_scored_from_none_to_five() -> None:
    rubric = load_rubric("meeting_minutes")
    assert [item.key for item in rubric.items] == [
        "factuality",
        "comprehensiveness",
        "structural_consistency",
        "evidence_accuracy",
        "clarity",
    ]
    for item in rubric.items:
        assert item.scale is not None
        assert (item.scale.low, item.scale.high, sorted(item.scale.anchors)) == (0, 5, [0, 1, 2, 3, 4, 5])


def test_an_own_rubric_loads_and_its_content_names_it(tmp_path: Path) -> None:
    rubric = load_rubric(written(tmp_path, GOOD))
    assert list(rubric.slots()) == [("first", "one"), ("first", "two")]
    changed = load_rubric(written(tmp_path, GOOD.replace("so again", "so too")))
    assert changed.hash != rubric.hash


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("name: tiny", "nmae: tiny", "own.yaml:2: nmae"),
        ("key: two", "key: one", "given twice: one"),
        ("{key: one, question: It is so}", "{key: one}", "areas.0.items.0.elements.0.question"),
        ("{key: one, question: It is so}", "{key: one, question: Q, weight: 2}", "'share'"),
        ("{key: one, question: It is so}", "{key: one, question: Q, not_applicable: true}", "'share'"),
        (
            "        title: First",
            "        title: First\n        scale: {low: 1, high: 5}",
            "either elements or a scale",
        ),
        ("areas:", "floors: [{flag: no, when: 0, area: A}]\nareas:", "floors.0.flag"),
        ("areas:", "floors: [{flag: gone, when: 0, area: A}]\nareas:", "no flag 'gone'"),
        ("title: Tiny", "title: '  '", "not blank"),
        ("key: first", "key: flags", "given twice: flags"),
        ("areas:", "areas: []\nother:", "other"),
    ],
)
def test_a_mistake_is_named_with_file_and_place(tmp_path: Path, old: str, new: str, told: str) -> None:
    with pytest.raises(InputProblem) as caught:
        load_rubric(written(tmp_path, GOOD.replace(old, new)))
    assert told in str(caught.value)
    assert "own.yaml" in str(caught.value)


def test_a_scale_must_hold_together(tmp_path: Path) -> None:
    text = GOOD.split("        elements:")[0] + "        scale: {low: 5, high: 1}\n"
    with pytest.raises(InputProblem, match="must be below"):
        load_rubric(written(tmp_path, text))
    with pytest.raises(InputProblem, match="1,000 points at most"):
        load_rubric(written(tmp_path, text.replace("low: 5, high: 1", "low: 0, high: 100000000")))
    with pytest.raises(InputProblem, match="off the scale"):
        load_rubric(written(tmp_path, text.replace("low: 5, high: 1", "low: 1, high: 5, anchors: {6: too good}")))


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(Problem, match=r"no rubric 'qca'.*meeting_minutes, qac, socratic"):
        load_rubric("qca")


def test_the_floor_asks_about_the_domain_and_about_mathematics_without_one() -> None:
    source, nursing = load_rubric("qac"), load_rubric("qac", "간호학")
    assert "as far as mathematics:" in source.flags[0].question["en"]
    assert "간호학 내용(" in nursing.flags[0].question["ko"]
    told = nursing.model_dump_json()
    assert "수학" not in told
    assert "mathemat" not in told.lower().replace("a1_math_expertise", "")
    assert "{domain}" not in source.model_dump_json() + told
    assert source.hash != nursing.hash
    assert list(source.slots()) == list(nursing.slots())


def test_a_rubric_without_a_domain_stays_what_it_is() -> None:
    assert load_rubric("meeting_minutes", "nursing") == load_rubric("meeting_minutes")


def test_minutes_say_what_their_source_says_beside_its_tables() -> None:
    rubric = load_rubric("meeting_minutes")
    guidance = rubric.areas[0].guidance
    assert guidance is not None
    assert "form is plainly wrong" in guidance["en"]
    assert "common sense" in guidance["en"]
    anchors = {item.key: item.scale.anchors for item in rubric.items if item.scale}
    assert "too broad" in anchors["evidence_accuracy"][3]["en"]
    assert "too narrow" in anchors["evidence_accuracy"][3]["en"].replace("\n", " ")
    assert "split too finely" in anchors["structural_consistency"][4]["en"]
    assert [measure.name for measure in measures(rubric)][-2:] == ["clarity", "total"]


def _said(name: str) -> str:
    return (Path(shipped()[name])).read_text("utf-8")


def test_the_checklist_asks_for_no_clarification_by_the_tutor() -> None:
    rubric = load_rubric("qac")
    c1 = next(item for item in rubric.items if item.name == "C1")
    assert [element.key for element in c1.elements] == [
        "goal_centered_consistency",
        "context_reference",
        "topic_continuity",
        "previous_turn_connection",
    ]
    assert not [key for item in rubric.items for element in item.elements if "clarif" in (key := element.key)]
    assert "명료화" not in _said("qac")


def test_the_floor_is_set_by_encouragement_talk_errors_and_no_reply() -> None:
    (flag,) = load_rubric("qac").flags
    for language, causes in {
        "en": ("encouragement", "small talk", "error message", "no reply at all"),
        "ko": ("격려", "잡담", "오류 메시지", "답변이 아예 없었다면"),
    }.items():
        assert [cause for cause in causes if cause not in flag.question[language]] == []


def test_the_minutes_anchors_have_their_sources_limits() -> None:
    anchors = {
        item.key: item.scale.anchors for item in load_rubric("meeting_minutes").items if item.scale is not None
    }
    complete, evidence = anchors["comprehensiveness"], anchors["evidence_accuracy"]
    assert ["80" in complete[4]["ko"], "50~80" in complete[3]["ko"], "절반" in complete[2]["ko"]] == [True] * 3
    assert "5%" in evidence[4]["ko"]
    assert all(side in evidence[3]["en"] for side in ("too broad", "too narrow"))
    assert "한두 곳" in anchors["factuality"][3]["ko"]
