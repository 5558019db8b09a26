"""Search the policy's trajectories for critical steps: branch, continue, measure (after CSO, arXiv 2602.03412)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from synth.agents.contract import Policy
from synth.agents.management import Acting, Management
from synth.annotate.critical.branching import Continuation, continuation_row
from synth.annotate.critical.candidates import Scored
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.contract import Expert, Scorer
from synth.annotate.critical.firsterror import FirstError
from synth.annotate.critical.search import Searched, search_trajectory
from synth.environments.contract import Environment
from synth.identity import digest
from synth.schemas.judgments import JudgmentKind, JudgmentRow
from synth.schemas.plans import Planned
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason
from synth.schemas.row import Row
from synth.schemas.searched import SearchedRow, SearchedStep
from synth.schemas.steps import ContinuationRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.stages.contract import Context, Implementation, Outcome, RowStage, StageConfig
from synth.store.tables import RowsByKey

__all__ = [
    "CriticalSteps",
    "CriticalStepsConfig",
    "action_judgment",
    "searched_row",
]


class CriticalStepsConfig(StageConfig):
    policy: Implementation
    """Who continues: the same policy that made the trajectories."""
    expert: Implementation
    """Who proposes other actions."""
    scorer: Implementation
    """Who scores actions."""
    environment: Implementation
    """Where continuations run."""
    management: Management | None = None
    """Actions of the policy beside the environment's tools. None = none."""
    search: CriticalConfig = CriticalConfig()
    """Thresholds, tests and budgets."""
    successes: bool = True
    """Also search successful runs, for actions that would have spoilt them."""
    share: float = Field(default=1.0, gt=0, le=1)
    """Share of the runs that is searched, drawn by each run's own generator."""


class CriticalSteps(RowStage[CriticalStepsConfig, TrajectoryRow]):
    """Every finished continuation is noted at once, so an interrupted search draws none of them again."""

    name = "critical_steps"
    version = 34
    config_type = CriticalStepsConfig
    reads = ("trajectories", "tasks")
    writes: ClassVar[Mapping[str, type[Row]]] = {
        "searched": SearchedRow,
        "continuations": ContinuationRow,
        "judgments": JudgmentRow,
    }
    over = "trajectories"
    libraries = ("numpy",)
    looks_up = frozenset({"tasks"})
    rows_per_shard = 16

    def __init__(self, config: CriticalStepsConfig, context: Context) -> None:
        super().__init__(config, context)
        self._tasks = RowsByKey(context.inputs.table("tasks"), "id")
        self._environment: Environment = context.make(config.environment, inputs=context.inputs)
        self._expert: Expert = context.make(config.expert)
        self._scorer: Scorer = context.make(config.scorer)
        self._provenance = context.provenance.model_copy(update=config.policy.origin())

    def process(self, row: TrajectoryRow) -> Outcome:
        left_out = float(self.context.generator(row.id, "searched").random()) >= self.config.share
        if left_out or row.retry_of is not None or (row.success and not self.config.successes):
            return Outcome(kept=(_unsearched(row),))
        task: Task = self._tasks.one(row.task_id)
        checkpoint = self.context.checkpoint
        bare = _is_bare(task)
        policy: Policy = self.context.make(self.config.policy, task=task)
        at = Acting(self._environment, policy, self.config.management)
        found = search_trajectory(
            row,
            task,
            at.environment,
            at.policy,
            scorer=None if bare and self.config.scorer.kind == "evidence" else self._scorer,
            expert=None if bare and self.config.expert.kind == "scripted" else self._expert,
            config=self.config.search,
            generator=self.context.generator,
            done={key: Continuation.model_validate_json(text) for key, text in checkpoint.parts.items()},
            record=lambda key, one: checkpoint.put(key, one.model_dump_json()),
        )
        for name, count in found.counts.items():
            self.context.metrics.add(name, count)
        continuations = tuple(continuation_row(one, row, self._provenance) for one in found.continuations)
        return Outcome(
            kept=(searched_row(row, found),),
            side={"continuations": continuations, "judgments": self._verdicts(row, found)},
        )

    def _verdicts(self, row: TrajectoryRow, found: Searched) -> tuple[JudgmentRow, ...]:
        """What a model scored. The embedded scorer's words follow from the rows and can be made again at any time."""
        scorer = self.config.scorer
        if scorer.kind == "evidence":
            return ()
        provenance = self.context.provenance.model_copy(update=scorer.origin() | _prompt_of(scorer))
        return tuple(action_judgment(row, one, provenance) for one in found.scored)


def _is_bare(task: Task) -> bool:
    """Whether neither evidence nor a plan is known: the embedded expert and scorer have nothing to go by."""
    return not task.walk.hops and not Planned.stand_in(task.details)


def _prompt_of(scorer: Implementation) -> dict[str, str]:
    told = [str(value) for name, value in scorer.versions.items() if name.startswith("prompt ")]
    return {"prompt": told[0]} if told else {}


def action_judgment(row: TrajectoryRow, scored: Scored, provenance: Provenance) -> JudgmentRow:
    """The row of ``judgments`` for the score of one action."""
    score = scored.score
    silent = score.value is None
    return JudgmentRow(
        id=f"verdict-{digest('verdict', JudgmentKind.ACTION, row.id, scored.step, scored.alternative)[:16]}",
        kind=JudgmentKind.ACTION,
        task_id=row.task_id,
        trajectory_id=row.id,
        step=scored.step,
        alternative=scored.alternative,
        pair_id=None,
        verdict="abstains" if silent else "scored",
        value=score.value,
        parts={},
        cites=(),
        reason=score.reason,
        abstained=(score.abstained or Reason.UNSURE) if silent else None,
        calls=score.calls,
        split=row.split,
        provenance=provenance,
    )


def _unsearched(row: TrajectoryRow) -> SearchedRow:
    return SearchedRow(
        id=row.id, task_id=row.task_id, failed=not row.success, refused=None, steps=(), counts={}, split=row.split
    )


def searched_row(row: TrajectoryRow, found: Searched) -> SearchedRow:
    """What the search of ``row`` found, step by step: what labels are made with."""
    pivots = {spread.step: spread.pivot for spread in found.spreads}
    steps = []
    for step in range(found.steps if found.scores else 0):
        criticality = found.criticality(step)
        steps.append(
            SearchedStep(
                step=step,
                score=found.scores[step],
                criticality=criticality,
                alternative=-1 if criticality is None else criticality.alternative,
                advantage=found.advantages[step],
                pivot=pivots.get(step),
                first_error=_wrong(found.first_error, step),
            )
        )
    return SearchedRow(
        id=row.id,
        task_id=row.task_id,
        failed=not row.success,
        refused=None if found.refused is None else f"{found.refused.reason.value}: {found.refused.detail}",
        steps=tuple(steps),
        counts=dict(found.counts),
        split=row.split,
    )


def _wrong(found: FirstError | None, step: int) -> bool | None:
    if found is None or found.step is None:
        return None
    return found.step == step
