"""Can somebody who sees only what a student wrote tell which level the student was given?

Multinomial naive Bayes (McCallum & Nigam 1998) on the words of one dialogue's student, opener left out, by
cross-validation; the figure is the mean recall of the levels, held against the same figure with the levels
dealt out at random among the dialogues.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runstore.ids import draw, draw_seed, shuffled
from simulator.realism.talk import Talk, plain_words

FOLDS = 5
PERMUTATIONS = 199
FEWEST_DIALOGUES, FEWEST_PER_LEVEL = 20, 5
MOST_DIALOGUES, MOST_WORDS = 1000, 1000
SMOOTHING = 0.5

Ints = NDArray[np.int64]
Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Documents:
    """One row a dialogue: ``words`` (D x V) tells which tokens are in it, ``folds`` (D) when it is held out."""

    talks: list[Talk]
    words: Matrix
    folds: Ints


def documents_of(talks: Sequence[Talk], seed: int) -> Documents:
    """At most :data:`MOST_DIALOGUES` dialogues, drawn by id. Dialogues of one seed question share a fold, so that
    the words of a subject that only some levels met tell nothing."""
    spoken = [talk for talk in talks if talk.said]
    chosen = shuffled(((talk.id, talk) for talk in spoken), seed, "recover")[:MOST_DIALOGUES]
    sets = [_tokens(talk) for talk in chosen]
    often = Counter(token for tokens in sets for token in tokens)
    kept = sorted((token for token, times in often.items() if times > 1), key=lambda one: (-often[one], one))
    place = {token: at for at, token in enumerate(kept[:MOST_WORDS])}
    words = np.zeros((len(chosen), len(place)), dtype=np.float32)
    for row, tokens in enumerate(sets):
        words[row, [place[token] for token in tokens if token in place]] = 1
    questions = sorted({talk.dialogue.question for talk in chosen}, key=lambda name: draw(seed, "fold", name))
    fold = {name: at % FOLDS for at, name in enumerate(questions)}
    return Documents(chosen, words, np.asarray([fold[talk.dialogue.question] for talk in chosen], dtype=np.int64))


def _tokens(talk: Talk) -> set[str]:
    """Words, and marks of how it is typed: length, question mark, end, first letter."""
    tokens: set[str] = set()
    for said in talk.said:
        tokens.update(plain_words(said.text))
        first = said.text.strip()[:1]
        tokens.add(f"<length {min(said.length, 32).bit_length()}>")
        tokens.add(f"<end {said.text.strip()[-1:]}>" if not said.text.strip()[-1:].isalnum() else "<no end>")
        tokens.add("<lower>" if first.islower() else "<upper>" if first.isupper() else "<other>")
        if "?" in said.text or "？" in said.text:
            tokens.add("<asks>")
    return tokens


def recoverability(
    documents: Documents, level_of: Callable[[Talk], str | None], seed: int, name: str
) -> dict[str, Any]:
    """Mean recall, chance by permutation, and p = (1 + as good or better) / (1 + permutations).

    Null with a reason for fewer than :data:`FEWEST_DIALOGUES` dialogues, one level only, levels with fewer than
    :data:`FEWEST_PER_LEVEL` dialogues, or a single seed question.
    """
    levels = [level_of(talk) for talk in documents.talks]
    rows = np.asarray([at for at, level in enumerate(levels) if level is not None], dtype=np.int64)
    found = Counter(level for level in levels if level is not None)
    report: dict[str, Any] = {"levels": len(found), "dialogues": len(rows)}
    folds = documents.folds[rows]
    if reason := _too_little(found, len(rows), folds):
        return {**report, "recall": None, "chance": None, "chance_upper": None, "p": None, "reason": reason}
    names = sorted(found)
    truth = np.asarray([names.index(level) for level in levels if level is not None], dtype=np.int64)
    generator = np.random.default_rng(draw_seed(seed, "permute", name))
    dealt = np.tile(truth, (PERMUTATIONS + 1, 1))
    dealt[1:] = generator.permuted(dealt[1:], axis=1)
    recalls = _mean_recalls(documents.words[rows], dealt, folds, len(names))
    own, chance = float(recalls[0]), recalls[1:]
    return {
        **report,
        "recall": own,
        "chance": float(chance.mean()),
        "chance_upper": float(np.quantile(chance, 0.95)),
        "p": float((1 + (chance >= own - 1e-12).sum()) / (1 + PERMUTATIONS)),
        "reason": None,
    }


def _too_little(found: Counter[str], dialogues: int, folds: Ints) -> str | None:
    if len(found) < 2:
        return "one level only"
    if dialogues < FEWEST_DIALOGUES:
        return f"{dialogues} dialogues, {FEWEST_DIALOGUES} needed"
    if (fewest := min(found.values())) < FEWEST_PER_LEVEL:
        return f"a level with {fewest} dialogues, {FEWEST_PER_LEVEL} needed"
    return "one seed question only" if len(set(folds.tolist())) < 2 else None


def _mean_recalls(words: Matrix, dealt: Ints, folds: Ints, levels: int) -> NDArray[np.float64]:
    """Mean recall of every labelling (P x D), each fold held out once; levels are equally likely beforehand."""
    guesses = np.zeros_like(dealt)
    for fold in sorted(set(folds.tolist())):
        held, train = folds == fold, folds != fold
        scores = np.empty((levels, len(dealt), int(held.sum())), dtype=np.float32)
        for level in range(levels):
            counts = (dealt[:, train] == level).astype(np.float32) @ words[train] + SMOOTHING
            scores[level] = np.log(counts / counts.sum(axis=1, keepdims=True)) @ words[held].T
        guesses[:, held] = scores.argmax(axis=0)
    right = guesses == dealt
    recalls = [(right & (dealt == level)).sum(axis=1) / (dealt == level).sum(axis=1) for level in range(levels)]
    return np.mean(recalls, axis=0)
