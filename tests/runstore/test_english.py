"""One of a thing is said in the singular, wherever a sentence with a count leaves the house."""

from __future__ import annotations

import pytest

from frontdesk.runner.told import told
from runstore.english import in_number
from runstore.languages import words
from runstore.spoken import spoken_by


@pytest.mark.parametrize(
    ("plural", "said"),
    [
        ("1 matches were invalid", "1 match was invalid"),
        ("1 of 1 matches that were asked for; the others", "1 of 1 match that was asked for; the others"),
        ("0 of 3 matches, 1 ties", "0 of 3 matches, 1 tie"),
        ("1 dialogues of 1 turns, 1 subsets, 11 judgments", "1 dialogue of 1 turn, 1 subset, 11 judgments"),
        ("1 open items of lay-01 now belong to x", "1 open item of lay-01 now belong to x"),
        ("gave up after 1 tries (1 branches, 1 replies)", "gave up after 1 try (1 branch, 1 reply)"),
        ("1 whole lines stay", "1 whole line stays"),
        ("1,001 matches of 21 dialogues", "1,001 matches of 21 dialogues"),
        ("ICC(2,1) values; +1 points; 0.1 points", "ICC(2,1) values; +1 points; 0.1 points"),
        ("1 of the matches; round 1 judgments", "1 of the matches; round 1 judgments"),
        ("found '1 matches', expected a name", "found '1 matches', expected a name"),
        ("it's 1 matches, isn't it", "it's 1 match, isn't it"),
    ],
)
def test_the_noun_behind_a_one_and_its_verb_are_singular(plural: str, said: str) -> None:
    assert in_number(plural) == said


def test_words_sentences_of_results_and_consoles_are_put_in_number() -> None:
    say = words("frontdesk.report", "run", "en")
    assert say("missing_replies", n=1, of=1) == "1 of 1 reply is missing"
    assert say("missing_replies", n=1, of=3) == "1 of 3 replies are missing"
    assert spoken_by("1 dialogues that all say the same", "en") == "1 dialogue that all say the same"
    assert told("1 finished calls are kept") == "1 finished call is kept"


def test_what_models_are_told_stays_as_it_is_written() -> None:
    assert not words("simulator", "style", "en").is_read
    assert not words("personas", "behaviour", "en").is_read
