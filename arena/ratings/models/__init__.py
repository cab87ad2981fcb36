"""The rating models, by the name that settings give them. A further model is a file here and a line below."""

from __future__ import annotations

from arena.ratings.model import RatingModel
from arena.ratings.models.davidson import Davidson
from arena.ratings.models.half import Half
from arena.ratings.models.rao_kupper import RaoKupper
from runstore.problems import Problem

HALF = Half()
MODELS: dict[str, RatingModel] = {model.name: model for model in (HALF, Davidson(), RaoKupper())}


def model_of(name: str) -> RatingModel:
    """The model of this name. Raises Problem naming those that there are."""
    if name not in MODELS:
        raise Problem(f"ties: found {name!r}, expected one of {', '.join(MODELS)}")
    return MODELS[name]
