"""Quality and export of large data sets: time, and the most memory held.  python bench/datasets.py [N ...]

Writes N scripted dialogues (10,000 and 1,000,000 if not given) into a run folder, with planted failures, and runs
each command on it in a process of its own. ``--keep DIR`` keeps the folders; ``--only COMMAND,...`` runs a part.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import random

from runstore.publish import to_json

WORDS = """
    heap tree list node left right root pivot stack queue graph edge cost path sort merge split swap index hash
    key value loop step base case call frame cache page block lock thread task wait signal send reply packet route
    port layer weight bias error train test split fold score class label model proof lemma bound limit sum term
""".split()  # noqa: SIM905
COMMANDS = {
    "quality": ["quality"],
    "openai": ["export", "--as", "openai", "--split", "0.1"],
    "hf": ["export", "--as", "hf", "--split", "0.1"],
    "csv": ["export", "--as", "csv"],
    "page": ["export", "--as", "page"],
}


def folder_of(size: int, at: Path) -> Path:
    """A run folder of ``size`` dialogues: 2 % say thanks twice, 1 % repeat another dialogue word for word."""
    at.mkdir(parents=True, exist_ok=True)
    config = {
        "run": {"name": f"scripted-{size}", "seed": 7},
        "simulate": {"dialogues": size, "turns": 4, "student": "s", "teacher": "s"},
        "endpoints": {"s": {"kind": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}},
    }
    from frontdesk.runner.config_file import parse, to_toml

    (at / "run.toml").write_text(to_toml(parse(config)), "utf-8")
    draws = random.Random(1)
    kept: list[str] = []
    with (at / "dialogues.jsonl").open("wb") as out:
        for number in range(size):
            levels = {"motivation": ("low", "high")[number % 2], "school_year": str(1 + number // 2 % 4)}
            said = [{"role": "student", "text": f"why does {WORDS[number % 50]} need a {WORDS[number % 47]}?"}]
            own = [" ".join(draws.choices(WORDS, k=draws.choice((1, 3, 5, 8, 13, 20)))) for _ in range(3)]
            if number % 100 == 99:
                own = kept[-3:]
            elif number % 50 == 7:
                own = [*own[:1], "ok thanks", "thank you"]
            if number % 1000 == 0:
                kept = own
            for text in own:
                said += [{"role": "teacher", "text": "What is the " + " ".join(draws.choices(WORDS, k=9)) + "?"},
                         {"role": "student", "text": text}]  # fmt: skip
            said.append({"role": "teacher", "text": "And " + " ".join(draws.choices(WORDS, k=9)) + "?"})
            row = {
                "id": f"d-{number:08x}", "persona": "-".join(levels.values()), "levels": levels,
                "question": f"q{number % 82}", "subject": f"s{number % 14}", "language": "en", "turns": 4,
                "utterances": said, "end": "turns reached", "complete": True,
            }  # fmt: skip
            out.write(to_json(row) + b"\n")
    return at


def measure(folder: Path, name: str) -> dict[str, float]:
    """Seconds and MB: the child's own peak (VmHWM), read from the kernel when it ends."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "frontdesk", COMMANDS[name][0], str(folder), *COMMANDS[name][1:]]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status:
        raise SystemExit((process.stderr.read() if process.stderr else b"").decode())
    assert isinstance(used, resource.struct_rusage)
    return {"seconds": seconds, "cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=[10_000, 1_000_000])
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--only", default=",".join(COMMANDS))
    args = parser.parse_args()
    first: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for size in args.sizes:
            started = time.perf_counter()
            folder = (args.keep or Path(scratch)) / str(size)
            if not (folder / "dialogues.jsonl").is_file():
                folder_of(size, folder)
            bytes_ = (folder / "dialogues.jsonl").stat().st_size
            print(f"{size:,} dialogues, {bytes_ / 1e6:,.0f} MB, written in {time.perf_counter() - started:.0f} s")
            for name in args.only.split(","):
                found = measure(folder, name)
                base = first.setdefault(name, found)
                print(
                    f"  {name:8} {found['seconds']:7.1f} s ({found['cpu_s'] / size * 1e3:.2f} ms CPU a dialogue), "
                    f"peak {found['peak_mb']:6.0f} MB ({found['peak_mb'] / base['peak_mb']:.2f} x the first)",
                    flush=True,
                )
            counts = (
                json.loads((folder / "quality.json").read_text())["failures"] if "quality" in args.only else {}
            )
            print(
                "  "
                + ", ".join(
                    f"{kind} {counts[kind]['count']:,}" for kind in ("near_duplicate", "thanks_run") if counts
                )
            )


if __name__ == "__main__":
    main()
