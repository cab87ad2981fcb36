"""Thinking is taken off where servers leak it, and nothing else is taken for it."""

import pytest

from gateway.thinking import without_thinking
from simulator.speech import read_reply


@pytest.mark.parametrize(
    "reply",
    [
        "<think>they are wrong</think>Try counting.",
        "\n<think>\nthey are wrong\n</think>\n\nTry counting.",
        "<think >they are wrong</think >Try counting.",
        "<THINK>they are wrong</THINK>Try counting.",
        "<think></think>Try counting.",
        "<think>a <think>b</think> c</think>Try counting.",
        "<think>a</think>\n<think>b</think>Try counting.",
        "<thinking>a</thinking>\nTry counting.",
        "<reasoning>a</reasoning>\nTry counting.",
        "<seed:think>a</seed:think>Try counting.",
        "[THINK]a[/THINK]Try counting.",
        "[thinking]a[/thinking]\nTry counting.",
        "<antThinking>a</antThinking>Try counting.",
        "<|thinking|>a<|/thinking|>\nTry counting.",
        "<think> is what I do</think>Try counting.",
        "◁think▷a◁/think▷Try counting.",
        "</think>Try counting.",
        "\n</think>\n\nTry counting.",
        "It is 42, I must not say it.\n</think>\n\nTry counting.",
        "It is 42, I must not say it.</think>Try counting.",
        "so ask them to count </think>\n\nTry counting.",
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Try counting.",
        "<|channel|>analysis They forgot.<|channel|>final Try counting.",
        "<|channel|>commentary<|message|>Hm.<|end|><|channel|>final<|message|>Try counting.",
        "<|channel|>final<|message|>Try counting.",
        "analysisThey forgot to carry.assistantfinalTry counting.",
        "<think/>Try counting.",
        "<think />\nTry counting.",
        "<ant_thinking>a</ant_thinking>Try counting.",
        "<longcat_think>a</longcat_think>Try counting.",
        "<unused94>thought\na<unused95>Try counting.",
        "<|inner_prefix|>a<|inner_suffix|>Try counting.",
        "analysis They forgot. assistantfinalTry counting.",
        "assistantcommentaryThey forgot.assistantfinal\nTry counting.",
        "<|im_start|>assistant/think\n잊었다.<|im_end|>\n<|im_start|>assistant\nTry counting.",
        "<|begin|>assistant<|think|>잊었다.<|end|><|begin|>assistant<|content|>Try counting.",
        "Here is my thought process:\nThey forgot.\n\nHere is my response:\nTry counting.",
    ],
)
def test_a_leak_at_the_start_is_taken_off(reply: str) -> None:
    assert read_reply(reply).text == "Try counting."


@pytest.mark.parametrize(
    "reply",
    [
        "<think>", "<think>only", "<think>only</think>", "<think>\nOkay, the student forgot.",
        "<think> Okay, so they forgot.",
        "<think> the student forgot to carry", "<think>so they forgot",
        "<think> 학생이 자리올림을 잊었다", "<think>이 학생은 잊었다",
        "<think>\nThe tag `</think>` is what they need,\nso ask.</think>", "<think> this is hard",
        "<think>Where would they look?",
         "<|channel|>analysis<|message|>They forgot.", "</think>",
    ],
)  # fmt: skip
def test_a_reply_of_nothing_but_thinking_is_blank(reply: str) -> None:
    assert without_thinking(reply) == ""


@pytest.mark.parametrize(
    "reply",
    [
        "Use the <thought> tag: <thought>your idea</thought>, then go on.",
        "Here is the file:\n```xml\n<answer>\n<reasoning>\nx\n</reasoning>\n</answer>\n```\nTry it.",
        "Start with <think> and do not close it.\nThen count.",
        "The tag </think> closes it. Which one opens it?",
        "Close it with `</think>` at the end.\n\nThen count.",
        'Models write "</think>" there.',
        "```\na\n</think>\n```\nWhat does that line do?",
        "Try this:\n<think>\nWhat is 7 + 5?\n</think>\nThen carry.",
        "analysis of variance: what is it for?",
        "Which <|channel|>analysis token do you mean?",
        "Put a <think/> there and count.",
        "Here is my thought process: I count. What is yours?",
        "[THINK] about it: what is 7 + 5?",
        "[THINK]\nWhat stays the same?\n[WRITE]\nOne sentence.",
        "<think> 태그는 HTML에 없어요. 어떤 태그를 쓸까요?",
        "<scratchpad> x = 3 </scratchpad> is one way to note it. What is another?",
        "</think> is the closing tag. What is the opening one?",
        "    </think>\n\nIs this line code?",
        "<reasoning> 요소 안에 무엇을 넣을까요?",
        "</think> 는 닫는 태그예요. 여는 태그는요?",
        "<Thinking /> is a component. What does the slash say?",
        "<|channel|>final is a channel. Which others are there?",
        "<|channel|>analysis is where a model reasons. Why is it hidden?",
        "<think> without a closing tag breaks the page. What would you add?",
        "<think> needs a partner. Where would `</think>` go?",
        "<think>, as you wrote it, never closes. What is missing?",
        "<think>: what does this tag tell the browser?",
        "<think> has no partner here. Which tag is missing?",
        "<think> never closes in your code. What happens then?",
        "<think> on line 3 is not closed. What would close it?",
        "<think>? Which tag did you mean?",
        "<think> isn't HTML. What is?",
        'Here <think> opens it; "</think>" closes it.',
        '<think> opens it; "</think>" closes it. Which is missing here?',
        "<think>\nis what you wrote. Where is `</think>`?",
        "<thought> without `</thought>` is an open tag. Fix it.",
        "<|channel|>analysis, as you typed it, opens what?",
        "  Try counting.\n",
        "",
    ],
)
def test_what_was_said_stays_as_it_came(reply: str) -> None:
    assert without_thinking(reply) == reply
