"""A judge whose replies cannot be read is not paid for all its rounds."""

from frontdesk.cli import main
from tests.support.small_runs import write_config


def judged(provider) -> int:
    return provider.stats.by_role["judge"]


def test_a_judge_that_is_never_readable_stops_early_and_one_reply_is_shown(provider, tmp_path, capfd):
    provider.configure(unreadable=1.0)
    sizes = {"dialogues": 12, "subsets": 40, "concurrency": 4}
    config = write_config(tmp_path / "c.toml", provider, **sizes)
    run = tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) == 3
    told = capfd.readouterr().err
    assert 30 <= judged(provider) <= 30 + 3 * 4 * 2 < 120
    assert "0 could be read" in told and "it said:" in told and "budget.trial_rounds = 0" in told
    asked = judged(provider)
    assert main(["run", str(config), "--run", str(run)]) == 3
    assert judged(provider) <= asked + 3 * 4 * 2, "what the journal holds fails the trial again, before new calls"
    config = write_config(tmp_path / "c.toml", provider, budget={"trial_rounds": 0}, **sizes)
    assert main(["run", str(config), "--run", str(run)]) in (0, 1)
    assert judged(provider) == 120


def test_a_judge_that_can_mostly_be_read_goes_on(provider, tmp_path):
    provider.configure(unreadable=0.3)
    config = write_config(tmp_path / "c.toml", provider, dialogues=12, subsets=20)
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) in (0, 1)
    assert judged(provider) == 60
