"""A million agent-run rows: peak memory, and CPU time against pandas' reading alone.  python bench/agent_runs.py

Both run in a process of their own on the same generated CSV (Korean, Raw JSON of about 500 bytes). Ours reads,
scores, pairs rounds, and writes the per-item table and both reports; pandas parses the CSV with every cell as text
and does nothing with it. CPU time is compared because it bears a busy machine; peak memory is the kernel's count.
Limits: peak 250 MB, and no more than a quarter above the peak at a tenth of the rows plus 150 bytes a row.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

PEAK_MB = 250.0
BYTES_A_ROW = 150
HEADER = (
    *("Run ID", "Item ID", "Query ID", "질의", "기대결과", "카테고리", "방/반복", "응답", "오류"),
    *("LLM 상태", "LLM 점수", "LLM 코멘트", "Raw JSON"),
)
PANDAS = "import sys, pandas; pandas.read_csv(sys.argv[1], dtype=str, keep_default_na=False)"


@dataclass(frozen=True)
class Measured:
    """One process: CPU and wall seconds, peak resident MB."""

    cpu_s: float
    wall_s: float
    peak_mb: float


def generate(path: Path, rows: int) -> None:
    """Two rounds of rows / 2 questions; four in five right, one in ten without an LLM score."""
    draws = random.Random(7)
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for number in range(rows):
            turn, question = divmod(number, rows // 2)
            place, key = question % 40, question % 500
            offered = key if draws.random() < 0.8 else key + 1
            raw = {
                "assistantMessage": f"{question}번 문의하신 카드 결제일 변경 화면입니다. 아래 버튼을 눌러 주세요.",
                "dataUIList": [
                    {
                        "uiValue": {
                            "title": "이동",
                            "buttonUrl": f"https://app.example/m/{place}?dataKey=K_{offered}&v=2",
                        }
                    }
                ],
                "responseTimeSec": round(draws.uniform(1, 22), 2),
                "error": None,
                "worker": "navigator",
                "executionProcesses": [{"step": "route", "ms": 120}, {"step": "answer", "ms": 900}],
            }
            writer.writerow(
                [
                    *(f"run-{turn + 1}", number, f"Q{question:07d}", f"카드 결제일을 바꾸고 싶어요 {question}"),
                    *(
                        f"/m/{place}?dataKey=K_{key}",
                        f"분류 {question % 12}",
                        f"{turn + 1}/1",
                        "안내해 드릴게요",
                        "",
                    ),
                    *("완료", draws.choice("012345") if draws.random() < 0.9 else "", ""),
                    json.dumps(raw, ensure_ascii=False),
                ]
            )


def measure(command: list[str]) -> Measured:
    """Run a command to its end. Raises SystemExit with its output where it fails."""
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        output = process.stdout.read() if process.stdout else b""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command[:4])} ended with {process.returncode}:\n{output.decode()}")
    return Measured(usage.ru_utime + usage.ru_stime, time.perf_counter() - started, usage.ru_maxrss / 1024)


def compare(rows: int, folder: Path) -> tuple[Measured, Measured]:
    """(ours, pandas) over a new file of so many rows."""
    path = folder / f"runs-{rows}.csv"
    generate(path, rows)
    out = str(folder / f"out-{rows}")
    ours = measure([sys.executable, "-m", "frontdesk", "agent-runs", str(path), "--out", out])
    pandas = measure([sys.executable, "-c", PANDAS, str(path)])
    size = path.stat().st_size / 1e6
    path.unlink()
    print(
        f"{rows:>9,} rows, {size:6.0f} MB | ours {ours.cpu_s:6.1f} CPU s ({rows / ours.cpu_s:8,.0f} rows/s), "
        f"peak {ours.peak_mb:6.0f} MB | pandas reads in {pandas.cpu_s:6.1f} CPU s, peak {pandas.peak_mb:6.0f} MB "
        f"| CPU x{ours.cpu_s / pandas.cpu_s:.1f}, memory x{ours.peak_mb / pandas.peak_mb:.2f}",
        flush=True,
    )
    return ours, pandas


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows: int = parser.parse_args().rows
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise SystemExit("pandas is needed for the comparison: pip install pandas") from None
    with TemporaryDirectory() as folder:
        small, _ = compare(max(rows // 10, 2), Path(folder))
        large, _ = compare(rows, Path(folder))
    allowed = 1.25 * small.peak_mb + BYTES_A_ROW * rows / 1e6
    good = large.peak_mb <= min(PEAK_MB, allowed)
    print(f"peak {large.peak_mb:.0f} MB, limit {min(PEAK_MB, allowed):.0f} MB: {'held' if good else 'BROKEN'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
