"""A provider that fails in every way it can: the records are those of a quiet one, or failures with names."""

from frontdesk.cli import main
from runstore.publish import read_records
from runstore.records import Failure
from tests.support.fake_faults import CHAOS
from tests.support.small_runs import counts, files_of, finished_twice, write_config

RECORDS = ("dialogues.jsonl", "subsets.jsonl", "replies.jsonl", "judgments.jsonl", "verdicts.jsonl")
PATIENT = {"timeout_s": 0.6, "retries": 8, "longest_wait_s": 5.0}


def test_a_third_of_all_requests_failing_in_every_way_changes_no_record(provider, tmp_path):
    config = write_config(tmp_path / "c.toml", provider, dialogues=16, subsets=40, endpoint=PATIENT)
    assert main(["run", str(config), "--run", str(tmp_path / "quiet")]) == 0
    calls = provider.stats.calls
    provider.reset()
    provider.configure(chaos_rate=0.3, chaos_seed=6)
    assert main(["run", str(config), "--run", str(tmp_path / "chaos")]) == 0
    quiet, chaos = files_of(tmp_path / "quiet"), files_of(tmp_path / "chaos")
    different = [name for name in RECORDS if without_notes(quiet[name]) != without_notes(chaos[name])]
    assert different == []
    assert quiet["failures.jsonl"] == chaos["failures.jsonl"] == b""
    assert counts(tmp_path / "chaos") == (calls, 0)
    assert finished_twice(tmp_path / "chaos") == []
    kinds = {kind for kind, count in provider.stats.by_fault.items() if count}
    assert len(kinds) >= 20, f"only {sorted(kinds)} of {sorted(CHAOS)}"
    assert sum(provider.stats.by_fault.values()) > 0.25 * calls


def without_notes(data: bytes) -> bytes:
    """Dialogues note what was retried (blank replies), which is the one thing that should differ."""
    import orjson

    rows = [orjson.loads(line) for line in data.splitlines()]
    for row in rows:
        row.pop("notes", None)
        row.pop("latency_s", None)
        row.pop("attempts", None)
    return orjson.dumps(rows)


def test_what_no_retry_can_save_is_a_named_failure_of_its_own_items_alone(provider, tmp_path):
    permanent = ("400", "context-length", "truncated", "blocked", "refused", "429-long")
    config = write_config(tmp_path / "c.toml", provider, dialogues=16, subsets=20, endpoint=PATIENT)
    provider.configure(chaos_rate=0.1, chaos_seed=3, chaos_attempts=1, chaos_kinds=permanent)
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 1
    failures = read_records(tmp_path / "run" / "failures.jsonl", Failure)
    kinds = {failure.kind for failure in failures}
    assert kinds <= {"bad_request", "context_length", "truncated", "blocked", "refused", "rate_limit", "no_match"}
    assert len(kinds) >= 4
    assert all(failure.message and failure.stage and failure.item for failure in failures)
    assert (tmp_path / "run" / "report.md").is_file()
    asked = provider.stats.calls
    provider.configure(chaos_rate=0.0)
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 0
    assert (tmp_path / "run" / "failures.jsonl").read_bytes() == b""
    assert provider.stats.calls > asked
    assert finished_twice(tmp_path / "run") == []
