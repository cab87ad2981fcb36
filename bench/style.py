"""What steering does to the embedded model's students.  python bench/style.py [--dialogues N] [PART ...]

style   distance from the profile of people, unsteered and steered, at the same number of calls a message
acts    planned acts that are realised, by the rules that check them, unchecked and checked

The teacher's lines are fixed, so that only the student is asked. Every arm asks for three messages a turn; the
unsteered one uses the first of them.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import seed_questions
from gateway.engine import Gateway
from gateway.prompt import Answer, Prompt
from personas import assign, generate
from runstore.ids import pick
from runstore.records import Dialogue
from simulator.conversation import Conversation, converse
from simulator.realism.distance import realism
from simulator.realism.held_against import held_against
from simulator.realism.talk import talk_of
from simulator.roles import Roles
from simulator.style.profile import load
from simulator.style.steering import Directions, Steering

PROFILE = load("people", "en")
CANDIDATES = 3
TEACHER = (
    "What happens in the very first step?",
    "Which part of that are you sure about?",
    "What would change if the input were twice as long?",
    "Can you give one small example of it?",
    "Why does that hold in general?",
)


class FirstOf(Steering):
    """Asks for as many, tells nothing, and uses the first."""

    def choose(self, texts, language, wanted, spot):  # noqa: ARG002
        return 0


def arm(**how: bool) -> Steering:
    kind = FirstOf if how.pop("first", False) else Steering
    return kind(PROFILE, Directions.load("en"), candidates=CANDIDATES, **how)


ARMS = {
    "unsteered": arm(tells=False, types=False, first=True),
    "nearest of three": arm(tells=False, types=False),
    "told, first of three": arm(tells=True, types=False, first=True),
    "told, nearest of three": arm(tells=True, types=False),
    "told, nearest of three, typed": arm(tells=True, types=True),
}


async def hold_all(gateway: Gateway, how: Conversation, dialogues: int) -> tuple[list[Dialogue], int]:
    calls = 0

    async def ask(endpoint: str, prompt: Prompt, *, repeat: int = 0, stage: str = "", item: str = "") -> Answer:
        nonlocal calls
        if endpoint == "teacher":
            return Answer(pick(TEACHER, 1, item, len(prompt.transcript)))
        calls += 1
        return await gateway.ask(endpoint, prompt, repeat=repeat, stage=stage, item=item)

    people = generate()
    questions = seed_questions.load(seed_questions.path_of_bank(seed_questions.DEFAULT))
    roles = Roles.load()
    cast = assign(people, questions, dialogues, 7)
    held = await asyncio.gather(
        *(converse(ask, who, question, how, roles, place=at) for at, (who, question) in enumerate(cast))
    )
    return [one.dialogue for one in held], calls


def realism_of(dialogues: list[Dialogue]) -> float:
    return realism(list(map(talk_of, dialogues)), "en", 0.5, 7)["distance"]


async def style(gateway: Gateway, dialogues: int) -> None:
    print(f"profile 'people': {dialogues} dialogues of 4 turns, {CANDIDATES} messages asked for each used")
    heads = " ".join(f"{head:>11}" for head in ("words", "?", "ends", "lower"))
    print(f"{'arm':32} {'calls':>6} {'distance':>11} {heads} {'realism':>8}")
    first = None
    for name, steering in ARMS.items():
        held, calls = await hold_all(gateway, conversation(steering), dialogues)
        found = held_against(PROFILE, list(map(talk_of, held)), "en")
        assert found.distance is not None and found.words is not None
        first = first or found.distance
        shown = [f"{found.words.value:.0f} of {found.words.target:.0f}"]
        shown += [
            f"{beside.value:.2f} of {beside.target:.2f}"
            for trait, beside in found.traits.items()
            if trait != "thanks"
        ]
        cells = " ".join(f"{cell:>11}" for cell in shown)
        ratio = found.distance / first
        print(
            f"{name:32} {calls:6} {found.distance:5.2f} ({ratio:.0%}) {cells} {realism_of(held):8.2f}", flush=True
        )


def conversation(steering: Steering | None, **how: object) -> Conversation:
    plain = Conversation(student="student", teacher="teacher", turns=4, steering=steering, seed=7, stays=True)
    return replace(plain, **how)


async def acts(gateway: Gateway, dialogues: int) -> None:
    print(f"planned acts: {dialogues} dialogues of 4 turns")
    one = replace(ARMS["unsteered"], candidates=1)
    arms = {
        "one message, not asked again": conversation(one, acts="planned", act_retries=0),
        "one message, asked again twice": conversation(one, acts="planned", act_retries=2),
        "best of three, asked again twice": conversation(
            ARMS["told, nearest of three, typed"], acts="planned", act_retries=2
        ),
    }
    for name, how in arms.items():
        held, calls = await hold_all(gateway, how, dialogues)
        found = Counter(said.realised for each in held for said in each.utterances if said.realised)
        again = sum(each.notes.get("act_asked_again", 0) for each in held)
        total = found.total()
        print(f"{name:32} {calls:5} calls, asked again {again:3}: done {found['yes']} of {total} "
              f"({found['yes'] / total:.0%}), missed {found['no']} ({found['no'] / total:.0%}), "
              f"rules can't tell {found['unknown']}", flush=True)  # fmt: skip


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["style", "acts"])
    parser.add_argument("--dialogues", type=int, default=32)
    args = parser.parse_args()
    async with Gateway.open({"student": {"kind": "local", "concurrency": 4, "temperature": 0.9}}) as gateway:
        for part in args.parts:
            await {"style": style, "acts": acts}[part](gateway, args.dialogues)


if __name__ == "__main__":
    asyncio.run(main())
