"""What two collections give that one does not: ``python tests/benchmarks/bench_collections.py [--tasks 60]``.

Tasks of the generated world whose evidence lies in two collections (pages about people, all other pages). The scripted
policy and the teacher solve each with both searches, and with one of them taken away.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared_builds import LEAN

import synth
from synth.agents.loop import Limits, rollout
from synth.agents.scripted.players import scripted_policy
from synth.dataset.reader import load
from synth.environments.search import SearchEnvironment
from synth.identity import derive_generator
from synth.pipelines.reopen import reopen
from synth.schemas.arrow import from_arrow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Role

COLLECTIONS = {"by": "kind", "of": {"people": ["person"], "others": []}, "spanned": 2}
ROLES: tuple[Role, ...] = ("policy", "teacher")


def solved(environment: SearchEnvironment, task: Task, role: Role, seed: int) -> bool:
    policy = scripted_policy(task=task, role=role, language="world")
    done = rollout(
        policy,
        environment,
        task,
        system="Act.",
        limits=Limits(max_turns=40),
        generator_for_turn=lambda turn: derive_generator(seed, task.id, turn),
    )
    return environment.reset(task).check(done.answer).correct is True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=60)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-collections-") as scratch:
        place = Path(scratch)
        settings = {**LEAN, "source.entities": 300, "environment.collections": COLLECTIONS}
        synth.build("world-search", out=place / "out", store=place / "store", tasks=given.tasks, settings=settings)
        dataset = load(place / "out")
        tasks = list(from_arrow(dataset.table("tasks"), Task))
        print("| searches | " + " | ".join(ROLES) + " |")
        print("|---" * (len(ROLES) + 1) + "|")
        for taken in (None, "search_others", "search_people"):
            environment, _ = reopen(dataset)
            assert isinstance(environment, SearchEnvironment)
            if taken is not None:
                del environment.by_name[taken]
            left = [name for name in environment.by_name if name.startswith("search")]
            rates = [sum(solved(environment, task, role, 3) for task in tasks) for role in ROLES]
            print(
                f"| {', '.join(left)} | " + " | ".join(f"{rate} of {len(tasks)}" for rate in rates) + " |", flush=True
            )


if __name__ == "__main__":
    main()
