"""Data frames out of a run and in again, and what a notebook shows of its parts."""

import html
import inspect
import json
import re
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tutor_arena as ta
from tests.support.run_folders import RunBuilder

NAMES = ("ureka", "gemini")


@pytest.fixture
def run(tmp_path):
    built = RunBuilder(list(NAMES))
    built.play(["aaa", "bbb", "abt", "aab", "ttt", "axx"] * 3)
    built.write(tmp_path / "run")
    return ta.open_run(tmp_path / "run")


def test_a_table_is_the_same_in_every_frame(run):
    rows = run.verdicts.to_dicts()
    assert run.verdicts.to_polars()["winner"].to_list() == [row["winner"] for row in rows]
    assert run.verdicts.to_pandas()["subset"].tolist() == [row["subset"] for row in rows]
    assert run.to_pandas()["name"].tolist() == [model.name for model in run.leaderboard.models]
    assert pa.table(run.verdicts).column("agreement").to_pylist() == [row["agreement"] for row in rows]
    assert pl.DataFrame(run.verdicts)["dialogue"].to_list() == [row["dialogue"] for row in rows]
    board = run.leaderboard
    assert (
        board.to_polars()["name"].to_list() == board.to_pandas()["name"].tolist() == [m.name for m in board.models]
    )


@pytest.mark.parametrize("has_arrow", [True, False])
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, list])
def test_a_frame_is_rated_as_its_file_is(run, tmp_path, monkeypatch, kind, has_arrow):
    rows = [
        {"model_a": v.endpoints[0], "model_b": v.endpoints[1], "cluster": v.dialogue,
         "winner": "tie" if v.winner is None else "model_a" if v.winner == v.endpoints[0] else "model_b"}
        for v in run.verdicts if v.outcome != "invalid"
    ]  # fmt: skip
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, rows)))
    wanted = ta.rate(tmp_path / "b.jsonl")
    if not has_arrow:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert ta.rate(kind(rows)).to_dicts() == wanted.to_dicts()


def test_a_missing_library_is_named(run, monkeypatch):
    for name, take in (("pandas", "to_pandas"), ("polars", "to_polars"), ("pyarrow", "__arrow_c_stream__")):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ta.Problem, match=f"pip install {name}"):
            getattr(run.verdicts, take)()


def test_a_match_shows_its_texts_and_rounds(run):
    match = run.matches[2]
    assert match.verdict == run.verdicts[2]
    assert {reply.endpoint for reply in match.replies} == set(NAMES)
    assert len(match.judgments) == 3
    page = match._repr_html_()
    plain = " ".join(html.unescape(re.sub(r"<[^>]+>", "", page)).split())
    assert all(" ".join(reply.text.split()) in plain for reply in match.replies)
    assert repr(match).startswith(f"<match {match.verdict.subset}")


def test_a_dialogue_and_a_sheet_show_themselves_and_nothing_of_theirs_is_markup():
    said = (
        {"role": "student", "text": "<img src=x onerror=alert(1)>"},
        {"role": "teacher", "text": "And **why**?"},
    )
    dialogue = ta.Dialogue(
        id="d1",
        persona="p1",
        question="q1",
        subject="sets",
        turns=1,
        utterances=said,
        end="turns reached",
        complete=True,
    )
    page = dialogue._repr_html_()
    assert "&lt;img src=x" in page
    assert "<img" not in page
    assert "And **why**?" in page
    sheet = ta.Sheet(
        subject="d1", judge="gpt", repeat=1, values={"A1": {"asks": 1, "tells": None}}, readable=True, raw="",
        evidence={"A1": {"asks": "And <b>why</b>?"}},
    )  # fmt: skip
    page = sheet._repr_html_()
    assert "And &lt;b&gt;why" in page
    assert "–" in page


def test_a_twin_has_the_signature_of_what_it_waits_for():
    for twin, original in ((ta.run, ta.arun), (ta.score, ta.ascore), (ta.simulate, ta.asimulate)):
        assert inspect.signature(twin) == inspect.signature(original)
        assert twin.__name__ == original.__name__.removeprefix("a")
        assert not inspect.iscoroutinefunction(twin)
