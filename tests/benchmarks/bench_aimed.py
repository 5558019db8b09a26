"""Does `difficulty.aim` shift what a policy succeeds at? ``python tests/benchmarks/bench_aimed.py [--tasks N]``.

A dataset is built, then one for each band, fitted on it: other tasks of another seed and world. Of each: the
policy's measured success, and shapes, hops and obfuscation of what was accepted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from statistics import mean
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared_builds import LEAN

import synth

BANDS = ((0.0, 0.3), (0.35, 0.65), (0.7, 1.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-aimed-") as scratch:
        folder = Path(scratch)
        for band in (None, *BANDS):
            name = "before" if band is None else f"{band[0]:g}-{band[1]:g}"
            settings: dict[str, Any] = {**LEAN, "difficulty": {"closed_book": 1}, "roles.policy.rollouts": 4}
            settings["source.entities"] = 1000
            if band is not None:
                settings |= {"difficulty.aim": {"after": str(folder / "before"), "low": band[0], "high": band[1]}}
                settings["seed"] = 11
            built = synth.build(
                "world-search", tasks=given.tasks, settings=settings, out=folder / name, store=folder / "store"
            )
            rows = list(synth.load(built.path).rows("difficulty"))
            tasks = list(synth.load(built.path).rows("tasks"))
            measured = mean(row.successes / row.rollouts for row in rows if row.rollouts)
            shapes = ", ".join(f"{shape} {count}" for shape, count in Counter(row.shape for row in rows).most_common(4))
            hops, blur = mean(task.difficulty.hops for task in tasks), mean(task.obfuscation for task in tasks)
            print(
                f"{name}: measured success {measured:.2f}; {hops:.1f} hops, obfuscation {blur:.1f}; {shapes}",
                flush=True,
            )


if __name__ == "__main__":
    main()
