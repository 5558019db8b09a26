"""Labels, critical steps and pairs for trajectories that the user recorded: ``synth.annotate``.

How far it goes depends on what is given. Trajectories and questions are enough for labels of steps and for pairs of
whole runs. With the environment that they were recorded in, each trajectory is replayed, and good runs are spoilt on
purpose (``perturbation``). With the policy as well, critical steps are searched and verified by its continuations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from synth.agents.contract import Policy
from synth.annotate.critical.branching import continuation_row
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.contract import Expert, Scorer
from synth.annotate.critical.scoring import EvidenceScorer
from synth.annotate.critical.scripted_expert import scripted_expert
from synth.annotate.critical.search import Searched, search_trajectory
from synth.annotate.labels.label import label
from synth.annotate.preferences.perturbation import perturbation_pairs
from synth.annotate.preferences.sides import Pairs
from synth.annotate.preferences.trajectory import trajectory_pairs
from synth.annotate.preferences.verified import verified_pairs
from synth.dataset.configs import config_named
from synth.dataset.layout import write_dataset
from synth.environments.contract import Environment
from synth.errors import InputError
from synth.identity import derive_generator, digest
from synth.pipelines.recorded import (
    STAGE,
    Recorded,
    read_rows,
    read_tasks,
    read_values,
    refused,
    role_of_runs,
    runs_report,
)
from synth.schemas.arrow import to_arrow
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.reports import BuildReport, StageReport
from synth.schemas.steps import ContinuationRow, PreferenceRow, StepRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import RECORDED, TrajectoryRow
from synth.stages.critical_steps import searched_row
from synth.store import check_destination

__all__ = ["Annotated", "annotate"]


@dataclass(frozen=True)
class Annotated:
    """What came of the user's trajectories. Each row type is that of the datasets that `synth build` makes."""

    tasks: tuple[Task, ...]
    """Those that a trajectory was made on."""
    trajectories: tuple[TrajectoryRow, ...]
    steps: tuple[StepRow, ...]
    continuations: tuple[ContinuationRow, ...]
    preferences: tuple[PreferenceRow, ...]
    rejected: tuple[Rejection, ...]
    """What could not be read, replayed or paired, and why."""
    provenance: Provenance
    """Of what was made here."""

    def save(self, folder: Path | str) -> Path:
        """Write a dataset, with card and report, that ``synth.load`` opens and ``synth export`` takes.

        Raises:
            StoreError: the folder is not empty, or can't be written.
            InputError: it is a URL.
        """
        check_destination(folder, marker=None)
        path = Path(folder)
        tables = {
            field.name: to_arrow(getattr(self, field.name), config_named(field.name).row_type)
            for field in fields(self)
            if field.name != "provenance"
        }
        write_dataset(path, tables, self._report())
        return path

    def _report(self) -> BuildReport:
        runs = Counter((row.role, row.task_id, row.model) for row in self.trajectories)
        whole = {one.row_id: str(one.reason) for one in reversed(self.rejected) if one.part is None}
        stage = StageReport(
            label=STAGE,
            stage=STAGE,
            version=self.provenance.stage_version,
            fingerprint=self.provenance.fingerprint,
            rows_in=len(self.trajectories) + len(whole),
            kept=len(self.trajectories),
            rejected=dict(sorted(Counter(whole.values()).items())),
        )
        roles = [
            role_of_runs(
                role,
                {model for one, _, model in runs if one == role},
                max(count for (one, _, _), count in runs.items() if one == role),
            )
            for role in sorted({role for role, _, _ in runs})
        ]
        notes = ("Runs were recorded elsewhere. Labels say what they rest on; null: nothing was measured.",)
        return runs_report(self.provenance, [stage], roles, command="synth.annotate(RUNS, QUESTIONS)", notes=notes)


def annotate(
    trajectories: Path | str | Iterable[Recorded],
    tasks: Path | str | Iterable[Task],
    *,
    environment: Environment | None = None,
    policy: Callable[[Task], Policy] | None = None,
    expert: Expert | None = None,
    scorer: Scorer | None = None,
    search: CriticalConfig | None = None,
    name: str = "recorded",
    licence: str | None = None,
    seed: int = 7,
) -> Annotated:
    """Label recorded trajectories and make pairs of them.

        found = synth.annotate("runs.jsonl", "questions.jsonl")
        found.save("out/labelled")

    Args:
        trajectories: Agent Data Protocol trajectories, a JSON Lines file of them, or rows of ours.
            :mod:`synth.agents.imported` says which keys of ``details`` are read.
        tasks: Questions with gold answers (a file as for ``--tasks-file``; evidence is not looked for), or tasks of
            ours. A task without a walk has no evidence to measure against: then only calls and the answer are judged.
        environment: Where the trajectories were recorded. What it answers otherwise now is labelled all the same, and
            its continuations and perturbations are refused with a reason.
        policy: Who continues from the steps of a task's trajectories; needs ``environment``. It must be the agent that
            made them, or what is verified holds for another agent.
        expert: Who proposes other actions; without it the scripted one.
        scorer: Who judges actions; without it the one that measures against the task's evidence.
        search: Budgets and thresholds of the search.
        name: Name of the collection, on every row.
        licence: SPDX id of what the observations quote.
        seed: Of everything that is drawn.

    A chosen side must pass the check of groundedness, whose plain words are those of the scripted agents: pairs whose
    chosen side speaks otherwise are rejected as ``ungrounded`` and not made.

    Raises:
        InputError: a file can't be read, a policy without an environment, or two tasks that ask the same.
    """
    if policy is not None and environment is None:
        raise InputError("a policy can't continue without an environment", mend="give environment= as well")
    values, sha = read_values(trajectories)
    provenance = Provenance(
        dataset=name,
        stage=STAGE,
        stage_version=1,
        fingerprint=digest(STAGE, sha, seed, name),
        seed=seed,
        source=name,
        source_sha256=sha,
        backend=RECORDED,
    )
    known, rejected = read_tasks(tasks, provenance, licence, environment.name if environment is not None else RECORDED)
    rows, refusals = read_rows(values, known, environment, provenance)
    work = _Work(environment, policy, expert or scripted_expert(), scorer or EvidenceScorer(), search, provenance)
    for row in rows:
        work.take(row, known.find(row.task_id))
    work.pairs()
    used = {row.task_id for row in rows}
    return Annotated(
        tasks=tuple(task for task in known.all if task.id in used),
        trajectories=tuple(rows),
        steps=tuple(work.steps),
        continuations=tuple(work.continuations),
        preferences=tuple({pair.id: pair for pair in work.preferences}.values()),
        rejected=(*rejected, *refusals, *work.rejected),
        provenance=provenance,
    )


class _Work:
    """Labels, searches and pairs, trajectory by trajectory and then task by task."""

    def __init__(
        self,
        environment: Environment | None,
        policy: Callable[[Task], Policy] | None,
        expert: Expert,
        scorer: Scorer,
        search: CriticalConfig | None,
        provenance: Provenance,
    ) -> None:
        self._environment, self._policy = environment, policy
        self._expert, self._scorer = expert, scorer
        self._search = search or CriticalConfig()
        self._provenance = provenance
        self._runs: dict[str, list[TrajectoryRow]] = {}
        self.steps: list[StepRow] = []
        self.continuations: list[ContinuationRow] = []
        self.preferences: list[PreferenceRow] = []
        self.rejected: list[Rejection] = []

    def generator(self, *names: str | int) -> np.random.Generator:
        return derive_generator(self._provenance.seed, STAGE, *names)

    def take(self, row: TrajectoryRow, task: Task) -> None:
        """One trajectory: search, label, verified pairs, perturbations."""
        self._runs.setdefault(task.id, []).append(row)
        found = self._searched(row, task)
        by_step = {} if found is None else {step.step: step for step in searched_row(row, found).steps}
        steps: list[StepRow] = []
        for labelled in label(row, task):
            tried = by_step.get(labelled.step)
            steps.append(
                labelled.row(
                    self._provenance,
                    score=tried.score if tried else None,
                    criticality=tried.criticality if tried else None,
                    first_error_branching=tried.first_error if tried else None,
                    pivot=tried.pivot if tried else None,
                )
            )
        self.steps += steps
        if found is not None:
            continuations = [continuation_row(one, row, self._provenance) for one in found.continuations]
            self.continuations += continuations
            self._keep(verified_pairs(row, steps, continuations, provenance=self._provenance, stage=STAGE))
        if self._environment is not None and row.verdict.correct is True:
            self._keep(
                perturbation_pairs(
                    row,
                    task,
                    self._environment,
                    generator_for=self.generator,
                    provenance=self._provenance,
                    stage=STAGE,
                )
            )

    def pairs(self) -> None:
        """Whole runs of each task, where one is right and one is wrong."""
        for runs in self._runs.values():
            if {True, False} <= {run.verdict.correct for run in runs}:
                self._keep(trajectory_pairs(runs, provenance=self._provenance, stage=STAGE))

    def _keep(self, made: Pairs) -> None:
        self.preferences += made.rows
        self.rejected += made.rejected

    def _searched(self, row: TrajectoryRow, task: Task) -> Searched | None:
        if self._environment is None or self._policy is None:
            return None
        found = search_trajectory(
            row,
            task,
            self._environment,
            self._policy(task),
            scorer=self._scorer,
            expert=self._expert,
            config=self._search,
            generator=self.generator,
        )
        if found.refused is not None:
            why = f"step {found.refused.step}: {found.refused.reason}: {found.refused.detail}"
            self.rejected.append(refused(row.id, Reason.ENVIRONMENT_ERROR, f"no branch from {why}"))
        return found
