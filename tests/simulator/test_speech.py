"""Raw model texts become utterances by rules that are counted."""

import pytest

from simulator.speech import has_visible, read_speech


@pytest.mark.parametrize(
    ("raw", "role", "text", "notes"),
    [
        ("Student: so it is 3/4?", "student", "so it is 3/4?", ("role_prefix",)),
        ("**[Teacher]:** What next?", "teacher", "What next?", ("role_prefix",)),
        ("학생: 잘 모르겠어요", "student", "잘 모르겠어요", ("role_prefix",)),
        ("선생님：왜 그럴까?", "teacher", "왜 그럴까?", ("role_prefix",)),
        ("Teacher: what do you think?", "student", "what do you think?", ("role_flip",)),
        ("it is 4\nTeacher: right! and then?", "student", "it is 4", ("both_parts",)),
        ("<think>they are wrong</think>Try n = 2.", "teacher", "Try n = 2.", ("thinking_removed",)),
        ("<think>never closed, all of it", "teacher", "", ("thinking_removed",)),
        ("It is 42, I must not say it.\n</think>\n\nTry n = 2.", "teacher", "Try n = 2.", ("thinking_removed",)),
        ("[THINK]it is 42[/THINK]\nTry n = 2.", "teacher", "Try n = 2.", ("thinking_removed",)),
        ('"why is that?"', "student", "why is that?", ("quotes_removed",)),
        ('"a" and "b"', "student", '"a" and "b"', ()),
        ("students: many of them", "student", "students: many of them", ()),
        ("I think the teacher: pupil ratio matters", "student", "I think the teacher: pupil ratio matters", ()),
    ],
)
def test_rules(raw, role, text, notes):
    speech = read_speech(raw, role)
    assert (speech.text, speech.notes) == (text, notes)


def test_the_end_marker_counts_at_the_end_only():
    glued = read_speech("Oh, so it is 3/4 because both halves split again. Thanks! <END>", "student")
    assert glued.ended
    assert glued.text == "Oh, so it is 3/4 because both halves split again. Thanks!"
    alone = read_speech(" <END>\n", "student")
    assert alone.ended
    assert alone.is_blank
    inside = read_speech("does <END> close the loop in this language?", "student")
    assert not inside.ended
    assert "<END>" in inside.text
    assert not read_speech("we are done <END>", "teacher").ended


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("Thanks!<END>", "Thanks!"),
        ("Thanks! <end>", "Thanks!"),
        ("Thanks! <END>\u200b", "Thanks!"),
        ("Thanks! **<END>**", "Thanks!"),
        ("Thanks! `<END>`", "Thanks!"),
        ("Thanks! (<END>)", "Thanks!"),
        ("Thanks! ＜END＞", "Thanks!"),
        ("Thanks! <END> :)", "Thanks! :)"),
        ("Thanks! <END>\n\n<END>", "Thanks!"),
        ('"Thanks! <END>"', "Thanks!"),
        ("**Thanks! <END>**", "**Thanks!**"),
        ("<END> Thanks, bye!", "Thanks, bye!"),
        ("Thanks!\n<END>\nBye!", "Thanks!\n\nBye!"),
        ("고마워요<END>", "고마워요"),
        ("**<END>**", ""),
    ],
)
def test_the_end_marker_goes_with_what_wraps_it_and_what_was_said_stays(raw, text):
    speech = read_speech(raw, "student")
    assert speech.ended
    assert speech.text == text


@pytest.mark.parametrize(
    "raw", ["what is <END>?", "my token is `<END>`", 'I used print("<END>")', "<END> is what I typed", "The End."]
)
def test_an_end_marker_that_is_spoken_of_ends_nothing(raw):
    speech = read_speech(raw, "student")
    assert not speech.ended
    assert speech.text == raw


@pytest.mark.parametrize("blank", ["", "   \n\u200b", "\u00a0\t", "\ufeff", "\u2060\u200d", "\u3164", "\u2800"])
def test_blank_texts_have_no_visible_character(blank):
    assert not has_visible(blank)
    assert read_speech(blank, "student").is_blank


def test_a_lone_half_of_an_emoji_becomes_the_replacement_character():
    assert read_speech("Nice \ud83d work", "teacher").text == "Nice \ufffd work"
    assert read_speech("Nice \U0001f44d مرحبا", "teacher").text == "Nice \U0001f44d مرحبا"
