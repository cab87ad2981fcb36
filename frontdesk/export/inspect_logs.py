"""Replies and verdicts as Inspect logs (https://inspect.aisi.org.uk): one log an endpoint, one sample a subset.

Written as the JSON form of the format, version 2, which its viewer, ``read_eval_log`` and its data-frame functions
open. A verdict is a score of the sample against the other endpoint: 1 a win, 0.5 a tie, 0 a loss; an invalid
verdict is no score, and stands in the sample's metadata.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

from frontdesk.export.chats import messages_of
from frontdesk.export.rows import Row, Rows, Tally
from frontdesk.runner.source import Source
from runstore.ids import digest
from runstore.publish import safe_name, write_json
from runstore.records import Reply, Subset, Usage, Verdict

Json = dict[str, Any]
"""An object of a log."""
STOPS = {"stop": "stop", "length": "max_tokens", "blocked": "content_filter"}
_MEASURES = ("input_tokens", "output_tokens", "total_tokens")


def inspect_logs(source: Source) -> list[Rows]:
    """The samples of every endpoint. Left out and counted: replies whose subset is not in the run."""
    subsets = {subset.id: subset for subset in source.subsets}
    told: defaultdict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for verdict in source.verdicts if source.has("verdicts.jsonl") else ():
        for name in verdict.endpoints:
            told[verdict.subset, name].append(verdict)
    began = source.began.isoformat()

    def samples_of(name: str) -> Rows:
        def records(skip: int) -> Iterator[Reply]:
            return islice((reply for reply in source.replies if reply.endpoint == name), skip, None)

        def make(replies: Iterable[Reply], tally: Tally) -> Iterator[Row]:
            for reply in replies:
                tally.of += 1
                if reply.subset not in subsets:
                    tally.left_out["subset not in the run"] += 1
                    continue
                sample = _sample(subsets[reply.subset], reply, told[reply.subset, name], began)
                if invalid := len(sample["metadata"]["invalid"]):
                    tally.changed["an invalid verdict left without a score"] += invalid
                yield Row(reply.dialogue, sample)

        return Rows(name, "replies", records, make, file="replies.jsonl")

    return [samples_of(name) for name in dict.fromkeys(reply.endpoint for reply in source.replies)]


def write_log(folder: Path, source: Source, samples: Rows) -> dict[str, int]:
    """One endpoint's log; returns its file's name with the number of samples."""
    name = file_name(source, samples)
    write_json(folder / name, log_of(source, samples))
    return {name: len(samples.rows)}


def log_of(source: Source, samples: Rows) -> Json:
    """The whole log of one endpoint; the same run gives the same bytes, so its times are the journal's."""
    config, created = source.config, source.began.isoformat()
    values = [row.value for row in samples.rows]
    spec: Json = {
        "eval_id": digest(["eval", config.run.name, config.run.seed, samples.name]),
        "run_id": digest(["run", config.run.name, config.run.seed]),
        "created": created,
        "task": config.run.name,
        "task_id": digest(["task", config.run.name]),
        "task_version": 0,
        "dataset": {"name": config.run.name, "samples": len(values)},
        "model": samples.name,
        "config": {"epochs": 1},
        "packages": {"tutor-arena": version("tutor-arena")},
        "metadata": {"seed": config.run.seed, "language": config.run.language},
    }
    return {
        "version": 2,
        "status": "success",
        "eval": spec,
        "plan": {"name": "tutor-arena", "steps": [{"solver": "reply", "params": {}}]},
        "results": {
            "total_samples": samples.of,
            "completed_samples": len(values),
            "scores": [_mean(name, values) for name in _scorers(values)],
        },
        "stats": {
            "started_at": created,
            "completed_at": created,
            "model_usage": {samples.name: _total([each["output"].get("usage", {}) for each in values])},
        },
        "samples": values,
    }


def file_name(source: Source, samples: Rows) -> str:
    """A name that Inspect finds in a folder of logs: it begins with the time."""
    return f"logs/{source.began:%Y-%m-%dT%H-%M-%S}_{safe_name(samples.name)}.json"


def _sample(subset: Subset, reply: Reply, verdicts: Sequence[Verdict], at: str) -> Json:
    own = digest([subset.id, reply.endpoint])
    messages = [
        {"id": f"{own}-{place}", **message} | ({"source": "input"} if message["role"] == "user" else {})
        for place, message in enumerate(messages_of(subset.history))
    ]
    answer = {"id": f"{own}-reply", "role": "assistant", "content": reply.text, "source": "generate"}
    usage = _usage(reply.usage)
    output = {
        "model": reply.endpoint,
        "choices": [{"message": answer, "stop_reason": STOPS.get(reply.finish, "unknown")}],
        **({"usage": usage} if usage else {}),
        **({"time": reply.latency_s} if reply.latency_s is not None else {}),
    }
    return {
        "id": subset.id,
        "epoch": 1,
        "input": messages,
        "target": "",
        "messages": [*messages, {**answer, "model": reply.endpoint}],
        "output": output,
        "events": [_event(reply.endpoint, messages, output, at)],
        "scores": {
            f"{verdict.criterion} against {other}": _score(verdict, reply.endpoint, other)
            for verdict in verdicts
            if verdict.outcome != "invalid"
            for other in (_other(verdict, reply.endpoint),)
        },
        "metadata": {
            "dialogue": subset.dialogue,
            "persona": subset.persona,
            "question": subset.question,
            "subject": subset.subject,
            "depth": subset.depth,
            "cost_usd": reply.cost_usd,
            "invalid": [
                {"opponent": _other(verdict, reply.endpoint), "criterion": verdict.criterion}
                for verdict in verdicts
                if verdict.outcome == "invalid"
            ],
        },
        "model_usage": {reply.endpoint: usage} if usage else {},
        "uuid": own,
    }


def _event(model: str, messages: Sequence[Json], output: Json, at: str) -> Json:
    """The call as Inspect tells it; its data frame of messages is made of these."""
    asked: Json = {"model": model, "input": messages, "tools": [], "tool_choice": "none", "config": {}}
    return {"event": "model", "timestamp": at, "working_start": 0.0, **asked, "output": output}


def _score(verdict: Verdict, own: str, other: str) -> Json:
    value = 0.5 if verdict.winner is None else float(verdict.winner == own)
    about = {"opponent": other, "criterion": verdict.criterion, "cluster": verdict.dialogue}
    votes = Counter(vote.winner or vote.outcome for vote in verdict.votes)
    return {
        "value": value,
        "answer": verdict.winner or "tie",
        "explanation": ", ".join(f"{name} {count}" for name, count in sorted(votes.items())),
        "metadata": {**about, "agreement": verdict.agreement},
    }


def _other(verdict: Verdict, own: str) -> str:
    first, second = verdict.endpoints
    return second if first == own else first


def _usage(usage: Usage) -> Json:
    if usage.input is None and usage.output is None:
        return {}
    counts = (usage.input or 0, (usage.output or 0) + (usage.thinking or 0))
    told: Json = dict(zip(_MEASURES, (*counts, sum(counts)), strict=True))
    more = {"input_tokens_cache_read": usage.cached, "reasoning_tokens": usage.thinking}
    return told | {name: count for name, count in more.items() if count is not None}


def _total(usages: Sequence[Mapping[str, int]]) -> Json:
    return {name: sum(usage.get(name, 0) for usage in usages) for name in _MEASURES}


def _scorers(values: Sequence[Json]) -> list[str]:
    return sorted({name for value in values for name in value["scores"]})


def _mean(name: str, values: Sequence[Json]) -> Json:
    scored = [value["scores"][name]["value"] for value in values if name in value["scores"]]
    mean: Json = {"name": "mean", "value": sum(scored) / len(scored), "params": {}}
    counts = {"scored_samples": len(scored), "unscored_samples": len(values) - len(scored)}
    return {"name": name, "scorer": "verdict", **counts, "params": {}, "metrics": {"mean": mean}}
