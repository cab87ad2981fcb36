"""How a tiny model is asked: it continues a text that already shows twice what is wanted.

Chat templates fail at 135 million parameters. Each form is a fixed beginning (a file in ``prompts/``, the same
bytes in every call, so that the server's prefix cache holds it), then this dialogue, then the name of who speaks
next. A grammar keeps the reply in shape: a Socratic reply is one question, a plain one is one or two statements,
a verdict comes after its comparison.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, cast

from gateway.prompt import Prompt, Schema
from runstore.records import Utterance

Form = Literal["student", "socratic", "plain", "judge", "json", "text"]
LONGEST_STRING = 80

_ACTS: dict[str, str] = {
    "follow_up": "asks a follow-up question",
    "clarification": "asks what was meant",
    "new_question": "asks a new question",
    "irrelevant_question": "asks about something else",
    "right_answer": "gives a right answer",
    "wrong_answer": "gives a wrong answer",
}
_ANSWERS = frozenset({"right_answer", "wrong_answer"})

_SOCRATIC = r"""root ::= " " (direct | given) "?"
direct ::= ("What" | "How" | "Why" | "Which" | "Where") " " [a-z] words [a-z0-9)]
words ::= [^\n?.!:;,"]{12,100}
given ::= ("If" | "When" | "Suppose") " " [a-z] part [a-z0-9)] ", " asks " " part [a-z0-9)]
part ::= [^\n?.!:;,"]{8,64}
asks ::= "what" | "how" | "which" | "why" | "where" | "could" | "would"
"""
_PLAIN = r"""root ::= " " first " " rest "." (" " [A-Z] rest ".")?
first ::= "The" | "A" | "An" | "Each" | "It" | "This" | "Because" | "Every" | "Both" | "You"
rest ::= [^\n?.!:;"]{16,100} [a-z0-9)]
"""
_STUDENT_ASKS = r"""root ::= " " ("What" | "How" | "Why" | "Does" | "Is" | "Do" | "Can" | "Could") " " words "?"
words ::= [^\n?.!:;,"]{8,96} [a-z0-9)]
"""
_STUDENT_ANSWERS = r"""root ::= " " first " " words "."
first ::= "The" | "It" | "Because" | "I think" | "Maybe" | "You" | "They" | "A"
words ::= [^\n?.!:;,"]{8,96} [a-z0-9)]
"""
_JUDGE = r"""root ::= " A " part ", B " part ".\nBetter: " [ABC]
part ::= [^\n#.!?",]{6,34}
"""
_VERDICT = re.compile(r"\s*(A .{1,77}\.)\nBetter: ([ABC])\s*", re.DOTALL)
_PREFIX = re.compile(r"^(?:(?:Student|Teacher)(?: [AB])?(?: \([^)]*\))?:\s*)+")
_SENTENCE_END = re.compile(r"[.!?…][\"')\]]*(?=\s|$)")
_HANGUL = re.compile("[\uac00-\ud7a3]")


@dataclass(frozen=True, slots=True)
class Question:
    """What the model is to continue, and what keeps the continuation in shape."""

    form: Form
    text: str
    grammar: str | None = None
    schema: dict[str, Any] | None = None


def ask(prompt: Prompt, style: str | None) -> Question:
    """The few-shot form of a prompt. ``style`` is the endpoint's own; else the prompt's, else simple."""
    if prompt.role == "student":
        return _student(prompt)
    if prompt.role == "teacher":
        return _teacher(prompt, style or prompt.fields.get("style") or "simple")
    if prompt.role == "judge":
        return _judge(prompt)
    return _other(prompt)


def _student(prompt: Prompt) -> Question:
    act = prompt.fields.get("act", "")
    label = f"Student ({_ACTS[act]}):" if act in _ACTS else "Student:"
    grammar = _STUDENT_ANSWERS if act in _ANSWERS else _STUDENT_ASKS if act in _ACTS else None
    if wanted := prompt.fields.get("words"):
        asks = act not in _ANSWERS if act in _ACTS else prompt.fields.get("asks") == "yes"
        grammar = _of_length(int(wanted), asks=asks, ends=prompt.fields.get("ends"))
    return Question(
        "student", _beginning("student") + _topic(prompt) + _dialogue(prompt.transcript) + label, grammar
    )


def _of_length(words: int, *, asks: bool, ends: str | None) -> str:
    """A grammar of about so many words: the only way in which so small a model keeps to a length."""
    least, most = max(0, round(0.7 * words) - 1), max(0, round(1.3 * words) - 1)
    first = '("What" | "How" | "Why" | "Does" | "Is" | "Do" | "Can")' if asks and words > 2 else "word"
    end = '"?"' if asks else '""' if ends == "no" else '"."'
    return f"""root ::= " " {first} (" " word){{{least},{most}}} {end}
word ::= [a-zA-Z0-9'-]{{1,16}}
"""


def _teacher(prompt: Prompt, style: str) -> Question:
    form: Form = "plain" if style == "plain" else "socratic"
    text = _beginning(f"teacher_{form}") + _topic(prompt) + _dialogue(prompt.transcript) + "Teacher:"
    return Question(form, text, _PLAIN if form == "plain" else _SOCRATIC)


def _judge(prompt: Prompt) -> Question:
    """Judged on the student's last utterance alone: the whole history would cost more than it helps this model."""
    last = [utterance for utterance in prompt.transcript if utterance.role == "student"][-1:]
    text = (
        _beginning("judge")
        + _topic(prompt)
        + _dialogue(last)
        + f"Teacher A: {_line(prompt.fields.get('response_a', ''))}\n"
        + f"Teacher B: {_line(prompt.fields.get('response_b', ''))}\n"
    )
    if prompt.schema is not None:
        return Question("json", f"{text}As JSON:", schema=bounded(prompt.schema))
    return Question("judge", f"{text}Comparison:", _JUDGE)


def _other(prompt: Prompt) -> Question:
    """No form of its own: the messages one after the other, as they are."""
    text = "\n\n".join(message.content for message in prompt.messages)
    if prompt.schema is not None:
        return Question("json", f"{text}\n\nAs JSON:", schema=bounded(prompt.schema))
    return Question("text", f"{text}\n\nAnswer:")


@cache
def _beginning(name: str) -> str:
    text = files("gateway.local_model").joinpath("prompts", f"{name}.txt").read_text("utf-8")
    return text.rstrip() + " "


def _topic(prompt: Prompt) -> str:
    topic = re.sub(r"[_-]+", " ", _line(prompt.fields.get("topic", "")))
    return f"{topic or 'computer science'}\n"


def _dialogue(utterances: Iterable[Utterance]) -> str:
    return "".join(f"{utterance.role.capitalize()}: {_line(utterance.text)}\n" for utterance in utterances)


def _line(text: str) -> str:
    """On one line: what a speaker says cannot open a line of its own and so speak for another."""
    return " ".join(text.split())


def is_korean(prompt: Prompt) -> bool:
    said = [utterance.text for utterance in prompt.transcript]
    return any(_HANGUL.search(text) for text in said or [message.content for message in prompt.messages])


def bounded(schema: Schema) -> dict[str, Any]:
    """The schema with a bound on every free text: a tiny model that may ramble never comes to the end."""
    copy = deepcopy(schema.schema)
    _bound(copy)
    return copy


def _bound(node: Any) -> None:
    if isinstance(node, dict):
        part = cast("dict[str, Any]", node)
        if part.get("type") == "string" and not {"enum", "const", "maxLength"} & part.keys():
            part["maxLength"] = LONGEST_STRING
        for value in part.values():
            _bound(value)
    elif isinstance(node, list):
        for value in cast("list[Any]", node):
            _bound(value)


def room_for(schema: Any) -> int:
    """Tokens that an answer following the schema may need: names, signs, and bounded texts."""
    if isinstance(schema, list):
        return sum(room_for(item) for item in cast("list[Any]", schema))
    if not isinstance(schema, dict):
        return 0
    node = cast("dict[str, Any]", schema)
    own = 12 + (40 if node.get("type") == "string" and "enum" not in node else 0)
    return own + sum(room_for(value) for value in node.values() if isinstance(value, (dict, list)))


def read(form: str, text: str, *, cut: bool) -> str:
    """The reply out of what the model wrote. ``cut``: it had to stop at its limit."""
    if form == "judge":
        match = _VERDICT.fullmatch(text)
        return text.strip() if match is None else f"{match[1]}\n### ({match[2].lower()})"
    if form in ("json", "text"):
        return text.strip()
    said = _PREFIX.sub("", text.strip())
    return _whole_sentences(said) if cut else said


def _whole_sentences(text: str) -> str:
    """Up to the end of the last full sentence; all of it where there is none."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    return text[: ends[-1]] if ends else text
