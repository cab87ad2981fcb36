"""Coded themes of free texts: how often each was found, in which condition, and how far two coders agree.

Two people read the same free texts and write down which themes each holds. A theme counts where every coder of the
text gave it; agreement is Cohen's kappa over the texts that both coders read, theme by theme.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np

from arena.agreement.kappa import cohen_kappa
from arena.agreement.result import StatisticRow
from runstore.problems import InputProblem
from runstore.results import Result
from runstore.tables import Schema, read_table

CODED = Schema(
    {
        "rater": ("평가자",),
        "document": ("문서", "자료"),
        "question": ("문항", "질문"),
        "condition": ("조건",),
        "coder": ("코더", "부호화자"),
        "theme": ("주제", "테마"),
    }
)
NEEDED = ("rater", "document", "question", "coder", "theme")
Text = tuple[str, str, str, str]
"""One free text: rater, document, condition, question."""


class PairOfCoders(Result):
    """How two coders agree on one theme, over the texts that both of them read."""

    first: str
    second: str
    both: int
    first_only: int
    second_only: int
    neither: int
    kappa: StatisticRow


class Theme(Result):
    """One theme: the texts in which all coders found it, and any did, by condition; and the coders' pairs."""

    theme: str
    found_by_all: Mapping[str, int]
    found_by_any: Mapping[str, int]
    pairs: tuple[PairOfCoders, ...]


class Themes(Result):
    """``themes.json``. ``texts``: coded texts by condition; ``twice``: those that two coders or more read."""

    coders: tuple[str, ...]
    texts: Mapping[str, int]
    twice: int
    themes: tuple[Theme, ...]


def read_coded(path: Path) -> Themes:
    """A table with a row a text, coder and theme; a coder who found none has one row with a blank theme.

    Raises InputProblem: a column that is missing, a blank name, the same theme twice.
    """
    coded: dict[Text, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    table = read_table(path, CODED)
    if missing := [name for name in NEEDED if name not in table.header]:
        raise InputProblem(path, f"the columns {', '.join(NEEDED)}", found=f"no {missing[0]}", field=missing[0])
    for line, row in table.rows:
        cells = {name: str(row.get(name) or "").strip() for name in (*NEEDED, "condition")}
        for name in NEEDED[:-1]:
            if not cells[name]:
                raise InputProblem(path, "a name", found="a blank cell", line=line, field=name)
        text = (cells["rater"], cells["document"], cells["condition"], cells["question"])
        themes = coded[text][cells["coder"]]
        if cells["theme"] in themes:
            raise InputProblem(path, "each theme once for a text and coder", found=cells["theme"], line=line)
        themes.add(cells["theme"])
        if len(themes) > 1 and "" in themes:
            raise InputProblem(
                path, "either themes or a blank one for a text and coder", found="both", line=line, field="theme"
            )
    if not coded:
        raise InputProblem(path, "at least one coded text", found="none")
    return themes_of(coded)


def themes_of(coded: Mapping[Text, Mapping[str, set[str]]]) -> Themes:
    """The themes of texts: by text, what each coder found."""
    coders = sorted({coder for given in coded.values() for coder in given})
    conditions = sorted({text[2] for text in coded})
    names = sorted({theme for given in coded.values() for named in given.values() for theme in named} - {""})
    return Themes(
        coders=tuple(coders),
        texts={condition: sum(text[2] == condition for text in coded) for condition in conditions},
        twice=sum(len(given) > 1 for given in coded.values()),
        themes=tuple(_theme(name, coded, coders, conditions) for name in names),
    )


def _theme(
    name: str, coded: Mapping[Text, Mapping[str, set[str]]], coders: list[str], conditions: list[str]
) -> Theme:
    by_all, by_any = dict.fromkeys(conditions, 0), dict.fromkeys(conditions, 0)
    for text, given in coded.items():
        named = [name in themes for themes in given.values()]
        by_all[text[2]] += all(named)
        by_any[text[2]] += any(named)
    pairs = tuple(_pair(name, first, second, coded) for first, second in combinations(coders, 2))
    return Theme(theme=name, found_by_all=by_all, found_by_any=by_any, pairs=pairs)


def _pair(name: str, first: str, second: str, coded: Mapping[Text, Mapping[str, set[str]]]) -> PairOfCoders:
    shared = [given for given in coded.values() if first in given and second in given]
    x = np.array([name in given[first] for given in shared], dtype=np.float64)
    y = np.array([name in given[second] for given in shared], dtype=np.float64)
    return PairOfCoders(
        first=first,
        second=second,
        both=int((x * y).sum()),
        first_only=int((x * (1 - y)).sum()),
        second_only=int(((1 - x) * y).sum()),
        neither=int(((1 - x) * (1 - y)).sum()),
        kappa=cohen_kappa(x, y, scale=(0.0, 1.0)).row(),
    )
