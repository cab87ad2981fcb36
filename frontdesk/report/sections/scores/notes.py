"""What a report of scores says in sentences: where the scores come from, and what is missing or open."""

from __future__ import annotations

from collections.abc import Sequence

from arena.scoring.combine import Combined
from arena.scoring.tables import JudgeRecord
from frontdesk.runner.score_files import Scored, ScoreResults
from runstore.languages import Words


def notes(results: ScoreResults, say: Words) -> list[str]:
    """What stands at the top: what the scores are not, what is missing, and what is open."""
    rows = results.rows
    return [
        *_warnings(results.scored, say),
        *incomplete(rows, results.judges, say),
        *left_open(rows, say),
    ]


def provenance(scored: Scored, say: Words) -> str:
    """One line on subjects, rubric and judges."""
    plan = scored.plan
    return say(
        "provenance",
        subjects=len(scored.material.sessions),
        source=plan.source,
        rubric=scored.rubric.identity,
        judges=", ".join(plan.judges),
        repeats=plan.repeats,
    )


def _warnings(scored: Scored, say: Words) -> list[str]:
    small = [judge for judge, kind in scored.kinds.items() if kind == "local"]
    return [say("small", judges=", ".join(small))] if small else []


def incomplete(rows: Sequence[Combined], judges: Sequence[JudgeRecord], say: Words) -> list[str]:
    """What is missing, in words: sheets without a reply, unreadable ones, values, totals."""
    told: list[str] = []
    for judge in judges:
        parts = [
            say("without_reply", n=judge.failed) if judge.failed else "",
            say("not_asked", n=left) if (left := judge.asked - judge.failed - judge.received) else "",
            say("unreadable", n=unreadable) if (unreadable := judge.received - judge.readable) else "",
            say("missing", n=judge.values_missing, of=judge.values) if judge.values_missing else "",
        ]
        if any(parts):
            told.append(
                say("asked", judge=judge.judge, n=judge.asked, what=", ".join(part for part in parts if part))
            )
    lost = sum(row.scores.total is None and not row.scores.does_not_apply for row in rows)
    if lost:
        told.append(say("lost", n=lost, of=len(rows)))
    return told


def left_open(rows: Sequence[Combined], say: Words) -> list[str]:
    """What is open though nothing is missing: rows without a total as nothing of an item applies to them, and rows
    that leave a floor rule undecided, as is allowed where the rule's flag is optional."""
    counts = {
        "inapplicable": sum(row.scores.does_not_apply for row in rows),
        "undecided": sum(bool(row.scores.undecided) for row in rows),
    }
    return [say(key, n=count, of=len(rows)) for key, count in counts.items() if count]
