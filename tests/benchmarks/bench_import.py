"""Memory of an import as its file grows: ``python tests/benchmarks/bench_import.py [--runs 10000 100000]``.

Each import is a process of its own. Memory is what it grows by at its peak, memory-mapped files of the store apart:
flat is a ratio near 1 of the last to the first.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

IMPORT = """
import json, sys
sys.path.insert(0, sys.argv[4])
from dedup_contenders import measured
import synth
import synth.pipelines.importing
report = {}
with measured(report):
    done = synth.import_file(sys.argv[1], "auto", sys.argv[2], store=sys.argv[3])
print(json.dumps({"runs": done.report.trajectories, **report}))
"""


MORE = "More of it. " * 120


def write(path: Path, count: int) -> None:
    """So many runs of about two kilobytes, each on a question of its own."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": f'{{"n": {number}}}'}}
            messages = [
                {"role": "user", "content": f"How long is river number {number}?"},
                {"role": "assistant", "content": "", "tool_calls": [call]},
                {
                    "role": "tool",
                    "tool_call_id": "c",
                    "content": f"It is {number + 7} km long. " + "More of it. " * 120,
                },
                {"role": "assistant", "content": f"{number + 7} km"},
            ]
            file.write(json.dumps({"id": f"r{number}", "messages": messages}) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, nargs="+", default=[10_000, 100_000])
    peaks: list[float] = []
    counts = parser.parse_args().runs
    for count in counts:
        with tempfile.TemporaryDirectory(prefix="bench-import-") as folder:
            place = Path(folder)
            write(place / "runs.jsonl", count)
            words = [str(place / name) for name in ("runs.jsonl", "out", "store")] + [str(Path(__file__).parent)]
            done = subprocess.run([sys.executable, "-c", IMPORT, *words], check=True, capture_output=True, text=True)
            found = json.loads(done.stdout)
            peaks.append(found["grown_mb"])
            pace = found["runs"] / found["wall_s"]
            print(f"{found['runs']:>9,} runs: {found['grown_mb']:,.0f} MB, {pace:,.0f} runs/s", flush=True)
    grown = (peaks[-1] - peaks[0]) * 1e6 / (counts[-1] - counts[0])
    print(f"ratio {peaks[-1] / peaks[0]:.2f} for {counts[-1] / counts[0]:.0f} times the runs: {grown:,.0f} bytes a run")


if __name__ == "__main__":
    main()
