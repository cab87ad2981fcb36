"""A model that takes the quiz in the student's place: what it reads into the conversation is its own.

It is shown what the student knew at the cut, never what is true of what it lacks, and the conversation since. A
choice counts only with words of either that it rests on; without them the student does not know. Whether such a
student may carry verdicts is for the admission panel: prompted models learn from any feedback.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase

from arena.asking import Asked, Reading, ask_judge, fence
from arena.reading import read_integer, read_object
from arena.rubrics.evidence import quote_found
from gateway import prompts
from gateway.errors import CallFailed
from gateway.prompt import Ask, Message, Prompt, Schema
from knowledge.topic import Item, Option, Topic
from runstore.ids import hashed_number, shuffled
from runstore.records import Language, Utterance
from runstore.student_records import OWN_RATING, OptionOrder, QuizRow

DONT_KNOW = "?"
SHORTEST_SUPPORT = 4
_TEXT = {"type": "string"}
_CHOICE = Schema(
    "choice",
    {
        "type": "object",
        "properties": {"answer": _TEXT, "reason": {"type": ["string", "null"]}, "support": _TEXT},
        "required": ["answer", "reason", "support"],
        "additionalProperties": False,
    },
)
_RATING = Schema(
    "rating",
    {
        "type": "object",
        "properties": {"rating": {"type": "integer"}},
        "required": ["rating"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True, slots=True)
class Shown:
    """An item as it is put: its options and reasons under the marks they have here."""

    item: Item
    options: Mapping[str, Option]
    reasons: Mapping[str, Option]

    @classmethod
    def drawn(cls, item: Item, seed: int, order: OptionOrder, *place: str) -> Shown:
        """In the order that belongs to this place, or in the reverse of it; never a tutor's."""
        tiers: list[list[Option]] = []
        for at, tier in enumerate((item.options, item.reasons)):
            options = shuffled([(option.text, option) for option in tier], seed, "options", *place, item.id, at)
            tiers.append(options if order == "drawn" else options[::-1])
        numbers = (str(number) for number in range(1, len(tiers[1]) + 1))
        return cls(
            item, dict(zip(ascii_uppercase, tiers[0], strict=False)), dict(zip(numbers, tiers[1], strict=True))
        )


@dataclass(frozen=True, slots=True)
class Chosen:
    """Marks of an item's answer and reason, and the words they rest on."""

    answer: str
    reason: str | None
    support: str


@dataclass(frozen=True, slots=True)
class ModelStudent:
    """An endpoint that takes the quiz, and rates its tutor where that is wanted."""

    name: str
    seed: int
    text: prompts.PromptFile
    rating: prompts.PromptFile
    words: prompts.PromptTable
    takes: bool = True
    rates: bool = False

    @classmethod
    def load(
        cls,
        endpoint: str,
        seed: int,
        language: Language = "en",
        folder: Path | None = None,
        *,
        takes: bool = True,
        rates: bool = False,
    ) -> ModelStudent:
        """With the shipped prompts, or the user's own out of ``folder``. Raises Problem, InputProblem."""
        text, rating = (prompts.load("arena", name, language, folder) for name in ("quiz", "own_rating"))
        words = prompts.load_table("arena", "quiz_words", language, folder)
        return cls(endpoint, seed, text, rating, words, takes, rates)

    @property
    def hashes(self) -> dict[str, str]:
        """The prompt files that are used."""
        used = [*([self.text, self.words] if self.takes else []), *([self.rating] if self.rates else [])]
        return {f"{prompt.name}.{prompt.language}": prompt.hash for prompt in used}

    async def quiz(
        self,
        ask: Ask,
        topic: Topic,
        knew: Sequence[str],
        talk: Sequence[Utterance],
        *,
        leaf: str,
        place: tuple[str, ...],
        order: OptionOrder = "drawn",
    ) -> list[QuizRow]:
        """One call an item. ``knew``: what the student held at the cut; ``place``: what draws belong to.

        Raises CallFailed where an answer could not be had or read (nothing is made up), Stopped.
        """
        rows: list[QuizRow] = []
        for item in topic.items:
            shown = Shown.drawn(item, self.seed, order, *place)
            prompt = self.prompt(knew, talk, shown)
            asked = await ask_judge(
                ask, self.name, prompt, lambda raw, finish, at=shown: read_choice(at, raw, finish, talk),
                stage="student", item=f"{leaf}/{item.id}", repeat=hashed_number(*place),
            )  # fmt: skip
            rows.append(self._row(shown, _answered(self.name, asked), knew, talk, leaf, order))
        return rows

    async def rate(
        self, ask: Ask, talk: Sequence[Utterance], *, leaf: str, place: tuple[str, ...]
    ) -> list[QuizRow]:
        """What the student says of its tutor, 1 to 5: cheap talk, which decides nothing and so may be missing."""
        asked = await ask_judge(
            ask, self.name, self.rating_prompt(talk), lambda raw, finish: read_rating(raw, finish, talk),
            stage="student", item=f"{leaf}/{OWN_RATING}", repeat=hashed_number(*place),
        )  # fmt: skip
        given = asked.value if asked.state == "answered" else None
        return [QuizRow(leaf=leaf, item=OWN_RATING, answer=None if given is None else str(given))]

    def prompt(self, knew: Sequence[str], talk: Sequence[Utterance], shown: Shown) -> Prompt:
        """What is sent; no tutor's name is in it, and of the topic's truth only what the student holds."""
        dialogue = self._dialogue(talk)
        said = self.words.texts
        reasons = [f"{mark}. {option.text}" for mark, option in shown.reasons.items()]
        content = self.text.fill(
            card="\n".join(f"- {known}" for known in knew) or said["nothing_known"],
            dialogue=dialogue,
            fence=fence(dialogue),
            ask=shown.item.ask,
            answers="\n".join(f"{mark}. {option.text}" for mark, option in shown.options.items()),
            reasons="\n".join([self.words.texts["reasons"], *reasons])
            if reasons
            else self.words.texts["no_reasons"],
        )
        return Prompt(role="student", messages=(Message("user", content),), schema=_CHOICE)

    def rating_prompt(self, talk: Sequence[Utterance]) -> Prompt:
        """What is sent to have a tutor rated."""
        dialogue = self._dialogue(talk)
        content = self.rating.fill(dialogue=dialogue, fence=fence(dialogue))
        return Prompt(role="student", messages=(Message("user", content),), schema=_RATING)

    def _dialogue(self, talk: Sequence[Utterance]) -> str:
        return "\n".join(f"{self.words.texts[said.role]}: {said.text}" for said in talk if said.text)

    def _row(
        self,
        shown: Shown,
        chosen: Chosen,
        knew: Sequence[str],
        talk: Sequence[Utterance],
        leaf: str,
        order: OptionOrder,
    ) -> QuizRow:
        is_long = sum(character.isalnum() for character in chosen.support) >= SHORTEST_SUPPORT
        sources = (*knew, *(said.text for said in talk))
        is_found = is_long and any(quote_found(chosen.support, source) for source in sources)
        answer = shown.options.get(chosen.answer) if is_found else None
        reason = shown.reasons.get(chosen.reason or DONT_KNOW) if is_found else None
        is_right = answer is not None and answer.key and (not shown.reasons or (reason is not None and reason.key))
        return QuizRow(
            leaf=leaf,
            item=shown.item.id,
            p=float(is_right),
            answer=DONT_KNOW if answer is None else answer.text,
            reason=None if not shown.reasons else DONT_KNOW if reason is None else reason.text,
            support=chosen.support,
            found=is_found,
            misconception=answer.misconception if answer is not None else None,
            order=order,
        )


def read_choice(shown: Shown, raw: str, finish: str, talk: Sequence[Utterance] = ()) -> Reading[Chosen | None]:
    """A reply to one item. What names no mark of the item is unreadable, not a wrong answer."""
    reply = read_object(
        raw, finish=finish, keys=("answer", "reason", "support"), quoted=[said.text for said in talk]
    )
    if reply.value is None:
        return Reading(None, is_readable=False, reason=reply.reason)
    given, because, support = (reply.value.get(key, "") for key in ("answer", "reason", "support"))
    answer = _mark(given, shown.options)
    reason = _mark(DONT_KNOW if because is None else because, shown.reasons)
    if answer is None or (shown.reasons and reason is None) or not isinstance(support, str):
        return Reading(None, is_readable=False, reason=f"{given!r:.40} and {because!r:.40} are no marks of it")
    return Reading(Chosen(answer, reason, support), is_readable=True)


def _mark(given: object, marks: Collection[str]) -> str | None:
    """The mark that is meant, in whatever case, as a number, or with a bracket or stop."""
    bare = str(given).strip(" .:()[]").upper() if isinstance(given, str | int) else None
    return bare if bare in marks or bare == DONT_KNOW else None


def read_rating(raw: str, finish: str, talk: Sequence[Utterance] = ()) -> Reading[int | None]:
    """A rating from 1 to 5."""
    reply = read_object(raw, finish=finish, keys=("rating",), quoted=[said.text for said in talk])
    rating = read_integer((reply.value or {}).get("rating"), 1, 5).value
    return Reading(rating, is_readable=rating is not None, reason=reply.reason)


def _answered(name: str, asked: Asked[Chosen | None]) -> Chosen:
    if asked.failure is not None:
        raise asked.failure
    if asked.state != "answered" or asked.value is None:
        kind = "truncated" if asked.state == "cut off" else "unexpected"
        raise CallFailed(name, kind, f"no answer to an item: {asked.reason or asked.state}", 1, asked.raw)
    return asked.value
