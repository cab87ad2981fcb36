"""The declared rules: how a student's state changes (``learning.yaml``) and what counts (``outcomes.yaml``).

They are assumptions, made visible and exchangeable; nothing here was fitted to people.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError, model_validator

from knowledge.topic import ABSENT, MISCONCEIVED, MOVES, TOLD, UNDERSTOOD, Kind, Part
from runstore.expected import expected_of
from runstore.ids import digest
from runstore.languages import resource
from runstore.yaml_file import YamlFile, read_yaml

Probability = Annotated[float, Field(ge=0, le=1)]
Odds = Annotated[float, Field(gt=0, le=100)]
STATES = (ABSENT, MISCONCEIVED, TOLD, UNDERSTOOD)
R = TypeVar("R", bound=BaseModel)


class Multipliers(Part):
    """By how much a persona's level multiplies the odds of what is declared for everybody."""

    understood: Odds = 1.0
    engaged: Odds = 1.0


class First(Part):
    """Before the dialogue: understood, or else one of the component's misconceptions, or else absent."""

    understood: Probability
    misconceived: Probability


class Learning(Part):
    """``moves``: state -> move -> new state -> probability. ``needs_attempt``: moves from which understanding
    comes only where the student's next utterance tries the component. ``credit``: kind of item -> state ->
    probability of full credit.
    """

    name: str
    first: First
    engaged: Probability
    levels: dict[str, Multipliers] = Field(default_factory=dict[str, Multipliers])
    moves: dict[str, dict[str, dict[str, Probability]]]
    needs_attempt: tuple[str, ...]
    credit: dict[Kind, dict[str, Probability]]
    hash: str = ""

    @model_validator(mode="after")
    def _whole(self) -> Learning:
        for state, by_move in self.moves.items():
            for move, outcomes in by_move.items():
                if state not in STATES or move not in MOVES or not outcomes.keys() <= set(STATES):
                    raise ValueError(f"moves.{state}.{move}: expected states {STATES} and moves {MOVES}")
                if sum(outcomes.values()) > 1:
                    raise ValueError(f"moves.{state}.{move}: probabilities add up to more than 1")
        for kind, by_state in self.credit.items():
            if set(by_state) != set(STATES):
                raise ValueError(f"credit.{kind}: expected a probability for each of {', '.join(STATES)}")
        return self


class Gate(Part):
    """The bounds of the admission panel, in credit (0 to 1) unless said otherwise.

    The last three are for students that take the quiz by a model.
    """

    contrast_transfer_above: float
    misaligned_transfer_below: float
    leak_transfer_below: float
    lecture_transfer_below: float
    wrong_transfer_below: float
    leak_recall_above: float
    wrong_misconceptions_above: float
    control_within: float
    labels_right: Probability
    guess_within: Probability = 0.10
    distractor_above: Probability = 0.60
    selective_above: Probability = 0.15


class Outcomes(Part):
    """``margin``: differences up to it are a tie. ``leak``: the share of the answer given away that is flagged;
    a flagged winner's win becomes a tie."""

    primary: Literal["transfer"]
    margin: Annotated[float, Field(ge=0)]
    leak: Probability
    level: Probability
    halves_agree: Probability
    gate: Gate
    hash: str = ""


def load_learning(path: Path | None = None) -> Learning:
    """The declared learning rules, shipped or one's own. Raises InputProblem naming file, line and field."""
    return _load(path or resource("knowledge", "learning.yaml"), Learning)


def load_outcomes(path: Path | None = None) -> Outcomes:
    """What counts, shipped or one's own. Raises InputProblem naming file, line and field."""
    return _load(path or resource("knowledge", "outcomes.yaml"), Outcomes)


def _load(path: Path, kind: type[R]) -> R:
    file = read_yaml(path, plain_scalars=False)
    return validated(file, kind, {**file.mapping(file.data, ()), "hash": digest(file.data, size=8)})


def validated(file: YamlFile, kind: type[R], data: object) -> R:
    """``data`` of ``file`` as a record. Raises InputProblem with the line of what is wrong."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        found = None if first["type"] == "missing" else first.get("input")
        raise file.problem(first["loc"], expected_of(first), found) from error
