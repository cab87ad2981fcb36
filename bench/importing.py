"""How long ``import tutor_arena`` takes, and the first use of each of its names, each in a process of its own."""

import subprocess
import sys

import tutor_arena

CODE = "import time; began = time.perf_counter(); {}; print(1000 * (time.perf_counter() - began))"


def milliseconds(work: str) -> float:
    done = subprocess.run([sys.executable, "-c", CODE.format(work)], capture_output=True, text=True, check=True)
    return float(done.stdout)


if __name__ == "__main__":
    print(f"import: {min(milliseconds('import tutor_arena') for _ in range(5)):.1f} ms")
    for name in tutor_arena.__all__:
        print(f"{name}: {milliseconds(f'import tutor_arena; tutor_arena.{name}'):.0f} ms")
