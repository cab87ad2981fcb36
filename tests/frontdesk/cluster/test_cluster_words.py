"""What the driver, the caps and a lost cluster say is said in the console's language."""

import re
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from arena.trial import JudgeTrial
from frontdesk.runner.cluster.addresses import parse
from frontdesk.runner.cluster.crew import Crew
from frontdesk.runner.cluster.desk import MachinesLost
from frontdesk.runner.told import speak, told
from gateway.budget import NOTHING, Budget, Most
from gateway.errors import Stopped
from runstore.records import Usage

ENGLISH = re.compile(r"(?<![\w./:-])[a-z]{3,}(?![\w./:-])")
NAMES = {"tcp", "budget", "calls", "tokens", "usd", "max_output_tokens", "check", "trial_rounds", "rounds"}


@pytest.fixture(autouse=True)
def korean() -> Iterator[None]:
    speak("ko")
    yield
    speak(None)


def english(text: str) -> list[str]:
    """Words that are no names in what is told of a text."""
    said = told(text)
    assert said != text
    return [word for word in ENGLISH.findall(said) if word not in NAMES]


async def no_answer(*_: object, **__: object) -> dict[str, object]:
    return {"tcp://10.0.0.7:40001": OSError("broken")}


async def nobody(**_: object) -> dict[str, object]:
    return {"workers": {}}


async def test_no_worker_comes_or_one_does_not_answer(tmp_path):
    crew = Crew(parse("tcp://127.0.0.1:8786"))
    crew.client = SimpleNamespace(scheduler=SimpleNamespace(identity=nobody), run=no_answer)
    said: list[str] = []
    pipeline = SimpleNamespace(
        folder=SimpleNamespace(journal=tmp_path), progress=SimpleNamespace(say=said.append), config=None
    )
    crew.seen["tcp://127.0.0.1:40002"] = True
    with pytest.raises(MachinesLost, match="no worker has come") as first:
        await crew.workers(0.0, lambda: False)
    assert await crew.look_around(pipeline, ["tcp://10.0.0.7:40001"]) == []  # type: ignore[arg-type] - no more of it
    assert len(said) == 1 and "10.0.0.7:40001 does not answer" in said[0]
    assert english(f"stopped: {first.value}") == english(said[0]) == []


def reached(budget: Budget, most: Most = NOTHING) -> str:
    with pytest.raises(Stopped) as caught:
        budget.fits(most)
    return f"stopped: {caught.value}"


def test_caps_that_are_reached():
    calls, dollars, tokens = Budget(calls=1), Budget(usd=0.5), Budget(tokens=1000)
    for budget in (calls, dollars, tokens):
        budget.entered(Most())
        budget.left(Most())
        budget.spend(Usage(input=600, output=300), 0.45)
    lost = Budget(tokens=1000)
    lost.recall(0, lost=2)
    lost.spend(Usage(input=900, output=300), None)
    for text in (
        reached(calls),
        reached(dollars, Most(500.0, 0.2, True)),
        reached(tokens, Most(500.0, 0.2, True)),
        reached(lost),
    ):
        assert english(text) == [], text


def test_a_judge_that_failed_its_trial():
    trial = JudgeTrial(2)
    trial.saw("gemini", "뭐라고", "형식", is_readable=False)
    failed = trial.saw("gemini", "뭐라고", "형식", is_readable=False)
    assert english(f"judge stopped: {failed}; 2 of 9 finished") == ["judge"], "a command's name"


@pytest.mark.parametrize(
    "line",
    [
        "asks for 16 workers (SLURM)",
        "stopped: the scheduler is gone (CommClosedError)",
        "stopped: no worker answers",
        "waits for a worker, 600 s at most",
        "stopped: the scheduler has said nothing for 30 s",
        "waits for calls in flight of 1 workers of an earlier command, 65 s at most",
        "3 workers of an earlier command did not end: goes on without their calls in flight",
        "collect: worker tcp://10.0.0.7:1 lost sight of the scheduler; its share goes on there",
        "stopped: the scheduler cannot be reached: OSError: [Errno 111]",
        "collect: worker tcp://10.0.0.7:1 was lost; its share goes on at tcp://10.0.0.8:2",
        "stopped: shard 3 was lost 8 times",
        "stopped: the journal cannot be written: No space left on device",
        "stopped: the process that drives the run is gone",
        "--on tcp://10.0.0.7:1: no scheduler answers there (nothing was said for 40 s)",
    ],
)
def test_lines_of_the_driver(line):
    assert [word for word in english(line) if word != "collect"] == []
