"""Verdicts as battles, in the columns that FastChat and arena-rank read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from frontdesk.export.chats import messages_of
from frontdesk.export.rows import Row, Rows, Tally
from frontdesk.runner.source import Source
from runstore.records import Reply, Subset, Verdict

_WINNERS = ("model_a", "model_b")


def battles(source: Source) -> Rows:
    """One row a verdict that is a win or a tie: ``model_a``, ``model_b``, ``winner``, both conversations whole.

    ``cluster`` is the dialogue, so that ``rate --battles`` gives the run's own ratings and intervals. ``tstamp``
    is the row's place: a run has no clock. Left out and counted: invalid verdicts.
    """
    subsets = source.find("subsets.jsonl", Subset, lambda row: row["id"])
    replies = source.find("replies.jsonl", Reply, reply_key)
    language = source.config.run.language

    def make(records: Iterable[tuple[int, Verdict]], tally: Tally) -> Iterator[Row]:
        for at, verdict in records:
            tally.of += 1
            if verdict.outcome == "invalid":
                tally.left_out["invalid verdict"] += 1
                continue
            subset = subsets.get(verdict.subset)
            history = messages_of(subset.history) if subset is not None else []
            row: dict[str, object] = {
                "question_id": verdict.subset,
                "model_a": verdict.endpoints[0],
                "model_b": verdict.endpoints[1],
                "winner": _winner(verdict),
                "judge": "majority",
                "turn": len(history),
                "anony": True,
                "language": language,
                "tstamp": at,
                "criterion": verdict.criterion,
                "cluster": verdict.dialogue,
            }
            for side, name in zip("ab", verdict.endpoints, strict=True):
                reply = replies.get(f"{verdict.subset}\n{name}")
                own = [] if reply is None else [{"role": "assistant", "content": reply.text}]
                row[f"conversation_{side}"] = [*history, *own]
            yield Row(verdict.dialogue, row)

    name = "verdicts.jsonl"
    return Rows(
        "battles", "verdicts", lambda skip: enumerate(source.each(name, Verdict, skip), skip), make, file=name
    )


def reply_key(row: Mapping[str, object]) -> str:
    """A reply's subset and endpoint as one key."""
    return f"{row['subset']}\n{row['endpoint']}"


def _winner(verdict: Verdict) -> str:
    return "tie" if verdict.winner is None else _WINNERS[verdict.endpoints.index(verdict.winner)]
