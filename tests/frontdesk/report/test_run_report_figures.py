"""The figures of a run's report: what they are, of how many, and what is said about them first."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from frontdesk.report.run import console_summary, write_report
from frontdesk.runner.runfolder import RunFolder
from runstore.problems import InputProblem
from runstore.records import Failure
from tests.support.run_folders import RunBuilder

COUNTED = ["aaa"] * 60 + ["aab"] * 63 + ["bbb"] * 36 + ["bba"] * 35 + ["abt"] * 6


def written(folder: RunFolder, language: str | None = None) -> tuple[str, str, str]:
    """Markdown, HTML and console, as text."""
    out = io.StringIO()
    md, html = write_report(folder, language)  # type: ignore[arg-type]
    console_summary(folder, language, out)  # type: ignore[arg-type]
    return md.read_text("utf-8"), html.read_text("utf-8"), out.getvalue()


def words(text: str) -> str:
    """The text without markup, table rules and line breaks."""
    bare = re.sub(r"<style>.*?</style>|<[^>]+>", " ", text, flags=re.DOTALL)
    return " ".join(re.sub(r"[|─]", " ", bare).split())


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """123 wins, 71 losses and 6 ties of 200; 96 unanimous, 98 by majority, 6 split."""
    run = RunBuilder(["ureka", "gemini"])
    run.play(COUNTED)
    return run.write(tmp_path_factory.mktemp("two"))


@pytest.mark.parametrize("shown", [0, 1, 2], ids=["markdown", "html", "console"])
def test_the_two_tables_have_counts_and_shares(two: RunFolder, shown: int) -> None:
    text = words(written(two)[shown])
    assert re.search(r"ureka 123 61\.5% \d+–\d+%", text)
    assert re.search(r"gemini 71 35\.5% \d+–\d+%", text)
    assert re.search(r"Tie 6 3\.0% \d+–\d+%", text)
    assert re.search(r"Unanimous 96 48\.0% ", text)
    assert re.search(r"Majority 98 49\.0% ", text)
    assert re.search(r"Split \(all differ\) 6 3\.0% ", text)
    assert "Of 200 matches; every one has a verdict." in text


@pytest.mark.parametrize("shown", [0, 1, 2], ids=["markdown", "html", "console"])
def test_korean_has_the_same_figures(two: RunFolder, shown: int) -> None:
    text = words(written(two, "ko")[shown])
    assert re.search(r"ureka 123 61\.5% ", text)
    assert re.search(r"무승부 6 3\.0% ", text)
    assert re.search(r"만장일치 96 48\.0% ", text)
    assert re.search(r"다수일치 98 49\.0% ", text)
    assert re.search(r"서로 불일치 6 3\.0% ", text)


def test_another_language_does_not_replace_the_runs_own_files(two: RunFolder) -> None:
    write_report(two)
    before = two.file("report.html").read_bytes()
    assert [path.name for path in write_report(two, "ko")] == ["report.ko.md", "report.ko.html"]
    assert two.file("report.html").read_bytes() == before
    assert '<html lang="ko">' in two.file("report.ko.html").read_text("utf-8")


def test_a_whole_run_has_no_banner_and_a_real_judge_no_warning(two: RunFolder) -> None:
    md, html, console = written(two)
    assert md.startswith("# Report: built\n")
    assert 'class="warn' not in html
    assert "demonstration" not in md + html + console


def test_the_same_records_give_the_same_bytes_in_another_folder(two: RunFolder, tmp_path: Path) -> None:
    again = tmp_path / "elsewhere"
    again.mkdir()
    for path in two.path.iterdir():
        if path.is_file() and not path.name.startswith("report"):
            (again / path.name).write_bytes(path.read_bytes())
    assert written(RunFolder(again))[:2] == written(two)[:2]


def test_what_is_missing_comes_first_and_is_no_tie(tmp_path: Path) -> None:
    run = RunBuilder(["ureka", "gemini"])
    run.play(["aaa"] * 10 + ["bbx"] * 3 + ["axx"] * 2)
    lost = run.subset()
    run.replies.append(run._reply(lost, "ureka"))
    run.failures.append(
        Failure(stage="collect", item=lost.id, endpoint="gemini", kind="blocked", message="blocked: SAFETY")
    )
    md, html, console = written(run.write(tmp_path))
    banner = (
        "Incomplete: 1 of 32 replies are missing; 7 of 48 rounds were unreadable; 3 of 48 rounds are missing; "
        "2 of 16 matches are invalid; 1 of 16 matches have no verdict."
    )
    assert md.startswith(f"> **{banner}**")
    assert words(console).startswith(banner)
    body = html[html.index("<body>") :]
    assert words(body).startswith(banner)
    assert body.index('role="alert"') < body.index("<h1>")
    assert "2 of 15 matches were invalid and are not in the shares" in md
    assert re.search(r"ureka 10 76\.9% ", words(md))
    assert re.search(r"Tie 0 0\.0% ", words(md))
    assert re.search(r"Invalid 2 13\.3% ", words(md))
    assert "collect blocked gemini 1 blocked: SAFETY" in words(md)


def test_a_small_judges_verdicts_are_called_a_demonstration_on_the_first_line(tmp_path: Path) -> None:
    run = RunBuilder(["socratic", "plain"], judges=["tiny"], judge_kind="local")
    run.play(["aaa", "bbx", "axx"])
    md, html, console = written(run.write(tmp_path))
    assert "tiny" in md.splitlines()[0]
    assert "demonstration, not evidence" in md.splitlines()[0]
    assert "demonstration, not evidence" in words(console)[:150]
    body = html[html.index("<body>") :]
    assert body.index("demonstration, not evidence") < body.index("Incomplete") < body.index("<h1>")


def test_three_endpoints_have_a_table_a_matrix_and_every_pair(tmp_path: Path) -> None:
    run = RunBuilder(["x", "y", "z"], judges=["j1", "j2"], rounds=2)
    for votes in ["aaaa"] * 6 + ["aabb"] * 2 + ["bbba"] * 3:
        subset = run.subset()
        for pair in (("x", "y"), ("x", "z"), ("y", "z")):
            run.match(subset, pair, votes)
    md = written(run.write(tmp_path))[0]
    assert "x stands first of 3 endpoints: 12 wins in 22 matches (54.5%), " in md
    assert re.search(r"\| x \| 12 \| 6 \| 4 \| 22 \| 54\.5% ", md)
    assert re.search(r"\| x : y \| 6 \| 3 \| 2 \| 0 \| 63\.6% ", md)
    assert "| x |  | 63.6% (11) | 63.6% (11) |" in md
    assert re.search(
        r"\| j1 : j2 \| 18 of 33 \| 18 of 18 \| 100\.0% ", md
    )  # a judge whose two rounds differ has no majority
    assert "Of 33 verdicts; 4 rounds a match, 2 by each of 2 judges." in md


def test_examples_show_split_and_unanimous_matches_with_votes(two: RunFolder) -> None:
    md, html, _ = written(two)
    for kind in ("unanimous", "majority", "split"):
        assert re.search(rf"### ureka against gemini.*{kind}|### gemini against ureka.*{kind}", md)
    assert html.count('<article class="example">') == 4
    assert md.count("| Round | Judge | Shown as A |") == 4


def test_a_folder_that_is_not_rated_is_refused(tmp_path: Path) -> None:
    run = RunBuilder(["a", "b"])
    run.play(["aaa"])
    folder = run.write(tmp_path)
    folder.file("leaderboard.json").unlink()
    with pytest.raises(InputProblem, match=r"leaderboard\.json"):
        write_report(folder)
