"""Tasks as rows for reinforcement learning: prompt, tools, ground truth, rubric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import ClassVar

from synth.annotate.rewards.own import own_values
from synth.annotate.rewards.reward import VERIFIERS
from synth.annotate.rewards.truth import ground_truth
from synth.environments.contract import Environment
from synth.identity import digest
from synth.prompting import PromptRef, load_prompt
from synth.schemas.rl import ExtraInfo, Message, RewardModel, RlRow, RunValues, TurnValue, Verifier
from synth.schemas.row import Row
from synth.schemas.steps import StepRow
from synth.schemas.tasks import Task
from synth.stages.contract import Context, Implementation, Outcome, RowStage, StageConfig
from synth.store.tables import RowsByKey

__all__ = ["RlRows", "RlRowsConfig"]


class RlRowsConfig(StageConfig):
    environment: Implementation
    """Whose tools the policy has."""
    reward: Implementation | None = None
    """The reward function of the rows; None = the one that ships. One of the user's is tried on the right answer of
    each row and on none."""
    citations: PromptRef | None = None
    """What asks for citations, below the system prompt; None = nothing does."""
    prompt: str = "rl/search"
    """The system prompt's file, without its version. It asks for the way to the answer, which the rubric rewards."""
    prompt_version: int
    prompt_sha256: str
    """Version and hash of the file: a build never takes another one silently."""


class RlRows(RowStage[RlRowsConfig, Task]):
    """One row per task."""

    name = "rl"
    version = 22
    config_type = RlRowsConfig
    reads = ("tasks",)
    optional = ("policy_steps", "teacher_steps")
    known_as: ClassVar[Mapping[str, str]] = {"policy_steps": "steps@policy", "teacher_steps": "steps@teacher"}
    looks_up = frozenset(optional)
    writes: ClassVar[Mapping[str, type[Row]]] = {"rl": RlRow}
    over = "tasks"
    libraries = ("numpy",)
    rows_per_shard = 256

    def __init__(self, config: RlRowsConfig, context: Context) -> None:
        super().__init__(config, context)
        self._environment: Environment = config.environment.make(inputs=context.inputs)
        prompt = load_prompt(config.prompt, config.prompt_version)
        if prompt.ref.sha256 != config.prompt_sha256:
            raise ValueError(f"prompt {prompt.ref} is not the one that was planned ({config.prompt_sha256})")
        self._system = prompt.render(instructions=self._environment.instructions())
        self._verifier = Verifier()
        self._own: str | None = None
        if config.reward is not None:
            name = config.reward.factory
            if (source := config.reward.versions.get("source")) is not None:
                self._own, name = name, f"{name}@{source}"
            self._verifier = VERIFIERS.get(name) or Verifier(function=name, version=config.reward.version or 1)
        if config.citations is not None:
            cite = load_prompt(config.citations.id, config.citations.version)
            if cite.ref != config.citations:
                raise ValueError(f"prompt {cite.ref} is not the one that was planned ({config.citations})")
            self._system += "\n\n" + cite.render()
        self._steps = [
            RowsByKey(context.inputs.table(name), "task_id") for name in self.optional if name in context.inputs
        ]
        self._tools = tuple(tool.function() for tool in self._environment.tools())
        self._provenance = context.provenance.model_copy(update={"prompt": str(prompt.ref)})

    def process(self, row: Task) -> Outcome:
        truth = ground_truth(row)
        if self._own is not None:
            own_values(self._own, [truth.answer, ""], truth)  # it fails here, not in a trainer
        name = f"rl-{digest('rl', row.id, self._system, self._tools, truth.model_dump(mode='json'))[:16]}"
        made = RlRow(
            id=name,
            task_id=row.id,
            data_source=self._provenance.dataset,
            prompt=(Message(role="system", content=self._system), Message(role="user", content=row.question)),
            tools=self._tools,
            reward_model=RewardModel(ground_truth=truth),
            verifier=self._verifier,
            extra_info=ExtraInfo(index=row.candidate_index, split=row.split, id=name, task_id=row.id),
            runs=tuple(self._runs(row.id)),
            environment=self._environment.name,
            environment_version=self._environment.version,
            shape=row.shape,
            hops=len(row.walk.hops),
            obfuscation=row.obfuscation,
            split=row.split,
            licence=row.licence,
            provenance=self._provenance,
        )
        return Outcome(kept=(made,))

    def _runs(self, task_id: str) -> Iterator[RunValues]:
        for table in self._steps:
            steps: Sequence[StepRow] = table.rows(task_id)
            for run, of in groupby(steps, key=lambda step: (step.trajectory_id, step.role)):
                yield RunValues(trajectory_id=run[0], role=run[1], turns=tuple(TurnValue.of(step) for step in of))
