"""What people said of a run's matches: their votes, how far the judges agree with them, calibrated win rates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from arena.agreement.result import StatisticRow
from arena.human.result import CalibratedPairRow, ComparedRow, HumanVotes, Votes
from frontdesk.report.blocks import Block, Column, Section, Table, cells
from frontdesk.report.figures import count, span
from frontdesk.report.sentences import spoken
from runstore.languages import words
from runstore.records import Language


def people(human: HumanVotes | None, language: Language) -> Section | None:
    """The section of a run's report; None where nobody was asked."""
    if human is None:
        return None
    return Section("people", _say("people", language), vote_blocks(human, language))


def vote_blocks(votes: Votes, language: str) -> list[Block]:
    """Tables of a study's ``votes``."""
    blocks: list[Block] = [_board(votes, language)]
    if votes.judges:
        blocks.append(_agreement(votes.judges, language))
    if votes.calibrated:
        blocks.append(_calibrated(votes.calibrated, language))
    return blocks


def _board(votes: Votes, language: str) -> Table:
    rows = [
        (model.name, _number(model.rating, 0), *map(count, (model.wins, model.losses, model.ties)))
        for model in votes.leaderboard.models
    ]
    heads = ("tutor", "rating", "wins", "losses", "ties")
    counts = {"judgments": votes.judgments, "both_good": votes.both_good, "both_bad": votes.both_bad}
    return _table(heads, rows, _say("votes", language, **counts), "", language)


def _agreement(judges: Sequence[ComparedRow], language: str) -> Table:
    rows = [
        (judge.criterion, f"{judge.agree} / {judge.n}", _number(judge.kappa.value), str(judge.unjudged),
         _confusion(judge, language))
        for judge in judges
    ]  # fmt: skip
    heads = ("criterion", "agree", "kappa", "unjudged", "confusion")
    return _table(heads, rows, _say("agreement_caption", language), _say("agreement", language), language)


def _calibrated(pairs: Sequence[CalibratedPairRow], language: str) -> Table:
    rows = [
        (_say("over", language, a=pair.a, b=pair.b, criterion=pair.criterion), _figure(pair.judge, language),
         _figure(pair.human, language), _figure(pair.estimate, language),
         "–" if pair.votes_needed.more is None else str(pair.votes_needed.more))
        for pair in pairs
    ]  # fmt: skip
    heads = ("rate_of", "judges_alone", "people_alone", "both", "more")
    caption = _say("calibrated_caption", language, width=f"{pairs[0].votes_needed.width:g}")
    return _table(heads, rows, caption, _say("calibrated", language), language)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str, title: str, language: str) -> Table:
    titles = tuple(Column(_say(head, language), number=place > 0) for place, head in enumerate(heads))
    return Table(titles, [cells(*row) for row in rows], caption, title)


def _confusion(row: ComparedRow, language: str) -> str:
    lines = zip(row.labels, row.counts, strict=True)
    return "; ".join(f"{_say(label, language)}: {', '.join(map(str, counts))}" for label, counts in lines)


def _figure(statistic: StatisticRow, language: str) -> str:
    if statistic.value is None:
        return f"– ({spoken(statistic.reason, language)})"
    bounds = statistic.interval
    return f"{100 * statistic.value:.0f}%" + (f" ({span(*bounds)})" if bounds else "")


def _number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _say(key: str, language: str, **values: object) -> str:
    return words("frontdesk.report", "people", language)(key, **values)
