import json
from pathlib import Path

import numpy as np
import pytest

from arena.ratings.estimate import SCALE
from arena.ratings.leaderboard import build
from arena.ratings.moves import moves
from arena.ratings.settings import Settings
from arena.ratings.verdicts import from_verdicts
from frontdesk.cli import main
from tests.support.run_folders import RunBuilder

A_WINS, B_WINS, TIED = "aaa", "bbb", "ttt"


def built(folder: Path, votes: list[str], language: str = "en") -> RunBuilder:
    run = RunBuilder(["ureka", "gemini"], per_dialogue=1, language=language)
    run.play(votes)
    run.write(folder)
    return run


def test_a_run_against_itself_moves_nowhere(tmp_path: Path) -> None:
    run = built(tmp_path / "a", [A_WINS, B_WINS, A_WINS, TIED, A_WINS, B_WINS, A_WINS, A_WINS])
    for move in moves(run.verdicts, run.verdicts, Settings()):
        assert (move.moved, move.lower, move.upper) == (0, 0, 0)


def test_a_move_is_the_difference_of_two_ratings_and_its_interval_that_of_independent_runs(tmp_path: Path) -> None:
    """With nothing shared, the variance of the difference is the sum of both variances."""
    first = built(tmp_path / "a", [A_WINS, B_WINS, A_WINS, TIED, A_WINS, B_WINS, A_WINS, A_WINS] * 3)
    second = built(tmp_path / "b", [B_WINS, B_WINS, A_WINS, TIED, B_WINS, B_WINS, A_WINS, B_WINS] * 3)
    apart = [v.model_copy(update={"dialogue": f"other {v.dialogue}"}) for v in second.verdicts]
    boards = [build(from_verdicts(side), Settings()) for side in (first.verdicts, apart)]
    (gemini, ureka) = moves(first.verdicts, apart, Settings())
    for name, move in (("gemini", gemini), ("ureka", ureka)):
        ratings = [board.model(name) for board in boards]
        assert ratings[0] is not None
        assert ratings[1] is not None
        assert move.moved == pytest.approx((ratings[1].rating or 0) - (ratings[0].rating or 0), abs=1e-3)
    widths = [(board.pairs[0].gap_upper or 0) - (board.pairs[0].gap_lower or 0) for board in boards]
    assert (ureka.upper or 0) - (ureka.lower or 0) == pytest.approx(float(np.hypot(*widths)) / 2, rel=0.1)
    assert SCALE > 0


def test_verdicts_that_flipped_are_shown_with_what_the_judges_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    built(tmp_path / "a", [A_WINS, A_WINS, B_WINS, A_WINS, TIED, B_WINS, A_WINS, A_WINS])
    built(tmp_path / "b", [A_WINS, B_WINS, B_WINS, A_WINS, TIED, B_WINS, A_WINS, TIED])
    out = tmp_path / "out"
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--json", "--out", str(out)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["shared"] == 8
    assert [flip["winners"] for flip in told["flips"]] == [["ureka", "gemini"], ["ureka", "tie"]]
    assert {move["name"] for move in told["moves"]} == {"ureka", "gemini"}
    assert json.loads((out / "compare.json").read_text()) == told
    assert "2 of 8 shared verdicts flipped" in (out / "compare.md").read_text("utf-8")
    page = (out / "compare.html").read_text("utf-8")
    assert "ureka → gemini" in page
    assert "What the judges wrote" in page


def test_a_comparison_speaks_the_runs_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in "ab":
        built(tmp_path / name, [A_WINS, B_WINS, A_WINS, TIED, B_WINS, A_WINS], language="ko")
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    assert "공통 판결 6건 중 0건이 뒤바뀌었습니다" in capsys.readouterr().out


def test_runs_without_endpoints_in_common_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    built(tmp_path / "a", [A_WINS, B_WINS])
    other = RunBuilder(["gpt", "claude"])
    other.play([A_WINS, B_WINS])
    other.write(tmp_path / "b")
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 2
    assert "found 0 endpoints that both rate, expected two" in capsys.readouterr().err


def test_runs_lists_folders_with_state_and_decision(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    built(tmp_path / "done", [A_WINS] * 14 + [B_WINS])
    built(tmp_path / "half", [A_WINS, B_WINS])
    for name in ("leaderboard.json", "verdicts.jsonl"):
        (tmp_path / "half" / name).unlink()
    (tmp_path / "no run").mkdir()
    assert main(["runs", str(tmp_path), "--json", "--cost"]) == 0
    done, half = map(json.loads, capsys.readouterr().out.splitlines())
    assert (done["state"], done["leader"], done["better"]) == ("rated", "ureka", ["gemini"])
    assert (half["state"], half["leader"], half["dialogues"]) == ("collected", None, 3)
    assert done["endpoints"] == ["ureka", "gemini"]
    assert main(["runs", str(tmp_path)]) == 0
    assert "ureka better than gemini" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["report", "verify"])
def test_a_run_folder_may_be_given_in_first_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    built(tmp_path / "a", [A_WINS, B_WINS, A_WINS])
    said = []
    for arguments in ([str(tmp_path / "a")], ["--run", str(tmp_path / "a")]):
        assert main([command, *arguments]) in (0, 1)
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] != ""
    assert main([command]) == 2
    assert f"{command}: found no run folder, expected RUN" in capsys.readouterr().err


def test_a_stage_takes_a_configuration_or_a_run_folder_in_first_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    built(tmp_path / "a", [A_WINS, B_WINS])
    assert main(["cut", str(tmp_path / "a"), "--run", str(tmp_path / "b")]) == 2
    assert "found two run folders" in capsys.readouterr().err
    (tmp_path / "c.toml").write_text('[run]\nname = "x"\n')
    assert main(["cut", str(tmp_path / "c.toml"), "--config", str(tmp_path / "c.toml")]) == 2
    assert "found two configurations" in capsys.readouterr().err


def test_a_mistyped_option_is_told_the_one_that_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "x", "--langauge", "ko"]) == 2
    assert "did you mean --language?" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command_and_its_options(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    from frontdesk.cli import COMMANDS

    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(name in script for name in COMMANDS)
    assert ("-l allow-partial" if shell == "fish" else "--allow-partial") in script
