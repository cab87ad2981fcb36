"""Steering one message: its target, what the model is told of it, and which of its candidates is used how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gateway import prompts
from runstore.ids import draw
from runstore.records import Act, Language, Steered
from simulator.style.choose import nearest
from simulator.style.profile import StyleProfile
from simulator.style.target import Spot, Target, target
from simulator.style.traits import Trait, is_cased
from simulator.style.typing import free_traits, retyped

EXAMPLES = 3
_ASKING = frozenset({"follow_up", "clarification", "new_question", "irrelevant_question"})
_ANSWERING = frozenset({"right_answer", "wrong_answer"})


@dataclass(frozen=True, slots=True)
class Directions:
    """The texts of one language that tell a model how to type."""

    whole: prompts.PromptFile
    marks: Mapping[str, str]
    hashes: Mapping[str, str]

    @classmethod
    def load(cls, language: Language = "en", folder: Path | None = None) -> Directions:
        """The shipped texts, or the user's own out of ``folder``. Raises Problem, InputProblem."""
        whole = prompts.load("simulator", "student_style", language, folder)
        table = prompts.load_table("simulator", "student_style_marks", language, folder)
        return cls(
            whole, table.texts, {f"{prompt.name}.{prompt.language}": prompt.hash for prompt in (whole, table)}
        )


@dataclass(frozen=True, slots=True)
class Steering:
    """How students are brought to type as a profile says.

    ``candidates``: of how many messages the nearest is used; ``tells``: whether a model is told the target;
    ``types``: whether case, full stop and slips are set by code; ``examples``: messages of people, the user's own;
    ``typos``: a share of slips in place of the profile's.
    """

    profile: StyleProfile
    directions: Directions
    candidates: int = 1
    tells: bool = True
    types: bool = True
    examples: Sequence[str] = ()
    typos: float | None = None
    copied: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "copied", frozenset(_folded(text) for text in self.examples))

    def target(self, levels: Mapping[str, str], spot: Spot, act: Act | None) -> Target:
        """What a message is to look like. A planned act settles whether it asks."""
        extra: dict[Trait, float] = {"typo": self.typos} if self.typos is not None else {}
        if act in _ASKING:
            extra["question_mark"] = 1.0 if self.profile.shares.get("question_mark") is not None else 0.0
        elif act in _ANSWERING and self.profile.shares.get("question_mark") is not None:
            extra["question_mark"] = 0.0
        wanted = target(self.profile, levels, spot, extra)
        return wanted if act is None else wanted.without("question_mark")

    def told(self, wanted: Target, spot: Spot) -> str | None:
        """What the model is told; None where it is told nothing."""
        if not self.tells and not self.examples:
            return None
        parts: list[str] = []
        if self.tells:
            length = "one_word" if wanted.words == 1 else "words"
            parts.append(self.directions.marks[length].replace("{words}", str(wanted.words)))
            said = [f"{trait}.{'yes' if has else 'no'}" for trait, has in wanted.traits.items()]
            parts += [self.directions.marks[name] for name in said if name in self.directions.marks]
        return self.directions.whole.fill(marks=" ".join(parts), examples=self._shown(wanted, spot))

    def fields(self, wanted: Target) -> dict[str, str]:
        """The same in pieces, for endpoints with a form of their own."""
        if not self.tells:
            return {}
        marks = {trait: "yes" if has else "no" for trait, has in wanted.traits.items()}
        pieces = {"asks": marks.get("question_mark"), "ends": marks.get("ends_sentence")}
        return {"words": str(wanted.words), **{name: value for name, value in pieces.items() if value}}

    def _shown(self, wanted: Target, spot: Spot) -> str:
        if not self.examples:
            return ""
        ranked = sorted(
            self.examples,
            key=lambda text: (
                abs(len(text.split()) - wanted.words) > 3,
                draw(spot.seed, "example", spot.dialogue, spot.turn, text),
            ),
        )
        quoted = " ".join(f"“{' '.join(text.split())}”" for text in ranked[:EXAMPLES])
        return self.directions.marks["examples"].replace("{examples}", quoted)

    def is_copied(self, text: str) -> bool:
        """Whether a message is an example, letter for letter but for case and space."""
        return _folded(text) in self.copied

    def choose(self, texts: Sequence[str], language: Language, wanted: Target, spot: Spot) -> int:
        """The place of the candidate to use, copies of examples last."""
        own = [at for at, text in enumerate(texts) if not self.is_copied(text)] or list(range(len(texts)))
        free = free_traits(language, wanted) if self.types else ()
        return own[nearest([texts[at] for at in own], language, wanted, spot, free)]

    def typed(
        self, text: str, language: Language, wanted: Target, spot: Spot, *, of: int, chosen: int
    ) -> tuple[str, str | None, Steered]:
        """The message as it is typed, the clean text where that is another, and what was steered."""
        result, edits = retyped(text, language, wanted, spot) if self.types else (text, ())
        traits = {
            trait: has for trait, has in wanted.traits.items() if trait != "lower_case_start" or is_cased(language)
        }
        record = Steered(words=wanted.words, traits=traits, of=of, chosen=chosen, edits=edits)
        return result, (text if edits else None), record


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
