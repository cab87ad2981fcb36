"""A group of students as numbers with intervals: the profile. Utterances of one dialogue are not independent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runstore.ids import draw_seed
from simulator.realism.features import FEATURES, SHARES
from simulator.realism.talk import Talk, ngrams, plain_words
from simulator.style.traits import shares_of

Floats = NDArray[np.float64]
RESAMPLES = 500
LEVEL = 0.95


@dataclass(frozen=True)
class Counts:
    """Sufficient counts of D dialogues: ``utterances`` (D), ``hits`` (D x shares), and how many utterances had
    each of ``lengths`` (L, rising) words, ``by_length`` (D x L)."""

    utterances: Floats
    hits: Floats
    lengths: Floats
    by_length: Floats

    @property
    def total(self) -> int:
        return int(self.utterances.sum())


def counts_of(talks: Sequence[Talk]) -> Counts:
    """Counts of the dialogues that have a student utterance after the opener."""
    spoken = [talk for talk in talks if talk.said]
    lengths = sorted({said.length for talk in spoken for said in talk.said})
    place = {length: at for at, length in enumerate(lengths)}
    hits = np.zeros((len(spoken), len(SHARES)))
    by_length = np.zeros((len(spoken), len(lengths)))
    for at, talk in enumerate(spoken):
        for said in talk.said:
            hits[at] += shares_of(said.text, said.length)
            by_length[at, place[said.length]] += 1
    return Counts(by_length.sum(axis=1), hits, np.asarray(lengths, dtype=np.float64), by_length)


def measure(counts: Counts, weights: Floats) -> Floats:
    """Features (B x features, in their order) of B weightings (B x D, whole numbers) of the dialogues."""
    total = weights @ counts.utterances
    cumulative = np.cumsum(weights @ counts.by_length, axis=1)
    lower, upper = np.floor((total + 1) / 2), np.floor(total / 2) + 1
    middles = [counts.lengths[(cumulative < rank[:, None]).sum(axis=1)] for rank in (lower, upper)]
    median = (middles[0] + middles[1]) / 2
    return np.column_stack([median, weights @ counts.hits / total[:, None]])


def point(counts: Counts) -> Floats:
    """The features of the dialogues as they are."""
    return measure(counts, np.ones((1, len(counts.utterances))))[0]


def resampled(counts: Counts, seed: int, *identity: str) -> Floats | None:
    """Features (resamples x features) of whole dialogues drawn again; None of fewer than two dialogues."""
    dialogues = len(counts.utterances)
    if dialogues < 2:
        return None
    generator = np.random.default_rng(draw_seed(seed, "realism", *identity))
    weights = generator.multinomial(dialogues, np.full(dialogues, 1 / dialogues), size=RESAMPLES)
    return measure(counts, weights.astype(np.float64))


def limits(draws: Floats) -> tuple[float, float]:
    """Percentile interval of one figure's draws."""
    tail = (1 - LEVEL) / 2
    lower, upper = np.quantile(draws, [tail, 1 - tail])
    return float(lower), float(upper)


def length_by_turn(talks: Sequence[Talk]) -> list[dict[str, float | int]]:
    """Median words per turn, the opener being turn 1; people shorten after it, LLM students lengthen."""
    turns: dict[int, list[int]] = {}
    for talk in talks:
        if talk.opener.strip():
            turns.setdefault(1, []).append(len(talk.opener.split()))
        for said in talk.said:
            turns.setdefault(said.turn, []).append(said.length)
    return [
        {"turn": turn, "utterances": len(lengths), "median_words": float(np.median(lengths))}
        for turn, lengths in sorted(turns.items())
    ]


def distinct(texts: Sequence[str], n: int) -> float | None:
    """Different runs of ``n`` words by all of them (Li et al. 2016); falls as the texts grow. None of none."""
    grams = [gram for text in texts for gram in ngrams(plain_words(text), n)]
    return len(set(grams)) / len(grams) if grams else None


def as_numbers(values: Floats) -> dict[str, float]:
    return dict(zip(FEATURES, map(float, values), strict=True))
