"""Dialogues in which something went wrong, by kind. Each detector is a rule that says where it struck.

A dialogue counts once for each kind, however often it struck. Rates are of all dialogues, with Wilson's interval.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

from runstore.languages import languages
from runstore.publish import has_visible
from runstore.records import Dialogue, Utterance
from simulator.realism import phrases
from simulator.realism.near import near_pairs
from simulator.realism.talk import Talk, ngrams, plain_words

Places = Iterable[int]
LEAKED_WORDS: Mapping[str, int] = defaultdict(lambda: 8, ko=6)
"""How many words in a row are no accident; Korean packs more into a word."""
SAME = 0.8
FEWEST_PAIRS = 5
_EXCERPT = 120
LISTED = 1_000
"""Dialogues of a kind that are named; all are counted."""
_ROLE_NOTES = ("role_flip", "both_parts")

RULES: dict[str, str] = {
    "role_flip": (
        "a student talks as a teacher or assistant, a speaker has the other's name before a line, or reading had "
        "to take the other side's name or part away"
    ),
    "prompt_leak": (
        "words of the instructions, marks of a chat template, or a run of 8 words (Korean: 6) of a prompt or of "
        "the persona's text"
    ),
    "thinking_leak": "a thinking tag, or deliberation about how to answer, in speech",
    "loop": (
        "a speaker says the same again (4 words or more; shorter ones three times), or repeats words inside one "
        "utterance"
    ),
    "near_duplicate": (
        "a speaker nearly repeats an earlier utterance, or the students of two dialogues say nearly the same "
        "(80% of word pairs in common)"
    ),
    "thanks_run": "two student utterances in a row with thanks or goodbye, or three in all",
    "empty": "an utterance without a visible character, or an end for that reason",
    "refused": "a speaker refuses to answer, or the dialogue ended in a refusal or block",
    "premature_end": (
        "the dialogue broke off, or a student whose persona is not meant to leave early left before half of the "
        "planned turns"
    ),
}


@dataclass(frozen=True)
class Material:
    """What detectors may know of a run: texts of ``prompts``, of ``personas`` by id, or why there are none.

    ``leaving``: the personas whose text has them give up early; ``subjects``: the bank's questions by subject;
    ``contradicts`` says how each utterance contradicts its student's state that does.
    """

    planned_turns: int
    prompts: Sequence[str] = ()
    personas: Mapping[str, str] = field(default_factory=dict[str, str])
    leaving: frozenset[str] = frozenset()
    subjects: Mapping[str, int] = field(default_factory=dict[str, int])
    prompts_reason: str | None = None
    contradicts: Callable[[Dialogue], Sequence[str]] | None = None


class Finder:
    """Failures counted dialogue by dialogue; of each kind the first :data:`LISTED` dialogues are kept by name."""

    def __init__(self, material: Material) -> None:
        self.material, self.of = material, 0
        self._shared = frozenset[tuple[str, ...]]().union(
            *(_runs(material.prompts, language) for language in languages())
        )
        self._known: dict[tuple[str, str], frozenset[tuple[str, ...]]] = {}
        self._found = {kind: _Found() for kind in RULES}
        self._detectors = self._all()

    def add(self, talk: Talk) -> bool:
        """One more dialogue; tells whether a speaker in it nearly repeats itself."""
        self.of += 1
        repeats = False
        for kind, detect in self._detectors.items():
            if places := sorted(set(detect(talk.dialogue))):
                self._found[kind].add(talk.dialogue, places)
                repeats = repeats or kind == "near_duplicate"
        return repeats

    def twins(self, names: Iterable[str]) -> None:
        """Dialogues that nearly repeat another one, and don't repeat themselves."""
        for name in names:
            self._found["near_duplicate"].add_name(name)

    def result(self) -> dict[str, dict[str, Any]]:
        """Per kind: count, of, rate and interval, the dialogues, where in them, and the rule."""
        return {kind: self._found[kind].counted(RULES[kind], self.of) for kind in RULES}

    def _all(self) -> dict[str, Callable[[Dialogue], Places]]:
        material = self.material
        return {
            "role_flip": _role_flip,
            "prompt_leak": lambda dialogue: _prompt_leak(dialogue, self._known_to(dialogue)),
            "thinking_leak": lambda dialogue: _matches(dialogue.utterances, phrases.THINKING),
            "loop": _loop,
            "near_duplicate": _near_duplicate,
            "thanks_run": _thanks_run,
            "empty": _empty,
            "refused": _refused,
            "premature_end": lambda dialogue: _premature_end(
                dialogue, 0 if dialogue.persona in material.leaving else material.planned_turns
            ),
        }

    def _known_to(self, dialogue: Dialogue) -> frozenset[tuple[str, ...]]:
        key = (dialogue.persona, dialogue.language)
        if key not in self._known:
            text = self.material.personas.get(dialogue.persona, "")
            self._known[key] = self._shared | _runs([text], dialogue.language)
        return self._known[key]


class _Found:
    """One kind of failure: how many dialogues, and the first of them by id, with where it struck."""

    def __init__(self) -> None:
        self.count = 0
        self._listed: dict[str, list[tuple[int, str]]] = {}

    def add(self, dialogue: Dialogue, places: Sequence[int]) -> None:
        self.add_name(dialogue.id, [(at, dialogue.utterances[at].text[:_EXCERPT]) for at in places])

    def add_name(self, name: str, where: Sequence[tuple[int, str]] = ()) -> None:
        self.count += 1
        self._listed[name] = list(where)
        if len(self._listed) >= 2 * LISTED:
            self._cut()

    def _cut(self) -> None:
        self._listed = {name: self._listed[name] for name in sorted(self._listed)[:LISTED]}

    def counted(self, rule: str, of: int) -> dict[str, Any]:
        from scipy.stats import binomtest

        self._cut()
        interval = binomtest(self.count, of).proportion_ci(method="wilson") if of else None
        return {
            "count": self.count,
            "of": of,
            "rate": self.count / of if of else None,
            "lower": float(interval.low) if interval else None,
            "upper": float(interval.high) if interval else None,
            "dialogues": list(self._listed),
            "where": [
                {"dialogue": name, "utterance": at, "text": text}
                for name, where in self._listed.items()
                for at, text in where
            ],
            "rule": rule,
        }


def failures(talks: Sequence[Talk], material: Material) -> dict[str, dict[str, Any]]:
    """The failures in these dialogues, by kind."""
    finder = Finder(material)
    repeating = {talk.id for talk in talks if finder.add(talk)}
    finder.twins(name for name in twins(talks) if name not in repeating)
    return finder.result()


def _matches(said: Sequence[Utterance], pattern: phrases.Phrases, role: str | None = None) -> list[int]:
    """Places where a pattern is found; the opener is not the model's and is never looked at."""
    return [at for at, each in enumerate(said) if at and role in (None, each.role) and pattern.search(each.text)]


def _last(dialogue: Dialogue) -> list[int]:
    """The place of something that has no utterance of its own."""
    return [len(dialogue.utterances) - 1] if dialogue.utterances else []


def _role_flip(dialogue: Dialogue) -> Places:
    said = dialogue.utterances
    places = _matches(said, phrases.TEACHER_TALK, "student") + _matches(said, phrases.TEACHER_NAME, "student")
    places += _matches(said, phrases.STUDENT_NAME, "teacher")
    return places or (_last(dialogue) if any(dialogue.notes.get(note) for note in _ROLE_NOTES) else [])


def _prompt_leak(dialogue: Dialogue, known: frozenset[tuple[str, ...]]) -> Places:
    size = LEAKED_WORDS[dialogue.language]
    for at, each in enumerate(dialogue.utterances):
        if not at:
            continue
        if phrases.PROMPT_WORDS.search(each.text) or not known.isdisjoint(ngrams(plain_words(each.text), size)):
            yield at


def _runs(texts: Iterable[str], language: str) -> frozenset[tuple[str, ...]]:
    return frozenset(run for text in texts for run in ngrams(plain_words(text), LEAKED_WORDS[language]))


def _loop(dialogue: Dialogue) -> Places:
    times: dict[tuple[str, str], int] = {}
    for at, each in enumerate(dialogue.utterances):
        words = plain_words(each.text)
        key = (each.role, " ".join(words))
        times[key] = times.get(key, 0) + 1
        if words and (times[key] > (1 if len(words) >= 4 else 2) or (at and stutters(words))):
            yield at


def stutters(words: Sequence[str]) -> bool:
    """Whether words come again at once: one word six times, two or three words four times, more three times."""
    for size in range(1, min(40, len(words) // 3) + 1):
        needed = 6 if size == 1 else 4 if size <= 3 else 3
        same = 0
        for at in range(len(words) - size):
            same = same + 1 if words[at] == words[at + size] else 0
            if same >= size * (needed - 1):
                return True
    return False


def _near_duplicate(dialogue: Dialogue) -> Places:
    for role in ("student", "teacher"):
        own = [at for at, each in enumerate(dialogue.utterances) if each.role == role]
        pairs = [_pairs(dialogue.utterances[at].text) for at in own]
        yield from (own[later] for _, later, _ in near_pairs(pairs, SAME, 3))


def twins(talks: Sequence[Talk]) -> list[str]:
    """Dialogues whose student says nearly the same, after the opener, as that of another one."""
    alike: dict[frozenset[tuple[str, ...]], list[str]] = {}
    for talk in talks:
        alike.setdefault(pairs_of(talk), []).append(talk.id)
    texts = [text for text in alike if len(text) >= FEWEST_PAIRS]
    near = {at for one, other, _ in near_pairs(texts, SAME) for at in (one, other)}
    return [name for at, text in enumerate(texts) if at in near or len(alike[text]) > 1 for name in alike[text]]


def pairs_of(talk: Talk) -> frozenset[tuple[str, ...]]:
    """The word pairs of all that a student says after the opener."""
    return frozenset(pair for said in talk.said for pair in _pairs(said.text))


@lru_cache(maxsize=256)
def _pairs(text: str) -> frozenset[tuple[str, ...]]:
    """Asked for twice of what a student says: beside its own other words, and beside those of all others."""
    return frozenset(ngrams(plain_words(text), 2))


def _thanks_run(dialogue: Dialogue) -> Places:
    """Other words in an utterance do not hide its thanks or goodbye, and do not end a run."""
    own = [at for at, each in enumerate(dialogue.utterances) if each.role == "student"]
    polite = [
        at
        for at in own[1:]
        if phrases.THANKS.search(dialogue.utterances[at].text)
        or phrases.FAREWELL.search(dialogue.utterances[at].text)
    ]
    in_a_row = [later for earlier, later in pairwise(own) if {earlier, later} <= set(polite)]
    return polite if len(polite) >= 3 else in_a_row


def _empty(dialogue: Dialogue) -> Places:
    blank = [at for at, each in enumerate(dialogue.utterances) if not has_visible(each.text)]
    return blank or (_last(dialogue) if dialogue.end == "empty student reply" else [])


def _refused(dialogue: Dialogue) -> Places:
    places = _matches(dialogue.utterances, phrases.REFUSALS)
    blocked = (dialogue.end_detail or "").startswith(("refused", "blocked"))
    return places or (_last(dialogue) if blocked else [])


def _premature_end(dialogue: Dialogue, planned: int) -> Places:
    left = dialogue.end == "student ended" and 2 * dialogue.turns < planned
    return _last(dialogue) if left or not dialogue.complete else []
