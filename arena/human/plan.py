"""From a study to its plan: who rates which document, in which condition, in which order.

The same study, documents and seed give the same plan. A plan that cannot be made is refused with the arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np

from arena.human import designs
from arena.human.certificate import Assignment, Invariant, certify
from arena.human.study import Document, Group, Study
from runstore.ids import draw_seed
from runstore.problems import InputProblem, Problem
from runstore.publish import read_csv_lines, require_columns, write_csv, write_json

ORDERS = ["XY", "YX"]
PLAN_HEADER = ("rater", "group", "position", "document", "stratum", "condition")


@dataclass(frozen=True, slots=True)
class Plan:
    """The rows of ``plan.csv`` and the certificate. ``designs`` names the method of each group."""

    seed: int
    rows: tuple[Assignment, ...]
    certificate: tuple[Invariant, ...]
    designs: dict[str, str]

    @property
    def holds(self) -> bool:
        return all(invariant.holds for invariant in self.certificate)

    def certificate_json(self) -> dict[str, object]:
        """What ``certificate.json`` holds."""
        return {
            "seed": self.seed,
            "holds": self.holds,
            "designs": self.designs,
            "rows": len(self.rows),
            "invariants": [invariant.row() for invariant in self.certificate],
        }


def make_plan(study: Study, documents: Sequence[Document], seed: int | None = None) -> Plan:
    """Raises Problem, with the arithmetic, where a group's numbers do not go together."""
    seed = study.seed if seed is None else seed
    rows: list[Assignment] = []
    certificate: list[Invariant] = []
    methods: dict[str, str] = {}
    for name, group in study.groups.items():
        if group.same_documents_as is not None:
            continue
        panel = {rater_group: study.groups[rater_group].size for rater_group in study.panel(name)}
        group = group.model_copy(update={"size": sum(panel.values())})
        material = [document for document in documents if document.material == group.material]
        conditions = conditions_of(study, group)
        check_group(name, group, len(material), len(conditions), orders=conditions == ORDERS)
        rng = np.random.default_rng(draw_seed(seed, "plan", study.id, name))
        method, own = _group_rows(panel, group, material, conditions, rng)
        strata = [(document.id, document.stratum) for document in material]
        certificate += certify("+".join(panel), own, strata, items=group.items, design=method)
        rows += own
        methods |= dict.fromkeys(panel, method)
    return Plan(seed, tuple(rows), tuple(certificate), methods)


def conditions_of(study: Study, group: Group) -> list[str]:
    """The conditions of a group's material: for matches the two orders of the pair, for dialogues none."""
    if study.matches and group.material == study.matches.material:
        return list(ORDERS)
    if study.dialogues and group.material == study.dialogues.material:
        return [""]
    return list(study.conditions) or [""]


def check_group(name: str, group: Group, documents: int, conditions: int, *, orders: bool = False) -> None:
    """Raises Problem where the group's plan is impossible.

    ``orders``: the conditions are the two orders of a pair, of which a match needs only one to be rated at all.
    """
    raters, items, total = group.size, group.items, group.size * group.items
    where = f"groups.{name}"
    seen = items // 2 if group.both_conditions else items
    if seen > documents:
        raise Problem(
            f"{where}: {items} items per rater need {seen} different documents, but there are {documents}: "
            "a rater would see a document twice"
        )
    if group.assignment == "full" and items != documents:
        raise Problem(f"{where}: a full design rates all {documents} documents, but items = {items}")
    if conditions > 2 and group.assignment != "full":
        raise Problem(f"{where}: {conditions} conditions; balanced and common sets know one or two")
    if group.both_conditions and (group.assignment == "full" or conditions != 2 or items % 2):
        raise Problem(
            f"{where}: both_conditions needs a balanced or common set, two conditions and an even number of items"
        )
    wanted = group.ratings_per_document
    if wanted is not None and group.assignment == "balanced" and wanted * documents != total:
        raise Problem(
            f"{where}: {documents} documents x {wanted} ratings = {documents * wanted}, "
            f"but {raters} raters x {items} items = {total}"
        )
    if wanted is not None and wanted > raters:
        raise Problem(f"{where}: {wanted} ratings per document by different raters, but there are {raters} raters")
    counted = 1 if orders else conditions
    needed = documents * counted * group.min_ratings_per_cell
    if group.assignment == "balanced" and total < needed:
        raise Problem(
            f"{where}: {documents} documents x {counted} conditions x {group.min_ratings_per_cell} = {needed} "
            f"ratings are the least, but {raters} raters x {items} items = {total}: "
            f"take {ceil(needed / items)} raters, or {ceil(needed / raters)} items each, "
            "or set min_ratings_per_cell = 0"
        )


def _group_rows(
    panel: Mapping[str, int],
    group: Group,
    material: Sequence[Document],
    conditions: list[str],
    rng: np.random.Generator,
) -> tuple[str, list[Assignment]]:
    names = sorted({document.stratum for document in material})
    strata = [names.index(document.stratum) for document in material]
    size, items, of = group.size, group.items, len(conditions)
    if group.assignment == "full":
        method, rows = "full", designs.full_design(size, strata, of, rng)
    elif group.assignment == "common":
        method = "both" if group.both_conditions else "common"
        rows = designs.common_design(size, items, strata, of, rng, both=group.both_conditions)
    elif group.both_conditions:
        method, rows = "dealt both", designs.both_design(size, items, strata, rng)
    elif designs.is_cyclic_size(size, items, strata, of):
        method, rows = "cyclic", designs.cyclic_design(strata, rng)
    else:
        method, rows = "dealt", designs.dealt_design(size, items, strata, of, rng)
    raters = [
        (name, f"{name}-{number:0{max(2, len(str(of)))}d}")
        for name, of in panel.items()
        for number in range(1, of + 1)
    ]
    return method, [
        Assignment(
            rater=rater,
            group=name,
            position=position,
            document=material[document].id,
            stratum=material[document].stratum,
            condition=conditions[code],
        )
        for (name, rater), row in zip(raters, rows, strict=True)
        for position, (document, code) in enumerate(row, 1)
    ]


def replace_rater(
    rows: Sequence[Assignment], rater: str, by: str, finished: Iterable[str]
) -> tuple[tuple[Assignment, ...], int]:
    """The open items of a rater who left go to another, in the same order.

    A new rater gets them at the same positions, one who has items of their own behind those.
    ``finished`` are the documents the rater has rated completely; those rows stay. Returns the new rows
    and how many moved. Raises Problem: an unknown rater, nothing open, or a successor of another group, or who
    would see a document twice.
    """
    done = set(finished)
    mine = [row for row in rows if row.rater == rater]
    if not mine:
        raise Problem(f"no rater is called {rater!r} in the plan")
    moving = [row for row in mine if row.document not in done]
    if not moving:
        raise Problem(f"{rater} has rated all of their {len(mine)} items: nothing is open")
    theirs = [row for row in rows if row.rater == by]
    if theirs and theirs[0].group != mine[0].group:
        raise Problem(
            f"{by} cannot take over from {rater}: {theirs[0].group} is another group than {mine[0].group}"
        )
    both = sorted({row.document for row in theirs} & {row.document for row in mine})
    if both:
        raise Problem(f"{by} cannot take over from {rater}: {', '.join(both)} would be seen twice")
    last = max((row.position for row in theirs), default=0)
    places = {row.position: last + place if theirs else row.position for place, row in enumerate(moving, 1)}
    changed = tuple(
        row.model_copy(update={"rater": by, "position": places[row.position]})
        if row.rater == rater and row.position in places
        else row
        for row in rows
    )
    return changed, len(moving)


def write_plan(plan: Plan, folder: Path) -> None:
    """``plan.csv`` and ``certificate.json``."""
    write_rows(plan.rows, folder)
    write_json(folder / "certificate.json", plan.certificate_json())


def write_rows(rows: Sequence[Assignment], folder: Path) -> None:
    """``plan.csv``: sorted by rater as planned, then position."""
    write_csv(folder / "plan.csv", PLAN_HEADER, ([getattr(row, name) for name in PLAN_HEADER] for row in rows))


def read_plan(path: Path) -> tuple[Assignment, ...]:
    """Raises InputProblem naming the row that is wrong."""
    header, rows = read_csv_lines(path)
    require_columns(path, header, PLAN_HEADER)
    result: list[Assignment] = []
    for line, row in rows:
        if not row["position"].isdecimal():
            raise InputProblem(path, "a whole number", found=row["position"], line=line, field="position")
        result.append(Assignment.model_validate(row | {"position": int(row["position"])}))
    return tuple(result)
