"""How hard distractors are for the scripted policy, with 95 % intervals over tasks.

    python tests/benchmarks/bench_distractors.py --tasks 500 --folder FOLDER [--parts density noise]

``density`` The whole collection with 0, 1, 2 and 4 times the default written distractors. Tasks are made, and checked
            to be retrievable, with the most of them.
``noise``   The whole collection with a share of the results replaced.

What the tiers of ``distractors`` do stands in ``bench_tiers.py``. Every condition uses the same tasks and the same
random numbers, so differences are paired; intervals of differences are bootstrapped over tasks, those of rates are
Wilson's over all runs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synth.agents.contract import Policy
from synth.agents.loop import Limits, rollout
from synth.agents.scripted.players import scripted_policy
from synth.agents.trajectory import to_row
from synth.annotate.critical.intervals import wilson
from synth.api import BuildRequest, prepare
from synth.engine import Engine
from synth.environments.search import SearchEnvironment
from synth.identity import derive_generator
from synth.retrieval.bm25 import Bm25Index
from synth.retrieval.noise import Noise
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.documents import DISTRACTOR, Document
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Role, TrajectoryRow
from synth.sources.world.config import DistractorMix, WorldConfig
from synth.sources.world.distract_pages import distractor_shard, distractor_shards
from synth.testing.corpus import PROVENANCE

DENSEST = 4.0
"""Times the default, at which tasks are made."""


class Pages:
    """A documents table in memory."""

    def __init__(self, table: pa.Table) -> None:
        self.arrow = table
        self._known: dict[int, Document] = {}

    def __len__(self) -> int:
        return len(self.arrow)

    def row(self, number: int) -> Document:
        if number not in self._known:
            self._known[number] = from_arrow(self.arrow.slice(number, 1), Document)[0]
        return self._known[number]


def environment(table: pa.Table, noise: Noise | None = None) -> SearchEnvironment:
    return SearchEnvironment(Bm25Index(Bm25Index.build(table)), Pages(table), noise=noise)


ROLES: list[Role] = ["policy", "teacher"]


def run(
    task: Task,
    where: SearchEnvironment,
    role: Role,
    sample: int,
    *,
    names: str = "bench",
    options: Mapping[str, Any] | None = None,
) -> TrajectoryRow:
    """``options`` are those of the policy (``skill``)."""
    of_role = dict(options or {}) if role == "policy" else {}
    policy: Policy = scripted_policy(task=task, role=role, language="world", **of_role)
    done = rollout(
        policy,
        where,
        task,
        system="bench",
        limits=Limits(),
        generator_for_turn=lambda turn: derive_generator(1, names, task.id, role, sample, turn),
    )
    return to_row(done, where, role=role, number=sample, privileged=policy.privileged, provenance=PROVENANCE)


def successes(
    tasks: Sequence[Task],
    where: Callable[[Task], SearchEnvironment],
    role: Role,
    samples: int,
    *,
    options: Mapping[str, Any] | None = None,
) -> np.ndarray[Any, Any]:
    """``(len(tasks), samples)`` of 0 and 1."""
    return np.array(
        [[run(task, where(task), role, n, options=options).success for n in range(samples)] for task in tasks],
        dtype=float,
    )


def rate(found: np.ndarray[Any, Any]) -> dict[str, Any]:
    low, high = wilson(int(found.sum()), found.size)
    return {"success": round(float(found.mean()), 3), "95 %": [round(low, 3), round(high, 3)], "runs": found.size}


def difference(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> dict[str, Any]:
    """``one - other``, paired by task."""
    paired = one.mean(axis=1) - other.mean(axis=1)
    draws = derive_generator(1, "bootstrap").integers(len(paired), size=(2_000, len(paired)))
    low, high = np.percentile(paired[draws].mean(axis=1), [2.5, 97.5])
    return {"difference": round(float(paired.mean()), 3), "95 %": [round(float(low), 3), round(float(high), 3)]}


def built(folder: Path, tasks: int, seed: int, settings: dict[str, Any]) -> Engine:
    """The engine of a build up to its tasks, with the most written distractors."""
    mix = DistractorMix().times(DENSEST)
    settings |= {f"source.distractors.{name}": getattr(mix, name) for name in DistractorMix.model_fields}
    request = BuildRequest(
        dataset="world-search",
        tasks=tasks,
        seed=seed,
        out=folder / f"out-{seed}",
        store=folder / "store",
        settings=settings,
    )
    engine = prepare(request, progress="quiet").engine
    for name in ("documents", "graph", "index", "tasks"):
        engine.run_stage(name)
    return engine


def with_density(engine: Engine, factor: float) -> pa.Table:
    """The documents with ``factor`` times the default written distractors."""
    node = engine.plan.node("documents")
    known = {name: getattr(node.config, name) for name in WorldConfig.model_fields}
    config = WorldConfig(**known | {"distractors": DistractorMix().times(factor)})
    table = engine.table("documents", "documents").arrow
    own = table.filter(pc.not_equal(table["kind"], DISTRACTOR)).combine_chunks()
    written = [page for shard in range(distractor_shards(config)) for page in distractor_shard(config, shard)[0]]
    return pa.concat_tables([own, to_arrow(written, Document).cast(own.schema)]) if written else own


def _same(where: SearchEnvironment, task: Task) -> SearchEnvironment:
    return where


Conditions = dict[str, SearchEnvironment]


def _side_by_side(tasks: Sequence[Task], samples: int, conditions: Conditions) -> dict[str, Any]:
    """Success of both roles under each condition and, paired, against the first; each line is printed when it is
    there."""
    lines: dict[str, Any] = {name: {} for name in conditions}
    for role in ROLES:
        first: np.ndarray[Any, Any] | None = None
        for name, where in conditions.items():
            found = successes(tasks, partial(_same, where), role, samples if role == "policy" else 1)
            lines[name][role] = rate(found)
            if first is None:
                first = found
            else:
                lines[name][role]["against the first"] = difference(found, first)
            print(f"# {name}, {role}: {lines[name][role]}", flush=True)
    return lines


def density(engine: Engine, tasks: Sequence[Task], samples: int) -> dict[str, Any]:
    tables = {f"{factor:g}x": with_density(engine, factor) for factor in (0.0, DENSEST, 1.0, 2.0)}
    lines = _side_by_side(tasks, samples, {name: environment(table) for name, table in tables.items()})
    for name, table in tables.items():
        lines[name]["written pages"] = int(pc.sum(pc.equal(table["kind"], DISTRACTOR)).as_py() or 0)
    return lines


def noise(engine: Engine, tasks: Sequence[Task], samples: int) -> dict[str, Any]:
    table = with_density(engine, 1.0)
    conditions = {
        f"share {share:g}": environment(table, Noise(start=share, end=share) if share else None)
        for share in (0.0, 0.25, 0.5)
    }
    return _side_by_side(tasks, samples, conditions)


PARTS = {"density": density, "noise": noise}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=500)
    parser.add_argument("--samples", type=int, default=2, help="runs of the policy per task and condition")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--set", nargs="*", default=[], help="settings of the recipe, key=JSON")
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--roles", nargs="+", choices=["policy", "teacher"], default=["policy", "teacher"])
    parser.add_argument("--folder", type=Path, required=True, help="for the store")
    options = parser.parse_args()
    ROLES[:] = options.roles
    settings = {key: json.loads(value) for key, value in (item.split("=", 1) for item in options.set)}
    engine = built(options.folder, options.tasks, options.seed, settings)
    tasks = list(engine.table("tasks", "tasks").rows())
    for part in options.parts:
        print(json.dumps({part: PARTS[part](engine, tasks, options.samples)}, indent=1), flush=True)


if __name__ == "__main__":
    main()
