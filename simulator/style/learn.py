"""A style profile counted from transcripts: aggregates only, never a text, a name or an id.

A turn has a row of quantiles of its own where there are :data:`FEWEST` messages; the rest share the last one's.
Quantiles are type 7 (linear) at a few fixed probabilities, none of them an end: no single message stands out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from runstore.languages import words as words_of
from runstore.problems import Problem
from runstore.publish import has_visible
from runstore.records import Language
from runstore.tables.talks import Talked
from simulator.style.profile import Share, StyleProfile, WordsByTurn
from simulator.style.traits import TRAITS, Trait, is_cased, typed

FEWEST = 20
LATEST_TURN = 6
_PROBABILITIES: tuple[float, ...] = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)


def messages_of(talks: Iterable[Talked]) -> list[str]:
    """What students said after their openers, each text once."""
    return list(dict.fromkeys(text for talk in talks for turn, text in _student(talk) if turn > 1))


def learn(talks: Sequence[Talked], language: Language, source: str) -> StyleProfile:
    """The profile of the students in these conversations, their openers counted by themselves.

    Raises Problem for fewer than :data:`FEWEST` messages after openers.
    """
    by_turn: dict[int, list[int]] = {}
    hits: dict[Trait, int] = dict.fromkeys(TRAITS, 0)
    total = 0
    for talk in talks:
        for turn, text in _student(talk):
            typing = typed(text, language)
            by_turn.setdefault(min(turn, LATEST_TURN), []).append(typing.words)
            if turn > 1:
                total += 1
                for trait in typing.traits:
                    hits[trait] += 1
    if total < FEWEST:
        raise Problem(f"found {total} messages of students after their openers, expected {FEWEST} at least")
    shares: dict[Trait, Share | None] = {trait: round(hits[trait] / total, 3) for trait in TRAITS}
    reasons: dict[str, str] = {"typo": "told by a list of common slips: a floor"}
    if not is_cased(language):
        shares["lower_case_start"] = None
        reasons["lower_case_start"] = "this language has no lower case"
    return StyleProfile(
        language=language,
        source=source,
        utterances=total,
        dialogues=len(talks),
        words=tuple(_words(by_turn)),
        shares=shares,
        reasons=reasons,
    )


def _student(talk: Talked) -> Iterable[tuple[int, str]]:
    own = [message.text for message in talk.messages if message.role == "student"]
    return [(turn, text) for turn, text in enumerate(own, 1) if has_visible(text)]


def _words(by_turn: dict[int, list[int]]) -> Iterable[WordsByTurn]:
    """A row a turn with enough messages; the rest count in the row before."""
    turns = sorted(by_turn)
    rows: list[tuple[int, list[int]]] = []
    for turn in turns:
        if rows and rows[-1][0] > 1 and (len(by_turn[turn]) < FEWEST or len(rows[-1][1]) < FEWEST):
            rows[-1][1].extend(by_turn[turn])
        elif turn > 1 or len(by_turn[turn]) >= FEWEST:
            rows.append((turn, list(by_turn[turn])))
    for turn, lengths in rows:
        values = np.quantile(lengths, _PROBABILITIES)
        quantiles = {at: round(float(value), 1) for at, value in zip(_PROBABILITIES, values, strict=True)}
        yield WordsByTurn(turn=turn, utterances=len(lengths), quantiles=quantiles)


def language_of(talks: Sequence[Talked]) -> Language:
    """The language most of the students' letters are of."""
    import re

    from runstore.languages import languages

    text = "".join(message.text for talk in talks[:200] for message in talk.messages if message.role == "student")
    counts = {code: len(re.findall(words_of("simulator", "style", code)("native"), text)) for code in languages()}
    return max(counts, key=lambda code: counts[code])
