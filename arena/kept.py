"""What earlier judging left behind: rounds that are not asked again, whatever became of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from runstore.records import Failure, Judgment

RoundKey = tuple[str, str, str, str, str, int]
"""(subset, first endpoint, second endpoint, criterion, judge, round), endpoints in the order of their names."""


def round_key(judgment: Judgment) -> RoundKey:
    """The round that a judgment is of, whichever way round it showed the replies."""
    one, other = sorted((judgment.slot_a, judgment.slot_b))
    return judgment.subset, one, other, judgment.criterion, judgment.judge, judgment.round


def round_item(match: str, criterion: str, judge: str, number: int) -> str:
    """The name under which a round that got no reply stands among the failures."""
    return f"{match}#{criterion}#{judge}#{number}"


@dataclass(frozen=True, slots=True)
class KeptRounds:
    """Judgments by round, and failures by the item they are recorded under (a round's, or a whole match's)."""

    judgments: Mapping[RoundKey, Judgment] = field(default_factory=dict[RoundKey, Judgment])
    failures: Mapping[str, Failure] = field(default_factory=dict[str, Failure])


NOTHING = KeptRounds()
