"""Run by the Python of ``.venv-inspect``: what Inspect makes of a folder of logs, as JSON on stdout."""

import json
import sys
from pathlib import Path

from inspect_ai.analysis import evals_df, messages_df, samples_df
from inspect_ai.log import read_eval_log, write_eval_log

folder, packed = Path(sys.argv[1]), Path(sys.argv[2])
logs = {}
for path in sorted(folder.glob("*.json")):
    log = read_eval_log(str(path))
    logs[log.eval.model] = {
        "status": log.status,
        "samples": len(log.samples),
        "answers": {sample.id: sample.output.completion for sample in log.samples},
        "roles": sorted({message.role for sample in log.samples for message in sample.messages}),
        "scores": {score.name: score.metrics["mean"].value for score in log.results.scores},
        "values": {sample.id: {k: v.value for k, v in (sample.scores or {}).items()} for sample in log.samples},
        "tokens": sum(usage.total_tokens for usage in log.stats.model_usage.values()),
    }
    write_eval_log(log, str(packed / f"{path.stem}.eval"))
evals, samples, messages = evals_df(str(folder)), samples_df(str(folder)), messages_df(str(folder))
frames = {"evals": len(evals), "samples": len(samples), "messages": len(messages)}
print(json.dumps({"logs": logs, "frames": frames, "columns": sorted(samples.columns)}))
