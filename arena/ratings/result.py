"""What a leaderboard says, typed: these models write ``leaderboard.json`` and read it again.

A figure that is not known is None, with a reason beside it. Keys that a later version adds are kept as they are,
and a key that a file lacks is not made up: what was read is written again byte by byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Literal, cast

import numpy as np
from pydantic import BeforeValidator, PlainSerializer

from arena.ratings.settings import Settings
from runstore.publish import parse_record, read_json
from runstore.results import Number, Result

SOLVER = "newton"
Decision = Literal["a", "b", "not told apart", "not enough data"]


def _settings_row(settings: Settings) -> dict[str, object]:
    return {**asdict(settings), "solver": SOLVER}


def _known_settings(row: object) -> object:
    """Without the solver, which every file names though there is one; a setting of a later version is refused."""
    if not isinstance(row, Mapping):
        return row
    items = cast("Mapping[str, object]", row).items()
    known = {key: value for key, value in items if key != "solver"}
    if later := sorted(known.keys() - {field.name for field in fields(Settings)}):
        raise ValueError(f"settings of a later version: {', '.join(later)}")
    return known


SettingsRow = Annotated[Settings, BeforeValidator(_known_settings), PlainSerializer(_settings_row)]


class Against(Result):
    """A model's direct results against the model of reference ``name``; ``reason`` why there are no limits."""

    name: str
    win_rate: Number | None
    lower: Number | None
    upper: Number | None
    matches: Number
    reason: str | None = None


class RatedModel(Result):
    """One row of the table. Ratings and limits are None where they can't be known; ``reason`` then says why.

    From ``replies`` on: what the endpoint's replies took and cost (:mod:`arena.ratings.service`), in a run only.
    """

    name: str
    rank: int | None
    rank_range: tuple[int, int] | None
    rating: Number | None
    lower: Number | None
    upper: Number | None
    wins: Number
    losses: Number
    ties: Number
    matches: Number
    win_rate: Number | None
    group: int
    flags: tuple[str, ...]
    reason: str | None
    usable_resamples: int | None = None
    rating_rounds: Number | None = None
    reference: Against | None = None
    replies: int | None = None
    timed: int | None = None
    latency_s: Number | None = None
    latency_p95_s: Number | None = None
    priced: int | None = None
    usd_per_1000: Number | None = None


class Pair(Result):
    """Two models' direct results, what the fit says of their gap, and the decision between them.

    Every number is None where unknown. ``clusters`` lean to one of the two; ``smallest_p`` is the smallest p value
    that so many can reach.
    """

    a: str
    b: str
    wins_a: Number
    wins_b: Number
    ties: Number
    invalid: int
    win_rate_a: Number | None
    p_value: Number | None
    p_holm: Number | None
    gap: Number | None
    gap_lower: Number | None
    gap_upper: Number | None
    reason: str | None
    decision: Decision | None = None
    smallest_p: Number | None = None
    clusters: int | None = None


class PositionEffect(Result):
    """Wins of the models shown first and second, and the log-odds that being first is worth.

    ``of`` says whether rounds or battles are counted, ``reason`` why the effect or its limits are not known.
    """

    first_wins: Number
    second_wins: Number
    ties: Number
    log_odds: Number | None
    lower: Number | None
    upper: Number | None
    reason: str | None
    of: str


class Scale(Result):
    """Rating points: ``factor`` a unit of log-odds around ``mean``; ``anchor`` is a model held at a rating."""

    name: str
    factor: Number
    mean: Number
    centre: str
    anchor: tuple[str, Number] | None


class Intervals(Result):
    """How the intervals were made; ``usable`` counts the resamples in which everything had a finite estimate.

    ``informative`` clusters (or battles) carry the result; where that is too few, ``needed`` more would do and
    ``reason`` says so. ``dominant`` is a cluster with half of the information or more.
    """

    method: str
    level: Number | None
    resamples: int | None
    cluster: str | None
    seed: int | None
    refit: str | None
    usable: int | None
    note: str | None
    informative: int | None = None
    needed: int | None = None
    dominant: str | None = None
    dominant_share: Number | None = None
    reason: str | None = None


class FitReport(Result):
    """How the fit went. Without one only ``solver`` and ``reason`` are there."""

    solver: str
    iterations: int | None = None
    largest_gradient: Number | None = None
    tie_parameter: Mapping[str, Number | None] | None = None
    reason: str | None = None


class Counts(Result):
    """What was counted; ``invalid`` matches took no part. ``pair_test`` names the test of each pair."""

    battles: int
    models: int
    self_play: int
    invalid: int
    clusters: int | None
    pair_test: str


class Covariate(Result):
    """What one standard deviation of a covariate of style is worth, in log-odds."""

    name: str
    log_odds_per_sd: Number | None
    lower: Number | None
    upper: Number | None


class ControlledModel(Result):
    """A model's plain rating ``raw``, and its rating freed of style with its limits."""

    name: str
    raw: Number | None
    rating: Number | None
    lower: Number | None
    upper: Number | None


class StyleControl(Result):
    """Ratings if length and layout did not count; ``reason`` says why they, or their limits, are not known."""

    covariates: tuple[Covariate, ...]
    models: tuple[ControlledModel, ...]
    reason: str | None


class Shrunken(Result):
    """A level's rating pulled towards the whole, with its limits."""

    rating: Number | None
    lower: Number | None
    upper: Number | None


class LevelModel(Result):
    """A model in one level of a category: as in a table of that level alone, and pulled towards the whole."""

    name: str
    rank: int | None
    rating: Number | None
    lower: Number | None
    upper: Number | None
    wins: Number
    losses: Number
    ties: Number
    matches: Number
    win_rate: Number | None
    reason: str | None
    shrunken: Shrunken


class LevelTable(Result):
    """One level of a category."""

    level: str
    battles: int
    notes: tuple[str, ...]
    models: tuple[LevelModel, ...]


class CategoryTable(Result):
    """All levels of one category; ``deviation`` is how far they scatter around the whole, in rating points."""

    category: str
    deviation: Number | None
    dispersion: Number | None
    reason: str | None
    levels: tuple[LevelTable, ...]


class Stop(Result):
    """Matches were chosen by a ``goal`` until it was ``reached`` (None: judging broke off) or they ran out.

    ``limits`` of gaps then hold at every look with probability 1 - ``error``, "together" or "each" for itself;
    None where the table keeps ordinary limits, or has none.
    """

    goal: str
    reached: bool | None
    error: Number
    limits: Literal["together", "each"] | None


class Leaderboard(Result):
    """Everything ``leaderboard.json`` says, with the settings that made it; ``by`` and ``style`` if asked for."""

    method: str
    ties: str
    scale: Scale
    intervals: Intervals
    converged: bool
    fit: FitReport
    groups: tuple[tuple[str, ...], ...]
    models: tuple[RatedModel, ...]
    pairs: tuple[Pair, ...]
    position: PositionEffect
    agreement: Mapping[str, int] | None
    counts: Counts
    notes: tuple[str, ...]
    settings: SettingsRow
    by: tuple[CategoryTable, ...] = ()
    style: StyleControl | None = None
    stop: Stop | None = None

    @property
    def level(self) -> Number:
        """The level of its intervals: what was asked for, but for a table that a goal stopped."""
        return self.settings.level if self.intervals.level is None else self.intervals.level

    @property
    def has_service(self) -> bool:
        """Whether seconds or dollars of any model's replies are known."""
        return any(model.timed or model.priced for model in self.models)

    def model(self, name: str) -> RatedModel | None:
        """The row of this model, None where it is not in the table."""
        return next((model for model in self.models if model.name == name), None)

    def pair(self, a: str, b: str) -> Pair | None:
        """The row of two models, in whichever order it names them; None where there is none."""
        return next((pair for pair in self.pairs if {pair.a, pair.b} == {a, b}), None)


def read_leaderboard(path: Path) -> Leaderboard:
    """The leaderboard of a file. Raises InputProblem naming the field that is missing or wrong."""
    return parse_record(Leaderboard, read_json(path), path)


def number(value: float | None, digits: int = 6) -> float | None:
    """A figure for a file: rounded, and None for what is not finite."""
    if value is None or not np.isfinite(value):
        return None
    rounded = round(float(value), digits)
    return rounded + 0.0


def count(value: float) -> Number:
    """Whole numbers as whole numbers (weights may make others)."""
    return int(value) if float(value).is_integer() else round(float(value), 6)
