"""Pairs that share their prefix: verified steps, whole runs, and good runs spoilt on purpose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import Field

from synth.agents.contract import Policy
from synth.agents.management import Acting, Management, managed
from synth.annotate.preferences.perturb.minimal_edit import MinimalEdit
from synth.annotate.preferences.perturbation import PERTURBATIONS, perturbation_of, perturbation_pairs
from synth.annotate.preferences.repair import Place, failure_of, repair_pairs
from synth.annotate.preferences.select import Selection, select
from synth.annotate.preferences.sides import Pairs
from synth.annotate.preferences.trajectory import trajectory_pairs
from synth.annotate.preferences.verified import verified_step, verified_step_success
from synth.environments.contract import Environment
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.schemas.steps import ContinuationRow, PreferenceRow, StepRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.stages.contract import Context, Implementation, Outcome, RowStage, StageConfig
from synth.store.lookup import RowsByKey

__all__ = [
    "Preferences",
    "PreferencesConfig",
]


class PreferencesConfig(StageConfig):
    environment: Implementation
    """Where perturbed runs are carried out."""
    management: Management | None = None
    """Actions of agents beside the environment's tools. None = none."""
    perturbations: tuple[str, ...] = tuple(PERTURBATIONS)
    """Which errors are put into good runs, each carried out in the environment."""
    kinds_per_run: int = Field(default=4, ge=1, le=20)
    """How many kinds of error are tried on one good run, drawn for each run: families are drawn first, so that no
    family crowds out the others because it has more kinds."""
    per_perturbation: int = Field(default=1, ge=0, le=10)
    """Pairs per good run and kind of error at most; 0 leaves them out."""
    editor: Implementation | None = None
    """Who proposes minimal edits of right turns, for every good run beside the kinds that are drawn. None = nobody."""
    trajectory_ratio: float = Field(default=1.5, ge=1)
    """In a pair of whole runs, the longer side has at most so many times the turns of the shorter."""
    trajectories_per_task: int = Field(default=1, ge=0, le=10)
    """Pairs of whole runs per task at most; 0 leaves them out. Lengths are kept alike in each pair; over all pairs,
    exports even them out."""
    repairer: Implementation | None = None
    """Who proposes repairs of runs that failed on a safety twin: the policy that made them. None = nobody."""
    repairs: int = Field(default=8, ge=0, le=64)
    """Repairs that are proposed for a failed step, until one passes; 0 = none."""
    selection: Selection = Selection()
    """Which pairs are marked as ``selected``."""
    modelled_expert: bool = False
    """A model proposed the alternatives, in words of its own."""


class Preferences(RowStage[PreferencesConfig, Task]):
    """Works task by task: all runs of a task, their steps and their continuations belong together."""

    name = "preferences"
    version = 4
    config_type = PreferencesConfig
    reads = ("tasks", "teacher_runs", "policy_runs", "steps", "continuations")
    known_as: ClassVar[Mapping[str, str]] = {
        "teacher_runs": "trajectories@teacher",
        "policy_runs": "trajectories@policy",
        "steps": "steps@policy",
        "continuations": "continuations@policy",
    }
    writes: ClassVar[Mapping[str, type[Row]]] = {"preferences": PreferenceRow}
    over = "tasks"
    libraries = ("numpy",)
    looks_up = frozenset({"teacher_runs", "policy_runs", "steps", "continuations"})

    def __init__(self, config: PreferencesConfig, context: Context) -> None:
        super().__init__(config, context)
        inputs = context.inputs
        self._teacher = RowsByKey(inputs.table("teacher_runs"), "task_id")
        self._policy = RowsByKey(inputs.table("policy_runs"), "task_id")
        self._steps = RowsByKey(inputs.table("steps"), "trajectory_id")
        self._continuations = RowsByKey(inputs.table("continuations"), "trajectory_id")
        self._editor: MinimalEdit | None = None
        if config.editor is not None:
            self._editor = context.make(config.editor)
            self._editor.count = self._count
        self._bare: Environment = context.make(config.environment, inputs=inputs)
        self._environment: Environment = managed(self._bare, config.management)

    def process(self, row: Task) -> Outcome:
        teacher, policy = self._teacher.rows(row.id), self._policy.rows(row.id)
        found = [self._verified(run) for run in policy]
        if self.config.trajectories_per_task:
            found.append(
                trajectory_pairs(
                    [*teacher, *policy],
                    provenance=self.context.provenance,
                    ratio=self.config.trajectory_ratio,
                    per_task=self.config.trajectories_per_task,
                    stage=self.name,
                )
            )
        if self.config.per_perturbation:
            # The policy's good runs too: a teacher that never fails a call gives no error to ignore.
            found += [self._perturbed(run, row) for run in [*teacher, *policy] if run.verdict.correct is True]
        repaired = [self._repaired(run, row) for run in policy]
        unfit = tuple(
            one.model_copy(update={"row_id": row.id, "part": part, "detail": f"{one.row_id}: {one.detail}"[:500]})
            for part, one in enumerate(one for pairs in repaired for one in pairs.rejected)
        )
        found += [Pairs(pairs.rows) for pairs in repaired]
        rows = select([pair for pairs in found for pair in pairs.rows], self.config.selection)
        if rows:
            return Outcome(kept=rows, rejected=unfit)
        reasons = [rejection for pairs in found for rejection in pairs.rejected]
        detail = (
            "; ".join(f"{one.reason}: {one.detail}" for one in reasons) or "no two runs differ in a way that teaches"
        )
        rejection = Rejection(
            stage=self.name,
            row_id=row.id,
            reason=Reason.NO_PAIR,
            detail=detail,
            split=row.split,
            preview=row.question[:500],
        )
        return Outcome(rejected=(rejection, *unfit))

    def _repaired(self, run: TrajectoryRow, task: Task) -> Pairs:
        """Pairs whose chosen side is the policy's own repair of what it did to a safety twin."""
        who = self.config.repairer
        if who is None or not self.config.repairs or failure_of(run, task) is None:
            return Pairs()
        self._count("failures_on_twins")

        def policy(one: Task) -> Policy:
            return Acting(self._bare, self.context.make(who, task=one), self.config.management).policy

        found = repair_pairs(
            run,
            task,
            Place(self._environment, policy, self.context.generator),
            proposals=self.config.repairs,
            provenance=self.context.provenance.model_copy(update=who.origin()),
            stage=self.name,
        )
        for pair in found.rows:
            self._count(f"repairs.{pair.repair.failure if pair.repair else ''}")
        for one in found.rejected:
            self._count(one.reason.value)
        return found

    def _verified(self, run: TrajectoryRow) -> Pairs:
        steps: Sequence[StepRow] = self._steps.rows(run.id)
        continuations: Sequence[ContinuationRow] = self._continuations.rows(run.id)
        if run.success:
            return verified_step_success(run, steps, continuations, provenance=self.context.provenance, stage=self.name)
        own = True if self.config.modelled_expert else None
        return verified_step(
            run, steps, continuations, provenance=self.context.provenance, stage=self.name, own_words=own
        )

    def _names(self, run: TrajectoryRow) -> tuple[str, ...]:
        generator = self.context.generator(run.id, "perturbations")
        families: dict[str, list[str]] = {}
        for name in sorted(self.config.perturbations):
            families.setdefault(PERTURBATIONS[name].family, []).append(name)
        groups = {family: [names[i] for i in generator.permutation(len(names))] for family, names in families.items()}
        order: list[str] = []
        while any(groups.values()):
            waiting = sorted(family for family, names in groups.items() if names)
            order += [groups[waiting[i]].pop() for i in generator.permutation(len(waiting))]
        return tuple(order[: self.config.kinds_per_run])

    def _perturbed(self, run: TrajectoryRow, task: Task) -> Pairs:
        found = perturbation_pairs(
            run,
            task,
            self._environment,
            generator_for=self.context.generator,
            provenance=self.context.provenance,
            names=self._names(run),
            per_name=self.config.per_perturbation,
            stage=self.name,
            further=() if self._editor is None else (self._editor,),
        )
        return found if self._editor is None else Pairs(tuple(map(self._of_editor, found.rows)), found.rejected)

    def _of_editor(self, pair: PreferenceRow) -> PreferenceRow:
        """A pair that a model proposed says so in its provenance."""
        editor, config = self._editor, self.config.editor
        if editor is None or config is None or perturbation_of(pair) != editor.name:
            return pair
        self._count("edits_accepted")
        origin = {**config.origin(), "prompt": editor.prompt}
        return pair.model_copy(update={"provenance": pair.provenance.model_copy(update=origin)})

    def _count(self, name: str) -> None:
        self.context.notes[name] = self.context.notes.get(name, 0.0) + 1
