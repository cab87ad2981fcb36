"""People's votes on matches of a run, as the same records that model judges leave, and the two compared.

A person is the judge ``person:<pseudonym>``, a question the criterion. "Both good" and "both bad" are ties; which
of them it was stays in the judgment's ``raw``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np

from arena.agreement.calibrated import calibrate, votes_needed
from arena.agreement.kappa import kappa_from_counts
from arena.human.forms import FLAGS, NOT_APPLICABLE
from arena.human.ratings import Scored
from arena.human.result import CalibratedPairRow, ComparedRow
from arena.human.study import Document, Study
from arena.reading import LetterReading
from arena.rubrics.rubric import load_rubric
from arena.votes import judgment_from, verdict
from runstore.records import Judgment, Sheet, Verdict

_LETTERS: dict[str, Literal["a", "b", "c"]] = {"left": "a", "right": "b", "both_good": "c", "both_bad": "c"}
Key = tuple[str, tuple[str, str], str]


def judgments(study: Study, rows: Sequence[Scored], documents: Mapping[str, Document]) -> list[Judgment]:
    """One judgment a vote. The first free text of the item is its reason."""
    judged: list[Judgment] = []
    for row in rows:
        source = documents[row.document].source if row.document in documents else {}
        if "x" not in source or row.group not in study.groups:
            continue
        form = study.forms[study.groups[row.group].form]
        texts = [row.answers[q.id] for q in form.questions if q.kind == "text" and q.id in row.answers]
        left, right = (source["x"], source["y"]) if row.condition == "XY" else (source["y"], source["x"])
        for question in form.questions:
            vote = row.answers.get(question.id, NOT_APPLICABLE)
            if question.kind == "vote" and vote != NOT_APPLICABLE:
                judged.append(
                    judgment_from(
                        LetterReading(_LETTERS[vote]),
                        subset=source["subset"],
                        dialogue=source["dialogue"],
                        judge=f"person:{row.rater}",
                        criterion=question.id,
                        round=1,
                        slot_a=left,
                        slot_b=right,
                        raw=vote,
                        reason=texts[0] if texts else None,
                    )
                )
    return judged


def verdicts(votes: Iterable[Judgment]) -> list[Verdict]:
    """One verdict a match and criterion: more than half of those who voted, else a tie."""
    matches: dict[Key, list[Judgment]] = defaultdict(list)
    for vote in votes:
        one, other = sorted((vote.slot_a, vote.slot_b))
        matches[vote.subset, (one, other), vote.criterion].append(vote)
    return [verdict(own, key[1], len(own)) for key, own in sorted(matches.items())]


def compare_with_judges(people: Sequence[Verdict], judges: Sequence[Verdict]) -> list[ComparedRow]:
    """Agreement, kappa and confusion per criterion that people voted on; invalid verdicts take no part."""
    models = {_key(judge): judge for judge in judges if judge.outcome != "invalid"}
    result: list[ComparedRow] = []
    for criterion in dict.fromkeys(decided.criterion for decided in people):
        own = [decided for decided in people if decided.criterion == criterion and decided.outcome != "invalid"]
        both = [(decided, models[_key(decided)]) for decided in own if _key(decided) in models]
        table = np.zeros((3, 3), dtype=np.int64)
        for human, model in both:
            table[_code(human), _code(model)] += 1
        counts = tuple(tuple(int(n) for n in line) for line in table)
        result.append(
            ComparedRow(
                criterion=criterion,
                labels=("first wins", "second wins", "tie"),
                counts=counts,
                agree=int(np.trace(table)),
                n=len(both),
                unjudged=len(own) - len(both),
                kappa=kappa_from_counts(table).row(),
            )
        )
    return result


def _key(decided: Verdict) -> Key:
    first, second = sorted(decided.endpoints)
    return decided.subset, (first, second), decided.criterion


def _code(decided: Verdict) -> int:
    return 2 if decided.winner is None else sorted(decided.endpoints).index(decided.winner)


def calibrated_pairs(
    people: Sequence[Verdict], judges: Sequence[Verdict], *, width: float = 0.2
) -> list[CalibratedPairRow]:
    """Per criterion and pair: prediction-powered win rate (a tie is half), clustered by dialogue.

    ``width``: the interval's full width that more votes are planned for. Valid as long as the matches people
    voted on were drawn at random from all, as the study draws them.
    """
    votes = {_key(decided): _win(decided) for decided in people if decided.outcome != "invalid"}
    groups: dict[tuple[str, tuple[str, str]], list[Verdict]] = defaultdict(list)
    for judge in judges:
        if judge.outcome != "invalid":
            key = _key(judge)
            groups[key[2], key[1]].append(judge)
    wanted = Counter((key[2], key[1]) for key in votes)
    result: list[CalibratedPairRow] = []
    for (criterion, pair), own in sorted(groups.items()):
        if not wanted[criterion, pair]:
            continue
        labelled = [decided for decided in own if _key(decided) in votes]
        rest = [decided for decided in own if _key(decided) not in votes]
        calibrated = calibrate(
            [votes[_key(decided)] for decided in labelled],
            [_win(decided) for decided in labelled],
            [_win(decided) for decided in rest],
            cluster=[decided.dialogue for decided in labelled],
            cluster_unlabelled=[decided.dialogue for decided in rest],
        )
        row = dict(calibrated.row())
        more = votes_needed(calibrated, width)
        result.append(CalibratedPairRow(criterion=criterion, a=pair[0], b=pair[1], **row, votes_needed=more))
    return result


def _win(decided: Verdict) -> float:
    """1 where the first of the pair (by name) won, 0 where the second did, 1/2 for a tie."""
    return 0.5 if decided.winner is None else float(decided.winner == min(decided.endpoints))


def sheets(study: Study, rows: Sequence[Scored], documents: Mapping[str, Document]) -> list[Sheet]:
    """Rubric forms that people filled in, as the sheets that judges leave; what they left out is None.

    They can be scored beside judges: ``tutor-arena score --sheets``.
    """
    filled: list[Sheet] = []
    for row in rows:
        form = study.forms[study.groups[row.group].form] if row.group in study.groups else None
        if form is None or form.rubric is None:
            continue
        rubric = load_rubric(form.rubric)
        values: dict[str, dict[str, int | None]] = {item.key: dict.fromkeys(item.slots) for item in rubric.items}
        flags: dict[str, int | None] = {flag.key: None for flag in rubric.flags}
        aside: dict[str, tuple[str, ...]] = {}
        for question in form.questions:
            item, _, element = question.id.partition("__")
            answer = row.answers.get(question.id)
            if answer == NOT_APPLICABLE:
                aside[item] = (*aside.get(item, ()), element)
            elif answer is not None:
                (flags if item == FLAGS else values[item])[element] = int(answer)
        document = documents.get(row.document)
        filled.append(
            Sheet(
                subject=document.source.get("dialogue", row.document) if document else row.document,
                judge=f"person:{row.rater}",
                repeat=1,
                values=values,
                flags=flags,
                not_applicable=aside,
                readable=True,
                raw="",
                rubric=rubric.identity,
            )
        )
    return filled
