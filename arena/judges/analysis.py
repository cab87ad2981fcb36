"""Everything a run says about its judges, as one object: ``judges.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from arena.agreement.alpha import krippendorff
from arena.agreement.correlation import kendall
from arena.agreement.kappa import percent_agreement
from arena.agreement.result import Statistic, missing
from arena.agreement.shares import Share
from arena.judges import behaviour
from arena.judges.behaviour import JudgePair, Majorities
from arena.judges.preferences import (
    PEOPLE,
    SelfPreference,
    first_slot,
    is_person,
    length_preference,
    self_preference,
)
from arena.judges.reliability import GAMES, PRIOR, RIGHT, WRONG, Estimate, Panel, panel
from arena.judges.result import (
    Agreement,
    Consistency,
    EffectRow,
    JudgeRow,
    JudgesResult,
    Length,
    OwnFamily,
    PairRow,
    PanelResult,
    PanelSettings,
    People,
    Position,
    ShareRow,
    Weighed,
    WeighedEndpoint,
)
from arena.ratings.covariates import Effect
from arena.ratings.result import Leaderboard, number
from arena.ratings.settings import Settings
from runstore.records import Judgment, Reply

METHOD = (
    "Bradley-Terry over single readable rounds, ties as half a win each way; first slot and length by judge, own "
    "family over all judges together; intervals clustered by dialogue"
)
PANEL = "Crowd-BT (Chen et al. 2013), penalised maximum likelihood over single readable rounds, ties as halves"


def analyse(
    judgments: Sequence[Judgment],
    replies: Sequence[Reply],
    board: Leaderboard,
    families: Mapping[str, str | None],
) -> JudgesResult:
    """The content of ``judges.json``. Judgments of people (judge ``person:NAME``) may be among the others.

    ``board`` is the leaderboard by vote that the panel's model is compared with; its settings give level and seed.
    ``families`` of judges and endpoints by name. Whatever can't be estimated is null beside its reason.
    """
    settings = replace(board.settings, ties="half", prior=0.0, anchor=None, reference=None, position="adjust")
    texts = {(reply.subset, reply.endpoint): reply for reply in replies}
    models = [judgment for judgment in judgments if not is_person(judgment.judge)]
    judges = sorted({judgment.judge for judgment in models})
    leaning, common = self_preference(judgments, families, settings)
    by_judge = {lean.judge: lean for lean in leaning}
    level = settings.level
    rows = tuple(
        JudgeRow(
            name=name,
            family=families.get(name),
            rounds=same.rounds,
            unreadable=same.unreadable,
            position=_position(place, first_slot(own, settings)),
            consistency=Consistency(all_alike=_share(same.same), pairs_alike=same.pairs_alike, pairs=same.pairs),
            length=tuple(
                Length(
                    unit=preference.unit,
                    log_odds_per_doubling=_effect(preference.effect),
                    longer_won=_share(preference.longer_won),
                )
                for preference in length_preference(own, texts, settings)
            ),
            own_family=_own_family(by_judge.get(name)),
        )
        for name, place, same in zip(
            judges,
            behaviour.position(models, judges, level),
            behaviour.consistency(models, judges, level),
            strict=True,
        )
        for own in [[judgment for judgment in models if judgment.judge == name]]
    )
    return JudgesResult(
        method=METHOD,
        level=level,
        judges=rows,
        own_family=_effect(common),
        agreement=_agreement(models, judges, settings),
        people=_people(judgments, judges, level),
        panel=_panel(panel(models, level=level), board),
    )


def _position(row: behaviour.PositionRow, effect: Effect) -> Position:
    return Position(
        first=row.first,
        second=row.second,
        ties=row.ties,
        unreadable=row.unreadable,
        share_first=_share(row.share),
        log_odds=_effect(effect),
    )


def _own_family(leaning: SelfPreference | None) -> OwnFamily:
    if leaning is None:
        return OwnFamily(endpoints=(), log_odds=_effect(Effect("own family", None, reason="no readable round")))
    return OwnFamily(endpoints=tuple(leaning.own), log_odds=_effect(leaning.effect))


def _agreement(models: Sequence[Judgment], judges: Sequence[str], settings: Settings) -> Agreement:
    majorities = behaviour.majorities(models)
    if len(judges) < 2:
        reason = f"{len(judges)} judges; at least 2 are needed"
        every = [
            missing("percent_agreement", "Percent agreement", reason, 0, len(majorities.dialogue), unit="matches"),
            missing(
                "krippendorff_nominal",
                "Krippendorff's alpha, nominal",
                reason,
                0,
                len(majorities.dialogue),
                unit="matches",
            ),
        ]
        return Agreement(pairs=(), all=tuple(statistic.row() for statistic in every))
    pairs = behaviour.between_judges(models, judges, settings.level)
    return Agreement(
        pairs=tuple(map(_pair, pairs)),
        all=tuple(statistic.row() for statistic in _all(majorities, judges, settings)),
    )


def _all(majorities: Majorities, judges: Sequence[str], settings: Settings) -> list[Statistic]:
    codes = majorities.codes(judges)
    dialogues = [majorities.dialogue[key] for key in sorted(majorities.dialogue)]
    return [
        replace(statistic, unit="matches")
        for statistic in (
            percent_agreement(codes, level=settings.level, clusters=dialogues),
            krippendorff(codes, "nominal", level=settings.level, clusters=dialogues),
        )
    ]


def _people(judgments: Sequence[Judgment], judges: Sequence[str], level: float) -> People | None:
    """Each judge against people's majority; None where no person judged."""
    persons = {judgment.judge for judgment in judgments if is_person(judgment.judge)}
    if not persons:
        return None
    majorities = behaviour.majorities(judgments, lambda judge: PERSON_RATER if is_person(judge) else judge)
    pairs = (_pair(behaviour.compared(majorities, judge, PERSON_RATER, level)) for judge in judges)
    return People(persons=len(persons), pairs=tuple(pair.model_copy(update={"b": PEOPLE}) for pair in pairs))


PERSON_RATER = "\0people"
"""Nobody has this name."""


def _pair(row: JudgePair) -> PairRow:
    return PairRow(a=row.a, b=row.b, matches=row.matches, alike=_share(row.alike), kappa=row.kappa.row())


def _panel(weighed: Panel, board: Leaderboard) -> PanelResult:
    """Reliabilities and ratings of the model, beside the ratings by vote, and what changes in the ranking."""
    rows = _weighed_endpoints(weighed, board) if weighed.reason is None else ()
    both = [
        (row.value, row.rating_by_vote) for row in rows if row.value is not None and row.rating_by_vote is not None
    ]
    order = kendall(np.array([model for model, _ in both]), np.array([vote for _, vote in both]))
    judges = sorted(weighed.judges, key=lambda judge: (-judge.value, judge.name)) if weighed.reason is None else []
    return PanelResult(
        method=PANEL,
        prior=PRIOR,
        settings=PanelSettings(right=RIGHT, wrong=WRONG, games=GAMES),
        rounds=weighed.rounds,
        reason=weighed.reason if weighed.reason or weighed.converged else "the fit did not converge",
        note=weighed.note if weighed.reason is None else None,
        judges=tuple(map(_weighed, judges)),
        models=rows,
        kendall=order.row() if weighed.reason is None else None,
    )


def _weighed_endpoints(weighed: Panel, board: Leaderboard) -> tuple[WeighedEndpoint, ...]:
    ordered = sorted(weighed.endpoints, key=lambda endpoint: (-round(endpoint.value, 6), endpoint.name))
    rows: list[WeighedEndpoint] = []
    for endpoint in ordered:
        rank = 1 + sum(round(other.value, 6) > round(endpoint.value, 6) for other in ordered)
        by_vote = board.model(endpoint.name)
        rank_by_vote = by_vote.rank if by_vote is not None else None
        rows.append(
            WeighedEndpoint(
                name=endpoint.name,
                value=number(endpoint.value),
                lower=number(endpoint.lower),
                upper=number(endpoint.upper),
                rank=rank,
                rating_by_vote=by_vote.rating if by_vote is not None else None,
                rank_by_vote=rank_by_vote,
                moved=None if rank_by_vote is None else rank_by_vote - rank,
            )
        )
    return tuple(rows)


def _weighed(judge: Estimate) -> Weighed:
    return Weighed(
        name=judge.name, value=number(judge.value), lower=number(judge.lower), upper=number(judge.upper)
    )


def _effect(effect: Effect) -> EffectRow:
    return EffectRow(
        value=number(effect.value), lower=number(effect.lower), upper=number(effect.upper), reason=effect.reason
    )


def _share(share: Share) -> ShareRow:
    return ShareRow(
        hits=share.hits,
        of=share.of,
        value=number(share.value),
        lower=number(share.lower),
        upper=number(share.upper),
    )
