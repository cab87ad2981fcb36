"""Can somebody who sees only what a student wrote tell which level the student was given?

Multinomial naive Bayes (McCallum & Nigam 1998) on the words of one dialogue's student, opener left out, by
cross-validation; the figure is the mean recall of the levels, held against the same figure with the levels
dealt out at random among the dialogues.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runstore.ids import draw, draw_seed, shuffled
from simulator.realism.guessed import interval, recalls
from simulator.realism.talk import Talk, plain_words

FOLDS = 5
PERMUTATIONS = 199
FEWEST_DIALOGUES, FEWEST_PER_LEVEL = 20, 5
MOST_DIALOGUES, MOST_WORDS = 1000, 1000
TURN_PERMUTATIONS, MOST_TURNS = 39, 8
SMOOTHING = 0.5
_FIGURES = ("recall", "lower", "upper", "chance", "chance_upper", "p")

Ints = NDArray[np.int64]
Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Documents:
    """One row a dialogue: ``words`` (D x V) tells which tokens are in it, ``folds`` (D) when it is held out."""

    talks: list[Talk]
    words: Matrix
    folds: Ints


def documents_of(talks: Sequence[Talk], seed: int, turn: int | None = None) -> Documents:
    """At most :data:`MOST_DIALOGUES` dialogues, drawn by id. Dialogues of one seed question share a fold, so that
    the words of a subject that only some levels met tell nothing. ``turn``: of that turn alone."""
    if turn is not None:
        talks = [replace(talk, said=tuple(said for said in talk.said if said.turn == turn)) for talk in talks]
    spoken = [talk for talk in talks if talk.said]
    chosen = shuffled(((talk.id, talk) for talk in spoken), seed, "recover")[:MOST_DIALOGUES]
    sets = [_tokens(talk) for talk in chosen]
    often = Counter(token for tokens in sets for token in tokens)
    kept = sorted((token for token, times in often.items() if times > 1), key=lambda word: (-often[word], word))
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
    documents: Documents,
    level_of: Callable[[Talk], str | None],
    seed: int,
    name: str,
    permutations: int = PERMUTATIONS,
) -> dict[str, Any]:
    """Mean recall with its interval over dialogues, chance by permutation, and
    p = (1 + as good or better) / (1 + permutations).

    Null with a reason for fewer than :data:`FEWEST_DIALOGUES` dialogues, one level only, levels with fewer than
    :data:`FEWEST_PER_LEVEL` dialogues, or a single seed question.
    """
    levels = [level_of(talk) for talk in documents.talks]
    rows = np.asarray([at for at, level in enumerate(levels) if level is not None], dtype=np.int64)
    counts = Counter(level for level in levels if level is not None)
    report: dict[str, Any] = {"levels": len(counts), "dialogues": len(rows)}
    folds = documents.folds[rows]
    if reason := _too_little(counts, len(rows), folds):
        return {**report, **dict.fromkeys(_FIGURES), "reason": reason}
    names = sorted(counts)
    truth = np.asarray([names.index(level) for level in levels if level is not None], dtype=np.int64)
    generator = np.random.default_rng(draw_seed(seed, "permute", name))
    dealt = np.tile(truth, (permutations + 1, 1))
    dealt[1:] = generator.permuted(dealt[1:], axis=1)
    guesses = _guesses(documents.words[rows], dealt, folds, len(names))
    found_recalls = recalls(dealt, guesses, len(names))
    own, chance = float(found_recalls[0]), found_recalls[1:]
    generator = np.random.default_rng(draw_seed(seed, "recall", name))
    lower, upper = interval(truth, guesses[0] == truth, len(names), generator)
    return {
        **report,
        "recall": own,
        "lower": lower,
        "upper": upper,
        "chance": float(chance.mean()),
        "chance_upper": float(np.quantile(chance, 0.95)),
        "p": float((1 + (chance >= own - 1e-12).sum()) / (1 + permutations)),
        "reason": None,
    }


def _too_little(counts: Counter[str], dialogues: int, folds: Ints) -> str | None:
    if len(counts) < 2:
        return "one level only"
    if dialogues < FEWEST_DIALOGUES:
        return f"{dialogues} dialogues, {FEWEST_DIALOGUES} needed"
    if (fewest := min(counts.values())) < FEWEST_PER_LEVEL:
        return f"a level with {fewest} dialogues, {FEWEST_PER_LEVEL} needed"
    return "one seed question only" if len(set(folds.tolist())) < 2 else None


def _guesses(words: Matrix, dealt: Ints, folds: Ints, levels: int) -> Ints:
    """The guesses under every labelling (P x D), each fold held out once; levels are equally likely beforehand."""
    guesses = np.zeros_like(dealt)
    for fold in sorted(set(folds.tolist())):
        held, train = folds == fold, folds != fold
        scores = np.empty((levels, len(dealt), int(held.sum())), dtype=np.float32)
        for level in range(levels):
            counts = (dealt[:, train] == level).astype(np.float32) @ words[train] + SMOOTHING
            scores[level] = np.log(counts / counts.sum(axis=1, keepdims=True)) @ words[held].T
        guesses[:, held] = scores.argmax(axis=0)
    return guesses


def by_turn(
    talks: Sequence[Talk], level_of: Callable[[Talk], str | None], seed: int, name: str
) -> list[dict[str, Any]]:
    """The same of each turn's utterances alone: a level that fades as the dialogue goes on has drifted.

    Of so little text chance is dealt only :data:`TURN_PERMUTATIONS` times.
    """
    turns = sorted({said.turn for talk in talks for said in talk.said})[:MOST_TURNS]
    rows: list[dict[str, Any]] = []
    for turn in turns:
        documents = documents_of(talks, seed, turn)
        recovered = recoverability(documents, level_of, seed, f"{name} turn {turn}", TURN_PERMUTATIONS)
        rows.append({"turn": turn, **recovered})
    return rows
