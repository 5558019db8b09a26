"""What it saves to run stages that call no model beside those that wait for one.

    python tests/benchmarks/bench_lanes.py [--tasks 60] [--latency 0.2] [--rounds 2]

An endpoint in a process of its own (``synth mock-endpoint``) plays teacher and policy of ``world-search`` and answers
after ``--latency`` seconds. Each round builds twice into fresh stores, first with one stage after the other and then
together, or the other way round; the datasets must be equal byte for byte. Printed are the seconds of the build alone
and their ratio, by round and in the median.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import synth
from synth.api import BuildRequest, prepare


def request(folder: Path, tasks: int, url: str | None) -> BuildRequest:
    settings: dict[str, object] = {"source.entities": 2000}
    for role in ("teacher", "policy") if url is not None else ():
        bound = {"backend": "openai", "model": role, "base_url": url, "options.send_reasoning": "reasoning"}
        settings |= {f"roles.{role}.{key}": value for key, value in bound.items()}
    store, out = folder / "store", folder / "out"
    return BuildRequest(dataset="world-search", tasks=tasks, store=store, out=out, settings=settings)


def build(folder: Path, tasks: int, url: str, together: bool) -> float:
    prepared = prepare(request(folder, tasks, url), progress="quiet")
    with prepared.engine:
        began = time.monotonic()
        if together:
            prepared.run_stages()
        else:
            for label in prepared.labels:
                prepared.run_stage(label)
        took = time.monotonic() - began
        prepared.finish()
    return took


def rows(folder: Path) -> dict[str, str]:
    found = sorted((folder / "out").rglob("*.parquet"))
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=60)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-lanes-") as scratch:
        folder = Path(scratch)
        prepare(request(folder / "plain", given.tasks, None), progress="quiet").run()
        command = [
            str(Path(sys.executable).with_name("synth")),
            "mock-endpoint",
            str(folder / "plain" / "out"),
            "--port",
            "0",
        ]
        server = subprocess.Popen(
            [*command, "--latency", str(given.latency)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        try:
            assert server.stdout is not None
            said = ""
            while (at := re.search(r"http://[\d.:]+/v1", said)) is None:
                said += server.stdout.readline() or sys.exit(f"the endpoint did not start: {said}")
            ratios = []
            for number in range(given.rounds):
                seconds = {}
                for together in (False, True) if number % 2 == 0 else (True, False):
                    seconds[together] = build(folder / f"{number}-{together}", given.tasks, at.group(), together)
                same = rows(folder / f"{number}-False") == rows(folder / f"{number}-True")
                ratios.append(seconds[True] / seconds[False])
                print(
                    f"round {number}: one after the other {seconds[False]:.1f} s, together {seconds[True]:.1f} s, "
                    f"ratio {ratios[-1]:.2f}, {'equal bytes' if same else 'BYTES DIFFER'}",
                    flush=True,
                )
            print(f"median ratio {statistics.median(ratios):.2f} (synth {synth.__version__})")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
