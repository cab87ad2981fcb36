"""A run that lost matches says of how many it speaks, which ones are gone, what they could change, and exits 1."""

from __future__ import annotations

import csv
import re
from math import log10

import pytest

from frontdesk.cli import main
from frontdesk.report.run import write_report
from frontdesk.report.sections.run.data import load
from frontdesk.report.sentences import spoken
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.shortfall import Shortfall, shortfall
from runstore.publish import read_json
from runstore.records import Failure
from tests.support.run_folders import RunBuilder


def lossy(path, *, judged: str = "aaa", per_dialogue: int = 2) -> RunFolder:
    """50 matches judged, then 150 subsets whose replies failed; the easy ones are those that are there."""
    run = RunBuilder(["ureka", "gemini"], per_dialogue=per_dialogue)
    run.play([judged] * 40 + ["bbb"] * 10)
    for _ in range(150):
        lost = run.subset()
        run.failures.append(
            Failure(stage="collect", item=lost.id, endpoint="gemini", kind="timeout", message="no answer")
        )
    return run.write(path)


def absent(path) -> RunFolder:
    """50 matches of two tutors; all replies of a third failed."""
    run = RunBuilder(["ureka", "gemini", "claude"])
    run.play(["aaa"] * 40 + ["bbb"] * 10)
    for subset in run.subsets:
        run.failures.append(
            Failure(stage="collect", item=subset.id, endpoint="claude", kind="auth", message="no such key")
        )
    return run.write(path)


def test_fifty_of_two_hundred_is_said_everywhere(tmp_path, capsys):
    folder = lossy(tmp_path / "run")
    write_report(folder)
    report = folder.file("report.md").read_text(encoding="utf-8")
    caption = "50 of 200 matches that were asked for have a verdict; 0 of 50 matches were invalid"
    assert caption in report and "150 were never judged" in report
    assert "every one has a verdict" not in report
    told = (
        "rated from 50 of 200 matches that were asked for; the others have no verdict: "
        "150 calls failed (150 x timeout)"
    )
    assert told in folder.file("leaderboard.md").read_text(encoding="utf-8")
    assert read_json(folder.file("leaderboard.json"))["notes"][0] == told
    assert main(["rate", "--run", str(folder.path)]) == 1
    assert "rated from 50 of 200" in " ".join(capsys.readouterr().out.split())
    out = tmp_path / "set"
    assert main(["export", "--run", str(folder.path), "--as", "preference", "--out", str(out)]) in (0, 1)
    assert "rated from 50 of 200 matches" in (out / "data-card.md").read_text(encoding="utf-8")
    assert "preferences: 50 of 200 verdicts" in capsys.readouterr().out


def test_an_endpoint_without_a_verdict_is_named_with_why(tmp_path, capsys):
    """Two of three tutors were compared: the third is in no table, and in every sentence that answers."""
    folder = absent(tmp_path / "run")
    told = "claude: 0 of 100 matches have a verdict: 50 calls failed (50 x auth)"
    assert main(["rate", "--run", str(folder.path)]) == 1
    assert told in " ".join(capsys.readouterr().out.split())
    assert told in read_json(folder.file("leaderboard.json"))["notes"]
    assert told in folder.file("leaderboard.md").read_text(encoding="utf-8")
    write_report(folder)
    first = folder.file("report.md").read_text(encoding="utf-8").split("## ")[1]
    assert "ureka won 40 of 50 matches" in first and f"{told}." in first
    assert main(["report", "--run", str(folder.path), "--site", str(tmp_path / "site")]) == 1
    assert told in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "claude: 경기 100개 중 판결이 있는 것 0개: 실패한 호출 50건(인증 실패 50건)" in spoken(told, "ko")


def test_a_failure_is_counted_once_in_the_sum_of_all_and_once_in_that_of_its_endpoint(tmp_path):
    """Two tutors never answered; one of them judges too, and what fails then is no failure of its replies."""
    run = RunBuilder(["ureka", "gemini", "claude", "gpt"], judges=["claude"])
    run.play(["aaa"] * 3)
    lost = [("collect", "claude", "auth")] * 3 + [("collect", "gpt", "timeout"), ("collect", "gpt", "auth")]
    lost += [("judge", "claude", "timeout"), ("judge", "claude", "no_match"), ("judge", "", "no_match")]
    for number, (stage, endpoint, kind) in enumerate(lost):
        item = f"s-{number}"
        run.failures.append(Failure(stage=stage, item=item, endpoint=endpoint, kind=kind, message="lost"))
    folder = run.write(tmp_path / "run")
    short = shortfall(folder, folder.config(), folder.verdicts())
    assert short is not None
    assert (short.why, short.unmatched) == ({"auth": 4, "timeout": 2}, 2)
    claude, gpt = short.absent
    assert claude == "claude: 0 of 9 matches have a verdict: 3 calls failed (3 x auth)"
    assert gpt == "gpt: 0 of 9 matches have a verdict: 2 calls failed (1 x auth; 1 x timeout)"


def test_battles_without_an_outcome_are_counted_on_the_console(tmp_path, capsys):
    run = RunBuilder(["ureka", "gemini"])
    run.play(["aaa"] * 3 + ["bbb"] * 2 + ["axx"])
    verdicts = str(run.write(tmp_path / "run").file("verdicts.jsonl"))
    assert main(["rate", "--input", verdicts]) == 1
    assert "note: 1 of 6 matches were invalid and took no part." in capsys.readouterr().out


def test_the_first_failure_is_told_in_the_reports_language_and_a_providers_words_are_its_own(tmp_path):
    run = RunBuilder(["ureka", "gemini"], language="ko")
    run.play(["aaa"] * 4)
    said = {"timeout": "no answer within 60 s", "no_match": "no match of ureka and gemini: a reply is missing"}
    for kind, message in {**said, "server": "HTTP 500: the oven is out of order"}.items():
        run.failures.append(Failure(stage="judge", item="s", endpoint="judge", kind=kind, message=message))
    folder = run.write(tmp_path / "run")
    write_report(folder)
    report = folder.file("report.md").read_text(encoding="utf-8")
    assert "60초 안에 답 없음" in report and "ureka와 gemini의 경기 없음: 답변이 빠졌습니다" in report
    assert "HTTP 500: the oven is out of order" in report


def test_a_match_without_a_reply_is_no_failed_call():
    lacking = Shortfall(26, 90, 1, 2, {"malformed": 30, "server": 2}, unmatched=62)
    assert lacking.note == (
        "rated from 26 of 90 matches that were asked for; the others have no verdict: "
        "32 calls failed (30 x malformed; 2 x server), 62 without a reply, 2 without a majority"
    )
    korean = spoken(lacking.note, "ko")
    assert "실패한 호출 32건(깨진 응답 30건; 서버 오류 2건), 응답 없음 62, 과반수 없음 2" in korean


def test_the_win_rate_is_bounded_by_what_is_missing(tmp_path):
    folder = lossy(tmp_path / "run")
    write_report(folder)
    report = folder.file("report.md").read_text(encoding="utf-8")
    assert "every missing match of ureka had gone against it, or every one for it" in report
    assert "would be 20.0% to 95.0% (now 80.0%)" in report


def test_the_rating_is_bounded_by_what_is_missing(tmp_path):
    """40 of 50 won, 150 missing: with two endpoints ratings are the log-odds of 40 and of 190 of 200."""
    folder = lossy(tmp_path / "run")
    write_report(folder)
    report = folder.file("report.md").read_text(encoding="utf-8")
    low, now, high = (1000 + 200 * log10(won / (of - won)) for won, of in ((40, 200), (40, 50), (190, 200)))
    assert f"the rating of ureka would be {low:.0f} to {high:.0f} (now {now:.0f})" in report


def test_gaps_that_are_not_spread_evenly_are_named_and_even_ones_are_not(tmp_path):
    run = RunBuilder(["ureka", "gemini"])
    for number in range(120):
        subset = run.subset()
        if subset.subject != "databases":
            run.match(subset, ("ureka", "gemini"), "aab" if number % 3 else "bba")
    folder = run.write(tmp_path / "run")
    write_report(folder)
    report = folder.file("report.md").read_text(encoding="utf-8")
    assert "What is missing is not spread evenly over subjects" in report and "databases lacks 30 of 30" in report
    assert "| databases | 0 of 30 | – | – |" in report
    write_report(folder, "ko")
    assert "고르게 퍼져 있지 않음" in folder.file("report.ko.md").read_text(encoding="utf-8")
    even = RunBuilder(["ureka", "gemini"])
    for number in range(120):
        subset = even.subset()
        if (number * 7919) % 11:
            even.match(subset, ("ureka", "gemini"), "aab" if number % 3 else "bba")
    other = even.write(tmp_path / "even")
    write_report(other)
    report = other.file("report.md").read_text(encoding="utf-8")
    assert "not spread evenly" not in report
    assert re.search(r"^\| databases \| \d+ of 30 \|", report, re.MULTILINE)


def test_files_of_ratings_say_of_how_many_matches_they_are(tmp_path):
    folder = lossy(tmp_path / "run")
    assert main(["rate", "--run", str(folder.path)]) == 1
    with folder.file("leaderboard.csv").open(encoding="utf-8-sig", newline="") as file:
        notes = [row["notes"] for row in csv.DictReader(file)]
    assert len(notes) == 2 and all("rated from 50 of 200 matches" in note for note in notes)


def test_criteria_make_verdicts_and_never_more_matches(tmp_path):
    """20 matches on 4 criteria are 80 verdicts; nothing calls them 80 matches."""
    run = RunBuilder(["ureka", "gemini"])
    run.play(["aab"] * 9 + ["bba"] * 11)
    for records in (run.verdicts, run.judgments):
        first = records[0].criterion
        names = (first, "clarity", "pace", "care")
        records[:] = [one.model_copy(update={"criterion": name}) for name in names for one in records]
    folder = run.write(tmp_path / "run")
    write_report(folder)
    report = folder.file("report.md").read_text(encoding="utf-8")
    assert "gemini won 44 of 80 verdicts (4 criteria a match)" in report
    assert "of 80 matches" not in report and "clarity" in report
    assert "| Verdicts |" in report and "| Matches |" not in report
    write_report(folder, "ko")
    assert "판결(경기당 기준 4개) 80개 중" in folder.file("report.ko.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("share", "code"), [(None, 1), ("0.5", 1), ("0.9", 0)])
def test_a_stated_share_may_be_missing(tmp_path, share, code):
    folder = lossy(tmp_path / "run")
    more = [] if share is None else ["--allow-partial", share]
    assert main(["rate", "--run", str(folder.path), *more]) == code
    assert main(["report", "--run", str(folder.path), "--quiet", *more]) == code
    assert load(folder).lost == pytest.approx(0.75)


@pytest.mark.parametrize("share", ["1", "-0.1", "much"])
def test_a_share_that_is_none_is_refused(tmp_path, share, capsys):
    assert main(["report", "--run", str(tmp_path), "--allow-partial", share]) == 2
    assert "expected 0 or more and less than 1" in capsys.readouterr().err
