"""How varied students are, at lengths that can be compared, and how evenly the design came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from typing import Any

import numpy as np

from runstore.ids import draw, draw_seed
from runstore.records import Dialogue
from simulator.realism.near import near_pairs
from simulator.realism.profile import distinct
from simulator.realism.talk import Talk, ngrams, plain_words

MATCHED = 500
ORDERS = 20
NEAR_OPENERS = 0.6
FIRST_WORDS = 30


def diversity(talks: Sequence[Talk], seed: int) -> dict[str, Any]:
    """Distinct-n as it is and at a fixed number of n-grams, openers, and how alike the students' texts are."""
    texts = [said.text for talk in talks for said in talk.said]
    return {
        "distinct": {str(n): _distinct(texts, n, seed) for n in (1, 2, 3)},
        "openers": _openers(talks),
        "self_similarity": _self_similarity(talks, seed),
    }


def _distinct(texts: Sequence[str], n: int, seed: int) -> dict[str, Any]:
    """``matched``: the mean over drawn orders of the utterances, of the first :data:`MATCHED` n-grams alone."""
    grams = [ngrams(plain_words(text), n) for text in texts]
    total = sum(map(len, grams))
    row: dict[str, Any] = {"all": distinct(texts, n), "ngrams": total, "matched_at": MATCHED}
    if total < MATCHED:
        return {**row, "matched": None, "reason": f"{total} n-grams, {MATCHED} needed"}
    generator = np.random.default_rng(draw_seed(seed, "distinct", n))
    shares = [len(set(_first(grams, generator.permutation(len(grams)).tolist()))) / MATCHED for _ in range(ORDERS)]
    return {**row, "matched": float(np.mean(shares)), "reason": None}


def _first(grams: Sequence[list[tuple[str, ...]]], order: Sequence[int]) -> list[tuple[str, ...]]:
    taken: list[tuple[str, ...]] = []
    for at in order:
        taken += grams[at]
        if len(taken) >= MATCHED:
            break
    return taken[:MATCHED]


def _openers(talks: Sequence[Talk]) -> dict[str, Any]:
    """Openers by text: how many differ, how many dialogues share one, which different ones are nearly the same."""
    by_text: dict[str, list[str]] = {}
    for talk in talks:
        by_text.setdefault(" ".join(plain_words(talk.opener)), []).append(talk.id)
    texts = sorted(by_text)
    near = near_pairs([frozenset(ngrams(text.split(), 2)) for text in texts], NEAR_OPENERS, 3)
    return {
        "dialogues": len(talks),
        "questions": len({talk.dialogue.question for talk in talks}),
        "different": len(texts),
        "shared": sum(len(alike) for alike in by_text.values() if len(alike) > 1),
        "near_duplicates": [
            {"dialogues": [by_text[texts[one]][0], by_text[texts[other]][0]], "similarity": similarity}
            for one, other, similarity in near
        ],
    }


def _self_similarity(talks: Sequence[Talk], seed: int) -> dict[str, Any]:
    """Mean cosine between two students' first :data:`FIRST_WORDS` words (drawn order of utterances), each word
    once; of all pairs of dialogues, and of pairs with the same persona."""
    spoken: list[tuple[str, list[str]]] = []
    for talk in talks:
        order = sorted(talk.said, key=lambda said: draw(seed, "similar", talk.id, said.turn))
        words = [word for said in order for word in plain_words(said.text)]
        if len(words) >= FIRST_WORDS:
            spoken.append((talk.dialogue.persona, words[:FIRST_WORDS]))
    row: dict[str, Any] = {"dialogues": len(spoken), "of": len(talks), "words": FIRST_WORDS}
    if len(spoken) < 2:
        reason = f"{len(spoken)} dialogues with {FIRST_WORDS} words of the student, 2 needed"
        return {**row, "all": None, "same_persona": None, "reason": reason}
    personas: dict[str, list[list[str]]] = {}
    for persona, words in spoken:
        personas.setdefault(persona, []).append(words)
    own = [_pair_sum(group) for group in personas.values() if len(group) > 1]
    pairs = sum(count for _, count in own)
    total, count = _pair_sum([words for _, words in spoken])
    same = sum(value for value, _ in own) / pairs if pairs else None
    return {**row, "all": total / count, "same_persona": same, "reason": None}


def _pair_sum(texts: Sequence[list[str]]) -> tuple[float, int]:
    """Sum of cosines over pairs, and their number: |sum of unit vectors| squared holds every pair twice."""
    total: Counter[str] = Counter()
    for words in texts:
        weight = 1 / np.sqrt(len(set(words)))
        for word in set(words):
            total[word] += weight
    n = len(texts)
    return (float(sum(value**2 for value in total.values())) - n) / 2, n * (n - 1) // 2


class Balance:
    """Dialogues per persona, subject, and persona with subject, counted as they come."""

    def __init__(self) -> None:
        self._pairs, self._levels = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        self._questions: dict[str, set[str]] = {}

    def add(self, dialogue: Dialogue) -> None:
        self._pairs[dialogue.persona, dialogue.subject] += 1
        self._levels.update(dialogue.levels.items())
        self._questions.setdefault(dialogue.subject, set()).add(dialogue.question)

    def result(self) -> dict[str, Any]:
        """``spread`` is the most minus the fewest."""
        pairs, personas, subjects = self._pairs, Counter[str](), self._subjects()
        for (persona, _), times in pairs.items():
            personas[persona] += times
        return {
            "personas": dict(sorted(personas.items())),
            "subjects": dict(sorted(subjects.items())),
            "levels": {
                factor: {level: times for (name, level), times in sorted(self._levels.items()) if name == factor}
                for factor in sorted({factor for factor, _ in self._levels})
            },
            "persona_by_subject": {
                persona: {subject: pairs[persona, subject] for subject in sorted(subjects)}
                for persona in sorted(personas)
            },
            "spread": {
                "personas": _spread(list(personas.values())),
                "subjects": _spread(list(subjects.values())),
                "persona_by_subject": _spread([pairs[who, other] for who in personas for other in subjects]),
            },
        }

    def topics(self, known: Mapping[str, int]) -> dict[str, Any]:
        """How much of the bank of questions was spoken of, and how evenly. ``known``: its questions by subject.

        ``evenness`` is Pielou's: the entropy of dialogues over subjects by its maximum; 1 for one subject.
        """
        subjects = self._subjects()
        total, questions = subjects.total(), sum(map(len, self._questions.values()))
        entropy = -sum(times / total * log(times / total) for times in subjects.values()) if total else 0.0
        of_questions = sum(known.values())
        return {
            "subjects": len(subjects),
            "of_subjects": len(known) or None,
            "questions": questions,
            "of_questions": of_questions or None,
            "coverage": len(subjects.keys() & known.keys()) / len(known) if known else None,
            "evenness": None if not total else entropy / log(len(subjects)) if len(subjects) > 1 else 1.0,
            "reason": None if known else "the bank of questions is not known",
        }

    def _subjects(self) -> Counter[str]:
        subjects = Counter[str]()
        for (_, subject), times in self._pairs.items():
            subjects[subject] += times
        return subjects


def balance(talks: Sequence[Talk]) -> dict[str, Any]:
    """How evenly dialogues came out over personas and subjects."""
    counted = Balance()
    for talk in talks:
        counted.add(talk.dialogue)
    return counted.result()


def _spread(counts: Sequence[int]) -> int | None:
    return max(counts) - min(counts) if counts else None
