"""Tasks with one decisive step, so that a search for critical steps can be held against the truth.

An agent goes a number of steps and chooses one of several ways at each. One step is decisive: after the right way there
the policy answers rightly with a known chance, after any other way with another. All other choices mean nothing, and
nothing that can be observed tells which step it is. The rates may be equal: then all success is luck.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from synth.agents.contract import Decision, History, Prompt, Turn
from synth.agents.loop import Limits, rollout
from synth.agents.trajectory import to_row
from synth.annotate.critical.branching import Generators
from synth.annotate.critical.contract import Point, Score
from synth.annotate.critical.search import Searched
from synth.environments.contract import Environment, Episode, Snapshot, ToolCall, ToolResult, ToolSchema
from synth.identity import canonical_json, derive_generator
from synth.schemas.provenance import Provenance
from synth.schemas.tasks import Difficulty, Task, Walk
from synth.schemas.trajectories import TrajectoryRow, Verdict

__all__ = [
    "PlantedEnvironment",
    "PlantedExpert",
    "PlantedPolicy",
    "PlantedScorer",
    "failed_run",
    "generators",
    "is_critical",
    "planted_task",
    "record_run",
    "tally",
]

_PROVENANCE = Provenance(
    dataset="planted",
    stage="planted",
    stage_version=1,
    fingerprint="planted",
    seed=0,
    source="planted",
    source_sha256="0" * 64,
)


def planted_task(number: int, *, steps: int = 5, ways: int = 4) -> Task:
    """Task ``number``: which step is decisive, and which way is right there, is drawn from the number."""
    draw = derive_generator(0, "planted", number)
    return Task(
        id=f"planted-{number:06d}",
        question=f"Go {steps} steps, then say what you have found (walk {number}).",
        answer="treasure",
        answer_kind="text",
        environment="planted",
        shape="given",
        walk=Walk(shape="given", hops=()),
        gold_entities=(),
        gold_documents=(),
        difficulty=Difficulty(hops=0, constraints=0, branching=1.0, documents=0),
        checks=(),
        split="train",
        candidate_index=number,
        details={
            "steps": steps,
            "ways": ways,
            "decisive": int(draw.integers(steps)),
            "right": int(draw.integers(ways)),
        },
        provenance=_PROVENANCE,
    )


class PlantedEnvironment(Environment):
    """``go(way)``, and nothing else."""

    name: ClassVar[str] = "planted"
    version: ClassVar[str] = "1"

    def __init__(self, words: str = "you went on") -> None:
        self.words = words
        self._tool = ToolSchema(
            name="go",
            description="Go one way.",
            parameters={
                "type": "object",
                "properties": {"way": {"type": "integer", "minimum": 0, "maximum": 99}},
                "required": ["way"],
                "additionalProperties": False,
            },
        )

    def tools(self) -> tuple[ToolSchema, ...]:
        return (self._tool,)

    def instructions(self) -> str:
        return "`go` takes you one step."

    def reset(self, task: Task) -> PlantedEpisode:
        return PlantedEpisode(self, task)


class PlantedEpisode(Episode):
    def __init__(self, environment: PlantedEnvironment, task: Task) -> None:
        super().__init__(task)
        self._environment = environment
        self._ways: list[int] = []

    def step(self, call: ToolCall) -> ToolResult:
        (tool,) = self._environment.tools()
        if call.name != tool.name:
            return ToolResult(call_id=call.id, name=call.name, content="There is only `go`.", error="unknown_tool")
        way = call.arguments.get("way")
        # By hand: thousands of continuations run here, and a JSON Schema validator takes most of their time.
        if set(call.arguments) != {"way"} or type(way) is not int or not 0 <= way <= 99:
            words = "Wrong: `way` is a number from 0 to 99."
            return ToolResult(call_id=call.id, name=call.name, content=words, error="bad_arguments")
        self._ways.append(way)
        words = f"Step {len(self._ways)}: {self._environment.words} by way {self._ways[-1]}."
        return ToolResult(call_id=call.id, name=call.name, content=words)

    def snapshot(self) -> Snapshot:
        return Snapshot(environment="planted", version="1", task_id=self.task.id, state=canonical_json(self._ways))

    def restore(self, snapshot: Snapshot) -> None:
        if (snapshot.environment, snapshot.version, snapshot.task_id) != ("planted", "1", self.task.id):
            raise ValueError("the snapshot is of something else")
        self._ways = json.loads(snapshot.state)

    def check(self, answer: str | None) -> Verdict:
        said = (answer or "").strip().rstrip(".").removeprefix("The answer is ").strip()
        return Verdict(
            correct=said == self.task.answer, rule="exact", evidence=f"{said!r} against {self.task.answer!r}"
        )


@dataclass
class PlantedPolicy:
    """Takes the right way at the decisive step with chance ``skill``; answers rightly with chance ``right`` after it
    and ``wrong`` after another."""

    task: Task
    right: float
    wrong: float
    skill: float = 0.3
    privileged: bool = False

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        facts = self.task.details
        at = len(history)
        if at < facts["steps"]:
            way = int(generator.integers(facts["ways"]))
            if at == facts["decisive"]:
                others = [other for other in range(facts["ways"]) if other != facts["right"]]
                way = facts["right"] if generator.random() < self.skill else int(generator.choice(others))
            return Decision(_go(at, way))
        taken = history[facts["decisive"]].turn.calls[0].arguments["way"]
        chance = self.right if taken == facts["right"] else self.wrong
        return Decision(Turn(answer=self.task.answer if generator.random() < chance else "nothing"))


@dataclass(frozen=True)
class PlantedExpert:
    """Proposes other ways, in an order of its own; at the end it has nothing to say."""

    def propose(self, point: Point, n: int, generator: np.random.Generator) -> tuple[Turn, ...]:
        if not point.recorded.calls:
            return ()
        taken = point.recorded.calls[0].arguments["way"]
        ways = [way for way in range(point.task.details["ways"]) if way != taken]
        return tuple(_go(point.step, int(way)) for way in generator.permutation(ways)[:n])


@dataclass(frozen=True)
class PlantedScorer:
    """Knows the decisive step, and is mistaken elsewhere.

    At the decisive step the right way scores .9 and others .1. Elsewhere a way scores a number between 0 and 1 that
    means nothing. ``blind``: everything that was recorded scores .1 and everything else .9, so that every alternative
    is a candidate.
    """

    blind: bool = False

    def score(self, point: Point, turns: Sequence[Turn]) -> tuple[Score, ...]:
        return tuple(self._score(point, turn) for turn in turns)

    def _score(self, point: Point, turn: Turn) -> Score:
        facts = point.task.details
        if not turn.calls:
            return Score(value=None, reason="not about answers")
        way = int(turn.calls[0].arguments["way"])
        if self.blind:
            return Score(value=0.1 if turn.calls == point.recorded.calls else 0.9, reason="blind")
        if point.step == facts["decisive"]:
            return Score(value=0.9 if way == facts["right"] else 0.1, reason="decisive")
        noise = derive_generator(1, "planted", point.task.id, point.step, way).random()
        return Score(value=float(noise), reason="noise")


def record_run(environment: Environment, task: Task, policy: PlantedPolicy, number: int) -> TrajectoryRow:
    """Rollout ``number`` of the task, as a row."""
    done = rollout(
        policy,
        environment,
        task,
        system="Go on.",
        limits=Limits(),
        generator_for_turn=lambda turn: derive_generator(2, task.id, "policy", "rollout", number, turn),
    )
    return to_row(done, environment, role="policy", number=number, privileged=False, provenance=_PROVENANCE)


def failed_run(environment: Environment, task: Task, policy: PlantedPolicy, tries: int = 100) -> TrajectoryRow:
    """The first rollout that fails.

    Raises:
        ValueError: none of ``tries`` did.
    """
    for number in range(tries):
        row = record_run(environment, task, policy, number)
        if not row.success:
            return row
    raise ValueError(f"{task.id}: no failure in {tries} rollouts")


def is_critical(task: Task, row: TrajectoryRow, step: int, turn: Turn | None = None) -> bool:
    """The truth: ``step`` is decisive and was taken wrongly; with ``turn``, that turn would have been right."""
    facts: dict[str, Any] = task.details
    calls = [item for item in row.content if item.class_ == "api_action"]
    wrong = step == facts["decisive"] and calls[step].kwargs["way"] != facts["right"]
    return wrong and (turn is None or turn.calls[0].arguments["way"] == facts["right"])


def tally(found: Sequence[tuple[Task, TrajectoryRow, Searched]]) -> dict[str, int]:
    """Over many searches: verified pairs, those that are true, runs with a critical step, those where it was found."""
    counts = dict.fromkeys(("verified", "true", "critical", "found", "accepted_runs", "runs"), 0)
    for task, row, searched in found:
        true = [c for c in searched.verified if is_critical(task, row, c.step, c.turn)]
        counts["runs"] += 1
        counts["verified"] += len(searched.verified)
        counts["true"] += len(true)
        counts["critical"] += is_critical(task, row, task.details["decisive"])
        counts["found"] += bool(true)
        counts["accepted_runs"] += bool(searched.verified)
    return counts


def generators(seed: int = 3) -> Generators:
    """A generator factory as a build has it."""
    return lambda *names: derive_generator(seed, "critical", *names)


def _go(at: int, way: int) -> Turn:
    return Turn(calls=(ToolCall(id=f"call_{at}_0", name="go", arguments={"way": way}),))
