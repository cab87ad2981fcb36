"""What a run says about its judges, typed: these models write ``judges.json`` and read it again.

Whatever can't be estimated is None beside its ``reason``.
"""

from __future__ import annotations

from pathlib import Path

from arena.agreement.result import StatisticRow
from runstore.publish import parse_record, read_json
from runstore.results import Number, Result


class EffectRow(Result):
    """Log-odds with limits."""

    value: Number | None
    lower: Number | None
    upper: Number | None
    reason: str | None


class ShareRow(Result):
    """``value`` = ``hits`` / ``of``, with limits."""

    hits: Number
    of: int
    value: Number | None
    lower: Number | None
    upper: Number | None


class Position(Result):
    """Readable rounds won by what was shown first and second; ``log_odds`` is what being first is worth."""

    first: int
    second: int
    ties: int
    unreadable: int
    share_first: ShareRow
    log_odds: EffectRow


class Consistency(Result):
    """How often a judge's rounds of one match were all alike, and how many pairs of them."""

    all_alike: ShareRow
    pairs_alike: int
    pairs: int


class Length(Result):
    """What a reply twice as long (by ``unit``) is worth, and how often the longer one won."""

    unit: str
    log_odds_per_doubling: EffectRow
    longer_won: ShareRow


class OwnFamily(Result):
    """What being of the judge's own family is worth, and which endpoints are."""

    endpoints: tuple[str, ...]
    log_odds: EffectRow


class JudgeRow(Result):
    """One judge's habits."""

    name: str
    family: str | None
    rounds: int
    unreadable: int
    position: Position
    consistency: Consistency
    length: tuple[Length, ...]
    own_family: OwnFamily


class PairRow(Result):
    """Two judges on the matches that both judged."""

    a: str
    b: str
    matches: int
    alike: ShareRow
    kappa: StatisticRow


class Agreement(Result):
    """Pairs of judges, and figures over all of them."""

    pairs: tuple[PairRow, ...]
    all: tuple[StatisticRow, ...]


class People(Result):
    """Each judge against people's majority."""

    persons: int
    pairs: tuple[PairRow, ...]


class Weighed(Result):
    """A judge's reliability."""

    name: str
    value: Number | None
    lower: Number | None
    upper: Number | None


class WeighedEndpoint(Weighed):
    """An endpoint's rating by the panel's model beside the one by vote; ``moved`` places up."""

    rank: int
    rating_by_vote: Number | None
    rank_by_vote: int | None
    moved: int | None


class PanelSettings(Result):
    """The prior's rounds seen right and wrong, and games against an average opponent."""

    right: Number
    wrong: Number
    games: Number


class PanelResult(Result):
    """The panel as a model: reliabilities and ratings; ``kendall`` compares the ranking with the one by vote."""

    method: str
    prior: str
    settings: PanelSettings
    rounds: int
    reason: str | None
    note: str | None
    judges: tuple[Weighed, ...]
    models: tuple[WeighedEndpoint, ...]
    kendall: StatisticRow | None


class JudgesResult(Result):
    """The whole of ``judges.json``; ``people`` is None where no person judged."""

    method: str
    level: Number
    judges: tuple[JudgeRow, ...]
    own_family: EffectRow
    agreement: Agreement
    people: People | None
    panel: PanelResult


def read_judges(path: Path) -> JudgesResult:
    """The analysis in a file. Raises InputProblem naming the field that is missing or wrong."""
    return parse_record(JudgesResult, read_json(path), path)
