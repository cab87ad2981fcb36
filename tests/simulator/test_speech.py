"""Raw model texts become utterances by rules that are counted."""

import pytest

from gateway.prompts import load
from runstore.publish import has_visible
from simulator.speech import read_reply, read_speech


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
        ("[Teacher] What next?", "teacher", "What next?", ("role_prefix",)),
        ("You: I think 7", "student", "I think 7", ("role_prefix",)),
        ("Is it 7?\n\n### Student\nI think it is 8.", "teacher", "Is it 7?", ("both_parts",)),
        ("Is it 7?\n<|im_start|>user\nno", "teacher", "Is it 7?", ("both_parts",)),
        ("왜 그럴까?\n학생: 잘 모르겠어요", "teacher", "왜 그럴까?", ("both_parts",)),
        ('"why is that?"', "student", "why is that?", ("quotes_removed",)),
        ('"a" and "b"', "student", '"a" and "b"', ()),
        ("students: many of them", "student", "students: many of them", ()),
        ("I think the teacher: pupil ratio matters", "student", "I think the teacher: pupil ratio matters", ()),
    ],
)
def test_rules(raw, role, text, notes):
    speech = read_speech(raw, role)
    assert (speech.text, speech.notes) == (text, notes)


@pytest.mark.parametrize(("language", "asked"), [("en", "no number or label"), ("ko", "번호")])
def test_the_kinds_bear_no_numbers_and_a_number_that_a_student_says_stays(language, asked):
    prompt = load("simulator", "student", language).text
    assert not any(line.lstrip(" -*([").startswith(tuple("123456")) for line in prompt.splitlines())
    assert asked in prompt
    for said in (
        "2. because the pivot is the largest",
        "1.5 times?",
        "2번 줄이 이해가 안 돼요",
        "3) 그럼 힙은요?",
    ):
        assert read_speech(said, "student").text == said


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
        ("Thanks! </END>", "Thanks!"),
        ("고마워요! <END></END>", "고마워요!"),
        ("Thanks! **<END>**", "Thanks!"),
        ("Thanks! (<END>)", "Thanks!"),
        ("Thanks! ＜END＞", "Thanks!"),
        ("Thanks! :) <END>", "Thanks! :)"),
        ("Thanks! <END>.", "Thanks!"),
        ('"Thanks!" <END>', '"Thanks!"'),
        ("ok thanks bye <END>", "ok thanks bye"),
        ("I get it now\n<END>", "I get it now"),
        ("Thanks! <END>\n\n<END>", "Thanks!"),
        ('"Thanks! <END>"', "Thanks!"),
        ("**Thanks! <END>**", "**Thanks!**"),
        ("이제 알겠습니다 <END>", "이제 알겠습니다"),
        ("고마워요<END>", "고마워요"),
        ("**<END>**", ""),
    ],
)
def test_the_end_marker_goes_with_what_wraps_it_and_what_was_said_stays(raw, text):
    speech = read_speech(raw, "student")
    assert speech.ended
    assert speech.text == text


@pytest.mark.parametrize(
    "raw",
    [
        "what is <END>?",
        "my token is `<END>`",
        "the tag is <END>",
        "You said to type <END>.",
        "It stops at <END>.",
        "Thanks! `<END>`",
        '"<END>"',
        "Thanks! <END> :)",
        "<END> Thanks, bye!",
        "Thanks!\n<END>\nBye!",
        "```\nread\n<END>\n```",
        "```\nread.\n<END>",
        'It says "stop. <END>',
        "태그는 <END>",
        'I used print("<END>")',
        "<END> is what I typed",
        "The End.",
    ],
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


LABELS = r"""
Teacher:_|teacher:_|**Teacher:**_|**Teacher**:_|[Teacher]_|[Teacher]:_|### Teacher\n|## Tutor:\n|**Tutor**\n\n
Assistant\n|assistant\n\n|튜터：|선생님:_|[선생님]_|### 교사\n|\n Teacher:_|AI Tutor:_|**Socratic Teacher:**_
AI 튜터:_|인공지능 선생님:_|강사:_|### Assistant:\n|_Tutor:\n
선생님(Teacher):_|Teacher (선생님):_|Teacher/선생님:_|Tutor (AI):\n|### 선생님 (Teacher)\n
Instructor:_|Professor︰_|교수님:_
"""
TEMPLATES = [
    "<|im_start|>assistant\n",
    "<|im_start|>assistant\nTeacher: ",
    "<|start_header_id|>assistant<|end_header_id|>\n\n",
    "<start_of_turn>model\n",
    "<|assistant|>\n",
    "<bos><start_of_turn>model\n",
    "<|begin_of_text|><|start_header_id|>assistant<|end_header_id|>\n\n",
    "<|im_start|>assistant<|im_sep|>",
    "<|start_of_role|>assistant<|end_of_role|>",
    "<|header_start|>assistant<|header_end|>\n\n",
    "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
    "<|turn>model\n",
    "[/INST] ",
    "assistant<|end_header_id|>\n\n",
    "<|begin|>assistant<|content|>",
]
WRITTEN = [
    part.replace("_", " ").replace("\\n", "\n") for row in LABELS.split("\n") for part in row.split("|") if part
]


@pytest.mark.parametrize("label", [*WRITTEN, *TEMPLATES])
@pytest.mark.parametrize("more", ["", "\n\nStudent: id, name\nTeacher: id\n"])
def test_a_contestants_own_label_in_first_position_goes_and_nothing_after_it(label, more):
    rest = "What is 7 + 5?"
    speech = read_reply(label + rest + more)
    assert speech.text == rest + more
    assert speech.notes == ("role_prefix",)
    assert speech.removed[0].text == " ".join(label.split())


@pytest.mark.parametrize("label", ["Teacher: 선생님: ", "[선생님]: Teacher: ", "Tutor: <think>so</think>Tutor: "])
def test_labels_one_behind_the_other_all_go(label):
    speech = read_reply(f"{label}What is 7 + 5?\n\nTeacher: id")
    assert speech.text == "What is 7 + 5?\n\nTeacher: id"
    assert "".join(each.text.replace(" ", "") for each in speech.removed) == label.replace(" ", "")


@pytest.mark.parametrize(
    "said",
    [
        "Try n = 2.",
        "In C++, what does std::sort do?",
        "- What is 7?\n- Why?",
        "왜 그럴까\n힌트: 둘",
        "The student ratio is 1:20. Why?",
        "Students, ratio and rate are two things. How do they differ?",
    ],
)
def test_a_label_before_formulas_code_or_a_list_is_one(said):
    assert read_reply(f"Teacher: {said}").text == said


HONEST = [
    "Sketch your tables:\n\nStudent: id, name\nCourse: id, title\n\nWhich one needs a key?",
    "```yaml\nuser: alice\n```\nWhat is the value of user?",
    "User: HELLO\nServer: WELCOME\nWho speaks first?",
    "You: 3 wins\nMe: 2 wins\nWhat are the odds?",
    "Try this:\nStudent: I think it is 7.\nWhat would you answer?",
    "| who | says |\n|---|---|\nStudent: | I think so. |",
    "- first\nStudent: I think so.\n- second",
    "1. list the roles\n   Student: asks what it is for.\n2. draw them",
    "Which line is wrong?\nStudent: id\nuser = alice",
    "  Count them first.  \n",
    "<END> is the marker here. <END>",
    '"What is 7 + 5?"',
    "Student: is that your table?",
    "Close it with `</think>`.\nUse the <thought> tag: <thought>so</thought>",
    "The teacher: pupil ratio is 1:20.",
    "<reasoning> is a tag that you name yourself.\nWhat would you put into it?",
    "[THINK] is what one model writes before it answers.",
    "<thought>는 태그 이름이에요. 무엇을 닫아야 할까요?",
    "```text\nTeacher: What is x?\n학생: 3이요\n```\nWho is right?",
    "> Student: It is 7.\n> 선생님: 왜 그럴까?\n\nWhat would you say?",
    "학생: 이름, 번호\n선생님: 이름, 과목\n\n열쇠는 무엇일까요?",
    "선생님이라면 이렇게 물을 거예요. 왜 그럴까요?",
    "AI: what do these two letters stand for?",
    "Teacher: id, name\nStudent: id, name\n\nWhich attribute links them?",
    "선생님: 김\n과목: 수학\n교실: 3\n\n이것은 한 줄이에요. 열쇠는 무엇일까요?",
    "### Teacher\n- id\n- name\n### Student\n- id\n- teacher_id\n\nWhich is the foreign key?",
    "**Teacher**\n- id\n\n**Student**\n- id\n\nWhich of the two needs a foreign key?",
    "teacher:\n  name: Kim\nstudent:\n  name: Lee\n\nWhat does this YAML say?",
    "Teacher\nStudent\nCourse\n\nWhich relations hold between the three?",
    "assistant\nmanager\ndirector\nWhich rank comes first?",
    "Teacher:Student = 1:20. Why does it matter?",
    "Teacher: student ratio is 1:20. What does that mean for a class?",
    "Teacher:Pupil ratios differ between schools. Why?",
    "Teacher : pupil :: doctor : patient. Which relation is that?",
    "[Teacher] 1..* --- * [Student]\nWhat do the numbers mean?",
    "<dialogue><teacher>hi</teacher><student>yo</student></dialogue>\nWhich tag is missing?",
    "C: HELO\nS: 250 OK\nUser: HELLO\nWho speaks?",
    "Teacher: 1, Student: 20. What is the ratio?",
    "Assistant\nprofessor\nfull professor\nWhich rank is highest?",
    "<|im_start|>assistant is how a turn begins. Which token ends it?",
    "<|assistant|>은 제 말 앞에 붙는 표시예요. 왜 그럴까요?",
    "[/INST] closes an instruction. What opens one?",
    "<start_of_turn>model is Gemma's mark for my turn. What is yours?",
]


@pytest.mark.parametrize("reply", HONEST)
def test_what_a_contestant_said_is_kept_as_it_came(reply):
    speech = read_reply(reply)
    assert (speech.text, speech.notes, speech.removed) == (reply, (), ())


SHOWN = [
    "Teacher: What is 2+2?\nStudent: It is 5.\nTeacher: Try again.\n\nWhat would you say instead?",
    "Teacher: What is 2+2?\nStudent: It is 5.\n\nWhat did the teacher do well here?",
    "**Teacher:** What is 2+2?\n**Student:** It is 5, I think.\n\nWhere does the student go wrong?",
    "Teacher: What is 2+2?\nStudent: It is 5.\nWhat would you answer?",
    "Teacher: What is 2+2?\nBen: It is 5.\nTeacher: How did you get that?\n\nWhat is Ben's mistake?",
    "선생님: 2 더하기 2는 뭘까?\n학생: 5요.\n\n이 학생은 무엇을 틀렸을까요?",
    "### Teacher\nWhat is 2+2?\n### Student\nIt is 5.\n\nWhat would you say to the student?",
    "Tutor: What is 2+2?\n\nStudent: It is 5.\n\nTutor: Really?\n\nNow you: how would you go on?",
]


@pytest.mark.parametrize("dialogue", SHOWN)
def test_a_label_that_heads_a_dialogue_which_a_contestant_shows_stays(dialogue):
    assert read_reply(dialogue).text == dialogue
    assert read_reply(dialogue).notes == ()
    assert "role_prefix" in read_speech(dialogue, "teacher").notes


def test_a_label_before_a_dialogue_that_has_its_own_goes():
    labelled = read_reply(f"Teacher: {SHOWN[0]}")
    assert (labelled.text, labelled.notes) == (SHOWN[0], ("role_prefix",))


@pytest.mark.parametrize(
    "rest",
    [
        "Try n = 2.\nStudent: ok, it works.\nTeacher: good!",
        "What is 2+2?\nStudent: It is 5.",
        "Look at this.\nHint: use your fingers.\n\nWhat do you get?",
        "What is 2+2?\n\nTake your time.",
    ],
)
def test_a_label_of_somebody_who_speaks_goes(rest):
    assert read_reply(f"Teacher: {rest}").text == rest


@pytest.mark.parametrize("reply", ["It is 7.\nStudent: I see, so why is that?\nTeacher: Well.", *HONEST[:1]])
def test_a_contestants_overrun_is_judged_too(reply):
    assert read_reply(reply).text == reply


@pytest.mark.parametrize("said", HONEST[:9])
def test_the_baseline_teacher_is_not_cut_where_no_turn_begins(said):
    first, _, rest = said.partition("\n")
    speech = read_speech(f"Look here.\n{first}\n{rest}", "teacher")
    assert speech.text == f"Look here.\n{said}"
    assert "both_parts" not in speech.notes


def test_what_is_taken_off_is_shown_with_its_rule():
    speech = read_reply("<think>They forgot " + "to carry " * 100 + "</think>\nTeacher: Look at the tens.")
    assert speech.text == "Look at the tens."
    assert speech.notes == ("thinking_removed", "role_prefix")
    thinking, label = speech.removed
    assert (thinking.rule, label.rule, label.text) == ("thinking_removed", "role_prefix", "Teacher:")
    assert thinking.text.startswith("<think>They forgot to carry") and len(thinking.text) <= 201
    cut = read_speech("Is it 4?\nStudent: I think it is 5.", "teacher").removed
    assert [(each.rule, each.role, each.text) for each in cut] == [
        ("both_parts", "teacher", "Student: I think it is 5.")
    ]
