"""What is planned is what is asked: the plan's counts against the calls of real runs."""

import json
from collections import Counter
from pathlib import Path

import pytest

from frontdesk.cli import main
from frontdesk.report.sections.run.data import load
from frontdesk.runner import config_file as configuration
from frontdesk.runner import plan
from frontdesk.runner.runfolder import RunFolder
from runstore.journal import read_rows
from tests.support.refreshing import given, refresh, three
from tests.support.small_runs import write_config

STAGES = ("simulate", "collect", "judge")
SIX = "criteria:\n" + "".join(f"  - {{id: c{at}, name: C{at}, description: Aspect {at}.}}\n" for at in range(6))


def asked(run: Path) -> dict[tuple[str, str], int]:
    """Finished calls by stage and endpoint, from the journal."""
    return Counter(
        (row["where"][0], row["endpoint"]) for row in read_rows(run / "journal") if row["state"] == "ok"
    )


def planned(workload: plan.Workload) -> dict[tuple[str, str], int]:
    counts: Counter[tuple[str, str]] = Counter()
    for part in workload.calls:
        counts[part.stage, part.endpoint] += part.calls
    return counts


@pytest.mark.parametrize(
    "options",
    [
        {"dialogues": 3, "subsets": 5},
        {"dialogues": 1, "subsets": 500},
        {"dialogues": 2, "subsets": 4, "rounds": 1, "one_by_one": True},
        {"dialogues": 2, "subsets": 3, "one_by_one": True, "criteria": ["understanding", "language"]},
        {
            "dialogues": 2,
            "subsets": 3,
            "criteria": ["understanding", "language"],
            "endpoints": ["gemini", "ureka"],
        },
        {"dialogues": 2, "subsets": 3, "pairs": [["ureka", "gemini"], ["gemini", "ureka"]], "rounds": 2},
    ],
)
def test_a_run_makes_the_calls_that_were_planned(provider, tmp_path, options):
    judges = options.pop("endpoints", None)
    path = write_config(tmp_path / "c.toml", provider, **options)
    if judges is not None:
        path.write_text(path.read_text().replace('endpoints = ["gemini"]', f"endpoints = {json.dumps(judges)}"))
    workload = plan.workload(configuration.load(path))
    assert main(["run", str(path), "--run", str(tmp_path / "run")]) in (0, 1)
    assert asked(tmp_path / "run") == planned(workload)


def test_a_criteria_file_of_six_judged_one_by_one_counts_six(provider, tmp_path, capsys):
    (tmp_path / "six.yaml").write_text(SIX)
    path = write_config(
        tmp_path / "c.toml", provider, dialogues=10, subsets=20, criteria="six.yaml", one_by_one=True
    )
    assert main(["estimate", str(path), "--json"]) == 0
    estimated = json.loads(capsys.readouterr().out)
    rounds = sum(row["calls"] for row in estimated["stages"] if row["stage"] == "judge")
    assert rounds == 20 * 1 * 6 * 3 == estimated["counts"]["rounds"]
    assert estimated["counts"]["criteria"] == 6
    power = estimated["power"]
    assert power["pairs"] == 1
    assert power["gap_points_range"][0] <= (power["gap_points"] or float("inf"))
    assert main(["run", str(path), "--run", str(tmp_path / "run")]) == 0
    assert asked(tmp_path / "run")["judge", "gemini"] == 360
    coverage = {row.what: (row.done, row.of) for row in load(RunFolder(tmp_path / "run")).coverage}
    assert (coverage["rounds"], coverage["verdicts"]) == ((360, 360), (120, 120))


def test_subsets_that_cannot_be_cut_are_not_counted_and_the_estimate_says_so(provider, tmp_path, capsys):
    path = write_config(tmp_path / "c.toml", provider, dialogues=1, subsets=500)
    path.write_text(path.read_text().replace("turns = 4", "turns = 2"))
    assert main(["run", str(path), "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "500 subsets are asked for; 1 dialogue of 2 turns: 2 at most, so 2 are counted." in out
    workload = plan.workload(configuration.load(path))
    assert (workload.subsets, workload.subsets_wanted, workload.replies, workload.rounds) == (2, 500, 4, 6)
    assert main(["run", str(path), "--run", str(tmp_path / "run")]) == 1
    assert asked(tmp_path / "run") == planned(workload)
    err = capsys.readouterr().err
    assert "collect: 4 of 4 replies" in err and "judge: 6 of 6 rounds" in err


def test_a_refresh_makes_the_calls_that_were_planned(provider, tmp_path, capsys):
    _, run = three(tmp_path, provider, one_by_one=True, criteria=["understanding", "language"])
    fourth = given(tmp_path, provider, "fourth")
    capsys.readouterr()
    assert refresh(run, "--add", "fourth", *fourth, "--dry-run", "--json") == 0
    estimated = json.loads(capsys.readouterr().out)["stages"]
    before = Counter(asked(run))
    assert refresh(run, "--add", "fourth", *fourth) == 0
    made = Counter(asked(run)) - before
    assert made == {(row["stage"], row["endpoint"]): row["calls"] for row in estimated}
    assert made["judge", "gemini"] == 20 * 3 * 2 * 3


def test_a_goal_or_given_replies_are_assumptions_that_the_plan_names(provider, tmp_path):
    config = configuration.load(write_config(tmp_path / "c.toml", provider, goal="best", rounds_mode="decisive"))
    assert {"goal", "decisive"} <= set(plan.workload(config).assumed)
    alone = config.model_copy(update={"collect": None, "simulate": None})
    assert {"endpoints unknown", "subsets given"} <= set(plan.workload(alone).assumed)
    workload = plan.workload(alone, subsets=7, replied=["a", "b", "c"])
    assert (workload.replies, workload.matches, workload.rounds) == (21, 21, 63)
    assert [(part.stage, part.calls) for part in workload.calls] == [("judge", 63)]


def test_a_cap_below_the_plan_is_said_before_anything_is_spent(provider, tmp_path, capsys):
    path = write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=4, budget={"calls": 20})
    assert main(["estimate", str(path)]) == 0
    calls = plan.workload(configuration.load(path)).calls
    whole, simulated = (sum(one.calls for one in calls if one.stage in which) for which in (STAGES, STAGES[:1]))
    said = f"budget.calls = 20: this would stop at the cap after stage simulate, in collect; {whole} are planned"
    assert simulated <= 20 < simulated + 8
    assert f"{said}, {simulated} of them before collect." in capsys.readouterr().out
    path = write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=4, budget={"calls": 3})
    assert main(["run", str(path), "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "budget.calls = 3: this would stop at the cap in its first stage, simulate" in shown
    assert "raise budget.calls" in shown
    assert main(["check", str(path), "--offline"]) == 0
    assert "budget.calls = 3: this would stop at the cap in its first stage, simulate" in capsys.readouterr().out
    assert provider.stats.calls == 0


def test_a_dry_refresh_counts_what_the_run_has_spent_under_the_cap(provider, tmp_path, capsys):
    _, run = three(tmp_path, provider)
    fourth = given(tmp_path, provider, "fourth")
    spent = provider.stats.calls
    table = Path(fourth[1]).read_text()
    for cap, stops in ((spent + 19, "in its first stage, collect"), (spent + 25, "after stage collect, in judge")):
        (tmp_path / "capped.toml").write_text(f"{table}[budget]\ncalls = {cap}\n")
        assert refresh(run, "--add", "fourth", "--config", str(tmp_path / "capped.toml"), "--dry-run") == 0
        shown = capsys.readouterr().out
        assert f"this would stop at the cap {stops}" in shown and f"{spent + 200} are planned" in shown
    assert provider.stats.calls == spent


def test_a_price_that_is_unknown_leaves_a_total_of_the_others(provider, tmp_path, capsys):
    text = write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=4, budget={"usd": 0.5}).read_text()
    priced = text.replace("[endpoints.gemini]", "[endpoints.gemini]\nprice = {input = 1.0, output = 1000.0}")
    path = tmp_path / "priced.toml"
    path.write_text(priced)
    assert main(["run", str(path), "--dry-run"]) == 2
    shown = capsys.readouterr()
    assert "Some prices are unknown (ureka)" in shown.out and "for 30 of 34 calls" in shown.out
    assert "this would stop at the cap" in shown.out and "at least" in shown.out
    assert "endpoints.ureka.price" in shown.err
    assert main(["estimate", str(path), "--json"]) == 0
    total = json.loads(capsys.readouterr().out)["total"]
    assert total["usd"] is None and total["usd_known_part"] > 0.5
    assert (total["calls_priced"], total["calls"], total["unpriced"]) == (30, 34, ["ureka"])
    assert main(["check", str(path), "--offline"]) == 1
    assert "run would refuse it: budget.usd: the price of ureka is not known" in capsys.readouterr().out
    assert provider.stats.calls == 0


@pytest.mark.parametrize(
    "reader", ["", 'acts = "planned"\nact_reader = "gemini"\n'], ids=["no reader", "act reader"]
)
def test_what_is_tried_before_a_batch_is_counted_at_the_full_price(provider, tmp_path, reader):
    path = write_config(tmp_path / "c.toml", provider, dialogues=40, subsets=60)
    path.write_text(path.read_text().replace("[simulate]\n", f"[simulate]\n{reader}"), encoding="utf-8")
    config = configuration.load(path)
    workload = plan.workload(config)
    full, by_batch = Counter(), Counter()
    for part in plan.in_batches(config, workload, workload.calls):
        (by_batch if part.by_batch else full)[part.stage, part.endpoint] += part.calls
    assert full + by_batch == planned(workload)
    assert full["judge", "gemini"] == 6 * 3
    dialogues = 4 if reader else 0
    assert full["simulate", "gemini"] * 40 == dialogues * planned(workload)["simulate", "gemini"]
    assert (full["collect", "gemini"], by_batch["collect", "ureka"]) == (0, 0)
