"""All of ``student.json`` out of the records of branches: panel, arms, differences, order, agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from arena.agreement.kappa import cohen_kappa
from arena.learning.leaves import Forest, leaves
from arena.learning.panel import Known, label_row, panel
from arena.learning.result import ArmRow, Counted, DifferenceRow, JudgesRow, Made, Panel, StudentSide
from arena.learning.scores import OUTCOMES, Key, Score, difference, scores
from arena.learning.taken import taken_by_model
from arena.learning.verdicts import as_verdicts, student_verdicts
from arena.ratings.leaderboard import build
from arena.ratings.settings import Settings
from arena.ratings.verdicts import from_verdicts
from knowledge.rules import Outcomes
from runstore.records import Subset, Verdict
from runstore.student_records import CONTROL_ARM, CONTROLS, ROOT_ARM, Node, StudentVerdict

PARTINGS = 5
"""Examples given of subsets where judges and the student's side name different winners."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is assessed: ``subsets`` on reviewed topics, ``students`` of the panel, moves ``known`` by node."""

    forest: Forest
    subsets: Sequence[Subset]
    endpoints: Sequence[str]
    students: Sequence[str]
    known: Mapping[str, Known]
    leaves_each: int
    outcomes: Outcomes
    judged: Sequence[Verdict] = ()
    same_family: bool = False


def assess(
    evidence: Evidence, made: Made, settings: Settings, *, all_subsets: int, drafts: int, questions: int
) -> tuple[StudentSide, list[StudentVerdict]]:
    """The result and the verdicts behind it."""
    known = _scores(evidence)
    admitted = _panel(evidence, known, made.labellers, by_model=made.quiz != "rules")
    refused = None if admitted.passed else "the panel was not passed"
    names = sorted(evidence.endpoints)
    decided = student_verdicts(known, evidence.subsets, names, evidence.outcomes, refused=refused)
    ids = [subset.id for subset in evidence.subsets]
    counts = Counted(
        subsets=all_subsets,
        with_topic=len(ids),
        drafts=drafts,
        questions=questions,
        branches=sum((subset, name) in known for subset in ids for name in names),
        branches_asked=len(ids) * len(names),
        verdicts=len(decided),
        invalid=sum(verdict.outcome == "invalid" for verdict in decided),
        capped=sum(verdict.capped for verdict in decided),
    )
    side = StudentSide(
        made=made,
        counts=counts,
        panel=admitted,
        arms=tuple(_arm(evidence, known, ids, name) for name in names),
        differences=tuple(
            _difference(known, ids, a, b, outcome, made.level)
            for a, b in combinations(names, 2)
            for outcome in OUTCOMES
        ),
        order=_order(decided, settings),
        judges=tuple(_judges(evidence.judged, decided)),
        same_family=evidence.same_family,
        notes=(),
    )
    return side, decided


def _scores(evidence: Evidence) -> dict[Key, Score]:
    """Scores of trees with all their leaves; a root has one."""
    grown_leaves = leaves(evidence.forest)
    roots = scores([leaf for leaf in grown_leaves if leaf.arm == ROOT_ARM], 1)
    return roots | scores([leaf for leaf in grown_leaves if leaf.arm != ROOT_ARM], evidence.leaves_each)


def _panel(evidence: Evidence, known: Mapping[Key, Score], labellers: Sequence[str], *, by_model: bool) -> Panel:
    arms = [f"{CONTROL_ARM}{name}" for name in CONTROLS]
    missing = sum((who, arm) not in known for who in evidence.students for arm in arms)
    labels = [label_row(name, evidence.known, evidence.forest.labels) for name in labellers]
    taken = taken_by_model(evidence.forest, evidence.students, evidence.outcomes.gate) if by_model else None
    return panel(known, evidence.students, labels, evidence.outcomes, missing, taken)


def _arm(evidence: Evidence, known: Mapping[Key, Score], ids: Sequence[str], name: str) -> ArmRow:
    own = [known[subset, name] for subset in ids if (subset, name) in known]
    before = [known[score.subset, ROOT_ARM] for score in own if (score.subset, ROOT_ARM) in known]
    nodes = [node for node in evidence.forest.nodes if node.arm == name and node.speaker == "student"]
    said = sum(score.said for score in own)
    tried = [node for node in nodes if node.attempted is not None]
    return ArmRow(
        name=name,
        subsets=len(ids),
        complete=len(own),
        **{outcome: _mean([score.outcomes[outcome] for score in own]) for outcome in OUTCOMES},
        gain=_gain(before, own),
        leaks=_mean([float(score.leaked >= evidence.outcomes.leak) for score in own]),
        told_after_attempt=_mean([score.told_after_attempt for score in own]),
        first=sum(score.first_by_student for score in own) / said if said else None,
        acts=_acts(nodes),
        attempts=len(tried),
        kept=sum(bool(node.attempted) for node in tried),
        own_rating=_mean([float(rating) for score in own for rating in score.own_ratings]),
        own_ratings=sum(len(score.own_ratings) for score in own),
    )


def _gain(before: Sequence[Score], after: Sequence[Score]) -> float | None:
    """Ratio of sums: a mean of ratios is biased where the first score is noisy."""
    room = sum(1 - score.outcomes["transfer"] for score in before)
    gained = sum(score.outcomes["transfer"] for score in after) - sum(s.outcomes["transfer"] for s in before)
    return gained / room if room and len(before) == len(after) else None


def _acts(nodes: Sequence[Node]) -> dict[str, float | int]:
    counted = Counter(node.act for node in nodes if node.act is not None)
    total = counted.total()
    return {act: counted[act] / total for act in sorted(counted)}


def _difference(
    known: Mapping[Key, Score], ids: Sequence[str], a: str, b: str, outcome: str, level: float
) -> DifferenceRow:
    measured = difference(known, ids, a, b, next(name for name in OUTCOMES if name == outcome))
    return DifferenceRow(
        a=a,
        b=b,
        outcome=outcome,
        by_dialogue=measured.by_dialogue(level),
        by_question=measured.by_question(level),
        subsets=len(measured.values),
        missing=measured.missing,
    )


def _order(decided: Sequence[StudentVerdict], settings: Settings) -> dict[str, object] | None:
    if all(verdict.outcome == "invalid" for verdict in decided):
        return None
    return build(from_verdicts(as_verdicts(decided)), settings).to_json()


def _judges(judged: Sequence[Verdict], decided: Sequence[StudentVerdict]) -> list[JudgesRow]:
    own = {
        (by_judges.subset, by_judges.endpoints): by_judges
        for by_judges in decided
        if by_judges.outcome != "invalid"
    }
    rows: list[JudgesRow] = []
    for criterion in dict.fromkeys(verdict.criterion for verdict in judged):
        pairs: list[tuple[Verdict, StudentVerdict]] = []
        for verdict in judged:
            key = (verdict.subset, (min(verdict.endpoints), max(verdict.endpoints)))
            if verdict.criterion == criterion and verdict.outcome != "invalid" and key in own:
                pairs.append((verdict, own[key]))
        if pairs:
            rows.append(_agreement(criterion, pairs))
    return rows


def _agreement(criterion: str, pairs: Sequence[tuple[Verdict, StudentVerdict]]) -> JudgesRow:
    codes = np.array(
        [[_code(mine.winner, mine), _code(judges.winner, mine)] for judges, mine in pairs], dtype=float
    )
    kappa = cohen_kappa(
        codes[:, 1], codes[:, 0], scale=[0.0, 1.0, 2.0], clusters=[mine.dialogue for _, mine in pairs]
    )
    part = [
        (mine.subset, judges.winner, mine.winner, f"{mine.delta:+.3f}")
        for judges, mine in pairs
        if judges.winner is not None and mine.winner is not None and judges.winner != mine.winner
    ]
    return JudgesRow(
        criterion=criterion,
        kappa=kappa.row(),
        same=int((codes[:, 0] == codes[:, 1]).sum()),
        n=len(pairs),
        part=tuple(part[:PARTINGS]),
    )


def _code(winner: str | None, verdict: StudentVerdict) -> int:
    return 1 if winner is None else 2 if winner == verdict.endpoints[0] else 0


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
