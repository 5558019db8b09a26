"""Scorers against measured success: does a score say how an action ends?

    python tests/benchmarks/bench_scorers.py                               embedded scorer, and planted noisy ones
    python tests/benchmarks/bench_scorers.py --endpoint http://host:8000/v1 --model NAME --samples 3     your own
    python tests/benchmarks/bench_scorers.py --dataset FOLDER --runs 100 --k 16

The embedded policy works on the tasks of a dataset (``--dataset``, or one that is built for the purpose). At steps that
are drawn at random, from failed and successful runs alike, the recorded action, the embedded expert's alternatives and
another action of the policy's own are each continued ``--k`` times by the policy. No score has a say in what is
measured: the ``continuations`` of a dataset would flatter the scorer that chose them.

Then every scorer is shown the same actions. ``AUC`` is over all continuations; ``within steps`` compares only actions
at the same step, which is what the search for critical steps asks of a scorer; ``Brier`` is the mean squared distance
of the score from the outcome (a score that ranks well may still be badly scaled), beside that of the mean success.
``candidates`` are the alternatives that the search would try (above 0.6 where the recorded action is below 0.5), with
the share that is really better. Abstentions are left out and stand in ``scored``.

``planted`` is the embedded scorer as a model would play it, over the whole way of prompt and reply, with normal noise
of that standard deviation added to its scores.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bench_critical import generators, opened, table
from scorer_calibration import MeasuredAction, candidates_right, within_steps

from synth.agents.contract import Policy, Turn, act
from synth.agents.loop import Limits, rollout
from synth.agents.scripted.players import scripted_policy
from synth.agents.trajectory import to_row
from synth.annotate.critical.actions import action_key
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.continuations import ContinuationPool
from synth.annotate.critical.contract import Point, Score, Scorer
from synth.annotate.critical.model_scorer import ModelScorer, ScorerConfig
from synth.annotate.critical.scoring import EvidenceScorer
from synth.annotate.critical.scripted_expert import scripted_expert
from synth.annotate.critical.search import open_pool
from synth.api import build
from synth.dataset.card.calibration import auc, brier
from synth.environments.search import SearchEnvironment
from synth.identity import derive_generator, digest
from synth.models.client import ModelHub
from synth.models.contract import Runtime, Sampling
from synth.prompting import load_prompt
from synth.recipe.load import load_recipe
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.store.calls import CallStore
from synth.testing.corpus import PROVENANCE

sys.path.insert(0, str(Path(__file__).parents[1]))
from stand_ins.model_server import ScorerPlayer
from stand_ins.model_server.listed import Played


@dataclass(frozen=True)
class Measured:
    """Actions at one step, the recorded one first, and (successes, judged continuations) of each."""

    place: str
    point: Point
    turns: tuple[Turn, ...]
    outcomes: tuple[tuple[int, int], ...]


def runs_of(
    tasks: dict[str, Task], environment: SearchEnvironment, policy: Callable[[Task], Policy], wanted: int
) -> list[TrajectoryRow]:
    system = load_prompt("agents/search").render(instructions=environment.instructions())

    def turns(*names: str | int) -> Callable[[int], np.random.Generator]:
        return lambda turn: derive_generator(13, *names, turn)

    found: list[TrajectoryRow] = []
    sample = 0
    while len(found) < wanted:
        for task in list(tasks.values())[: wanted - len(found)]:
            done = rollout(
                policy(task),
                environment,
                task,
                system=system,
                limits=Limits(),
                generator_for_turn=turns(task.id, "scorers", sample),
            )
            row = to_row(done, environment, role="policy", number=sample, privileged=False, provenance=PROVENANCE)
            found.append(row)
        sample += 1
    return found


def measure(
    row: TrajectoryRow, pool: ContinuationPool, policy: Policy, language: str, steps: int, k: int
) -> list[Measured]:
    """``steps`` of the run, drawn at random, with every action continued ``k`` times."""
    expert = scripted_expert(language=language)
    draw = derive_generator(13, "which steps", row.id)
    found: list[Measured] = []
    for step in sorted(draw.permutation(pool.branching.steps)[:steps]):
        point = pool.branching.point(int(step))
        own = act(policy, point.prompt, point.history, derive_generator(13, "again", row.id, point.step)).turn
        proposed = expert.propose(point, 2, derive_generator(13, "expert", row.id, point.step))
        turns = {
            action_key(turn, point.prompt.tools): turn
            for turn in (own, *proposed)
            if turn.calls or turn.answer is not None
        }
        turns.pop(action_key(point.recorded, point.prompt.tools), None)
        places = [pool.original(point.step)]
        places += [pool.alternative(point.step, number, turn) for number, turn in enumerate(turns.values())]
        for place in places:
            for _ in range(k):
                pool.draw(place)
        outcomes = tuple(pool.tally(place) for place in places)
        found.append(Measured(f"{row.id}/{point.step}", point, (point.recorded, *turns.values()), outcomes))
    return found


def scored(scorer: Scorer, measured: Sequence[Measured], threads: int) -> list[MeasuredAction]:
    """As the search asks: the recorded action by itself, then the alternatives together."""

    def both(one: Measured) -> tuple[Score, ...]:
        recorded, *others = one.turns
        return scorer.score(one.point, (recorded,)) + (scorer.score(one.point, others) if others else ())

    with ThreadPoolExecutor(threads) as executor:
        scores = list(executor.map(both, measured))
    return [
        MeasuredAction(place=one.place, recorded=number == 0, score=score.value, right=right, tried=tried)
        for one, given in zip(measured, scores, strict=True)
        for number, (score, (right, tried)) in enumerate(zip(given, one.outcomes, strict=True))
        if tried
    ]


def line(actions: Sequence[MeasuredAction]) -> dict[str, str]:
    known = [one for one in actions if one.score is not None]
    values = [one.score for one in known if one.score is not None]
    right, tried = [one.right for one in known], [one.tried for one in known]
    found = {"scored": f"{len(known)} of {len(actions)}"}
    if not known:
        return found
    mean = sum(right) / sum(tried)
    area, inside = auc(values, right, tried), within_steps(known)
    candidates, good = candidates_right(actions)
    return found | {
        "AUC": "-" if area is None else f"{area:.3f}",
        "within steps": "-" if inside is None else f"{inside:.3f}",
        "Brier": f"{brier(values, right, tried):.3f}",
        "of the mean": f"{brier([mean] * len(known), right, tried):.3f}",
        "candidates": str(candidates),
        "better": f"{good / candidates:.0%}" if candidates else "-",
    }


def noisy(tasks: dict[str, Task], environment: SearchEnvironment, spread: float) -> ModelScorer:
    """A model that scores as the embedded scorer does, with noise that is a function of action and reason."""

    def change(letter: str, score: Score) -> Score:
        if score.value is None:
            return score
        key = derive_generator(13, "noise", digest(letter, score.reason, score.value))
        return score.model_copy(update={"value": float(np.clip(score.value + key.normal(0, spread), 0, 1))})

    player = ScorerPlayer(tasks.values(), environment, EvidenceScorer(), change)
    return ModelScorer(Played(player), ScorerConfig(older=None))


class Flat:
    """Says the same of everything."""

    def score(self, point: Point, turns: Sequence[Turn]) -> tuple[Score, ...]:
        return tuple(Score(value=0.5, reason="flat") for _ in turns)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", type=Path, help="a finished dataset of the world; one is built if not given")
    parser.add_argument("--tasks", type=int, default=30, help="tasks of the dataset that is built")
    parser.add_argument("--runs", type=int, default=40, help="runs of the policy")
    parser.add_argument("--steps", type=int, default=3, help="steps of each that are measured")
    parser.add_argument("--k", type=int, default=8, help="continuations of each action")
    parser.add_argument("--noise", type=float, nargs="*", default=[0.0, 0.1, 0.3], help="planted scorers")
    parser.add_argument("--endpoint", help="address of your model's server, up to and with /v1")
    parser.add_argument("--model", help="its name there")
    parser.add_argument("--api-key-env", help="name of the environment variable that holds the key")
    parser.add_argument("--samples", type=int, default=1, help="how often your model is asked")
    parser.add_argument("--threads", type=int, default=16, help="questions to your model at once")
    parser.add_argument("--calls", type=Path, help="file that keeps its replies, so that none is paid for twice")
    options = parser.parse_args()
    if (options.endpoint is None) != (options.model is None):
        parser.error("--endpoint and --model go together")

    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        at = options.dataset
        if at is None:
            lean = {"critical": None, "preferences": None, "distractors": None, "contexts": None, "rl": False}
            build("world-search", tasks=options.tasks, out=f"{folder}/out", store=f"{folder}/store", settings=lean)
            at = Path(folder) / "out"
        environment, tasks = opened(at)
        skill = load_recipe("world-search").roles["policy"].options

        def policy(task: Task) -> Policy:
            return scripted_policy(task=task, role="policy", language="world", **skill)

        clock = time.perf_counter()
        measured: list[Measured] = []
        rows = runs_of(tasks, environment, policy, options.runs)
        for row in rows:
            task = tasks[row.task_id]
            pool = open_pool(row, task, environment, policy(task), CriticalConfig(), generators("scorers"))
            assert isinstance(pool, ContinuationPool), pool
            measured += measure(row, pool, policy(task), "world", options.steps, options.k)
            pool.branching.close()
        drawn = sum(tried for one in measured for _, tried in one.outcomes)
        good = sum(row.success for row in rows)
        print(
            f"{len(rows)} runs ({good} succeeded), {len(measured)} steps, {sum(len(one.turns) for one in measured)} "
            f"actions, {drawn} continuations in {time.perf_counter() - clock:.0f} s\n",
            flush=True,
        )
        lines = {
            "embedded": line(scored(EvidenceScorer(), measured, 1)),
            "always 0.5": line(scored(Flat(), measured, 1)),
        }
        for spread in options.noise:
            lines[f"planted, noise {spread:g}"] = line(scored(noisy(tasks, environment, spread), measured, 1))
        if options.model is not None:
            calls = stack.enter_context(CallStore(options.calls or Path(folder) / "calls.sqlite"))
            hub = stack.enter_context(ModelHub(calls))
            runtime = Runtime(endpoints=(options.endpoint,), api_key_env=options.api_key_env, role="prm")
            bound = hub.bind(options.model, Sampling(), runtime)
            mine = ModelScorer(bound, ScorerConfig(samples=options.samples))
            lines[options.model] = line(scored(mine, measured, options.threads))
        print(table(lines, ["scored", "AUC", "within steps", "Brier", "of the mean", "candidates", "better"]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
