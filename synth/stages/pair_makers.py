"""Makers of preference pairs, each a stage of its own: verified steps, whole runs, injected errors, repairs.

All write the table ``pairs``, and one row of ``pair_notes`` per task; the stage ``preferences`` gathers what they and
others wrote, and selects. Real failures come first: errors are put into good runs only where a task has too few pairs.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, TypeVar

from pydantic import Field

from synth.agents.contract import Policy
from synth.agents.management import Acting, Management, managed
from synth.annotate.preferences.perturb.minimal_edit import MinimalEdit
from synth.annotate.preferences.perturbation import OF_FORM, PERTURBATIONS, perturbation_of, perturbation_pairs
from synth.annotate.preferences.refined import refined_pairs
from synth.annotate.preferences.repair import RepairContext, failure_of, repair_pairs
from synth.annotate.preferences.sides import Pairs
from synth.annotate.preferences.trajectory import trajectory_pairs
from synth.annotate.preferences.verified import verified_pairs
from synth.annotate.refinement.siblings import sibling_pairs
from synth.environments.contract import Environment
from synth.schemas.preferences import PreferenceRow
from synth.schemas.reworked import Reworked
from synth.schemas.row import Row
from synth.schemas.searched import PairNotes
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.stages.contract import Context, Implementation, Outcome, RowStage, StageConfig
from synth.store.tables import RowsByKey

__all__ = [
    "PairMaker",
    "PerturbedPairs",
    "PerturbedPairsConfig",
    "RefinedPairs",
    "RepairedPairs",
    "RepairedPairsConfig",
    "SiblingPairs",
    "SiblingPairsConfig",
    "TrajectoryPairs",
    "TrajectoryPairsConfig",
    "VerifiedPairs",
    "VerifiedPairsConfig",
]

C = TypeVar("C", bound=StageConfig)


class PairMaker(RowStage[C, Task]):
    """Makes pairs of all runs of a task."""

    reads: ClassVar[tuple[str, ...]] = ("tasks", "teacher_runs", "policy_runs")
    known_as: ClassVar[Mapping[str, str]] = {
        "teacher_runs": "trajectories@teacher",
        "policy_runs": "trajectories@policy",
        "steps": "steps@policy",
        "continuations": "continuations@policy",
        "searched": "searched@policy",
    }
    writes: ClassVar[Mapping[str, type[Row]]] = {"pair_notes": PairNotes, "pairs": PreferenceRow}
    over = "tasks"
    looks_up: ClassVar[frozenset[str]] = frozenset({"teacher_runs", "policy_runs"})

    def __init__(self, config: C, context: Context) -> None:
        super().__init__(config, context)
        self._teacher = RowsByKey(context.inputs.table("teacher_runs"), "task_id")
        self._policy = RowsByKey(context.inputs.table("policy_runs"), "task_id")

    @abstractmethod
    def pairs(self, task: Task, teacher: Sequence[TrajectoryRow], policy: Sequence[TrajectoryRow]) -> Pairs:
        """Pairs of the runs of ``task``, and what did not become one."""

    @classmethod
    def stream(cls, config: C) -> str:
        """All makers draw from one stream, by the run and by what is tried on it."""
        return super().stream(config).replace(cls.name, "preferences")

    def process(self, row: Task) -> Outcome:
        made = self.pairs(row, *(_first_hand(runs.rows(row.id)) for runs in (self._teacher, self._policy)))
        failed = tuple(
            one.model_copy(update={"row_id": row.id, "part": part, "detail": f"{one.row_id}: {one.detail}"[:500]})
            for part, one in enumerate(made.rejected)
        )
        notes = PairNotes(id=row.id, made=len(made.rows), unpaired=made.unpaired, split=row.split)
        return Outcome(kept=(notes,), rejected=failed, side={"pairs": made.rows})


def _first_hand(runs: Sequence[TrajectoryRow]) -> Sequence[TrajectoryRow]:
    """Those that were acted: one that was made of a finished run differs from others by its form."""
    return [run for run in runs if not Reworked.stand_in(run.details)]


class VerifiedPairsConfig(StageConfig):
    model_expert: bool = False
    """A model proposed the alternatives, in words of its own."""


class VerifiedPairs(PairMaker[VerifiedPairsConfig]):
    name = "verified_pairs"
    version = 129
    config_type = VerifiedPairsConfig
    reads: ClassVar[tuple[str, ...]] = (*PairMaker.reads, "steps", "continuations")
    optional: ClassVar[tuple[str, ...]] = ("searched",)
    looks_up: ClassVar[frozenset[str]] = PairMaker.looks_up | {"steps", "continuations", "searched"}

    def __init__(self, config: VerifiedPairsConfig, context: Context) -> None:
        super().__init__(config, context)
        self._steps = RowsByKey(context.inputs.table("steps"), "trajectory_id")
        self._continuations = RowsByKey(context.inputs.table("continuations"), "trajectory_id")
        inputs = context.inputs
        self._searched = RowsByKey(inputs.table("searched"), "id") if "searched" in inputs else None

    def pairs(self, task: Task, teacher: Sequence[TrajectoryRow], policy: Sequence[TrajectoryRow]) -> Pairs:
        return sum(map(self._of, policy), Pairs())

    def _of(self, run: TrajectoryRow) -> Pairs:
        steps, tried = self._steps.rows(run.id), self._continuations.rows(run.id)
        own = True if self.config.model_expert else None
        return verified_pairs(
            run,
            steps,
            tried,
            provenance=self.context.provenance,
            stage=self.name,
            own_words=own,
            searched=None if self._searched is None else self._searched.one(run.id),
        )


class RefinedPairs(PairMaker[StageConfig]):
    """Pairs at the pivots of refined runs."""

    name = "refined_pairs"
    version = 126
    config_type = StageConfig
    reads: ClassVar[tuple[str, ...]] = (*PairMaker.reads, "steps")
    looks_up: ClassVar[frozenset[str]] = PairMaker.looks_up | {"steps"}

    def __init__(self, config: StageConfig, context: Context) -> None:
        super().__init__(config, context)
        self._steps = RowsByKey(context.inputs.table("steps"), "trajectory_id")

    def pairs(self, task: Task, teacher: Sequence[TrajectoryRow], policy: Sequence[TrajectoryRow]) -> Pairs:
        steps = {run.id: self._steps.rows(run.id) for run in policy}
        return refined_pairs(policy, steps, provenance=self.context.provenance, stage=self.name)


class SiblingPairsConfig(StageConfig):
    gap: float = Field(default=0.5, gt=0, le=1)
    """Values of both sides differ by so much at least."""


class SiblingPairs(PairMaker[SiblingPairsConfig]):
    """Pairs of siblings in trees of runs."""

    name = "sibling_pairs"
    version = 121
    config_type = SiblingPairsConfig
    reads: ClassVar[tuple[str, ...]] = (*PairMaker.reads, "tree_nodes")
    known_as: ClassVar[Mapping[str, str]] = {**PairMaker.known_as, "tree_nodes": "tree_nodes@policy"}
    looks_up: ClassVar[frozenset[str]] = PairMaker.looks_up | {"tree_nodes"}

    def __init__(self, config: SiblingPairsConfig, context: Context) -> None:
        super().__init__(config, context)
        self._nodes = RowsByKey(context.inputs.table("tree_nodes"), "task_id")

    def pairs(self, task: Task, teacher: Sequence[TrajectoryRow], policy: Sequence[TrajectoryRow]) -> Pairs:
        return sibling_pairs(
            self._nodes.rows(task.id),
            {run.id: run for run in policy},
            gap=self.config.gap,
            provenance=self.context.provenance,
            stage=self.name,
        )


class TrajectoryPairsConfig(StageConfig):
    ratio: float = Field(default=1.25, ge=1)
    """The longer side has at most so many times the turns of the shorter."""
    per_task: int = Field(default=1, ge=1, le=10)
    """Pairs per task at most. Lengths are kept alike in each pair; over all pairs, exports even them out."""


class TrajectoryPairs(PairMaker[TrajectoryPairsConfig]):
    name = "trajectory_pairs"
    version = 129
    config_type = TrajectoryPairsConfig

    def pairs(self, task: Task, teacher: Sequence[TrajectoryRow], policy: Sequence[TrajectoryRow]) -> Pairs:
        return trajectory_pairs(
            [*teacher, *policy],
            provenance=self.context.provenance,
            ratio=self.config.ratio,
            per_task=self.config.per_task,
            stage=self.name,
        )


class PerturbedPairsConfig(StageConfig):
    environment: Implementation
    """Where perturbed runs are carried out."""
    management: Management | None = None
    """Actions of agents beside the environment's tools. None = none."""
    perturbations: tuple[str, ...] = tuple(PERTURBATIONS)
    """Which errors are put into good runs, each carried out in the environment."""
    fill: int = Field(default=1, ge=0, le=20)
    """A task with fewer pairs of the makers before gets pairs with injected errors until it has so many. Kinds of error
    are drawn for each run, families first, so that no family crowds out the others because it has more kinds."""
    perturber: Implementation | None = None
    """Who proposes minimal edits of right turns, for every good run beside the kinds that are drawn. None = no one."""


_FORM_SHARE = 0.1
"""Share of the runs in which an error may be one of form; such pairs are easy, and teach little."""


class PerturbedPairs(PairMaker[PerturbedPairsConfig]):
    name = "perturbed_pairs"
    version = 129
    config_type = PerturbedPairsConfig
    gathers = ("pairs",)
    looks_up: ClassVar[frozenset[str]] = PairMaker.looks_up | {"pairs"}
    libraries = ("numpy",)

    def __init__(self, config: PerturbedPairsConfig, context: Context) -> None:
        super().__init__(config, context)
        self._made = [RowsByKey(table, "task_id") for table in context.inputs.gathered("pairs")]
        self._perturber: MinimalEdit | None = None
        if config.perturber is not None:
            self._perturber = context.make(config.perturber)
            self._perturber.count = context.metrics.add
        environment: Environment = context.make(config.environment, inputs=context.inputs)
        self._environment = managed(environment, config.management)

    def pairs(self, task: Task, teacher: Sequence[TrajectoryRow], policy: Sequence[TrajectoryRow]) -> Pairs:
        # The policy's good runs too: a teacher that never fails a call gives no error to ignore.
        missing = self.config.fill - sum(len(table.rows(task.id)) for table in self._made)
        found = Pairs()
        for run in (*teacher, *policy):
            if run.verdict.correct is True and (missing > 0 or self._perturber is not None):
                made = self._of(run, task, max(0, missing))
                missing -= sum(pair.rejected_by == "rule" for pair in made.rows)
                found += made
        return found

    def _of(self, run: TrajectoryRow, task: Task, wanted: int) -> Pairs:
        found = perturbation_pairs(
            run,
            task,
            self._environment,
            generator_for=self.context.generator,
            provenance=self.context.provenance,
            names=self._names(run) if wanted else (),
            wanted=wanted,
            stage=self.name,
            further=() if self._perturber is None else (self._perturber,),
        )
        return found if self._perturber is None else Pairs(tuple(map(self._of_perturber, found.rows)), found.rejected)

    def _names(self, run: TrajectoryRow) -> tuple[str, ...]:
        generator = self.context.generator(run.id, "perturbations")
        families: dict[str, list[str]] = {}
        form = float(generator.random()) < _FORM_SHARE
        for name in sorted(self.config.perturbations):
            if name in OF_FORM and not form:
                continue
            families.setdefault(PERTURBATIONS[name].family, []).append(name)
        groups = {family: [names[i] for i in generator.permutation(len(names))] for family, names in families.items()}
        order: list[str] = []
        while any(groups.values()):
            waiting = sorted(family for family, names in groups.items() if names)
            order += [groups[waiting[i]].pop() for i in generator.permutation(len(waiting))]
        return tuple(order)

    def _of_perturber(self, pair: PreferenceRow) -> PreferenceRow:
        """A pair that a model proposed says so in its provenance."""
        perturber, config = self._perturber, self.config.perturber
        if perturber is None or config is None or perturbation_of(pair) != perturber.name:
            return pair
        self.context.metrics.add("edits_accepted")
        origin = {**config.origin(), "prompt": perturber.prompt}
        return pair.model_copy(update={"provenance": pair.provenance.model_copy(update=origin)})


class RepairedPairsConfig(StageConfig):
    environment: Implementation
    """Where repairs are tried."""
    management: Management | None = None
    """Actions of agents beside the environment's tools. None = none."""
    repairer: Implementation
    """Who proposes repairs of runs that failed on a safety twin: the policy that made them."""
    hinted: Implementation | None = None
    """Who takes hinted turns, of a policy that can't read hints; None = the policy reads them."""
    repairs: int = Field(default=8, ge=1, le=64)
    """Repairs that are proposed for a failed step, every other one with a hint."""


class RepairedPairs(PairMaker[RepairedPairsConfig]):
    """Pairs whose chosen side is the policy's own repair of what it did to a safety twin."""

    name = "repaired_pairs"
    version = 129
    config_type = RepairedPairsConfig
    prompts = ("agents/retry/v1",)
    libraries = ("numpy",)

    def __init__(self, config: RepairedPairsConfig, context: Context) -> None:
        super().__init__(config, context)
        self._bare: Environment = context.make(config.environment, inputs=context.inputs)
        self._environment: Environment = managed(self._bare, config.management)

    def pairs(self, task: Task, teacher: Sequence[TrajectoryRow], policy: Sequence[TrajectoryRow]) -> Pairs:
        return sum((self._of(run, task) for run in policy if failure_of(run, task) is not None), Pairs())

    def _of(self, run: TrajectoryRow, task: Task) -> Pairs:
        self.context.metrics.add("failures_on_twins")
        who, told = self.config.repairer, self.config.hinted

        def acting(who: Implementation) -> Callable[[Task], Policy]:
            return lambda one: Acting(self._bare, self.context.make(who, task=one), self.config.management).policy

        hinted = None if told is None else acting(told)
        found = repair_pairs(
            run,
            task,
            RepairContext(self._environment, acting(who), self.context.generator, hinted),
            proposals=self.config.repairs,
            provenance=self.context.provenance.model_copy(update=who.origin()),
            stage=self.name,
        )
        for pair in found.rows:
            if pair.repair is not None:
                self.context.metrics.add(f"repairs.{pair.repair.failure}")
                self.context.metrics.add("repairs.hinted" if pair.repair.hinted else "repairs.unaided")
        for one in found.rejected:
            self.context.metrics.add(one.reason.value)
        return found
