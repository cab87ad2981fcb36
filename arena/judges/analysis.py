"""Everything a run says about its judges, as one object: ``judges.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from arena.agreement.alpha import krippendorff
from arena.agreement.correlation import kendall
from arena.agreement.kappa import category_counts, percent_agreement
from arena.agreement.result import Statistic, missing
from arena.agreement.shares import Share
from arena.judges import behaviour
from arena.judges.behaviour import JudgePair, Majorities
from arena.judges.preferences import PEOPLE, first_slot, is_person, length_preference, self_preference
from arena.judges.reliability import GAMES, PRIOR, RIGHT, WRONG, Estimate, Panel, panel
from arena.ratings.covariates import Effect
from arena.ratings.result import Leaderboard, number
from arena.ratings.settings import Settings
from runstore.records import Judgment, Reply

JsonObject = dict[str, Any]

METHOD = (
    "Bradley-Terry over single readable rounds, ties as half a win each way; first slot and length by judge, own "
    "family over all judges together; intervals clustered by dialogue"
)
PANEL = "Crowd-BT (Chen et al. 2013), penalised maximum likelihood over single readable rounds, ties as halves"
_SCALE = (0.0, 1.0, 2.0)


def analyse(
    judgments: Sequence[Judgment],
    replies: Sequence[Reply],
    board: Leaderboard,
    families: Mapping[str, str | None],
) -> JsonObject:
    """The content of ``judges.json``. Judgments of people (judge ``person:NAME``) may be among the others.

    ``board`` is the leaderboard by vote that the panel's model is compared with; its settings give level and seed.
    ``families`` of judges and endpoints by name. Whatever can't be estimated is null beside its reason.
    """
    settings = replace(board.settings, ties="half", prior=0.0, anchor=None, reference=None, position="adjust")
    texts = {(reply.subset, reply.endpoint): reply for reply in replies}
    models = [judgment for judgment in judgments if not is_person(judgment.judge)]
    judges = sorted({judgment.judge for judgment in models})
    leaning, common = self_preference(judgments, families, settings)
    by_judge = {one.judge: one for one in leaning}
    level = settings.level
    rows: list[JsonObject] = []
    for name, place, same in zip(
        judges,
        behaviour.position(models, judges, level),
        behaviour.consistency(models, judges, level),
        strict=True,
    ):
        own = [judgment for judgment in models if judgment.judge == name]
        rows.append(
            {
                "name": name,
                "family": families.get(name),
                "rounds": same.rounds,
                "unreadable": same.unreadable,
                "position": _position(place, first_slot(own, settings)),
                "consistency": {
                    "all_alike": _share(same.same),
                    "pairs_alike": same.pairs_alike,
                    "pairs": same.pairs,
                },
                "length": [
                    {
                        "unit": one.unit,
                        "log_odds_per_doubling": _effect(one.effect),
                        "longer_won": _share(one.longer_won),
                    }
                    for one in length_preference(own, texts, settings)
                ],
                "own_family": {"endpoints": list(by_judge[name].own), "log_odds": _effect(by_judge[name].effect)}
                if name in by_judge
                else {
                    "endpoints": [],
                    "log_odds": _effect(Effect("own family", None, reason="no readable round")),
                },
            }
        )
    return {
        "method": METHOD,
        "level": level,
        "judges": rows,
        "own_family": _effect(common),
        "agreement": _agreement(models, judges, settings),
        "people": _people(judgments, judges, level),
        "panel": _panel(panel(models, level=level), board),
    }


def _position(row: behaviour.PositionRow, effect: Effect) -> JsonObject:
    counts = {"first": row.first, "second": row.second, "ties": row.ties, "unreadable": row.unreadable}
    return {**counts, "share_first": _share(row.share), "log_odds": _effect(effect)}


def _agreement(models: Sequence[Judgment], judges: Sequence[str], settings: Settings) -> JsonObject:
    found = behaviour.majorities(models)
    if len(judges) < 2:
        reason = f"{len(judges)} judges; at least 2 are needed"
        every = [
            missing("percent_agreement", "Percent agreement", reason, 0, len(found.dialogue), unit="matches"),
            missing("krippendorff_nominal", "Krippendorff's alpha, nominal", reason, 0, len(found.dialogue)),
        ]
        return {"pairs": [], "all": [one.as_json() for one in every]}
    pairs = behaviour.between_judges(models, judges, settings.level)
    return {
        "pairs": [_pair(one) for one in pairs],
        "all": [one.as_json() for one in _all(found, judges, settings)],
    }


def _all(found: Majorities, judges: Sequence[str], settings: Settings) -> list[Statistic]:
    codes = found.codes(judges)
    counts, _ = category_counts(codes, _SCALE)
    alpha = krippendorff(codes, "nominal", level=settings.level, resamples=settings.resamples, seed=settings.seed)
    return [percent_agreement(counts, level=settings.level), alpha]


def _people(judgments: Sequence[Judgment], judges: Sequence[str], level: float) -> JsonObject | None:
    """Each judge against people's majority; None where no person judged."""
    persons = {judgment.judge for judgment in judgments if is_person(judgment.judge)}
    if not persons:
        return None
    found = behaviour.majorities(judgments, lambda judge: PERSON_RATER if is_person(judge) else judge)
    rows = [_pair(behaviour.compared(found, judge, PERSON_RATER, level)) for judge in judges]
    return {"persons": len(persons), "pairs": [{**row, "b": PEOPLE} for row in rows]}


PERSON_RATER = "\0people"
"""Nobody has this name."""


def _pair(row: JudgePair) -> JsonObject:
    return {
        "a": row.a,
        "b": row.b,
        "matches": row.matches,
        "alike": _share(row.alike),
        "kappa": row.kappa.as_json(),
    }


def _panel(found: Panel, board: Leaderboard) -> JsonObject:
    """Reliabilities and ratings of the model, beside the ratings by vote, and what changes in the ranking."""
    settings = {"right": RIGHT, "wrong": WRONG, "games": GAMES}
    head: JsonObject = {"method": PANEL, "prior": PRIOR, "settings": settings, "rounds": found.rounds}
    if found.reason is not None:
        return {**head, "reason": found.reason, "note": None, "judges": [], "models": [], "kendall": None}
    votes = {model.name: model for model in board.models}
    ordered = sorted(found.endpoints, key=lambda one: (-round(one.value, 6), one.name))
    rows: list[JsonObject] = []
    for one in ordered:
        rank = 1 + sum(round(other.value, 6) > round(one.value, 6) for other in ordered)
        by_vote = votes.get(one.name)
        rank_by_vote = by_vote.rank if by_vote is not None else None
        rows.append(
            {
                **_figures(one),
                "rank": rank,
                "rating_by_vote": by_vote.rating if by_vote is not None else None,
                "rank_by_vote": rank_by_vote,
                "moved": None if rank_by_vote is None else rank_by_vote - rank,
            }
        )
    both = [(row["value"], row["rating_by_vote"]) for row in rows if row["rating_by_vote"] is not None]
    order = kendall(np.array([model for model, _ in both]), np.array([vote for _, vote in both]))
    return {
        **head,
        "reason": None if found.converged else "the fit did not converge",
        "note": found.note,
        "judges": [_figures(one) for one in sorted(found.judges, key=lambda one: (-one.value, one.name))],
        "models": rows,
        "kendall": order.as_json(),
    }


def _figures(one: Estimate) -> JsonObject:
    return {
        "name": one.name,
        "value": number(one.value),
        "lower": number(one.lower),
        "upper": number(one.upper),
    }


def _effect(effect: Effect) -> JsonObject:
    figures = asdict(effect)
    del figures["name"]
    return {key: number(value) if isinstance(value, float) else value for key, value in figures.items()}


def _share(share: Share) -> JsonObject:
    return {
        "hits": share.hits,
        "of": share.of,
        "value": number(share.value),
        "lower": number(share.lower),
        "upper": number(share.upper),
    }
