"""Make good runs of the policy's failed ones: cut where they went wrong, and let it go on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from synth.agents.contract import Policy
from synth.agents.loop import Limits, Rollout
from synth.agents.management import Acting, Management
from synth.agents.reflection import Reflector
from synth.agents.trajectory import injected_rows, to_row
from synth.annotate.critical.branching import Continuation
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.labels.label import StepLabel, label
from synth.annotate.refinement.refiner import Refiner, Unrefined
from synth.environments.contract import Environment
from synth.schemas.details import details_with
from synth.schemas.injected import InjectedError
from synth.schemas.refined import How, Refined, Refinement
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.stages.contract import Context, Implementation, Outcome, RowStage, StageConfig
from synth.store.tables import RowsByKey

__all__ = ["Refine", "RefineConfig"]


class RefineConfig(StageConfig):
    policy: Implementation
    """Who goes on: the policy that failed."""
    hinted: Implementation | None = None
    """Who takes a hinted turn, of a policy that can't read hints; None = the policy reads them."""
    environment: Implementation
    """Where it goes on."""
    management: Management | None = None
    """Actions of the policy beside the environment's tools. None = none."""
    reflector: Implementation | None = None
    """Who writes hints; None = the label of the first wrong step says what went wrong."""
    limits: Limits = Limits()
    rollouts: int = Field(ge=1)
    """First tries of each task: refined runs are numbered after them."""
    how: tuple[How, ...]
    """In which ways each failed run is refined, each by itself."""
    tries: int = Field(ge=1, le=64)
    """Tries in each of them, until one comes to the right answer."""
    every: int = Field(ge=1)
    """Steps of a stretch."""
    search: CriticalConfig = CriticalConfig()
    """How stretches are measured."""


class Refine(RowStage[RefineConfig, TrajectoryRow]):
    """Gives every run back, and beside a failed one those that it was refined to. A way that did not work is rejected,
    with the reason."""

    name = "refine"
    version = 65
    config_type = RefineConfig
    reads = ("trajectories", "tasks")
    writes: ClassVar[Mapping[str, type[Row]]] = {"trajectories": TrajectoryRow, "injected_errors": InjectedError}
    sealed: ClassVar[frozenset[str]] = frozenset({"injected_errors"})
    over = "trajectories"
    prompts = ("agents/retry/v1",)
    libraries = ("numpy",)
    looks_up = frozenset({"tasks"})
    rows_per_shard = 16

    def __init__(self, config: RefineConfig, context: Context) -> None:
        super().__init__(config, context)
        self._tasks = RowsByKey(context.inputs.table("tasks"), "id")
        self._environment: Environment = context.make(config.environment, inputs=context.inputs)
        self._reflector: Reflector | None = None if config.reflector is None else context.make(config.reflector)
        self._provenance = context.provenance.model_copy(update=config.policy.origin())

    def process(self, row: TrajectoryRow) -> Outcome:
        if row.verdict.correct is not False or row.retry_of is not None:
            return Outcome(kept=(row,))
        task: Task = self._tasks.one(row.task_id)
        labels = label(row, task)
        wrong = next((one for one in labels if one.first_error), None)
        refiner, at = self._refiner(task)
        rows: list[TrajectoryRow] = []
        rejected: list[Rejection] = []
        injected: list[InjectedError] = []
        for place, how in enumerate(self.config.how):
            number = self.config.rollouts + row.rollout * len(self.config.how) + place
            try:
                done, refinement = self._refined(refiner, row, how, wrong)
            except Unrefined as error:
                self.context.metrics.add(f"{how}.failed")
                rejected.append(self._rejection(row, number, how, error))
                continue
            self.context.metrics.add(f"{how}.refined")
            rows.append(self._row(row, at, done, refinement, number))
            injected += injected_rows(done, rows[-1])
        return Outcome((row, *rows), tuple(rejected), {"injected_errors": tuple(injected)})

    def _refiner(self, task: Task) -> tuple[Refiner, Acting]:
        config = self.config
        at = Acting(self._environment, self.context.make(config.policy, task=task), config.management)
        hinted: Policy | None = None if config.hinted is None else self.context.make(config.hinted, task=task)
        refiner = Refiner(
            task,
            at.environment,
            at.policy,
            hinted,
            self._reflector,
            config.limits,
            config.tries,
            self.context.generator,
        )
        return refiner, at

    def _refined(
        self, refiner: Refiner, row: TrajectoryRow, how: How, wrong: StepLabel | None
    ) -> tuple[Rollout, Refinement]:
        """
        Raises:
            Unrefined: it did not work.
        """
        if how == "segment":
            checkpoint = self.context.checkpoint
            return refiner.refine_segments(
                row,
                every=self.config.every,
                config=self.config.search,
                done={key: Continuation.model_validate_json(text) for key, text in checkpoint.parts.items()},
                record=lambda key, one: checkpoint.put(key, one.model_dump_json()),
            )
        if wrong is None:
            raise Unrefined(Reason.NO_FIRST_ERROR, "no label says where it went wrong")
        return refiner.refine(row, how, wrong)

    def _row(
        self, failed: TrajectoryRow, at: Acting, done: Rollout, refinement: Refinement, number: int
    ) -> TrajectoryRow:
        row = to_row(
            done,
            at.environment,
            role=failed.role,
            number=number,
            privileged=failed.privileged,
            provenance=self._provenance.model_copy(update={"prompt": failed.provenance.prompt}),
            model=failed.model,
        )
        details = details_with(row.details, Refined(refined=refinement))
        return row.model_copy(update={"retry_of": failed.id, "details": details})

    def _rejection(self, row: TrajectoryRow, number: int, how: How, error: Unrefined) -> Rejection:
        return Rejection(
            stage=self.name,
            row_id=row.id,
            reason=error.reason,
            detail=f"{how}: {error.detail}"[:1000],
            split=row.split,
            part=number,
            preview=f"{row.role}: {row.answer or row.stop_reason}"[:500],
        )
