"""What contexts and rewards cost, and how contexts are made up.

    python tests/benchmarks/bench_contexts.py --tasks 40 --folder FOLDER [--budgets 8192 32768 131072]

Builds ``world-search`` (or finds it in the store below FOLDER) without critical steps, makes the contexts of every
budget anew in this process, and rewards groups of eight responses per task. Seconds are CPU seconds of this process.
Printed as JSON: for each budget the contexts, how many budgets are met, the mean share of each tier, the depth of gold
documents by quarter of the message; for rewards the responses judged per second.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from synth.annotate.rewards import group_rewards
from synth.api import BuildRequest, prepare
from synth.engine import Engine
from synth.identity import derive_generator
from synth.schemas.contexts import ContextRow
from synth.stages.contexts import Contexts
from synth.stages.contract import Context

GROUP = 8


class Inputs:
    """The finished tables of a build, for a stage run by hand."""

    def __init__(self, engine: Engine, label: str) -> None:
        self._engine, self._node = engine, engine.plan.node(label)

    def table(self, name: str) -> Any:
        return self._engine.table(*self._node.source_of(name))

    def arrays(self, name: str) -> Any:
        return self._engine.arrays(self._node.source_of(name)[0])


def stage(engine: Engine, label: str, seed: int) -> Contexts:
    provenance = engine.table("tasks", "tasks").row(0).provenance
    generator = partial(derive_generator, seed, "contexts")
    config = engine.plan.node(label).config
    context = Context(seed=seed, inputs=Inputs(engine, label), provenance=provenance, generator=generator)
    return Contexts(config, context)  # type: ignore[arg-type]


def contexts(engine: Engine, budget: int, seed: int) -> dict[str, Any]:
    maker = stage(engine, f"contexts-{budget}", seed)
    began = time.process_time()
    rows: list[ContextRow] = []
    rejected = 0
    for shard in range(maker.shards()):
        batch = maker.produce(shard)
        rows += batch.tables["contexts"]
        rejected += len(batch.rejected)
    seconds = time.process_time() - began
    tiers: Counter[int] = Counter()
    quarters: Counter[int] = Counter()
    for row in rows:
        for item in row.documents:
            tiers[item.tier] += item.token_end - item.token_start
        quarters.update(min(3, int(4 * depth)) for depth in row.gold_depths)
    total = max(1, sum(tiers.values()))
    return {
        "budget": budget,
        "contexts": len(rows),
        "rejected": rejected,
        "within 1 %": sum(0.99 * budget <= row.tokens <= budget for row in rows),
        "least share of budget": round(min((row.tokens / budget for row in rows), default=0.0), 4),
        "documents (mean)": round(float(np.mean([len(row.documents) for row in rows])), 1) if rows else 0,
        "tokens by tier": {str(tier): round(tiers[tier] / total, 3) for tier in range(5)},
        "gold by quarter": [quarters[n] for n in range(4)],
        "cut": dict(Counter(item.cut for row in rows for item in row.documents if item.cut != "none")),
        "bytes (mean)": int(np.mean([len(row.prompt[0].content.encode()) for row in rows])) if rows else 0,
        "CPU seconds per context": round(seconds / max(1, len(rows)), 4),
    }


def rewards(engine: Engine) -> dict[str, Any]:
    """Groups of a right answer with its way, a bare one and wrong ones, over all tasks."""
    truths = [row.reward_model.ground_truth for row in engine.table("rl", "rl").rows()]
    groups = []
    for truth in truths:
        way = " ".join(f"Then I found {item.names[0]}." for item in truth.rubric)
        right = "; ".join(part.answer for part in truth.answer_parts) or truth.answer
        groups.append([f"{way}\nAnswer: {right}", f"Answer: {right}", *[f"{way}\nAnswer: none"] * (GROUP - 2)])
    began = time.process_time()
    found = [group_rewards(group, truth) for group, truth in zip(groups, truths, strict=True)]
    seconds = time.process_time() - began
    return {
        "tasks": len(truths),
        "responses per CPU second": int(GROUP * len(truths) / max(seconds, 1e-9)),
        "right with the way": sum(group[0].value == 1.0 for group in found),
        "bare right (mean)": round(float(np.mean([group[1].value or 0.0 for group in found])), 4),
        "wrong above 0": sum((one.value or 0.0) > 0 for group in found for one in group[2:]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--budgets", type=int, nargs="+", default=[8_192, 32_768, 131_072])
    given = parser.parse_args()
    settings = {"critical": None, "contexts.tasks": None, "contexts.budgets": given.budgets}
    request = BuildRequest(
        dataset="world-search", tasks=given.tasks, seed=given.seed, store=given.folder / "store", settings=settings
    )
    prepared = prepare(request, progress="quiet")
    for node in prepared.engine.plan.nodes:
        if node.stage is not Contexts:
            prepared.engine.run_stage(node.label)
    found = {
        "contexts": [contexts(prepared.engine, budget, given.seed) for budget in given.budgets],
        "rewards": rewards(prepared.engine),
    }
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
