"""The certificate of a plan: every invariant with its bound, what was counted, and whether it holds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import ceil, floor

from arena.human.balance import transitions
from arena.human.designs import components
from runstore.records import Record


class Assignment(Record):
    """One item to rate: a line of ``plan.csv``. ``position`` counts from 1."""

    rater: str
    group: str
    position: int
    document: str
    stratum: str
    condition: str


class Invariant(Record):
    """``low <= every count <= high`` must hold; ``smallest`` and ``largest`` are the counts found."""

    group: str
    name: str
    meaning: str
    low: float
    high: float
    smallest: float
    largest: float

    @property
    def holds(self) -> bool:
        return self.low <= self.smallest and self.largest <= self.high

    def row(self) -> dict[str, object]:
        """Its entry of ``certificate.json``."""
        return {
            "group": self.group,
            "name": self.name,
            "meaning": self.meaning,
            "bound": [self.low, self.high],
            "value": [self.smallest, self.largest],
            "holds": self.holds,
        }


class _Counts:
    """The rows of one group, and the invariants found so far."""

    def __init__(self, group: str, rows: Sequence[Assignment], documents: Sequence[tuple[str, str]]) -> None:
        self.group, self.rows, self.documents = group, rows, documents
        self.conditions = sorted({row.condition for row in rows})
        self.strata = dict(documents)
        self.raters: dict[str, list[Assignment]] = defaultdict(list)
        for row in sorted(rows, key=lambda row: row.position):
            self.raters[row.rater].append(row)
        self.found: list[Invariant] = []

    def add(self, name: str, meaning: str, bound: tuple[float, float], values: Iterable[float]) -> None:
        counted = list(values) or [0]
        low, high = bound
        self.found.append(
            Invariant(
                group=self.group,
                name=name,
                meaning=meaning,
                low=low,
                high=high,
                smallest=min(counted),
                largest=max(counted),
            )
        )

    def spread(self, key_a: str, key_b: str) -> list[int]:
        """Largest minus smallest count over the values of ``key_b`` (all of them), for each value of ``key_a``."""
        table = Counter((getattr(row, key_a), getattr(row, key_b)) for row in self.rows)
        firsts = sorted({pair[0] for pair in table}, key=str)
        seconds = sorted({pair[1] for pair in table}, key=str)
        result: list[int] = []
        for a in firsts:
            counts = [table[a, b] for b in seconds]
            result.append(max(counts) - min(counts))
        return result


def certify(
    group: str,
    rows: Sequence[Assignment],
    documents: Sequence[tuple[str, str]],
    *,
    items: int,
    design: str,
) -> list[Invariant]:
    """All invariants of one group's rows. ``documents`` are (id, stratum) of the group's whole material.

    ``design`` is "cyclic", "dealt", "dealt both", "common", "both" or "full"; it decides what is promised.
    """
    counts = _Counts(group, rows, documents)
    _of_raters(counts, items, design)
    if design in ("both", "dealt both"):
        _of_first_conditions(counts)
    if design == "dealt both":
        _of_documents(counts)
    elif design in ("cyclic", "dealt"):
        _of_documents(counts)
        _of_places(counts)
        _of_the_whole(counts, design)
    else:
        _of_shared_sets(counts, design)
    return counts.found


def _within(value: float) -> tuple[int, int]:
    return floor(value + 1e-9), ceil(value - 1e-9)


def _of_raters(counts: _Counts, items: int, design: str) -> None:
    raters = counts.raters.values()
    counts.add("items_per_rater", "items of each rater", (items, items), map(len, raters))
    views = Counter((row.rater, row.document) for row in counts.rows)
    twice = 2 if design in ("both", "dealt both") else 1
    counts.add("document_views", "how often one rater sees one document", (1, twice), views.values())
    counts.add(
        "places_per_rater",
        "positions are 1 to the number of items, each once (1 = yes)",
        (1, 1),
        (int([row.position for row in mine] == list(range(1, len(mine) + 1))) for mine in raters),
    )
    if len(counts.conditions) > 1:
        counts.add("rater_conditions", "most minus fewest items of a condition, per rater", (0, 1),
                   counts.spread("rater", "condition"))  # fmt: skip
    if design in ("cyclic", "dealt"):
        sizes = Counter(counts.strata.values())
        for stratum, size in sorted(sizes.items()):
            counts.add(
                f"rater_stratum_{stratum}",
                f"items of stratum {stratum} per rater",
                _within(items * size / len(counts.documents)),
                (sum(row.stratum == stratum for row in mine) for mine in raters),
            )


def _of_documents(counts: _Counts) -> None:
    uses = Counter(row.document for row in counts.rows)
    mean = len(counts.rows) / len(counts.documents)
    counts.add("document_uses", "raters per document", _within(mean), (uses[d] for d, _ in counts.documents))
    if len(counts.conditions) < 2:
        return
    counts.add("document_conditions", "most minus fewest ratings of a condition, per document", (0, 1),
               counts.spread("document", "condition"))  # fmt: skip
    cells = Counter((row.document, row.condition) for row in counts.rows)
    low, high = _within(mean)
    of = len(counts.conditions)
    counts.add("cell_uses", "raters per document and condition", (floor(low / of), ceil(high / of)),
               (cells[d, c] for d, _ in counts.documents for c in counts.conditions))  # fmt: skip
    counts.add("stratum_conditions", "most minus fewest ratings of a condition, per stratum", (0, 1),
               counts.spread("stratum", "condition"))  # fmt: skip
    totals = Counter(row.condition for row in counts.rows)
    counts.add("condition_total", "ratings per condition", _within(len(counts.rows) / of), totals.values())


def _of_first_conditions(counts: _Counts) -> None:
    """The control of order where a rater sees a document twice: which condition came first."""
    first: dict[tuple[str, str], Assignment] = {}
    for row in sorted(counts.rows, key=lambda row: row.position):
        first.setdefault((row.rater, row.document), row)
    seen = Counter((row.document, row.condition) for row in first.values())
    documents = sorted({row.document for row in first.values()})
    pairs = [[seen[document, condition] for condition in counts.conditions] for document in documents]
    counts.add("first_condition", "most minus fewest raters who see a condition first, per document", (0, 1),
               (max(pair) - min(pair) for pair in pairs))  # fmt: skip


def _of_places(counts: _Counts) -> None:
    counts.add("place_strata", "most minus fewest ratings at a position, per stratum", (0, 1),
               counts.spread("stratum", "position"))  # fmt: skip
    if len(counts.conditions) < 2:
        return
    counts.add("place_conditions", "most minus fewest ratings of a condition, per position", (0, 1),
               counts.spread("position", "condition"))  # fmt: skip
    steps = Counter(
        step for mine in counts.raters.values() for step in transitions([row.condition for row in mine])
    )
    pairs_only = max(len(mine) for mine in counts.raters.values()) == 2
    kinds = [(a, b) for a in counts.conditions for b in counts.conditions if a != b or not pairs_only]
    counts.add("carry_over", "how often each condition follows each (first order)",
               _within(sum(steps.values()) / len(kinds)), (steps[kind] for kind in kinds))  # fmt: skip


def _of_the_whole(counts: _Counts, design: str) -> None:
    index = {document: number for number, (document, _) in enumerate(counts.documents)}
    code = {condition: number for number, condition in enumerate(counts.conditions)}
    rows = [[(index[row.document], code[row.condition]) for row in mine] for mine in counts.raters.values()]
    cells = {cell for row in rows for cell in row}
    # Promised where there are ratings to spare: near a spanning tree most designs fall apart, and two items of
    # opposite conditions can never tie the halves of a design together.
    promised = len(counts.rows) >= 1.25 * (len(rows) + len(cells)) and len(rows[0]) > 2
    counts.add("connected", "parts of the graph of raters and cells", (1, 1 if promised else len(rows)),
               [components(rows)])  # fmt: skip
    if design == "cyclic":
        met = Counter(pair for row in rows for pair in combinations(sorted(d for d, _ in row), 2))
        counts.add("pair_meetings", "raters that see the same two documents", (0, 1), met.values())


def _of_shared_sets(counts: _Counts, design: str) -> None:
    cells = Counter((row.document, row.condition) for row in counts.rows)
    raters = len(counts.raters)
    used = {row.document for row in counts.rows}
    if design in ("common", "both"):
        counts.add(
            "cell_raters", "raters per document and condition that is used", (raters, raters), cells.values()
        )
    else:
        counts.add("document_uses", "raters per document", (raters, raters),
                   Counter(row.document for row in counts.rows).values())  # fmt: skip
        if len(counts.conditions) > 1:
            counts.add("document_conditions", "most minus fewest ratings of a condition, per document", (0, 1),
                       counts.spread("document", "condition"))  # fmt: skip
    if design == "both":
        return
    counts.add("document_places", "most minus fewest uses of a position, per document", (0, 1),
               counts.spread("document", "position"))  # fmt: skip
    steps = Counter(
        step for mine in counts.raters.values() for step in transitions([row.document for row in mine])
    )
    pairs = [(a, b) for a in used for b in used if a != b]
    mean = sum(steps.values()) / max(1, len(pairs))
    slack = 0 if len(used) % 2 == 0 else 1
    low, high = _within(mean)
    counts.add("carry_over", "how often each document follows each (first order)",
               (max(0, low - slack), high + slack), (steps[pair] for pair in pairs))  # fmt: skip
