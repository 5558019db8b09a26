"""Make runs of finished runs: several agents distilled into one, notes in the place of what was read, thoughts in
other words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar, Literal

from pydantic import Field

from synth.agents.contract import History
from synth.agents.grounding.check import ungrounded
from synth.agents.grounding.computed import answer_is_computed
from synth.agents.grounding.consistency import inconsistencies
from synth.agents.loop import Rollout, prompt_for, replay
from synth.agents.management import Management, managed
from synth.agents.scripted.phrases import Thoughts
from synth.agents.trajectory import facts_of, to_row
from synth.annotate.contexts.tokens import WordTokenizer
from synth.annotate.refinement.refiner import Unrefined
from synth.annotate.refinement.rewording import Rewriter, reworded
from synth.annotate.refinement.rework import compressed, distilled
from synth.environments.contract import Environment
from synth.prompting import load_prompt
from synth.schemas.details import details_with
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.reworked import Rework, Reworked
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.stages.contract import Context, Implementation, Outcome, RowStage, StageConfig
from synth.store.tables import RowsByKey

__all__ = ["ReworkRuns", "ReworkRunsConfig"]

_NUMBERS: Mapping[Literal["distilled", "compressed", "reworded"], int] = {
    "distilled": 10_000,
    "compressed": 20_000,
    "reworded": 30_000,
}
"""Runs of each way are numbered from here: after all others of their task."""


class ReworkRunsConfig(StageConfig):
    environment: Implementation
    """Where the calls are repeated."""
    management: Management | None = None
    """Actions of agents beside the environment's tools."""
    distill: bool
    """Whether runs whose parts went to helpers become runs of one agent."""
    least_calls: int = Field(ge=1)
    """Calls of tools of such a run at least."""
    unverified: float = Field(ge=0, le=1)
    """Share of those in which nothing is looked at again that is kept."""
    compress: int | None = Field(ge=100)
    """Tokens of a view beyond which notes take its place. None = never."""
    size: int = Field(ge=50)
    """Code points of what notes keep of one observation, about."""
    rewriter: Implementation | None = None
    """Rephrases the thoughts of successful runs; None = thoughts stay as they are."""
    prompt_version: int
    prompt_sha256: str
    """Of what the one agent is told that several become."""


class ReworkRuns(RowStage[ReworkRunsConfig, TrajectoryRow]):
    """Gives every run back, and behind it what it was reworked to. What could not be is rejected, with the reason."""

    name = "rework"
    version = 120
    config_type = ReworkRunsConfig
    reads = ("trajectories", "tasks")
    writes: ClassVar[Mapping[str, type[Row]]] = {"trajectories": TrajectoryRow}
    over = "trajectories"
    libraries = ("numpy",)
    looks_up = frozenset({"tasks"})
    rows_per_shard = 64

    def __init__(self, config: ReworkRunsConfig, context: Context) -> None:
        super().__init__(config, context)
        self._tasks = RowsByKey(context.inputs.table("tasks"), "id")
        self._environment: Environment = context.make(config.environment, inputs=context.inputs)
        self._rewriter: Rewriter | None = None if config.rewriter is None else context.make(config.rewriter)
        prompt = load_prompt("agents/team", config.prompt_version)
        if prompt.ref.sha256 != config.prompt_sha256:
            raise ValueError(f"prompt {prompt.ref} is not the one that was planned ({config.prompt_sha256})")
        self._prompt, self._system = prompt, prompt.render(instructions=self._environment.instructions())

    def process(self, row: TrajectoryRow) -> Outcome:
        rows: list[TrajectoryRow] = []
        rejected: list[Rejection] = []
        for place, made in enumerate(self._ways(row)):
            try:
                history, rework = made()
                rows.append(self._row(row, history, rework))
                self.context.metrics.add(rework.how)
            except (Unrefined, ValueError) as error:
                reason = error.reason if isinstance(error, Unrefined) else Reason.ENVIRONMENT_ERROR
                rejected.append(self._rejection(row, place, reason, str(error)))
        return Outcome((row, *rows), tuple(rejected))

    def _ways(self, row: TrajectoryRow) -> list[Callable[[], tuple[History, Rework]]]:
        ways: list[Callable[[], tuple[History, Rework]]] = []
        helped = "delegated" in facts_of(row)
        if self.config.distill and helped:
            ways.append(partial(self._distilled, row))
        if self.config.compress is not None and not helped:
            size, budget = self.config.size, self.config.compress
            thought = partial(self._thought, row)
            count = WordTokenizer().count
            ways.append(partial(compressed, row, budget=budget, size=size, thought=thought, count=count))
        if self._rewriter is not None and not helped:
            computed = answer_is_computed(self._tasks.one(row.task_id))
            ways.append(partial(reworded, row, self._rewriter, computed=computed))
        return ways

    def _distilled(self, row: TrajectoryRow) -> tuple[History, Rework]:
        history, rework = distilled(row, least=self.config.least_calls)
        verified = any("verifier" in roles for roles in rework.roles)
        draw = float(self.context.generator(row.id, "distilled").random())
        if not verified and draw >= self.config.unverified:
            raise Unrefined(Reason.NOT_DISTILLED, "nothing is verified in it, and enough such runs were taken")
        return history, rework

    def _thought(self, row: TrajectoryRow, turn: int) -> str:
        thoughts = Thoughts(row.task_id, self.context.generator(row.id, "compressed", turn))
        thoughts.add("c_notes")
        return thoughts.text()

    def _row(self, row: TrajectoryRow, history: History, rework: Rework) -> TrajectoryRow:
        """
        Raises:
            ValueError: a call gives another observation than it did.
            Unrefined: what the agent says is not grounded in what it has seen, or leaves out something of it.
        """
        task: Task = self._tasks.one(row.task_id)
        one = rework.how == "distilled"
        environment = self._environment if one else managed(self._environment, self.config.management)
        system = self._system if one else row.system_prompt
        prompt = prompt_for(environment, task, system)
        computed = answer_is_computed(task)
        if one and (loose := ungrounded(prompt, history, computed=computed, own_words=row.model is not None)):
            raise Unrefined(Reason.UNGROUNDED, str(loose[0]))
        scripted = row.success and row.model is None and rework.how != "reworded"
        left_out = next(iter(inconsistencies(prompt, history)), None) if scripted else None
        if left_out is not None and row.role == "teacher":
            raise Unrefined(Reason.OMISSION, str(left_out))
        # The calls of a last turn that a limit cut off were never carried out.
        made = history if history[-1].results else history[:-1]
        episode = replay(environment, task, made, facts_of(row))
        try:
            done = Rollout(task, prompt, history, row.stop_reason, row.verdict, facts=episode.facts())
        finally:
            episode.close()
        actor = row.provenance.model_dump(include={"backend", "model", "model_revision", "prompt", "sampling"})
        actor |= {"prompt": str(self._prompt.ref)} if one else {}
        if rework.how == "reworded" and self.config.rewriter is not None:
            actor |= {"model_revision": None, **self.config.rewriter.origin()}
        reworked = to_row(
            done,
            environment,
            role=row.role,
            number=_NUMBERS[rework.how] + row.rollout,
            privileged=row.privileged,
            provenance=self.context.provenance.model_copy(update=actor),
            model=row.model if rework.by is None else rework.by,
        )
        details = details_with(reworked.details, Reworked(reworked=rework))
        return reworked.model_copy(update={"retry_of": row.id, "details": details})

    def _rejection(self, row: TrajectoryRow, place: int, reason: Reason, detail: str) -> Rejection:
        return Rejection(
            stage=self.name,
            row_id=row.id,
            reason=reason,
            detail=detail[:1000],
            split=row.split,
            part=place,
            preview=f"{row.role}: {row.answer or row.stop_reason}"[:500],
        )
