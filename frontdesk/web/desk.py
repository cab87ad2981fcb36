"""What the organiser does with collected data: take forms in, replace raters, withdraw, purge."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from arena.human.folder import StudyFolder
from arena.human.plan import replace_rater
from arena.human.ratings import read_ratings
from arena.human.returned import Returned, read_returned
from arena.human.study import load_documents, load_study
from frontdesk.web.database import for_owner_alone
from frontdesk.web.exports import publish
from frontdesk.web.results import Analysed, write_analysis
from frontdesk.web.store import Store
from runstore.problems import InputProblem, Problem
from runstore.publish import read_csv, safe_name, write_csv, write_json
from runstore.runlock import RunLock


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did; ``report`` is also in ``import-report.json``."""

    report: dict[str, Any]
    changed: int

    @property
    def complete(self) -> bool:
        return not (self.report["conflicts"] or self.report["unreadable"])


def import_forms(folder: StudyFolder, *files: Path) -> Imported:
    """Take returned files in; the same again change nothing. Raises InputProblem before it stores."""
    study = folder.study()
    questions = {
        name: {question.id: question for question in study.forms[group.form].questions}
        for name, group in study.groups.items()
    }
    survey = {question.id: question for question in study.survey}
    returned = read_returned(files, folder.rows(), questions, survey)
    store = Store(folder)
    try:
        changed = 0
        gone = sorted({rater for rater, _ in returned.items if store.answers.has_withdrawn(rater)})
        if gone:
            names = ", ".join(map(str, files))
            raise InputProblem(
                names, "no answers of a person who has withdrawn", found=", ".join(gone), field="rater"
            )
        for (rater, position), answers in returned.items.items():
            on_file = store.answers.saved(rater, position)
            values: dict[str, str] = {}
            for question, answer in answers.items():
                had = on_file.get(question)
                if had and had[0] != answer.value and not (answer.at and answer.at > had[1]):
                    returned.conflicts.append(
                        f"{answer.line}: {rater}, item {position}, {question}: {answer.value} came, "
                        f"{had[0]} of {had[1]} is on file and stays"
                    )
                else:
                    values[question] = answer.value
            times = [answer.at for answer in answers.values() if answer.at]
            seconds = next((answer.seconds for answer in answers.values() if answer.seconds is not None), None)
            changed += store.answers.import_item(rater, position, values, max(times, default=None), seconds)
        surveys = _take_surveys(store, returned)
        publish(store, folder)
    finally:
        store.close()
    counted = {"items": len(returned.items), "items_changed": changed, "surveys_changed": surveys}
    report = {"file": ", ".join(file.name for file in files), **counted, **returned.report()}
    write_json(folder.path / "import-report.json", report)
    for_owner_alone(folder.path / "import-report.json")
    return Imported(report, changed)


def _take_surveys(store: Store, returned: Returned) -> int:
    """The closing surveys that came back; what is on file stays. How many changed."""
    filed: dict[str, dict[str, str]] = {}
    for rater, question, value in store.answers.survey_answers():
        filed.setdefault(rater, {})[question] = value
    changed = 0
    for rater, values in returned.survey.items():
        had = filed.get(rater, {})
        for question in sorted(had.keys() & values.keys()):
            if had[question] != values[question]:
                told = (
                    f"{rater}, survey, {question}: {values[question]} came, {had[question]} is on file and stays"
                )
                returned.conflicts.append(told)
        if values.keys() - had.keys():
            store.answers.save(rater, "survey", 1, values | had, submit=True)
            store.answers.surveyed(rater)
            changed += 1
    return changed


def replace(folder: StudyFolder, rater: str, by: str | None) -> tuple[str, int]:
    """The open items of a rater who left go to ``by`` or a new one: (name, items moved). Raises Problem."""
    rows = folder.rows()
    store = Store(folder)
    try:
        known = {person.rater: person for person in store.answers.raters()}
        if rater not in known:
            raise Problem(f"no rater is called {rater!r}")
        name = by or _next_name(rater, set(known))
        if name in known and known[name].left:
            raise Problem(f"{name} has left the study and cannot take over")
        changed, moved = replace_rater(rows, rater, name, store.answers.finished(rater))
        store.hand_over(rater, name, changed)
        folder.set_rows(changed)
    finally:
        store.close()
    return name, moved


def _next_name(rater: str, known: set[str]) -> str:
    group, _, number = rater.rpartition("-")
    ends = [name.removeprefix(f"{group}-") for name in known if name.startswith(f"{group}-")]
    if not group or not number.isdigit():
        raise Problem(f"{rater} has no number to count on from; say who takes over with --by")
    return f"{group}-{max(int(end) for end in ends if end.isdigit()) + 1:0{len(number)}d}"


def withdraw(folder: StudyFolder, code: str) -> str:
    """Delete a person's data everywhere in the folder and analyse again; returns the pseudonym.

    Raises Problem: no such code.
    """
    store = Store(folder)
    try:
        rater = store.withdraw(code)
        has_ratings = publish(store, folder) > 0
    finally:
        store.close()
    for path in (folder.path / "forms").glob(f"{safe_name(rater)}.*"):
        path.unlink()
    # The report of an import quotes answers, and the list of links still has theirs.
    _delete(folder.path, ("import-report.json",))
    _forget_link(folder, rater)
    if (folder.path / "analysis.json").exists():
        _forget_analysis(folder)
        if has_ratings:
            analyze_folder(folder)
    return rater


def _forget_link(folder: StudyFolder, rater: str) -> None:
    path = folder.path / "links.csv"
    if path.exists():
        header, rows = read_csv(path)
        write_csv(path, header, [list(row.values()) for row in rows if row["rater"] != rater])
        path.chmod(0o600)


_DATA = (
    "persons.sqlite*",
    "ratings.sqlite*",
    "links.csv",
    "ratings.csv",
    "survey.csv",
    "import-report.json",
    "forms",
)
_ANALYSIS = ("analysis.*", "free_text*.csv", "judgments.jsonl", "verdicts.jsonl", "sheets.jsonl", "leaderboard.*")


def _forget_analysis(folder: StudyFolder) -> None:
    _delete(folder.path, _ANALYSIS)


def analyze_folder(
    folder: StudyFolder,
    *,
    ratings: Path | None = None,
    out: Path | None = None,
    run: Path | None = None,
    language: str | None = None,
    scores: Path | None = None,
) -> Analysed:
    """Analyse what was collected, or another ``ratings.csv``. Raises Problem."""
    study, documents, plan = folder.study(), folder.documents(), folder.rows()
    if ratings is None and folder.ratings_db.exists():
        store = Store(folder)
        try:
            publish(store, folder)
            rows = store.answers.ratings()
        finally:
            store.close()
    else:
        rows = read_ratings(ratings or folder.ratings_csv, study, documents, plan)
    ends = retention_ends(folder)
    if run is None and study.matches and Path(study.matches.run).is_dir():
        run = Path(study.matches.run)
    return write_analysis(
        study,
        rows,
        documents,
        plan,
        out or folder.path,
        run=run,
        language=language,
        scores=scores,
        extra={"keep_until": ends.date().isoformat() if ends else None},
    )


def analyze_table(
    study_file: Path,
    ratings: Path,
    out: Path,
    *,
    run: Path | None = None,
    language: str | None = None,
    scores: Path | None = None,
) -> Analysed:
    """Analyse ratings that were collected elsewhere. Raises Problem."""
    study = load_study(study_file)
    documents = {document.id: document for document in load_documents(study, study_file.parent)}
    rows = read_ratings(ratings, study, documents)
    return write_analysis(study, rows, documents, (), out, run=run, language=language, scores=scores)


def retention_ends(folder: StudyFolder) -> datetime | None:
    """When the data must be gone: the last answer plus the study's years; None while there is no answer."""
    if not folder.ratings_db.exists():
        return None
    store = Store(folder)
    try:
        last = store.answers.last_answer_at()
    finally:
        store.close()
    if last is None:
        return None
    return datetime.fromisoformat(last) + timedelta(days=365.25 * folder.study().retention_years)


def purge(folder: StudyFolder, *, now: datetime | None = None, early: bool = False) -> list[str]:
    """Delete persons, ratings, exports and forms; plan, certificate and published tables stay.

    Returns the names deleted. Raises Problem before the retention period is over, unless ``early``.
    """
    years = folder.study().retention_years
    ends = retention_ends(folder)
    today = now or datetime.now(UTC)
    if ends and today < ends and not early:
        raise Problem(
            f"the data are kept until {ends.date()} ({years:g} years after the last "
            "answer); to delete them now, say --early"
        )
    with RunLock(folder.path):
        gone = _delete(folder.path, (*_DATA, *_ANALYSIS[1:-1]))
        write_json(folder.purged_json, {"purged": today.date().isoformat(), "files": gone})
        _delete(folder.path, (RunLock.NAME,))
    return gone


def forget_persons(folder: StudyFolder) -> None:
    """Delete names, links and codes only: what remains is anonymous, and nobody can withdraw or go on."""
    with RunLock(folder.path):
        store = Store(folder)
        try:
            store.forget_persons()
        finally:
            store.close()
        _delete(folder.path, ("links.csv", "forms"))


def _delete(folder: Path, patterns: Iterable[str]) -> list[str]:
    paths = sorted({path for pattern in patterns for path in folder.glob(pattern)})
    for path in paths:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return [path.name for path in paths]
