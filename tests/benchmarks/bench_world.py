"""The world alone: CPU seconds per entity for structure and pages, memory, at growing sizes.

    python tests/benchmarks/bench_world.py                       small: 10^4 and 10^5 entities
    python tests/benchmarks/bench_world.py --sizes 100000 1000000 --shards 20

Each size runs in a process of its own. Pages are written shard by shard and dropped, as a build streams them; with
``--shards`` only that many shards, evenly spread, are written (every page costs its own time, so a sample will do).
Ratios compare each size with the one before. With ``--limit`` the exit status is 1 when the sum per entity grows by
more, or when peak RSS is above ``--memory`` GB.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

from synth.sources.world.source import WorldConfig, shard_count, shard_range, shard_tables, world_of


def measure(entities: int, shards: int) -> dict[str, float]:
    """One size, in this process. Times are CPU microseconds per entity; memory is in GB."""
    shard_tables(WorldConfig(entities=300), 0)  # imports and compiled templates don't count
    config = WorldConfig(entities=entities, seed=1)
    begin = time.process_time()
    world_of(config)
    structure = time.process_time() - begin
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    count = shard_count(config)
    chosen = sorted({int(at) for at in np.linspace(0, count - 1, min(shards or count, count))})
    pages = rows = edges = size = 0
    begin = time.process_time()
    for shard in chosen:
        documents, _, stated = shard_tables(config, shard)
        start, stop = shard_range(config, shard)
        pages += stop - start
        rows += documents.num_rows
        edges += stated.num_rows
        size += documents.nbytes
    spent = time.process_time() - begin
    assert rows == pages
    return {
        "entities": entities,
        "structure_us": 1e6 * structure / entities,
        "pages_us": 1e6 * spent / pages,
        "total_us": 1e6 * structure / entities + 1e6 * spent / pages,
        "edges_per_page": edges / pages,
        "bytes_per_page": size / pages,
        "rss_after_structure_gb": after,
        "peak_rss_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--shards", type=int, default=0, help="shards of pages to write per size; 0 = all")
    parser.add_argument("--limit", type=float, default=None, help="greatest ratio of total CPU per entity")
    parser.add_argument("--memory", type=float, default=8.0, help="greatest peak RSS, GB")
    parser.add_argument("--child", type=int, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child is not None:
        print(json.dumps(measure(options.child, options.shards)))
        return 0
    failed = False
    before: dict[str, float] | None = None
    for entities in options.sizes:
        command = [sys.executable, __file__, "--child", str(entities), "--shards", str(options.shards)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        now: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
        print("  ".join(f"{key}={value:,.2f}" for key, value in now.items()))
        failed |= now["peak_rss_gb"] > options.memory
        if before is not None:
            ratios = {key: now[key] / before[key] for key in ("structure_us", "pages_us", "total_us")}
            print("  ratio to the size before: " + "  ".join(f"{key}={value:.2f}" for key, value in ratios.items()))
            failed |= options.limit is not None and ratios["total_us"] > options.limit
        before = now
    return int(failed and options.limit is not None)


if __name__ == "__main__":
    raise SystemExit(main())
