from __future__ import annotations

import re
from collections import Counter

from seed_questions import load

FROM_THE_STUDY = {"algorithms-data-structures": 6, "operating-systems": 6, "machine-learning": 4}


def test_the_bank_covers_the_curriculum() -> None:
    counts = Counter(question.subject for question in load())
    assert {subject: counts[subject] for subject in FROM_THE_STUDY} == FROM_THE_STUDY
    others = {subject: count for subject, count in counts.items() if subject not in FROM_THE_STUDY}
    assert len(others) >= 8
    assert all(count >= 6 for count in others.values())


def test_both_languages_have_the_same_questions() -> None:
    english, korean = load(language="en"), load(language="ko")
    key = [(question.id, question.subject, question.difficulty, question.tags) for question in english]
    assert key == [(question.id, question.subject, question.difficulty, question.tags) for question in korean]
    assert not any(re.search("[가-힣]", question.text) for question in english)
    assert all(len(re.findall("[가-힣]", question.text)) >= 20 for question in korean)
    assert {question.language for question in korean} == {"ko"}


def test_every_subject_mixes_middling_and_hard_questions() -> None:
    levels: dict[str, set[str]] = {}
    for question in load():
        levels.setdefault(question.subject, set()).add(question.difficulty)
        assert 1 <= len(question.tags) <= 4
        assert len(question.text.split()) >= 15
    assert all(found == {"middling", "hard"} for found in levels.values())
