"""Worlds of growing size: generation, graph, index, search, walks. Each size runs in a process of its own.

    python tests/benchmarks/bench_scale.py                       small: 10^3 and 10^4 entities
    python tests/benchmarks/bench_scale.py --sizes 100000 1000000

A child does what a build does: it generates the world shard by shard into Arrow files, builds graph and index from the
memory-mapped files, writes their arrays and opens them memory-mapped. 10^6 entities want some 6 GB under ``--dir``.
Peak RSS counts memory-mapped pages too. With ``--limit`` the exit status is 1 when, between the last two sizes, seconds
per entity or per walk or walks per valid walk grow by more, or when a child's peak RSS is above ``--memory`` GB.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from synth.graph.walks import Walks

TABLES = ("documents", "entities", "edges")
BATCH = 256
"""Candidates that a stage draws at once."""


class Clock:
    """Wall and CPU seconds of named phases, and the peak RSS after each."""

    def __init__(self) -> None:
        self.report: dict[str, Any] = {}

    def time(self, name: str, work: Callable[[], Any]) -> Any:
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        self.report[f"{name}_wall_s"] = time.perf_counter() - wall
        self.report[f"{name}_cpu_s"] = time.process_time() - cpu
        self.report[f"{name}_peak_gb"] = peak_gb()
        return result


def peak_gb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 30 if sys.platform == "darwin" else 1 << 20)


def generate(n: int, folder: Path) -> None:
    """The world's three tables as Arrow files."""
    from synth.sources.world.source import WorldConfig, shard_count, shard_tables

    config = WorldConfig(entities=n)
    writers: list[Any] = []
    for shard in range(shard_count(config)):
        tables = shard_tables(config, shard)
        if not writers:
            writers = [
                pa.ipc.new_file(str(folder / f"{name}.arrow"), table.schema)
                for name, table in zip(TABLES, tables, strict=True)
            ]
        for writer, table in zip(writers, tables, strict=True):
            writer.write_table(table)
    for writer in writers:
        writer.close()


def mapped_table(folder: Path, name: str) -> pa.Table:
    return pa.ipc.open_file(pa.memory_map(str(folder / f"{name}.arrow"))).read_all()


def keep(folder: Path, name: str, arrays: Mapping[str, Any]) -> None:
    (folder / name).mkdir()
    for key, array in arrays.items():
        np.save(folder / name / f"{key}.npy", array)


def mapped_arrays(folder: Path, name: str) -> dict[str, Any]:
    return {path.stem: np.load(path, mmap_mode="r") for path in (folder / name).glob("*.npy")}


def build_graph(folder: Path) -> None:
    from synth.graph.graph import Graph
    from synth.tasks.world.words import world_words

    graph = Graph.build(mapped_table(folder, "entities"), mapped_table(folder, "edges"), world_words().inverses)
    keep(folder, "graph", graph.to_arrays())


def build_index(folder: Path) -> None:
    from synth.retrieval.bm25 import Bm25Index

    keep(folder, "index", Bm25Index.build(mapped_table(folder, "documents")))


def search(folder: Path, count: int) -> dict[str, float]:
    """Latency of queries as agents write them: a name, a name with words of a relation, a whole question."""
    from synth.retrieval.bm25 import Bm25Index

    index = Bm25Index(mapped_arrays(folder, "index"))
    names = mapped_table(folder, "entities").column("name")
    rng = np.random.default_rng(0)
    forms = ("{}", "{} founded by", "Who designed the tallest building in the city where {} was born?", "{} {}")
    milliseconds = []
    found = 0
    for i in range(count):
        chosen = [names[int(row)].as_py() for row in rng.integers(0, len(names), 2)]
        query = forms[i % len(forms)].format(*chosen)
        begun = time.perf_counter()
        hits = index.search(query, 10)
        milliseconds.append(1e3 * (time.perf_counter() - begun))
        found += len(hits) > 0
    first, later = milliseconds[: count // 4], milliseconds[count // 4 :]
    return {
        "search_p50_ms": float(np.percentile(later, 50)),
        "search_p95_ms": float(np.percentile(later, 95)),
        "search_first_quarter_p95_ms": float(np.percentile(first, 95)),
        "search_found": found / count,
        "tokens": index.n_tokens,
    }


def walk(folder: Path, count: int) -> dict[str, float]:
    """Walks as the stages draw them: gold nodes of one split, batches of 256; the best of three rounds."""
    from synth.graph.graph import Graph
    from synth.graph.walks import Walker

    graph = Graph.from_arrays(mapped_arrays(folder, "graph"))
    partition = mapped_table(folder, "entities").column("partition")
    allowed = np.asarray(pa.compute.equal(partition, "train").combine_chunks())
    report: dict[str, float] = {"nodes": graph.n_nodes, "facts": graph.n_facts, "relations": len(graph.relations)}
    report["largest_degree"] = int(np.diff(graph.step_start).max())
    drawers: dict[str, tuple[Callable[..., Walks], int]] = {
        "composition": (Walker(graph, allowed=allowed, functional_only=True).compositions, 3),
        "conjunction": (Walker(graph, allowed=allowed).conjunctions, 2),
    }
    for shape, (draw, size) in drawers.items():
        begun = time.process_time()
        draw(np.arange(16), size, 0)
        report[f"{shape}_prepare_s"] = time.process_time() - begun
        rounds = []
        for part in range(3):
            begun, valid = time.process_time(), 0
            for start in range(part * count, (part + 1) * count, BATCH):
                valid += int(draw(np.arange(start, start + BATCH), size, 1).valid.sum())
            drawn = -(-count // BATCH) * BATCH
            rounds.append((drawn / (time.process_time() - begun), drawn / max(1, valid)))
        report[f"{shape}_walks_per_s"] = max(rate for rate, _ in rounds)
        report[f"{shape}_walks_per_valid"] = float(np.mean([share for _, share in rounds]))
    return report


def child(n: int, folder: Path, queries: int, walks: int) -> dict[str, Any]:
    import pyarrow.compute  # noqa: F401 - imported before the clock runs, as a build has it by then

    clock = Clock()
    clock.time("generate", lambda: generate(n, folder))
    clock.time("graph", lambda: build_graph(folder))
    clock.time("index", lambda: build_index(folder))
    report: dict[str, Any] = {"entities": n, "edges": len(mapped_table(folder, "edges"))}
    report |= clock.report
    report |= search(folder, queries)
    report |= walk(folder, walks)
    report["disk_gb"] = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e9
    report["peak_gb"] = peak_gb()
    for clock_name in ("wall", "cpu"):
        total = sum(report[f"{phase}_{clock_name}_s"] for phase in ("generate", "graph", "index"))
        report[f"us_per_entity_{clock_name}"] = 1e6 * total / n
    return report


def run_child(n: int, options: argparse.Namespace) -> dict[str, Any]:
    if options.dir:
        Path(options.dir).mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"bench-{n}-", dir=options.dir))
    try:
        command = [sys.executable, __file__, "--child", str(n), "--dir", str(folder)]
        command += ["--queries", str(options.queries), "--walks", str(options.walks)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"the run of {n:,} entities ended with status {done.returncode}")
        report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return report
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def show(report: Mapping[str, Any]) -> None:
    n = report["entities"]
    print(f"\n{n:,} entities, {report['edges']:,} edges, {report['facts']:,} facts, {report['relations']} relations")
    print(
        f"  {report['tokens']:,} tokens, largest degree {report['largest_degree']:,}, "
        f"{report['disk_gb']:.2f} GB on disk"
    )
    for phase in ("generate", "graph", "index"):
        wall, cpu = (1e6 * report[f"{phase}_{clock}_s"] / n for clock in ("wall", "cpu"))
        print(f"  {phase:<9}{wall:9.1f} us/entity ({cpu:.1f} CPU), peak RSS so far {report[f'{phase}_peak_gb']:.2f} GB")
    print(f"  together {report['us_per_entity_wall']:9.1f} us/entity ({report['us_per_entity_cpu']:.1f} CPU)")
    print(
        f"  search   p50 {report['search_p50_ms']:.2f} ms, p95 {report['search_p95_ms']:.2f} ms "
        f"(first quarter, cold: p95 {report['search_first_quarter_p95_ms']:.2f} ms), "
        f"{report['search_found']:.1%} with results"
    )
    for shape in ("composition", "conjunction"):
        print(
            f"  {shape}s {report[f'{shape}_walks_per_s']:12,.0f} walks/s, "
            f"{report[f'{shape}_walks_per_valid']:.2f} walks per valid one, "
            f"rules ready in {report[f'{shape}_prepare_s']:.2f} s"
        )
    print(f"  peak RSS {report['peak_gb']:.2f} GB", flush=True)


def growth(small: Mapping[str, Any], large: Mapping[str, Any]) -> dict[str, float]:
    """What a unit of work costs at the larger size over the smaller one."""
    ratios = {
        "wall seconds per entity": large["us_per_entity_wall"] / small["us_per_entity_wall"],
        "CPU seconds per entity": large["us_per_entity_cpu"] / small["us_per_entity_cpu"],
    }
    for shape in ("composition", "conjunction"):
        ratios[f"seconds per {shape}"] = small[f"{shape}_walks_per_s"] / large[f"{shape}_walks_per_s"]
        ratios[f"walks per valid {shape}"] = large[f"{shape}_walks_per_valid"] / small[f"{shape}_walks_per_valid"]
    ratios["search p50"] = large["search_p50_ms"] / small["search_p50_ms"]
    ratios["search p95"] = large["search_p95_ms"] / small["search_p95_ms"]
    return ratios


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument(
        "--dir", help="where the files of each size stand while it runs (default: the temporary folder)"
    )
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--walks", type=int, default=32 * 1024, help="walks per round and shape")
    parser.add_argument("--limit", type=float, help="allowed growth between the last two sizes, for instance 1.3")
    parser.add_argument("--memory", type=float, default=8.0, help="allowed peak RSS in GB, with --limit")
    parser.add_argument("--json", help="write all reports to this file")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(child(options.child, Path(options.dir), options.queries, options.walks)))
        return 0

    reports = []
    for n in options.sizes:
        reports.append(run_child(n, options))
        show(reports[-1])
    too_much = [f"{r['entities']:,} entities: {r['peak_gb']:.2f} GB" for r in reports if r["peak_gb"] > options.memory]
    for small, large in itertools.pairwise(reports):
        print(f"\n{large['entities']:,} over {small['entities']:,} entities")
        last = large is reports[-1]
        for name, ratio in growth(small, large).items():
            print(f"  {name:<28}{ratio:6.2f}x")
            if last and options.limit and ratio > options.limit and not name.startswith("search"):
                too_much.append(f"{name}: {ratio:.2f}x")
    if options.json:
        Path(options.json).write_text(json.dumps(reports, indent=1) + "\n")
    if options.limit and too_much:
        print("\nover the limit: " + "; ".join(too_much))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
