"""Records that a notebook shows as a report does: a dialogue, a sheet, a match with its texts and votes."""

from __future__ import annotations

from dataclasses import dataclass

from frontdesk.report import blocks
from frontdesk.report.sections.run.data import RunData
from frontdesk.report.sections.run.judges import match_document
from frontdesk.report.writers.html import fragment
from runstore import records
from runstore.languages import words
from runstore.records import Judgment, Reply, Subset, Verdict


class Dialogue(records.Dialogue):
    """A dialogue as its record; a notebook shows who said what."""

    @classmethod
    def of(cls, record: records.Dialogue) -> Dialogue:
        return cls.model_construct(**dict(record))

    def _repr_html_(self) -> str:
        say = words("frontdesk.report", "run", self.language)
        rows = [blocks.cells(say(each.role), each.text) for each in self.utterances]
        about = " · ".join((self.persona, self.subject, self.question, self.end))
        return _table(self.id, self.language, about, rows)


class Sheet(records.Sheet):
    """A sheet as its record; a notebook shows every element's value and what was quoted for it."""

    @classmethod
    def of(cls, record: records.Sheet) -> Sheet:
        return cls.model_construct(**dict(record))

    def _repr_html_(self) -> str:
        rows = [
            blocks.cells(item, element, "–" if value is None else str(value), self._quote(item, element))
            for item, elements in self.values.items()
            for element, value in elements.items()
        ]
        about = " · ".join(part for part in (self.judge, self.rubric, self.reason) if part)
        return _table(self.subject, "en", about, rows)

    def _quote(self, item: str, element: str) -> str:
        return self.evidence.get(item, {}).get(element, "")


@dataclass(frozen=True)
class Match:
    """One match: its verdict, what both endpoints replied to the subset, and every round."""

    verdict: Verdict
    subset: Subset
    replies: tuple[Reply, ...]
    judgments: tuple[Judgment, ...]
    _data: RunData

    @classmethod
    def of(cls, data: RunData, verdict: Verdict) -> Match:
        own = set(verdict.endpoints)
        return cls(
            verdict,
            data.subset[verdict.subset],
            tuple(each for each in data.replies if each.subset == verdict.subset and each.endpoint in own),
            tuple(
                each
                for each in data.judgments
                if (each.subset, each.criterion) == (verdict.subset, verdict.criterion)
                and {each.slot_a, each.slot_b} == own
            ),
            data,
        )

    def __repr__(self) -> str:
        return f"<match {self.verdict.subset}: {' and '.join(self.verdict.endpoints)}, {self.verdict.outcome}>"

    def _repr_html_(self) -> str:
        return fragment(match_document(self._data, self.verdict))


def _table(title: str, language: str, about: str, rows: list[tuple[blocks.Cell, ...]]) -> str:
    heads = tuple(blocks.Column("", number=False) for _ in (rows[0] if rows else ()))
    shown: list[blocks.Block] = [blocks.Text(about, "soft")]
    if rows:
        shown.append(blocks.Table(heads, rows, row_heads=False))
    return fragment(blocks.Document(title, language, None, [], [blocks.Section("record", "", shown)]))
