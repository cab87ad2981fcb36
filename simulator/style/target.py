"""What one message is to look like, drawn so that all messages together follow the profile.

Each dialogue has a place in the plan of its run. In every block of 32 places each 32nd of a distribution is drawn
once (stratified inverse-CDF sampling, the strata permuted by drawn odd multipliers and masks), so the set follows
the profile closely from the first dialogues on, and nothing depends on what finished first, on the number of
dialogues, or on where they are held. A dialogue without a place draws by its id alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runstore.ids import draw
from simulator.style.profile import LONGEST, StyleProfile
from simulator.style.traits import TRAITS, Trait

STRATA = 32


@dataclass(frozen=True, slots=True)
class Target:
    """Words to write, and the traits that are steered: had, or not had."""

    words: int
    traits: Mapping[Trait, bool]

    def without(self, *traits: Trait) -> Target:
        """The same with some traits left to chance."""
        return Target(self.words, {trait: has for trait, has in self.traits.items() if trait not in traits})


@dataclass(frozen=True, slots=True)
class Spot:
    """Which message a draw belongs to."""

    seed: int
    dialogue: str
    turn: int
    place: int | None = None

    def quantile(self, of: str) -> float:
        """A number in [0, 1): uniform, and spread evenly over the dialogues of a run."""
        own = draw(self.seed, "style", of, self.dialogue, self.turn)
        if self.place is None:
            return own
        block, at = divmod(self.place, STRATA)
        pattern = int(draw(self.seed, "strata", of, self.turn, block) * STRATA * STRATA // 2)
        multiplier, mask = 2 * (pattern % (STRATA // 2)) + 1, pattern // (STRATA // 2)
        return (((at * multiplier) % STRATA ^ mask) + own) / STRATA


def target(profile: StyleProfile, levels: Mapping[str, str], spot: Spot, extra: Mapping[Trait, float]) -> Target:
    """A message's target. ``extra``: shares that replace the profile's.

    A message that asks ends its sentence: the share of other messages that do is what is left of the whole.
    """
    words = round(profile.words_of(spot.turn).at(spot.quantile("words")) * profile.scale(levels))
    shares = {trait: extra.get(trait, profile.share(trait, levels)) for trait in TRAITS}
    traits: dict[Trait, bool] = {}
    for trait in TRAITS:
        share = shares[trait]
        if share is None:
            continue
        if trait == "ends_sentence" and (asks := shares["question_mark"]) is not None:
            if traits["question_mark"]:
                traits[trait] = True
                continue
            share = 0.0 if asks >= share or asks == 1 else (share - asks) / (1 - asks)
        traits[trait] = spot.quantile(trait) < share
    return Target(max(1, min(LONGEST, words)), traits)
