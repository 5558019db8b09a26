"""Processor time a row of each stage of a builtin dataset, in two checkouts, and whether both make the same rows.

    git worktree add ../before COMMIT
    python tests/benchmarks/bench_stages.py --before ../before                    against this checkout
    python tests/benchmarks/bench_stages.py --before ../before --after ../after --tasks 200 --rounds 3
    python tests/benchmarks/bench_stages.py --before ../before --set critical=null --set source.entities=20000

Each build is a process of its own with a store of its own; the two take turns stage run by stage run, so that what else
the machine does falls on both. Medians over the rounds are printed, the stage runs that took longest before first. Rows
are compared without their provenance and the environment's version: a change of code bumps them.

Exit status 1 when the rows differ.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import yaml

FINISH = "finish"
"""In the place of a stage run: writing the dataset."""
Seconds = dict[str, list[float]]
"""Stage run -> seconds of processor time, by round."""


def serve(dataset: str, tasks: int, changes: list[str]) -> None:
    """Build in this process, a stage run for each line of the input that names one; the answer to each is its seconds
    and the rows that it read. First the names are answered; with the input at its end, a digest of all rows."""
    from synth.api import BuildRequest, prepare

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        settings = {name: yaml.safe_load(value) for name, _, value in (change.partition("=") for change in changes)}
        request = BuildRequest(dataset=dataset, tasks=tasks, out=out, store=Path(folder) / "store", settings=settings)
        prepared = prepare(request, progress="quiet")
        with prepared.engine:
            print(json.dumps([*prepared.labels, FINISH]), flush=True)
            for line in sys.stdin:
                label, rows = line.strip(), 1
                began = time.process_time()
                if label == FINISH:
                    prepared.finish()
                else:
                    rows = prepared.run_stage(label).rows_in
                print(json.dumps([time.process_time() - began, rows]), flush=True)
        print(json.dumps(rows_digest(out)), flush=True)


def rows_digest(out: Path) -> str:
    """Of the rows of all Parquet files below ``out``, without versions of code."""
    import pyarrow.parquet as pq

    from synth.identity import digest

    found = []
    for file in sorted(out.rglob("*.parquet")):
        rows = _without_versions(pq.read_table(file).to_pylist())
        found.append([str(file.relative_to(out)), digest(json.dumps(rows, default=str))])
    return digest(found)


def _without_versions(value: Any) -> Any:
    if isinstance(value, dict):
        kept = (name for name in value if "provenance" not in name and name != "environment_version")
        return {name: _without_versions(value[name]) for name in kept}
    return [_without_versions(item) for item in value] if isinstance(value, list) else value


class Build:
    """A build in a process of its own, with the code of ``checkout``."""

    def __init__(self, checkout: Path, dataset: str, tasks: int, changes: list[str]) -> None:
        command = [sys.executable, __file__, "--here", "--dataset", dataset, "--tasks", str(tasks)]
        command += [f"--set={change}" for change in changes]
        environment = {**os.environ, "PYTHONPATH": str(checkout.resolve())}
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.labels: list[str] = self._answer()

    def run(self, label: str) -> tuple[float, int]:
        """Seconds of a stage run, and the rows that it read."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{label}\n")
        self._process.stdin.flush()
        seconds, rows = self._answer()
        return seconds, rows

    def rows(self) -> str:
        """End it: the digest of all its rows."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        digest: str = self._answer()
        self._process.wait()
        return digest

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line else sys.exit("a build failed")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--after", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("--dataset", default="world-search")
    parser.add_argument("--tasks", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--set", dest="changes", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        serve(given.dataset, given.tasks, given.changes)
        return 0
    if given.before is None:
        parser.error("--before: which checkout to compare with?")
    times: tuple[Seconds, Seconds] = ({}, {})
    counts: dict[str, int] = {}
    digests: set[str] = set()
    for number in range(given.rounds):
        checkouts = (given.before, given.after)
        builds = [Build(checkout, given.dataset, given.tasks, given.changes) for checkout in checkouts]
        for place, label in enumerate(builds[0].labels):
            for side in (0, 1) if (place + number) % 2 else (1, 0):
                seconds, counts[label] = builds[side].run(label)
                times[side].setdefault(label, []).append(seconds)
        digests |= {one.rows() for one in builds}
    before, after = ({label: median(found) for label, found in one.items()} for one in times)
    print(f"{given.dataset}, {given.tasks} tasks, {given.rounds} rounds; ms of processor time a row")
    print(f"{'stage run':24}{'rows':>7}{'before':>10}{'after':>10}{'ratio':>8}{'s before':>10}{'s after':>10}")
    for label in sorted(before, key=lambda label: -before[label]):
        old, new = before[label], after[label]
        each = [1000 * seconds / max(1, counts[label]) for seconds in (old, new)]
        ratio = old / max(new, 1e-9)
        print(f"{label:24}{counts[label]:7}{each[0]:10.1f}{each[1]:10.1f}{ratio:8.2f}{old:10.2f}{new:10.2f}")
    old, new = sum(before.values()), sum(after.values())
    print(f"{'all':24}{'':27}{old / new:8.2f}{old:10.2f}{new:10.2f}")
    print("the same rows" if len(digests) == 1 else "THE ROWS DIFFER")
    return int(len(digests) != 1)


if __name__ == "__main__":
    sys.exit(main())
