"""What batches of the three providers come to: answers, prices, failures, and what is asked again."""

from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.batches.runner import BatchRunner
from gateway.budget import Budget
from gateway.crowd import each
from gateway.engine import Gateway
from gateway.errors import BudgetReached, CallFailed
from gateway.prompt import Ask
from runstore.journal import Journal
from runstore.problems import Problem
from tests.support import fake_shapes
from tests.support.asking import chat
from tests.support.batch_asker import KINDS, answers, endpoints
from tests.support.fake_batches import BatchJob
from tests.support.fake_faults import Reply
from tests.support.fake_provider import FakeProvider
from tests.support.fake_shapes import Asked

KEY = "k-123456789"
every_kind = pytest.mark.parametrize("kind", KINDS)


class Desk:
    """A gateway over one endpoint and a journal, with what its runner said."""

    def __init__(self, gateway: Gateway, journal: Journal, kind: str) -> None:
        self.gateway, self.journal, self.kind = gateway, journal, kind
        self.said: list[str] = []
        gateway.notify = self.said.append

    async def ask(self, *questions: str) -> list[str]:
        """The answer to each question, or what the failure says."""

        async def one(ask: Ask, question: str) -> str:
            try:
                return (await ask(self.kind, chat(question), stage="score", item=question)).text
            except CallFailed as failed:
                return f"{failed.kind}: {failed.message}"

        async def all_of_them(ask: Ask) -> list[str]:
            return (await each(questions, lambda question: one(ask, question), at_once=9)).results()

        return await BatchRunner(self.gateway, [self.kind], poll_s=0.01).whole(all_of_them)

    def lines(self, state: str) -> list[dict[str, Any]]:
        return [row for row in self.journal.rows() if row["state"] == state]

    def notes(self) -> list[str]:
        return [row["batch"] for row in self.lines("note")]


@asynccontextmanager
async def opened(
    provider: FakeProvider, folder: Path, kind: str, budget: Budget | None = None, **settings: Any
) -> AsyncGenerator[Desk]:
    journal = Journal(folder)
    table = {kind: endpoints(provider.url, **settings)[kind]}
    try:
        async with Gateway.open(table, journal=journal, budget=budget, environ={"A_KEY": KEY}) as gateway:
            yield Desk(gateway, journal, kind)
    finally:
        journal.close()


def outcome_of(**by_question: Callable[[int], str | None]) -> Callable[[Asked, int], str | None]:
    def outcome(asked: Asked, attempt: int) -> str | None:
        return next((how(attempt) for word, how in by_question.items() if word in asked.last), None)

    return outcome


@every_kind
async def test_answers_are_those_of_real_time_at_half_the_price(
    provider: FakeProvider, tmp_path: Path, kind: str
) -> None:
    async with opened(provider, tmp_path / "one by one", kind) as desk:
        expected = await answers(desk.gateway.ask, 9, (kind,))
        paid = {row["key"]: row["cost_usd"] for row in desk.lines("ok")}
    async with opened(provider, tmp_path / "batch", kind) as desk:
        runner = BatchRunner(desk.gateway, [kind], poll_s=0.01)
        assert await runner.whole(lambda ask: answers(ask, 9, (kind,))) == expected
        rows = desk.lines("ok")
        assert desk.notes() == ["intent", "submitted", "ended"] * 2
        assert desk.gateway.budget.total.usd == pytest.approx(sum(paid.values()) / 2)
    assert {row["key"]: row["cost_usd"] * 2 for row in rows} == pytest.approx(paid)
    assert {row["latency_s"] for row in rows} == {None}
    text = "".join(path.read_text() for path in (tmp_path / "batch").glob("*.jsonl"))
    assert KEY not in text


@every_kind
async def test_only_what_was_left_undone_is_asked_again(provider: FakeProvider, tmp_path: Path, kind: str) -> None:
    once = {1: "expired", 2: "broken"}
    provider.batches.outcome = outcome_of(late=once.get, no=lambda _: "refused")
    async with opened(provider, tmp_path, kind) as desk:
        found = await desk.ask("fine", "late", "no")
        assert [len(job.requests) for job in provider.batches.jobs.values()] == [3, 1, 1]
        assert not found[0].startswith("bad_request")
        assert found[1] and "expired" not in found[1]
        assert found[2].startswith("bad_request:")
        assert "this one is refused" in found[2]
        assert Counter(row["where"][1] for row in desk.lines("failed")) == {"late": 2, "no": 1}
        assert await desk.ask("fine", "late") == found[:2]
    assert len(provider.batches.jobs) == 3


@every_kind
async def test_of_two_results_under_one_key_that_differ_neither_is_taken(
    provider: FakeProvider, tmp_path: Path, kind: str
) -> None:
    """Whose answer the other one is cannot be told; a result that is there twice and the same is no harm."""
    name = "key" if kind == "gemini" else "custom_id"

    def doubled(job: BatchJob) -> None:
        assert job.results is not None
        if len(job.results) == 3:
            first, second, _ = job.results
            job.results[:0] = [second | {name: first[name]}, second]

    questions = ("one", "two", "three")
    async with opened(provider, tmp_path / "right", kind) as desk:
        expected = await desk.ask(*questions)
    provider.reset()
    provider.batches.amend = doubled
    async with opened(provider, tmp_path / "twice", kind) as desk:
        assert await desk.ask(*questions) == expected
        assert [len(job.requests) for job in provider.batches.jobs.values()] == [3, 1]
        assert "two results" in desk.lines("failed")[0]["failure"]["message"]


@every_kind
@pytest.mark.parametrize(("short", "jobs"), [(2, [3]), (3, [3, 2])])
async def test_a_file_that_holds_less_than_the_job_counts_is_fetched_again_before_anything_is_asked_again(
    provider: FakeProvider, tmp_path: Path, kind: str, short: int, jobs: list[int]
) -> None:
    provider.batches.short = short
    async with opened(provider, tmp_path, kind) as desk:
        found = await desk.ask("one", "two", "three")
        assert not [text for text in found if text.startswith("server")]
        assert [len(job.requests) for job in provider.batches.jobs.values()] == jobs


@every_kind
async def test_an_endpoint_that_never_says_anything_gets_no_second_job(
    provider: FakeProvider, tmp_path: Path, kind: str
) -> None:
    """Where a job holds one answer, all its blanks are asked again, as they may have been chance."""

    def says_little(asked: Asked, attempt: int) -> Reply:
        return Reply(fake_shapes.answer(asked, "" if "q" in asked.last else "Why?"))

    provider.script = says_little
    blanks = [f"q{number}" for number in range(5)]
    async with opened(provider, tmp_path / "silent", kind, Budget(trial_calls=4)) as desk:
        found = await desk.ask(*blanks)
        assert len(provider.batches.jobs) == 1
        assert len([text for text in found if text.startswith("endpoint_stopped")]) == 5
        assert [line for line in desk.said if "brought nothing" in line]
    provider.reset()
    async with opened(provider, tmp_path / "once", kind, Budget(trial_calls=4)) as desk:
        await desk.ask(*blanks, "say")
        assert [len(job.requests) for job in provider.batches.jobs.values()] == [6, 5, 5]


@every_kind
async def test_a_request_that_never_gets_done_fails_after_three_jobs(
    provider: FakeProvider, tmp_path: Path, kind: str
) -> None:
    provider.batches.outcome = outcome_of(never=lambda _: "expired")
    async with opened(provider, tmp_path, kind) as desk:
        found = await desk.ask("fine", "never")
        assert [len(job.requests) for job in provider.batches.jobs.values()] == [2, 1, 1]
        assert "expired" in found[1]
        provider.batches.outcome = lambda asked, attempt: None
        again = await desk.ask("fine", "never")
        assert again[0] == found[0]
        assert "expired" not in again[1]
    assert len(provider.batches.jobs) == 4


@every_kind
async def test_failures_stand_until_their_run_has_ended(provider: FakeProvider, tmp_path: Path, kind: str) -> None:
    """Stopped after its first wave, a run does not pay again for what was refused or cut off in it."""
    provider.batches.outcome = outcome_of(no=lambda _: "refused", long=lambda _: "cut")
    async with opened(provider, tmp_path, kind) as desk:
        runner = BatchRunner(desk.gateway, [kind], poll_s=0.01)

        async def work(ask: Ask) -> list[str]:
            found = await each(["no", "long"], lambda text: ask(kind, chat(text)), at_once=2)
            if all(isinstance(error, CallFailed) for _, error in found.failed):
                raise RuntimeError("the process ends here")
            return []

        with pytest.raises(RuntimeError, match="ends here"):
            await runner.whole(work)
        assert len(desk.lines("truncated")) == 1
    async with opened(provider, tmp_path, kind) as desk:
        found = await desk.ask("no", "long")
        assert [text.split(":")[0] for text in found] == ["bad_request", "truncated"]
        assert len(provider.batches.jobs) == 1
        await desk.ask("no", "long")
        assert len(provider.batches.jobs) == 2


async def test_a_job_that_fails_as_a_whole_is_submitted_again(provider: FakeProvider, tmp_path: Path) -> None:
    provider.batches.failing = ["token_limit_exceeded"]
    async with opened(provider, tmp_path, "openai") as desk:
        found = await desk.ask("fine")
        assert len(provider.batches.jobs) == 2
        assert not found[0].startswith("server")
        assert any("token_limit_exceeded" in row["failure"]["message"] for row in desk.lines("failed"))


@pytest.mark.parametrize(
    ("kind", "reason", "jobs", "told"),
    [
        ("openai", "invalid_json_line", 1, "invalid_json_line (line 1): the file was not taken"),
        ("gemini", "the quota project is gone", 3, "the quota project is gone"),
    ],
)
async def test_the_cause_of_a_failed_job_is_told(
    provider: FakeProvider, tmp_path: Path, kind: str, reason: str, jobs: int, told: str
) -> None:
    """What will not pass is not submitted again."""
    provider.batches.failing = [reason] * 3
    async with opened(provider, tmp_path, kind) as desk:
        found = await desk.ask("fine")
    assert len(provider.batches.jobs) == jobs
    assert told in found[0]


@every_kind
async def test_a_job_that_is_gone_is_submitted_anew_by_the_next_run(
    provider: FakeProvider, tmp_path: Path, kind: str
) -> None:
    provider.batches.status = 404
    async with opened(provider, tmp_path, kind) as desk:
        found = await desk.ask("fine")
        assert "run again to submit its requests anew" in found[0]
        provider.batches.status = None
        assert "cannot be read" not in (await desk.ask("fine"))[0]
    assert len(provider.batches.jobs) == 2


@every_kind
async def test_a_job_that_a_wrong_key_may_not_read_is_read_by_the_next_run(
    provider: FakeProvider, tmp_path: Path, kind: str
) -> None:
    provider.batches.status = 401
    async with opened(provider, tmp_path, kind) as desk:
        assert "run again to read it again" in (await desk.ask("fine"))[0]
    provider.batches.status = None
    async with opened(provider, tmp_path, kind) as desk:
        assert "cannot be read" not in (await desk.ask("fine"))[0]
    assert len(provider.batches.jobs) == 1
    assert set(provider.delivered.values()) == {1}


@every_kind
async def test_an_answer_lost_on_the_way_back_is_not_paid_for_again(
    provider: FakeProvider, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job is created, but the connection hangs: it is looked for before anything is submitted again."""
    monkeypatch.setattr("gateway.batches.desk.TRANSFER_S", 0.3)
    provider.batches.hang = {"create"}
    async with opened(provider, tmp_path, kind) as desk:
        assert len(await desk.ask("fine", "good")) == 2
        assert any("had been submitted" in line for line in desk.said)
    assert len(provider.batches.jobs) == 1


async def test_another_job_of_the_same_size_is_not_taken_for_ours(provider: FakeProvider, tmp_path: Path) -> None:
    async with opened(provider, tmp_path / "other", "anthropic") as desk:
        await desk.ask("theirs")
    provider.batches.hang = {"before create"}
    async with opened(provider, tmp_path / "own", "anthropic", total_s=0.5) as desk:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("gateway.batches.desk.TRANSFER_S", 0.3)
            assert "not accepted" in (await desk.ask("ours"))[0]
    provider.batches.hang = set()
    async with opened(provider, tmp_path / "own", "anthropic") as desk:
        assert "not accepted" not in (await desk.ask("ours"))[0]
    assert len(provider.batches.jobs) == 2
    assert set(provider.delivered.values()) == {1}


@every_kind
async def test_a_cap_lets_out_no_more_than_fits(provider: FakeProvider, tmp_path: Path, kind: str) -> None:
    questions = [f"Question {number}" for number in range(6)]
    async with opened(provider, tmp_path, kind, Budget(calls=4)) as desk:
        runner = BatchRunner(desk.gateway, [kind], poll_s=0.01)

        async def work(ask: Ask) -> Any:
            return await each(questions, lambda text: ask(kind, chat(text)), at_once=1)

        outcome = await runner.whole(work)
        assert isinstance(outcome.stopped, BudgetReached)
        assert outcome.stopped.exit_code == 3
        assert len(outcome.done) == 4
    assert sum(len(job.requests) for job in provider.batches.jobs.values()) == 4


async def test_a_cap_in_dollars_is_held_by_what_requests_may_cost(provider: FakeProvider, tmp_path: Path) -> None:
    budget = Budget(usd=0.0009)
    async with opened(provider, tmp_path, "openai", budget, max_output_tokens=100) as desk:
        outcome = await BatchRunner(desk.gateway, ["openai"], poll_s=0.01).whole(
            lambda ask: each(range(50), lambda n: ask("openai", chat(f"Question {n}")), at_once=1)
        )
        assert isinstance(outcome.stopped, BudgetReached)
        assert 0 < len(outcome.done) < 50
        assert 0 < desk.gateway.budget.total.usd <= 0.0009


async def test_what_has_no_journal_or_no_batch_interface_is_refused(tmp_path: Path) -> None:
    async with Gateway.open({"a": {"kind": "openai", "model": "m", "base_url": "http://127.0.0.1:1"}}) as gateway:
        with pytest.raises(Problem, match="need a journal"):
            BatchRunner(gateway, ["a"])
    journal = Journal(tmp_path)
    table = {"t": {"kind": "ureka", "base_url": "http://127.0.0.1:1"}}
    async with Gateway.open(table, journal=journal) as gateway:
        with pytest.raises(Problem, match=r"endpoints.t.kind: found 'ureka', which has no batch interface"):
            BatchRunner(gateway, ["t"])
    journal.close()


async def test_other_endpoints_are_asked_in_real_time_meanwhile(provider: FakeProvider, tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    async with Gateway.open(endpoints(provider.url), journal=journal, environ={"A_KEY": KEY}) as gateway:
        found = await BatchRunner(gateway, ["openai"], poll_s=0.01).whole(lambda ask: answers(ask, 3))
    journal.close()
    assert len(found) == 3 * len(KINDS)
    assert {job.shape for job in provider.batches.jobs.values()} == {"openai"}
    assert set(provider.delivered.values()) == {1}
