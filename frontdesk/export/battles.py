"""Verdicts as battles, in the columns that FastChat and arena-rank read."""

from __future__ import annotations

from collections import Counter
from typing import Any

from frontdesk.export.chats import messages_of
from frontdesk.export.rows import Row, Rows
from frontdesk.runner.source import Source
from runstore.records import Verdict

_WINNERS = ("model_a", "model_b")


def battles(source: Source) -> Rows:
    """One row a verdict that is a win or a tie: ``model_a``, ``model_b``, ``winner``, both conversations whole.

    ``cluster`` is the dialogue, so that ``rate --battles`` gives the run's own ratings and intervals. ``tstamp``
    is the row's place: a run has no clock. Left out and counted: invalid verdicts.
    """
    subsets = {subset.id: subset for subset in source.subsets}
    replies = {(reply.subset, reply.endpoint): reply.text for reply in source.replies}
    rows: list[Row] = []
    left_out: Counter[str] = Counter()
    for at, verdict in enumerate(source.verdicts):
        if verdict.outcome == "invalid":
            left_out["invalid verdict"] += 1
            continue
        subset = subsets.get(verdict.subset)
        history = messages_of(subset.history) if subset is not None else []
        said = [replies.get((verdict.subset, name)) for name in verdict.endpoints]
        row: dict[str, Any] = {
            "question_id": verdict.subset,
            "model_a": verdict.endpoints[0],
            "model_b": verdict.endpoints[1],
            "winner": _winner(verdict),
            "judge": "majority",
            "turn": len(history),
            "anony": True,
            "language": source.config.run.language,
            "tstamp": at,
            "criterion": verdict.criterion,
            "cluster": verdict.dialogue,
        }
        for side, text in zip("ab", said, strict=True):
            own = [] if text is None else [{"role": "assistant", "content": text}]
            row[f"conversation_{side}"] = [*history, *own]
        rows.append(Row(verdict.dialogue, row))
    return Rows("battles", "verdicts", len(source.verdicts), rows, left_out)


def _winner(verdict: Verdict) -> str:
    return "tie" if verdict.winner is None else _WINNERS[verdict.endpoints.index(verdict.winner)]
