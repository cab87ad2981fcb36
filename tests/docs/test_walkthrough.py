"""The records that the walkthrough shows are records, and fit each other."""

import json
import re
from pathlib import Path

from runstore.records import Dialogue, Judgment, Reply, Subset, Verdict

DOCS = Path(__file__).resolve().parents[2] / "docs"
KINDS = {"dialogue": Dialogue, "subset": Subset, "reply": Reply, "judgment": Judgment, "verdict": Verdict}


def test_every_block_is_a_record_of_one_story():
    text = (DOCS / "walkthrough.md").read_text(encoding="utf-8")
    found = {kind: [] for kind in KINDS}
    for kind, block in re.findall(r"```json (\w+)\n(.*?)```", text, re.DOTALL):
        row = json.loads(block)
        record = KINDS[kind].model_validate(row)
        assert set(row) <= set(KINDS[kind].model_fields)
        found[kind].append(record)
    (dialogue,), (subset,), replies, judgments, (verdict,) = found.values()
    assert subset.history == dialogue.utterances[: subset.cut]
    assert {reply.endpoint for reply in replies} == set(verdict.endpoints)
    for judgment in judgments:
        assert judgment.winner == {"a": judgment.slot_a, "b": judgment.slot_b}.get(judgment.letter)
    assert {row.subset for row in (*replies, *judgments, verdict)} == {subset.id}
