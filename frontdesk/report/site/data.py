"""A run's data as the files of its site: a summary, an index of all matches in columns, and texts in pieces.

Every file is a script that hands one value to the page (``Arena.take(name, value)``): browsers refuse to fetch
data next to a page opened from disk, but load scripts. Names that somebody chose are values in lists, never keys.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from arena.agreement.shares import Share
from arena.judges import behaviour
from arena.judges.behaviour import MatchKey, match_of
from frontdesk.report.blocks import shown
from frontdesk.report.prose import elements, prose
from frontdesk.report.sections.run import outcomes
from frontdesk.report.sections.run.data import RunData
from frontdesk.report.sections.run.names import factor_name, level_name
from frontdesk.report.sections.run.pictures import colour_of
from frontdesk.report.site.endpoint import page_name
from runstore.languages import words
from runstore.records import Judgment, Reply, Subset, Verdict

SUBSETS_A_PIECE = 100
LONGEST_SHOWN = 20_000
"""Letters of one text in a piece: the rest is left out and counted there; the run's files hold it whole."""
_SNIPPET = 140
OUTCOMES = ("first", "tie", "second", "invalid")


class Codes:
    """Texts as small numbers, in order of first use unless an order is given."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self.texts: list[str] = []
        self._at: dict[str, int] = {}
        for text in known:
            self(text)

    def __call__(self, text: str) -> int:
        if text not in self._at:
            self._at[text] = len(self.texts)
            self.texts.append(text)
        return self._at[text]


def index(data: RunData) -> dict[str, object]:
    """All matches in columns: subset, pair, outcome (see OUTCOMES), agreement, level of each category."""
    numbers = {subset.id: at for at, subset in enumerate(data.subsets)}
    played = [verdict for verdict in data.verdicts if verdict.subset in numbers]
    names = {name: at for at, name in enumerate(data.names)}
    dialogues, pairs = Codes(), Codes()
    return {
        "subset": [numbers[verdict.subset] for verdict in played],
        "a": [names[verdict.endpoints[0]] for verdict in played],
        "b": [names[verdict.endpoints[1]] for verdict in played],
        "pair": [pairs(f"{names[v.endpoints[0]]}:{names[v.endpoints[1]]}") for v in played],
        "outcome": [_outcome(verdict) for verdict in played],
        "agreement": [outcomes.RELIABILITY.index(_agreement(verdict)) for verdict in played],
        "dialogue": [dialogues(verdict.dialogue) for verdict in played],
        "categories": [_category(data, played, key, of) for key, of in _categories(data).items()],
        "subsets": {
            "id": [subset.id for subset in data.subsets],
            "persona": [subset.persona for subset in data.subsets],
            "question": [subset.question for subset in data.subsets],
            "snippet": [_snippet(subset) for subset in data.subsets],
        },
    }


def _categories(data: RunData) -> dict[str, Callable[[Verdict], str | None]]:
    return outcomes.categories(data.subset, data.criteria)


def _category(
    data: RunData, played: Sequence[Verdict], key: str, level_of: Callable[[Verdict], str | None]
) -> dict[str, object]:
    """``levels`` as records have them, and how the category and they are ``called``."""
    say = words("frontdesk.report", "run", data.config.run.language)
    level_each = [level_of(verdict) for verdict in played]
    levels = sorted({level for level in level_each if level is not None}, key=outcomes.natural)
    at = {level: number for number, level in enumerate(levels)}
    called = [level_name(data.config, key, level, say) for level in levels]
    factor = factor_name(data.config, key.removeprefix("persona."), data.config.run.language)
    return {
        "key": key,
        "factor": factor,
        "levels": levels,
        "called": called,
        "of": [-1 if level is None else at[level] for level in level_each],
    }


def _outcome(verdict: Verdict) -> int:
    if verdict.outcome == "invalid":
        return 3
    return 1 if verdict.winner is None else 0 if verdict.winner == verdict.endpoints[0] else 2


def _agreement(verdict: Verdict) -> str:
    return "invalid" if verdict.outcome == "invalid" else verdict.agreement


def _snippet(subset: Subset) -> str:
    line = " ".join(subset.history[-1].text.split()) if subset.history else ""
    return line if len(line) <= _SNIPPET else line[: _SNIPPET - 1] + "…"


def pieces(data: RunData) -> Iterable[tuple[str, object]]:
    """(name, value) of the pieces: ``texts-N`` holds histories and replies of SUBSETS_A_PIECE subsets,
    ``prose-N`` the same as elements, ``votes-N`` what every judge said about their matches."""
    replies: defaultdict[str, list[Reply]] = defaultdict(list)
    for reply in data.replies:
        replies[reply.subset].append(reply)
    rounds: defaultdict[str, dict[MatchKey, list[Judgment]]] = defaultdict(dict)
    for judgment in data.judgments:
        rounds[judgment.subset].setdefault(match_of(judgment), []).append(judgment)
    names = {name: at for at, name in enumerate(data.names)}
    for start in range(0, len(data.subsets), SUBSETS_A_PIECE):
        number = start // SUBSETS_A_PIECE
        some = data.subsets[start : start + SUBSETS_A_PIECE]
        texts = [_texts(subset, replies[subset.id], names) for subset in some]
        yield f"texts-{number}", texts
        yield f"prose-{number}", [_prose(each) for each in texts]
        yield f"votes-{number}", [_votes(rounds[subset.id], names, data.judges) for subset in some]


def _texts(subset: Subset, replies: Sequence[Reply], names: Mapping[str, int]) -> dict[str, list[Any]]:
    return {
        "history": [[utterance.role, shown(utterance.text, LONGEST_SHOWN)] for utterance in subset.history],
        "replies": [
            [names[reply.endpoint], shown(reply.text, LONGEST_SHOWN)]
            for reply in replies
            if reply.endpoint in names
        ],
    }


def _prose(texts: Mapping[str, list[Any]]) -> dict[str, list[list[Any] | None]]:
    """The same texts as elements, in their order; null where a text is shown as it is."""
    return {key: [_rendered(text) for _, text in said] for key, said in texts.items()}


@lru_cache(4096)
def _rendered(text: str) -> list[Any] | None:
    """Contexts of one dialogue share their turns."""
    made = prose(text)
    return None if made is None else elements(made)


def _votes(
    matches: Mapping[MatchKey, Sequence[Judgment]], names: Mapping[str, int], judges: Sequence[str]
) -> list[list[Any]]:
    """One list a match: first and second endpoint (names in order), criterion, rounds."""
    return [
        [names.get(a, -1), names.get(b, -1), criterion, [_round(each, names, judges) for each in rounds]]
        for (_, a, b, criterion), rounds in matches.items()
    ]


def _round(judgment: Judgment, names: Mapping[str, int], judges: Sequence[str]) -> list[Any]:
    winner = None if judgment.winner is None else names.get(judgment.winner)
    slots = [names.get(judgment.slot_a, -1), names.get(judgment.slot_b, -1)]
    return [
        judgment.round,
        judges.index(judgment.judge),
        *slots,
        judgment.letter,
        judgment.outcome,
        winner,
        judgment.reason or "",
        shown(judgment.raw, LONGEST_SHOWN),
    ]


def ratings(data: RunData) -> dict[str, object]:
    """The leaderboard with endpoints as numbers; colours follow names, as in the report."""
    names = {name: at for at, name in enumerate(data.names)}
    board = data.board
    return {
        "names": data.names,
        "pages": [page_name(name) for name in data.names],
        "colours": [colour_of(data, name) % 8 for name in data.names],
        "models": [{**model.to_json(), "name": names[model.name]} for model in board.models],
        "pairs": [{**pair.to_json(), "a": names[pair.a], "b": names[pair.b]} for pair in board.pairs],
        "notes": board.notes,
        "method": board.method,
    }


def judging(data: RunData) -> dict[str, object]:
    """Position, consistency and agreement per judge, over the whole run."""
    level = data.level
    return {
        "names": data.judges,
        "position": [
            [row.first, row.second, row.ties, row.unreadable, *_figures(row.share)]
            for row in behaviour.position(data.judgments, data.judges, level)
        ],
        "consistency": [
            [
                row.rounds,
                row.unreadable,
                row.same.hits,
                row.same.of,
                *_figures(row.same),
                row.pairs_alike,
                row.pairs,
            ]
            for row in behaviour.consistency(data.judgments, data.judges, level)
        ],
        "between": [
            [
                *(data.judges.index(name) for name in (row.a, row.b)),
                *(row.alike.hits, row.alike.of, row.matches),
                *_figures(row.alike),
                *(row.kappa.value, row.kappa.reason),
            ]
            for row in behaviour.between_judges(data.judgments, data.judges, level)
        ],
    }


def _figures(share: Share) -> list[float | None]:
    return [share.value, share.lower, share.upper]


def levels(data: RunData) -> list[dict[str, object]]:
    """Ratings per level of each category, with those pulled towards the whole (see arena.ratings.categories)."""
    from arena.ratings.categories import breakdown
    from arena.ratings.verdicts import from_verdicts, subset_labels
    from frontdesk.runner.rating import settings_of

    battles = from_verdicts(data.verdicts, labels=subset_labels(data.subsets))
    names = {name: at for at, name in enumerate(data.names)}
    parts: list[dict[str, object]] = []
    for category in _categories(data):
        if battles.rows is None or category not in battles.rows.levels:
            continue
        part = breakdown(battles, category, settings_of(data.config)).table().to_json()
        for level in part["levels"]:
            level["models"] = [{**model, "name": names[model["name"]]} for model in level["models"]]
        parts.append(part)
    return parts
