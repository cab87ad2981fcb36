"""The analysis on disk: ``analysis.json``, ``.md``, ``.html``, ``.tex``, ``.csv``, texts for coding, votes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from arena.human import ballots
from arena.human.against import against_people, read_scores
from arena.human.analysis import Analysis, analyse
from arena.human.attention import Attention, attention
from arena.human.certificate import Assignment
from arena.human.forms import say
from arena.human.ratings import Rating, Scored, scored
from arena.human.result import CalibratedPairRow, ComparedRow, HumanVotes, Votes
from arena.human.study import Document, Study
from arena.ratings.leaderboard import build
from arena.ratings.settings import Settings
from arena.ratings.verdicts import from_verdicts
from frontdesk.report.blocks import Document as Report
from frontdesk.report.sections.ratings.write import write_leaderboard
from frontdesk.report.sections.study import table
from frontdesk.report.sections.study.document import document
from frontdesk.report.writers.html import html
from frontdesk.report.writers.markdown import markdown
from frontdesk.runner import published
from runstore.ids import content_id
from runstore.languages import words
from runstore.problems import Problem
from runstore.publish import read_records, write_csv, write_json, write_jsonl, write_text
from runstore.records import Verdict


@dataclass(frozen=True, slots=True)
class Analysed:
    """The pages' content; of how many planned items how many are finished and missing, and by how many raters."""

    page: Report
    finished: int
    planned: int
    missing: int
    raters: int


def write_analysis(
    study: Study,
    ratings: Sequence[Rating],
    documents: Mapping[str, Document],
    plan: Sequence[Assignment],
    out: Path,
    *,
    run: Path | None = None,
    language: str | None = None,
    scores: Path | None = None,
    extra: Mapping[str, object] | None = None,
) -> Analysed:
    """Write every file of the analysis into ``out``.

    ``language``: that of the pages; None is the study's first. ``run``: the run whose matches people voted on; its
    model verdicts are compared with theirs, and its ``human.json`` is written. ``scores``: a table of
    judges' scores of the same documents, compared with people's.
    Raises Problem where there is nothing to analyse.
    """
    if not ratings:
        raise Problem("there are no ratings of finished items yet: nothing to analyse")
    language = language or study.languages[0]
    analysis = analyse(study, ratings, documents.values(), language)
    rows = scored(ratings)
    judged = against_people(study, rows, read_scores(scores, study), language) if scores else []
    votes = _write_votes(study, rows, documents, out, run)
    done = _done(rows, plan)
    careful = _attention(study, rows)
    write_json(
        out / "analysis.json",
        {
            "study": study.id,
            "progress": done,
            **analysis.as_json(),
            "attention": [{"rater": rater, **asdict(signs), "flags": signs.flags} for rater, signs in careful],
            "votes": votes,
            "judges": judged,
            **(extra or {}),
        },
    )
    write_texts(study, rows, out, language)
    page = document(say(study.title, language), language, analysis, done, careful, votes, judged)
    write_text(out / "analysis.html", html(page))
    write_text(out / "analysis.md", markdown(page))
    write_text(out / "analysis.tex", table.latex_table(analysis, language))
    heads = table.header(analysis, words("frontdesk.report", "study", "en"))
    write_csv(out / "analysis.csv", (*heads, "Holm p"), _csv(analysis))
    raters = len({row.rater for row in rows})
    return Analysed(page, done["finished"], done["planned"], done["missing"], raters)


def _csv(analysis: Analysis) -> Iterable[list[str]]:
    for cells_of, row in zip(table.rows(analysis.table), analysis.table, strict=True):
        yield [*cells_of, table.p_value(row.holm_p)]


def _done(rows: Sequence[Scored], plan: Sequence[Assignment]) -> dict[str, int]:
    planned = {(row.rater, row.document, row.condition) for row in plan}
    finished = {(row.rater, row.document, row.condition) for row in rows}
    return {"finished": len(finished), "planned": len(planned or finished), "missing": len(planned - finished)}


def _attention(study: Study, rows: Sequence[Scored]) -> list[tuple[str, Attention]]:
    """Each rater with the signs of inattention that were looked for."""
    result: list[tuple[str, Attention]] = []
    for rater in dict.fromkeys(row.rater for row in rows):
        mine = [row for row in rows if row.rater == rater]
        if mine[0].group not in study.groups:
            continue
        questions = study.forms[study.groups[mine[0].group].form].questions
        looked_at = [(row.seconds, row.answers) for row in mine]
        result.append((rater, attention(looked_at, questions, study.time.too_fast_seconds)))
    return result


def write_texts(study: Study, rows: Sequence[Scored], out: Path, language: str) -> int:
    """``free_text.csv`` for thematic coding, blind; ``free_text_key.csv`` says who wrote what about which cell."""
    texts: list[list[str]] = []
    key: list[list[str]] = []
    for row in rows:
        for name, answer in row.answers.items():
            question = study.question(name)
            if question and question.kind == "text":
                code = content_id("t", row.rater, row.document, row.condition, name)
                texts.append([code, name, say(question.text, language), answer, "", "", ""])
                key.append([code, row.rater, row.group, row.document, row.stratum, row.condition])
    head = ("id", "question", "asked", "text", "theme", "error_type", "improvement")
    write_csv(out / "free_text.csv", head, sorted(texts))
    write_csv(out / "free_text_key.csv", ("id", "rater", "group", "document", "stratum", "condition"), sorted(key))
    return len(texts)


def _write_votes(
    study: Study, rows: Sequence[Scored], documents: Mapping[str, Document], out: Path, run: Path | None
) -> Votes | None:
    sheets = ballots.sheets(study, rows, documents)
    if sheets:
        write_jsonl(out / "sheets.jsonl", sheets)
    judgments = ballots.judgments(study, rows, documents)
    if not judgments:
        return None
    people = ballots.verdicts(judgments)
    write_jsonl(out / "judgments.jsonl", judgments)
    write_jsonl(out / "verdicts.jsonl", people)
    board = build(from_verdicts(people, judgments), Settings())
    write_leaderboard(out, board)
    compared: tuple[ComparedRow, ...] = ()
    calibrated: tuple[CalibratedPairRow, ...] = ()
    beside = run if run is not None and (run / "verdicts.jsonl").exists() else None
    if beside is not None:
        models = read_records(beside / "verdicts.jsonl", Verdict)
        compared = tuple(ballots.compare_with_judges(people, models))
        calibrated = tuple(ballots.calibrated_pairs(people, models))
    votes = Votes(
        judgments=len(judgments),
        verdicts=len(people),
        both_good=sum(judgment.raw == "both_good" for judgment in judgments),
        both_bad=sum(judgment.raw == "both_bad" for judgment in judgments),
        leaderboard=board,
        judges=compared,
        calibrated=calibrated,
    )
    if beside is not None:
        published.begin(beside, "human")
        write_json(beside / "human.json", HumanVotes(study=study.id, **dict(votes)))
        published.record(beside, "human.json")
        published.end(beside, "human")
    return votes
