"""What --on may say, whose keys go where, which items are whose, and what the desk lends; without a cluster."""

import asyncio
import json
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from frontdesk.cli import main
from frontdesk.runner import config_file as configuration
from frontdesk.runner.cluster import addresses, keys
from frontdesk.runner.cluster.desk import LOST_S, SILENCE_S, Desk, MachinesLost, Seen, Told
from frontdesk.runner.cluster.kept import GIVEN, ID_FILE, folder_of, id_of, kept, let_go, made
from frontdesk.runner.cluster.segments import Copies, calls_by_share, rows_by_share
from frontdesk.runner.cluster.shard import BEAT_S, MOST_BEATS, Order, beat_s, work
from frontdesk.runner.cluster.shares import Share
from gateway.budget import NOTHING, Budget
from gateway.engine import Gateway
from gateway.leases import REST_S
from gateway.prompt import Message, Prompt
from runstore.journal import Journal
from runstore.problems import InputProblem, Problem
from runstore.runlock import hold
from runstore.segments import header, segments
from tests.runstore.test_without_extras import _RUN, ROOT
from tests.support.small_runs import to_toml, write_config

OPENAI = {"kind": "openai", "model": "m"}
CAPS = {"usd": None, "calls": None, "tokens": None}


@pytest.fixture(autouse=True)
def own_disk(tmp_path, monkeypatch):
    """A worker's own disk, new for each test."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def refused(*arguments: str) -> str:
    with pytest.raises(Problem) as caught:
        addresses.parse(*arguments)
    return str(caught.value)


def test_on_says_local_processes_an_address_or_a_file(tmp_path):
    assert addresses.parse("local:4").workers == 4
    assert addresses.parse("tcp://10.0.0.7:8786").address == "tcp://10.0.0.7:8786"
    for wrong in (
        "local",
        "local:0",
        "local:x",
        "10.0.0.7:8786",
        "http://h:1",
        "tcp://h",
        "tcp://h:0",
        "tcp://h:65536",
        "ray://h:1",
    ):
        assert "expected" in refused(wrong)
    assert "no such file" in refused(str(tmp_path / "slurm.yaml"))


@pytest.mark.parametrize(
    ("on", "worker", "private"),
    [
        ("local:2", "tcp://127.0.0.1:4001", True),
        ("tls://head:8786", "tls://node7:4001", True),
        ("tcp://127.0.0.1:8786", "tcp://127.0.0.1:4001", True),
        ("tcp://[::1]:8786", "tcp://[::1]:4001", True),
        ("tcp://127.0.0.1:8786", "tcp://192.0.2.2:4001", False),
        ("tcp://head:8786", "tcp://127.0.0.1:4001", False),
        ("tcp://10.0.0.7:8786", "tcp://10.0.0.7:4001", False),
    ],
)
def test_keys_are_sent_only_where_nobody_can_listen(on, worker, private):
    assert addresses.parse(on).is_private_to(worker) is private


def test_a_cluster_file_names_a_kind_that_is_known_and_what_makes_it(tmp_path, monkeypatch):
    path = tmp_path / "c.yaml"
    path.write_text("kind: slurm\nworkers: 3\noptions: {cores: 1}\n")
    plan = addresses.described(path)
    assert (plan.kind, plan.workers, plan.options) == ("slurm", 3, {"cores": 1})
    monkeypatch.setitem(sys.modules, "dask_jobqueue", None)
    with pytest.raises(Problem, match="pip install dask-jobqueue"):
        plan.made()
    for text, what in (
        ("kind: slrum\n", "did you mean slurm"),
        ("kind: ssh\nworkers: 0\n", "1 at least"),
        ("kind: ssh\nhosts: [a]\n", "hosts"),
        ("- a\n", "kind, workers and options"),
        ("kind: [", "YAML"),
        ("kind: ssh\noptions: 3\n", "options"),
        ("kind: slurm\nworkers: many\n", "workers"),
        ("kind: slurm\nworkers: true\n", "workers"),
        ("kind: [slurm]\n", "kind"),
        ("", "kind, workers and options"),
    ):
        path.write_text(text)
        with pytest.raises(InputProblem, match=what):
            addresses.described(path)


def _refused(**_: object) -> None:
    raise RuntimeError("cluster failed to start") from ConnectionRefusedError(111, "connect call failed")


def test_a_cluster_that_cannot_be_made_says_why_in_a_sentence(tmp_path, monkeypatch, provider, capsys):
    path = tmp_path / "ssh.yaml"
    path.write_text("kind: ssh\nworkers: 2\noptions: {hosts: [a, b]}\n")
    monkeypatch.setitem(addresses.KINDS, "ssh", f"{__name__}:_refused")
    config = write_config(tmp_path / "c.toml", provider, dialogues=1, subsets=1)
    assert main(["run", str(config), "--run", str(tmp_path / "run"), "--on", str(path)]) == 2
    err = capsys.readouterr().err
    assert (
        "ssh.yaml: no cluster of kind ssh could be made (ConnectionRefusedError: [Errno 111] connect call" in err
    )
    assert "Traceback" not in err
    assert provider.stats.calls == 0


def test_ctrl_c_stays_ours_when_a_library_takes_it_as_it_is_imported(tmp_path, monkeypatch):
    (tmp_path / "greedy_queue.py").write_text(
        "import signal\nsignal.signal(signal.SIGINT, lambda *_: exit())\nCluster = dict\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(addresses.KINDS, "slurm", "greedy_queue:Cluster")
    (tmp_path / "c.yaml").write_text("kind: slurm\noptions: {cores: 1}\n")
    before = signal.getsignal(signal.SIGINT)
    assert addresses.described(tmp_path / "c.yaml").made() == {"cores": 1}
    assert signal.getsignal(signal.SIGINT) is before


SLURM = """
kind: slurm
workers: 16
options:
  queue: cpu
  cores: 1
  processes: 1
  memory: 2GB
  walltime: "02:00:00"
  interface: lo
  job_script_prologue: ["source /shared/keys.sh"]
"""


@pytest.mark.skipif(find_spec("dask_jobqueue") is None, reason="dask-jobqueue is not here: it is no extra of ours")
def test_a_cluster_file_becomes_the_job_script_of_its_queue(tmp_path):
    path = tmp_path / "slurm.yaml"
    path.write_text(SLURM)
    with addresses.described(path).made() as cluster:
        script = cluster.job_script().splitlines()
    asked = ("-p cpu", "-n 1", "--cpus-per-task=1", "--mem=2G", "-t 02:00:00")
    for line in (*(f"#SBATCH {one}" for one in asked), "source /shared/keys.sh"):
        assert line in script, script
    assert any("distributed.cli.dask_worker" in line and "--nthreads 1" in line for line in script), script


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a cluster of theirs, half made
@pytest.mark.skipif(find_spec("dask_jobqueue") is None, reason="dask-jobqueue is not here: it is no extra of ours")
def test_what_a_queue_does_not_take_is_refused_with_the_file_and_field(tmp_path):
    path = tmp_path / "slurm.yaml"
    path.write_text("kind: slurm\noptions: {cores: 1, memory: 2GB, qeue: cpu}\n")
    with pytest.raises(InputProblem, match=r"slurm\.yaml.*options.*qeue"):
        addresses.described(path).made()


def test_without_the_extra_on_says_what_to_install(tmp_path, provider):
    config = write_config(tmp_path / "c.toml", provider, dialogues=1, subsets=1)
    code = (
        _RUN.replace("('pyarrow', ", "('distributed', 'dask', 'pyarrow', ")
        + "from frontdesk.cli import main\nsys.exit(main(sys.argv[1:]))"
    )
    command = ["run", str(config), "--run", str(tmp_path / "run")]

    def bare(*more: str) -> subprocess.CompletedProcess[str]:
        whole = [sys.executable, "-c", code, *command, *more]
        return subprocess.run(whole, cwd=ROOT, capture_output=True, text=True, check=False)

    done = bare("--on", "local:2")
    assert done.returncode == 2
    assert "pip install 'tutor-arena[cluster]'" in done.stderr
    assert provider.stats.calls == 0
    assert bare().returncode == 0


def test_where_a_run_is_made_is_no_part_of_it(tmp_path, provider):
    config = write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=2)
    config.write_text(config.read_text().replace("[run]\n", '[run]\non = "local:2"\n'))
    loaded = configuration.load(config)
    assert loaded.run.on == "local:2"
    assert "local:2" not in configuration.to_toml(loaded)
    other = loaded.model_copy(update={"run": loaded.run.model_copy(update={"on": None})})
    assert configuration.differences(configuration.settled(loaded), configuration.settled(other)) == []


def test_an_address_that_nobody_answers_is_said_in_a_sentence(tmp_path, provider, capsys):
    config = write_config(tmp_path / "c.toml", provider, dialogues=1, subsets=1)
    assert main(["run", str(config), "--run", str(tmp_path / "run"), "--on", "ftp://x:1"]) == 2
    assert "found 'ftp://x:1', expected local:N" in capsys.readouterr().err
    assert provider.stats.calls == 0


def test_every_item_is_in_one_share_whatever_stands_behind_its_id():
    names = [f"s-{number:04d}" for number in range(2000)]
    shares = [Share(index, 4) for index in range(4)]
    counts = [sum(share.has(name) for name in names) for share in shares]
    assert sum(counts) == 2000
    assert min(counts) > 400
    for name in names[:50]:
        assert [share.has(name) for share in shares] == [share.has(f"{name}/a/b/3") for share in shares]
    assert all(Share().has(name) for name in names)


def test_the_variables_of_keys_are_found_and_missing_ones_named(monkeypatch):
    monkeypatch.setenv("OWN_KEY", "k2" * 10)
    monkeypatch.setenv("OTHER_KEY", "o3" * 10)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    config = configuration.parse(
        {
            "endpoints": {
                "a": {"kind": "openai", "model": "m", "base_url": "https://a.invalid/v1", "api_key_env": "OWN_KEY"}
            }
        }
    )
    assert keys.variables(config, ["a"]) == {"OWN_KEY": "k2" * 10}
    monkeypatch.delenv("OTHER_KEY")
    assert keys.missing(["OWN_KEY", "OTHER_KEY"]) == ["OTHER_KEY"]


def desk(**caps: int) -> Desk:
    made = Desk(lambda: 100.0)
    made.open("judge", {"e": (60, None), "free": (None, None)}, {**CAPS, **caps}, Budget().state(), (4, "rounds"))
    return made


def test_a_shard_starts_once_an_attempt():
    made = desk()
    assert made.start("judge", "judge-0-1", "w")
    assert not made.start("judge", "judge-0-1", "w2")
    assert made.start("judge", "judge-0-2", "w2")
    assert not made.start("collect", "collect-0-1", "w")


def test_the_desk_adds_up_what_shards_tell_and_passes_on_the_first_reason_to_stop():
    made = desk()
    for number in (0, 1):
        made.start("judge", f"judge-{number}-1", "w")
        told = Told(done=3 + number, of=9, in_flight=2, spent={"calls": 5, "usd": 0.5})
        assert made.beat(f"judge-{number}-1", asdict(told), ["e: waits"]) is None
    looked = made.look()
    assert (looked.done, looked.in_flight, looked.lines) == (7, 4, ["e: waits"])
    assert (looked.spent["calls"], looked.spent["usd"]) == (10, 1.0)
    assert made.look().lines == []
    made.stop("budget", "the cap is reached")
    made.stop("interrupted", "later")
    assert made.beat("judge-0-1", asdict(Told()), []) == ("budget", "the cap is reached")


def test_judges_are_tried_by_what_all_shards_saw():
    made = desk()
    seen = Seen(judged=2, unreadable=2, raw="I cannot say", reason="no decision line")
    made.start("judge", "judge-0-1", "w")
    made.start("judge", "judge-1-1", "w")
    assert made.beat("judge-0-1", asdict(Told(judges={"j": seen})), []) is None
    stop = made.beat("judge-1-1", asdict(Told(judges={"j": seen})), [])
    assert stop is not None and stop[0] == "unreadable"
    assert "I cannot say" in stop[1]


def test_an_attempt_that_was_given_up_gets_nothing_more_and_counts_once():
    made = desk(calls=10)
    made.start("judge", "judge-0-1", "frozen")
    seen = Seen(judged=3, unreadable=1, raw="?", reason="no decision line")
    told = Told(done=3, of=9, in_flight=2, spent={"calls": 5}, judges={"j": seen})
    assert made.beat("judge-0-1", asdict(told), []) is None
    assert made.permits("judge-0-1", [NOTHING] * 2, [], [], []) == (2, None)
    made.withdraw("judge-0-1")
    assert not made.start("judge", "judge-0-1", "frozen")
    assert made.beat("judge-0-1", asdict(told), []) == ("machines", "its share goes on elsewhere")
    with pytest.raises(MachinesLost, match="goes on elsewhere"):
        made.places("judge-0-1", "e", [0], [], 0)
    with pytest.raises(MachinesLost, match="goes on elsewhere"):
        made.permits("judge-0-1", [NOTHING], [((0.0, 0.0, False), None, None)], [True], [])
    made.start("judge", "judge-0-2", "other")
    made.beat("judge-0-2", asdict(replace(told, spent={"calls": 1})), [])
    looked = made.look()
    assert (looked.done, looked.in_flight, looked.spent["calls"]) == (3, 2, 6)
    assert looked.note == "1 of 3 rounds unreadable"


def test_who_says_nothing_for_a_minute_is_silent_unless_it_has_ended():
    now = [0.0]
    made = Desk(lambda: now[0])
    made.open("judge", {}, CAPS, Budget().state(), (0, "rounds"))
    for holder in ("early", "late", "ended", "never-heard"):
        made.start("judge", holder, holder)
    made.beat("early", asdict(Told()), [])
    made.beat("ended", asdict(Told()), [])
    made.end("ended")
    now[0] = SILENCE_S
    made.beat("late", asdict(Told()), [])
    now[0] = LOST_S + 1
    assert made.look().silent == ["early"]
    assert SILENCE_S < LOST_S, "it starts nothing more by then"


def test_latencies_are_passed_on_once():
    made = desk()
    made.start("judge", "judge-0-1", "w")
    made.start("judge", "judge-1-1", "w")
    made.beat("judge-0-1", asdict(Told(latencies={"e": [0.5, 0.6]})), [])
    made.beat("judge-1-1", asdict(Told(latencies={"e": [0.7]})), [])
    assert made.look().latencies == {"e": [0.5, 0.6, 0.7]}
    assert made.look().latencies == {}


def test_a_minute_goes_on_in_the_next_stage():
    now = [0.0]
    made = Desk(lambda: now[0])
    limits = {"e": (60.0, None)}
    starts: list[float] = []
    for stage in ("collect", "judge"):
        made.open(stage, limits, CAPS, Budget().state(), (0, "rounds"))
        made.start(stage, "one", "w")
        starts += [now[0] + place.wait_s for place in made.places("one", "e", [0] * 50, [], 0)]
        now[0] = starts[-1] + 0.01
    assert max(sum(at <= other < at + 60.0 for other in starts) for at in starts) <= 60
    made.open("score", limits, CAPS, Budget().state(), (0, "rounds"), ["e"])
    assert made.beat("one", asdict(Told(done=9)), [])[0] == "machines", "of an earlier stage"
    assert made.look().done == 0
    made.start("score", "one", "w")
    assert made.places("one", "e", [0], [], 0)[0].wait_s >= REST_S


def test_a_worker_that_is_gone_gives_back_what_it_held():
    made = desk(calls=10)
    made.start("judge", "a", "dead")
    made.start("judge", "b", "alive")
    made.places("a", "e", [0] * 20, [], 0)
    assert made.permits("a", [NOTHING] * 6, [], [], []) == (6, None)
    made.lose("dead")
    assert made.places("b", "e", [0], [], 0)[0].wait_s < 2
    granted, _ = made.permits("b", [NOTHING] * 10, [], [], [])
    assert granted == 4, "calls of a worker that died may have been made"


def test_a_desk_that_cannot_be_reached_stops_a_shard_before_it_asks_a_model(tmp_path, provider):
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=4)
    made = desk()
    made.open("simulate", {}, {**CAPS, "calls": 50}, Budget().state(), (0, "rounds"))

    async def ask(op, *arguments):
        if op == "permits":
            raise OSError("connection refused")
        return getattr(made, op)(*arguments)

    order = Order(
        "r", "simulate", Share(), 1, ("gemini",), config.read_bytes(), {}, str(tmp_path), sees=False,
        caps={**CAPS, "calls": 50},
    )  # fmt: skip
    found = work(order, ask, "tcp://node7:1")
    assert found == {"state": "again"}, "the desk may be there for others"
    assert provider.stats.calls == 0


def test_what_calls_took_travels_as_plain_values(tmp_path, provider):
    """As over the wire: nothing but numbers, texts and lists arrives at the desk, and comes back."""
    config = write_config(tmp_path / "c.toml", provider, dialogues=6, subsets=4)
    made = desk()
    limits = {"gemini": (60_000, 10_000_000)}
    made.open("simulate", limits, {**CAPS, "tokens": 200_000}, Budget().state(), (0, "rounds"))

    async def ask(op, *arguments):
        return json.loads(json.dumps(getattr(made, op)(*json.loads(json.dumps(arguments)))))

    order = Order(
        "r", "simulate", Share(), 1, ("gemini",), config.read_bytes(), {}, str(tmp_path), sees=False,
        limited=("gemini",), caps={**CAPS, "tokens": 200_000},
    )  # fmt: skip
    assert work(order, ask, "tcp://node7:1") == {"state": "done"}
    state = made.look().budget
    assert state is not None
    assert state["total"]["calls"] == provider.stats.calls == 42
    assert state["total"]["input"] > 1000
    assert (state["ended"], state["lost"]) == (42, 0)


def calls_of(folder, *items: tuple[str, str]) -> None:
    async def ask() -> None:
        endpoint = {"s": {"kind": "scripted", "replies": str(folder.parent / "r.jsonl")}}
        (folder.parent / "r.jsonl").write_text('{"reply":"yes"}\n')
        async with Gateway.open(endpoint, journal=Journal(folder)) as gateway:
            for stage, item in items:
                prompt = Prompt("teacher", (Message("user", f"{stage} {item}"),))
                await gateway.ask("s", prompt, stage=stage, item=item)
            assert gateway.journal is not None
            gateway.journal.close()

    asyncio.run(ask())


def test_a_journal_is_read_for_one_share_and_sent_as_a_segment(tmp_path):
    items = [("collect", f"s-{number}") for number in range(30)] + [("simulate", f"s-{n}") for n in range(5)]
    calls_of(tmp_path / "journal", *items)
    share = Share(1, 3)
    mine = [item for stage, item in items if stage == "collect" and share.has(item)]
    only = Journal(
        tmp_path / "journal", read_only=True, only=lambda stage, item: stage == "collect" and share.has(item)
    )
    assert len(only) == len(mine)
    only.close()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "000000-0.jsonl").write_bytes(
        header(copied=True) + calls_by_share(tmp_path / "journal", "collect", share.of).of(share)
    )
    sent = Journal(tmp_path / "other", read_only=True)
    assert len(sent) == len(mine)
    sent.close()
    assert calls_by_share(tmp_path / "journal", "judge", share.of).of(share) == b""


def test_blocks_become_a_segment_of_whole_lines(tmp_path):
    calls_of(tmp_path / "far", *[("collect", f"s-{number}") for number in range(20)])
    original = next((tmp_path / "far").glob("*.jsonl")).read_bytes()
    near = tmp_path / "near"
    near.mkdir()
    copies = Copies(near)
    for start in range(0, len(original) - 100, 97):
        copies.add("far", original[start : min(start + 97, len(original) - 100)])
    copies.sync()
    journal = Journal(near, read_only=True)
    assert len(journal) == 19
    assert copies.fetched == {"far": len(original) - 100}
    journal.close()
    copies.add("far", original[-100:])
    assert [path.read_bytes() for path in near.glob("*.jsonl")] == [original]


@pytest.mark.parametrize("torn", [0, 40])
def test_a_copy_that_an_earlier_command_began_is_gone_on_with(tmp_path, torn):
    """Also behind half a line: the copy is a part of the original to the byte."""
    calls_of(tmp_path / "far", *[("collect", f"s-{number}") for number in range(20)])
    original = next((tmp_path / "far").glob("*.jsonl")).read_bytes()
    near = tmp_path / "near"
    near.mkdir()
    cut = original.rindex(b"\n", 0, len(original) // 2) + 1 + torn
    (near / "000004-1.jsonl").write_bytes(original[:cut])
    copies = Copies(near)
    while (have := copies.fetched.get("far", 0)) < len(original):
        copies.add("far", original[have : have + 500])
    copies.sync()
    assert [path.read_bytes() for path in near.glob("*.jsonl")] == [original]


def test_a_machine_lets_go_only_what_was_fetched_to_its_end(tmp_path):
    for number in (1, 2, 3):
        folder = folder_of("run") / f"command-{number}"
        folder.mkdir(parents=True)
        calls_of(folder, ("collect", f"s-{number}"))
        (folder / GIVEN).write_bytes(b"")
    whole, part, written = kept("run")
    assert not (whole.is_written or part.is_written or written.is_written)
    with Path(written.path).open("rb+") as file:
        hold(file.fileno())
        assert [one.is_written for one in kept("run")] == [False, False, True]
        let_go("run", {whole.path: whole.size, part.path: part.size - 1, written.path: written.size})
    assert [one.path for one in kept("run")] == [part.path, written.path]
    let_go("run", {one.path: one.size for one in kept("run")})
    (folder_of("run") / "r.jsonl").unlink()
    folder_of("run").rmdir()
    assert not folder_of("run").exists()


def test_a_run_is_kept_under_one_name_whichever_command_asks_and_a_copy_under_another(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    assert (name := id_of(run)) == id_of(run)
    assert list(segments(run)) == []
    assert id_of(Path(shutil.copytree(run, tmp_path / "copy"))) != name
    assert id_of(run.rename(tmp_path / "moved")) == name


@pytest.mark.parametrize(
    "said", ["", "x/../../home/me", "0" * 31, "0" * 32 + "/..", "\N{HANGUL SYLLABLE GA}" * 32]
)
def test_a_name_that_was_not_drawn_leads_nowhere(tmp_path, said):
    (tmp_path / "elsewhere").write_text(said, encoding="utf-8")
    (tmp_path / ID_FILE).symlink_to(tmp_path / "elsewhere")
    assert re.fullmatch("[0-9a-f]{32}-[0-9a-f]+", name := id_of(tmp_path))
    assert id_of(tmp_path) == name
    assert folder_of(name).parent == tmp_path
    assert (tmp_path / "elsewhere").read_text(encoding="utf-8") == said


def test_what_a_machine_keeps_is_closed_to_others_and_nobody_elses_is_touched(tmp_path):
    folder = made("run", "command-1")
    assert folder_of("run").stat().st_mode & 0o077 == 0
    calls_of(folder, ("collect", "s-1"))
    folder_of("led").symlink_to(folder_of("run"))
    with pytest.raises(PermissionError, match="somebody else's"):
        made("led", "command-1")
    assert kept("led") == [] != kept("run")
    let_go("led", {one.path.replace("arena-run", "arena-led"): one.size for one in kept("run")})
    assert len(kept("run")) == 1


def test_whether_a_segment_is_written_is_looked_at_before_its_size(tmp_path, monkeypatch):
    """Its writer adds a last line and ends in between."""
    folder = made("run", "command-1")
    calls_of(folder, ("collect", "s-1"))
    (one,) = kept("run")

    def ends(path: Path) -> bool:
        with path.open("ab") as file:
            file.write(b"more")
        return False

    monkeypatch.setattr("frontdesk.runner.cluster.kept.is_held", ends)
    let_go("run", {one.path: one.size})
    assert Path(one.path).stat().st_size == one.size + 4, "its end has not been fetched"
    assert kept("run")[0].size == one.size + 8


def test_rows_of_a_share_are_sent_as_they_stand(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"".join(b'{"subset": "s-%d",  "text":"x"}\n' % number for number in range(40)))
    found = rows_by_share(path, 3, "subset")
    parts = [found.of(Share(index, 3)) for index in range(3)]
    assert all(
        json.loads(line)["subset"] and Share(0, 3).has(json.loads(line)["subset"])
        for line in parts[0].splitlines()
    )
    assert sorted(b"".join(parts).splitlines()) == sorted(path.read_bytes().splitlines())


def test_what_is_wrong_on_a_worker_is_a_problem_with_its_name(tmp_path, provider):
    config = to_toml({"endpoints.a": {"kind": "openai", "model": "m", "api_key_env": "KEY_THAT_IS_NOWHERE"}})
    made = desk()

    async def ask(op, *arguments):
        return getattr(made, op)(*arguments)

    order = Order("r", "judge", Share(), 1, ("a",), config.encode(), {}, str(tmp_path), sees=False)
    found = work(order, ask, "tcp://node7:1")
    assert found["state"] == "problem"
    assert "node7" in found["text"]
    assert "KEY_THAT_IS_NOWHERE" in found["text"]
    assert work(order, ask, "tcp://node8:1") == {"state": "again"}


def test_a_server_on_each_node_is_asked_at_its_own_loopback_under_one_key(provider, tmp_path):
    address = f"per-node:{provider.port}/v1"
    settings = {"kind": "openai", "model": "m", "base_url": address}
    prompt = Prompt("teacher", (Message("user", "Why?"),))

    async def ask() -> None:
        async with Gateway.open({"node": settings}, journal=Journal(tmp_path / "j")) as gateway:
            answer = await gateway.ask("node", prompt)
            assert answer.text
            assert gateway.endpoints["node"].lanes[0].base_url == f"http://127.0.0.1:{provider.port}/v1"
            assert gateway.journal is not None
            gateway.journal.close()

    asyncio.run(ask())
    assert provider.stats.calls == 1
    for wrong in ("per-node:", "per-node:x/v1", "per-node:80 00"):
        with pytest.raises(Problem, match=r"per-node:PORT"):
            Gateway.open({"node": {**settings, "base_url": wrong}})


@pytest.mark.parametrize("workers", [1, 50, 100, 1024])
def test_beats_of_any_number_of_workers_leave_the_scheduler_time_to_lend(workers):
    assert workers / beat_s(workers) <= MOST_BEATS
    assert beat_s(1) == beat_s(100) == BEAT_S
