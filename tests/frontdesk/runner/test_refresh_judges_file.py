"""A run's judges.json: written with the ratings, shown in the report, and made again by verify."""

import json

from frontdesk.cli import main
from frontdesk.report.run import write_report
from frontdesk.runner import config_file as configuration
from runstore.publish import read_json
from tests.support.refreshing import given, is_verified, refresh, three
from tests.support.run_folders import RunBuilder

HOSTILE = "<img src=x onerror=alert(1)>|`x`"


def test_a_run_analyses_its_judges_and_verify_makes_it_again(provider, tmp_path, capsys):
    _, run = three(tmp_path, provider)
    found = read_json(run / "judges.json")
    assert [judge["name"] for judge in found["judges"]] == ["gemini"]
    assert found["panel"]["reason"] == "1 judges; at least 2 are needed"
    assert refresh(run, "--rejudge", "second-judge", *given(tmp_path, provider, "second-judge")) == 0
    found = read_json(run / "judges.json")
    assert {judge["name"] for judge in found["judges"]} == {"gemini", "second-judge"}
    assert found["panel"]["rounds"] == 360 and found["panel"]["judges"] == []
    assert "coin flips" in found["panel"]["reason"], "the stand-in provider's judges draw lots"
    assert is_verified(run, capsys)
    written = (run / "judges.json").read_bytes()
    (run / "judges.json").unlink()
    assert main(["rate", "--run", str(run)]) == 0
    assert (run / "judges.json").read_bytes() == written
    changed = json.loads(written)
    changed["judges"][0]["rounds"] += 1
    (run / "judges.json").write_text(json.dumps(changed))
    capsys.readouterr()
    assert main(["verify", "--run", str(run), "--json"]) == 1
    rows = {row["file"]: row["same"] for row in json.loads(capsys.readouterr().out)["files"]}
    assert not rows["judges.json"]


def test_the_report_shows_what_sways_the_judges_and_the_panel(tmp_path):
    builder = RunBuilder(["alpha", HOSTILE, "gamma"], judges=("one", f"two {HOSTILE}"))
    for pair in (("alpha", HOSTILE), ("alpha", "gamma"), (HOSTILE, "gamma")):
        builder.play(["aaabaa", "abtbab", "aaaaaa", "bbabbb", "tttaaa", "abxbaa"] * 4, pair)
    folder = builder.write(tmp_path / "run")
    write_report(folder)
    report = folder.file("report.md").read_text(encoding="utf-8")
    for title in ("What sways the judges", "Agreement of all judges", "A panel weighed by reliability"):
        assert title in report
    assert "Crowd-BT" in report and "Kendall's tau-b" in report
    page = folder.file("report.html").read_text(encoding="utf-8")
    assert "<img src=x" not in page
    write_report(folder, "ko")
    korean = folder.file("report.ko.md").read_text(encoding="utf-8")
    assert "심판을 움직이는 것" in korean and "신뢰도로 가중한 심판단" in korean


def test_families_come_from_the_configuration(tmp_path):
    builder = RunBuilder(["alpha", "beta"], judges=("one",))
    endpoint = builder.settings["endpoints"]["alpha"]
    builder.settings["endpoints"] = {
        "base": endpoint,
        "alpha": {**endpoint, "model": "gpt-5"},
        "beta": {**endpoint, "family": "ours"},
        "one": {**endpoint, "model": "gpt-5-mini"},
    }
    builder.play(["aab", "abb", "aaa", "bba", "atb"] * 4)
    folder = builder.write(tmp_path / "run")
    assert configuration.load(folder.file("run.toml")).endpoints["beta"]["family"] == "ours"
    [judge] = read_json(folder.file("judges.json"))["judges"]
    assert judge["family"] == "openai" and judge["own_family"]["endpoints"] == ["alpha"]
    assert "judges of other families" in judge["own_family"]["log_odds"]["reason"]
