"""Tasks as rows for reinforcement learning: prompt, tools, ground truth, rubric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from synth.annotate.rewards.truth import ground_truth
from synth.environments.contract import Environment
from synth.identity import digest
from synth.prompting import load_prompt
from synth.schemas.rl import ExtraInfo, Message, RewardModel, RlRow
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.stages.contract import Context, Implementation, Outcome, RowStage, StageConfig

__all__ = ["RlRows", "RlRowsConfig"]


class RlRowsConfig(StageConfig):
    environment: Implementation
    """Whose tools the policy has."""
    prompt: str = "rl/search"
    """The system prompt's file, without its version. It asks for the way to the answer, which the rubric rewards."""
    prompt_version: int
    prompt_sha256: str
    """Version and hash of the file: a build never takes another one silently."""


class RlRows(RowStage[RlRowsConfig, Task]):
    """One row per task."""

    name = "rl"
    version = 2
    config_type = RlRowsConfig
    reads = ("tasks",)
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
        self._tools = tuple(tool.function() for tool in self._environment.tools())
        self._provenance = context.provenance.model_copy(update={"prompt": str(prompt.ref)})

    def process(self, row: Task) -> Outcome:
        truth = ground_truth(row)
        name = f"rl-{digest('rl', row.id, self._system, self._tools, truth.model_dump(mode='json'))[:16]}"
        made = RlRow(
            id=name,
            task_id=row.id,
            data_source=self._provenance.dataset,
            prompt=(Message(role="system", content=self._system), Message(role="user", content=row.question)),
            tools=self._tools,
            reward_model=RewardModel(ground_truth=truth),
            extra_info=ExtraInfo(index=row.candidate_index, split=row.split, id=name, task_id=row.id),
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
