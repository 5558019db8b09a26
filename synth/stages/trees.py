"""Grow a tree over the policy's first run of each task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from pydantic import Field

from synth.agents.loop import Limits
from synth.agents.management import Acting, Management
from synth.agents.trajectory import injected_rows, to_row
from synth.annotate.refinement.tree import TreeLimits, TreeRun, grow
from synth.environments.contract import Environment
from synth.schemas.details import details_with
from synth.schemas.injected import InjectedError
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.schemas.trees import Branch, Grown, TreeNodeRow
from synth.stages.contract import Context, Implementation, Outcome, RowStage, StageConfig
from synth.store.tables import RowsByKey

__all__ = ["Trees", "TreesConfig"]


class TreesConfig(StageConfig):
    policy: Implementation
    """Who goes on: the policy whose runs these are."""
    environment: Implementation
    """Where it goes on."""
    management: Management | None = None
    """Actions of the policy beside the environment's tools. None = none."""
    limits: Limits = Limits()
    number: int = Field(ge=1)
    """Branches of a task are numbered from here: after all its other runs."""
    tree: TreeLimits
    """How much is drawn."""


class Trees(RowStage[TreesConfig, TrajectoryRow]):
    """Gives every run back, and behind the first one of a task the branches that grew over it."""

    name = "trees"
    version = 29
    config_type = TreesConfig
    reads = ("trajectories", "tasks")
    writes: ClassVar[Mapping[str, type[Row]]] = {
        "trajectories": TrajectoryRow,
        "tree_nodes": TreeNodeRow,
        "injected_errors": InjectedError,
    }
    sealed: ClassVar[frozenset[str]] = frozenset({"injected_errors"})
    over = "trajectories"
    libraries = ("numpy",)
    looks_up = frozenset({"tasks"})
    rows_per_shard = 16

    def __init__(self, config: TreesConfig, context: Context) -> None:
        super().__init__(config, context)
        self._tasks = RowsByKey(context.inputs.table("tasks"), "id")
        self._environment: Environment = context.make(config.environment, inputs=context.inputs)
        self._provenance = context.provenance.model_copy(update=config.policy.origin())

    def process(self, row: TrajectoryRow) -> Outcome:
        if row.rollout or row.retry_of is not None or row.verdict.correct is None:
            return Outcome(kept=(row,))
        task: Task = self._tasks.one(row.task_id)
        at = Acting(self._environment, self.context.make(self.config.policy, task=task), self.config.management)
        try:
            runs = grow(
                row,
                task,
                at.environment,
                at.policy,
                tree=self.config.tree,
                limits=self.config.limits,
                generator=self.context.generator,
            )
        except ValueError as error:
            rejected = Rejection(
                stage=self.name,
                row_id=row.id,
                reason=Reason.ENVIRONMENT_ERROR,
                detail=str(error)[:1000],
                split=row.split,
                part=0,
            )
            return Outcome((row,), (rejected,))
        ids = {0: row.id}
        branches: list[TrajectoryRow] = []
        injected: list[InjectedError] = []
        for run in runs[1:]:
            branches.append(self._row(row, at, run, ids))
            ids[run.number] = branches[-1].id
            injected += injected_rows(run.done, branches[-1])
        self.context.metrics.add("branches", len(branches))
        nodes = tuple(self._nodes(row, runs, ids))
        return Outcome((row, *branches), side={"tree_nodes": nodes, "injected_errors": tuple(injected)})

    def _row(self, trunk: TrajectoryRow, at: Acting, run: TreeRun, ids: Mapping[int, str]) -> TrajectoryRow:
        assert run.parent is not None
        row = to_row(
            run.done,
            at.environment,
            role=trunk.role,
            number=self.config.number + run.number - 1,
            privileged=trunk.privileged,
            provenance=self._provenance.model_copy(update={"prompt": trunk.provenance.prompt}),
            model=trunk.model,
        )
        details = details_with(row.details, Grown(branch=Branch(step=run.step)))
        return row.model_copy(update={"retry_of": ids[run.parent.number], "details": details})

    def _nodes(self, trunk: TrajectoryRow, runs: Sequence[TreeRun], ids: Mapping[int, str]) -> Iterator[TreeNodeRow]:
        through: dict[tuple[int, int], list[bool]] = defaultdict(list)
        for run in runs:
            if run.done.verdict.correct is not None:
                for step in range(len(run.done.history)):
                    through[run.owner(step).number, step].append(run.done.verdict.correct)
        for run in runs:
            for step in range(run.step, len(run.done.history)):
                ends = through[run.number, step]
                draws, of = run.drawn.get(step, (1, 1))
                yield TreeNodeRow(
                    id=f"{ids[run.number]}/{step}",
                    task_id=trunk.task_id,
                    trajectory_id=ids[run.number],
                    step=step,
                    parent=None if step == 0 else f"{ids[run.owner(step - 1).number]}/{step - 1}",
                    draws=draws,
                    of=of,
                    successes=sum(ends),
                    leaves=len(ends),
                    value=sum(ends) / len(ends) if ends else None,
                    split=trunk.split,
                    provenance=self._provenance,
                )
