"""Verdicts as preferences: one row for each verdict that has a winner. Ties and invalid verdicts are none."""

from __future__ import annotations

from collections import Counter
from typing import Any

from frontdesk.export.chats import messages_of
from frontdesk.export.rows import Row, Rows
from frontdesk.runner.shortfall import shortfall
from frontdesk.runner.source import Source
from runstore.records import Subset, Verdict


def preference(source: Source) -> Rows:
    """``{"prompt", "chosen", "rejected", ...}``: prompt is the history as messages, the others one reply each.

    ``margin`` is (rounds for the chosen - rounds for the rejected) / rounds given, from -1 to 1.
    Left out and counted: ties, invalid verdicts, and verdicts whose subset or reply the run does not hold.
    """
    subsets = {subset.id: subset for subset in source.subsets}
    replies = {(reply.subset, reply.endpoint): reply.text for reply in source.replies}
    rows: list[Row] = []
    left_out: Counter[str] = Counter()
    for verdict in source.verdicts:
        if verdict.outcome != "win" or verdict.winner is None:
            left_out["tie" if verdict.outcome == "tie" else "invalid verdict"] += 1
            continue
        loser = next(name for name in verdict.endpoints if name != verdict.winner)
        subset = subsets.get(verdict.subset)
        chosen, rejected = (replies.get((verdict.subset, name)) for name in (verdict.winner, loser))
        if subset is None or chosen is None or rejected is None:
            left_out["subset or reply not in the run"] += 1
            continue
        rows.append(Row(verdict.dialogue, _row(verdict, subset, verdict.winner, loser, chosen, rejected)))
    short = shortfall(source.folder, source.config, source.verdicts)
    of = len(source.verdicts)
    if short is not None and (never := short.asked - of) > 0:
        left_out["asked for, but never judged"] = never
        of = short.asked
    return Rows("preferences", "verdicts", of, rows, left_out)


def _row(verdict: Verdict, subset: Subset, winner: str, loser: str, chosen: str, rejected: str) -> dict[str, Any]:
    wins = Counter(vote.winner for vote in verdict.votes if vote.outcome == "win")
    others = Counter(vote.outcome for vote in verdict.votes)
    given = len(verdict.votes)
    return {
        "prompt": messages_of(subset.history),
        "chosen": [{"role": "assistant", "content": chosen}],
        "rejected": [{"role": "assistant", "content": rejected}],
        "chosen_model": winner,
        "rejected_model": loser,
        "criterion": verdict.criterion,
        "agreement": verdict.agreement,
        "margin": (wins[winner] - wins[loser]) / given if given else None,
        "rounds": {
            "given": given,
            "chosen": wins[winner],
            "rejected": wins[loser],
            "tie": others["tie"],
            "unreadable": others["unreadable"],
        },
        "dialogue": verdict.dialogue,
        "subset": verdict.subset,
        "persona": subset.persona,
        "question": subset.question,
        "subject": subset.subject,
        "language": subset.language,
    }
