"""A small dialogue that contestants continue, and the search for what would coach them in what they are sent."""

from __future__ import annotations

import contextlib
import json
import re

from arena import criteria
from gateway.prompt import Prompt
from runstore.records import Subset, Utterance
from simulator.roles import Roles

LANGUAGES = ("en", "ko")
HISTORIES = {
    "en": ("why is 0.999... one", "What is a third as a decimal?", "0.333..."),
    "ko": ("0.999...는 왜 1이에요?", "3분의 1을 소수로 쓰면요?", "0.333...이요"),
}
DOMAINS = {"en": "school mathematics", "ko": "중고등학교 수학"}
WORDS_IN_A_ROW = {"en": 5, "ko": 3}


def subset(language: str) -> Subset:
    said = tuple(
        Utterance(role="teacher" if n % 2 else "student", text=t) for n, t in enumerate(HISTORIES[language])
    )
    return Subset(
        id="s",
        dialogue="d",
        persona="p",
        question="q",
        subject="maths",
        language=language,
        cut=3,
        depth=2,
        history=said,
    )


def prompt_of(language: str) -> Prompt:
    roles = Roles.load(language, domain=DOMAINS[language])
    fields = {"dialogue_id": "d", "subset_id": "s", "topic": "maths"}
    return roles.teacher_prompt(subset(language).history, "simple", fields)


def leaked(sent: bytes | str, language: str) -> list[str]:
    """Names of criteria, and runs of words of what they ask, that stand in what was sent."""
    wire = sent.decode() if isinstance(sent, bytes) else sent
    with contextlib.suppress(ValueError):
        wire = json.dumps(json.loads(wire), ensure_ascii=False)
    words = " ".join(re.findall(r"\w+", wire.casefold()))
    size = WORDS_IN_A_ROW[language]
    found: list[str] = []
    for criterion in criteria.load(None, language):
        asked = re.findall(r"\w+", criterion.description.casefold())
        runs = {" ".join(asked[at : at + size]) for at in range(len(asked) - size + 1)}
        found += [run for run in sorted(runs) if run in words]
        found += [criterion.name] if criterion.name in wire else []
    return found
