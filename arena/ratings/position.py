"""What being shown first is worth."""

from __future__ import annotations

from dataclasses import replace

from arena.ratings.battles import Battles
from arena.ratings.estimate import Estimate, estimate
from arena.ratings.result import PositionEffect, count, number
from arena.ratings.settings import Settings


def position_report(battles: Battles, settings: Settings, estimated: Estimate) -> PositionEffect:
    """How often the model shown first won, and the log-odds that being first is worth, with its interval.

    Taken from the single rounds where battles are majorities of several.
    """
    source = battles
    if battles.rounds is not None:
        source = battles.rounds
        estimated = estimate(source, replace(settings, intervals="jackknife", anchor=None, position="adjust"))
    elif settings.position == "ignore":
        estimated = estimate(source, replace(settings, intervals="jackknife", anchor=None, position="adjust"))
    known, lead = source.first != 0, source.first * (source.outcome - 1)
    sums = [float(source.weight[known & (lead == side)].sum()) for side in (1, -1, 0)]
    effect, lower, upper, why = None, None, None, None
    if not known.any():
        why = "who was shown first is not known"
    elif estimated.fitted is None or "position" not in estimated.design.shared:
        why = estimated.position_reason or estimated.reason
    else:
        at = estimated.design.size
        effect = float(estimated.fitted.shared[0])
        if estimated.uncertainty is not None:
            half = float(estimated.uncertainty.half(settings.level)[at])
            lower, upper = effect - half, effect + half
            why = estimated.uncertainty.why_none(at, source.cluster_name)
    return PositionEffect(
        first_wins=count(sums[0]),
        second_wins=count(sums[1]),
        ties=count(sums[2]),
        log_odds=number(effect),
        lower=number(lower),
        upper=number(upper),
        reason=why,
        of="battles" if battles.rounds is None else "rounds",
    )
