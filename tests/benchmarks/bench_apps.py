"""What an application costs: making its data, an episode, a call, a snapshot, a restore, a hash.

    python tests/benchmarks/bench_apps.py --rows 100000 [--applications airline ledger tracker]

Snapshot, restore and hash are measured behind a walk that changed something, at size 1 and at the size that has about
``--rows`` rows; beside them the plain way (SQLite's serialize and deserialize of the whole database, a hash over all
rows), which is what they replace. Medians in milliseconds of processor time, so that a busy machine says the same.
"""

from __future__ import annotations

import argparse
import hashlib
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from synth.environments.app.environment import AppEnvironment, AppEpisode, open_app
from synth.environments.contract import ToolCall
from synth.testing.corpus import small_tasks

sys.path.insert(0, str(Path(__file__).parents[1] / "environments"))
from app_explorer import app_explorer


def median(what: Callable[[], object], times: int) -> float:
    """Milliseconds of processor time."""
    taken = []
    for _ in range(times):
        began = time.process_time()
        what()
        taken.append(1_000 * (time.process_time() - began))
    return statistics.median(taken)


def whole_hash(episode: AppEpisode) -> str:
    """A hash over every row, as one would do it without notes of what changed."""
    digest = hashlib.sha256()
    for name in episode.environment.tables:
        digest.update(repr(episode._database.run(f'SELECT * FROM "{name}"', mode="engine")[1]).encode())
    return digest.hexdigest()


def measure(environment: AppEnvironment, steps: int) -> dict[str, float]:
    task = small_tasks()[0]
    began = time.process_time()
    world = environment.world(0)
    found: dict[str, float] = {"rows": world.rows, "MiB": len(world.image) / 2**20}
    found["make data (s)"] = time.process_time() - began
    walk = app_explorer(environment, seed=1, writes=0.8).walk(task, steps)
    found["open an episode"] = median(lambda: environment.reset(task).close(), 7)
    episode, other = environment.reset(task), environment.reset(task)
    began = time.process_time()
    for step in walk.steps:
        episode.step(step.call)
    found["calls per second"] = len(walk.steps) / (time.process_time() - began)
    found["rows changed"] = len(episode.changes())
    saved = episode.snapshot()
    found["snapshot (bytes)"] = len(saved.state)
    begun = other.snapshot()
    found["snapshot"] = median(episode.snapshot, 25)
    found["hash"] = median(episode.state_hash, 25)

    def there_and_back() -> None:
        other.restore(saved)
        other.restore(begun)

    found["restore"] = median(there_and_back, 15) / 2
    assert other.state_hash() == environment.reset(task).state_hash()
    other.restore(saved)
    assert other.state_hash() == episode.state_hash()
    found["plain: serialize"] = median(episode._database.serialize, 7)
    image = episode._database.serialize()
    plain = sqlite3.connect(":memory:")
    found["plain: deserialize"] = median(lambda: plain.deserialize(image), 7)
    plain.close()
    found["plain: hash of all rows"] = median(lambda: whole_hash(episode), 3)
    reads = [name for name, tool in environment.definition.tools.items() if not tool.writes and not tool.arguments]
    call = ToolCall(id="c", name=reads[0], arguments={})
    found["cheapest read"] = median(lambda: episode.step(call), 25)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--steps", type=int, default=60, help="calls of the walk")
    parser.add_argument("--applications", nargs="+", default=["airline", "ledger", "tracker"])
    options = parser.parse_args()
    for name in options.applications:
        one, two = (open_app(application=name, size=size).world(0).rows for size in (1, 2))
        size = max(1, -(-(options.rows - one) // (two - one)) + 1)
        small = open_app(application=name)
        columns = [
            measure(environment, options.steps) for environment in (small, open_app(application=name, size=size))
        ]
        print(f"\n{name}: size 1 and size {size}")
        for key in columns[0]:
            print(f"  {key:26}" + "".join(f"{column[key]:14,.3f}" for column in columns))


if __name__ == "__main__":
    main()
