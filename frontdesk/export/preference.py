"""Verdicts as preferences: one row for each verdict that has a winner. Ties and invalid verdicts are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from frontdesk.export.battles import reply_key
from frontdesk.export.chats import messages_of
from frontdesk.export.rows import Row, Rows, Tally
from frontdesk.runner.shortfall import shortfall
from frontdesk.runner.source import Source
from runstore.records import Reply, Subset, Verdict


def preference(source: Source) -> Rows:
    """``{"prompt", "chosen", "rejected", ...}``: prompt is the history as messages, the others one reply each.

    ``margin`` is (rounds for the chosen - rounds for the rejected) / rounds given, from -1 to 1.
    Left out and counted: ties, invalid verdicts, and verdicts whose subset or reply the run does not hold.
    """
    subsets = source.find("subsets.jsonl", Subset, lambda row: row["id"])
    replies = source.find("replies.jsonl", Reply, reply_key)

    def make(records: Iterable[Verdict], tally: Tally) -> Iterator[Row]:
        for verdict in records:
            tally.of += 1
            if verdict.outcome != "win" or verdict.winner is None:
                tally.left_out["tie" if verdict.outcome == "tie" else "invalid verdict"] += 1
                continue
            loser = next(name for name in verdict.endpoints if name != verdict.winner)
            subset = subsets.get(verdict.subset)
            chosen, rejected = (replies.get(f"{verdict.subset}\n{name}") for name in (verdict.winner, loser))
            if subset is None or chosen is None or rejected is None:
                tally.left_out["subset or reply not in the run"] += 1
                continue
            yield Row(verdict.dialogue, _row(verdict, subset, verdict.winner, loser, chosen.text, rejected.text))

    def settle(tally: Tally) -> None:
        short = shortfall(source.folder, source.config, source.verdicts)
        if short is not None and (never := short.asked - tally.of) > 0:
            tally.left_out["asked for, but never judged"] = never
            tally.of = short.asked

    name = "verdicts.jsonl"
    records = source.each
    return Rows(
        "preferences", "verdicts", lambda skip: records(name, Verdict, skip), make, file=name, settle=settle
    )


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
