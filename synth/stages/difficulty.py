"""How hard each task is: the policy without its tools, then predicted against measured success, and a curriculum."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from synth.agents.contract import Policy, Prompt, TurnRejected, act
from synth.environments.answers import check_task
from synth.prompting import load_prompt
from synth.schemas.difficulty import ClosedBookRow, DifficultyRow
from synth.schemas.rejections import Rejection
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.stages.contract import Batch, Context, Implementation, Outcome, RowStage, StageConfig, TableStage
from synth.tasks.difficulty import Target, choose, cross_fit

__all__ = ["ClosedBook", "ClosedBookConfig", "CurriculumTarget", "Difficulties", "DifficultyConfig"]


class ClosedBookConfig(StageConfig):
    policy: Implementation
    """Makes the policy: the factory takes the task beside its options."""
    prompt: str = "agents/search"
    """The system prompt's file, without its version."""
    prompt_version: int
    prompt_sha256: str
    """Version and hash of the file: a build never takes another one silently."""
    rollouts: int = Field(default=4, ge=1, le=100)
    """How often each task is asked without tools."""


class ClosedBook(RowStage[ClosedBookConfig, Task]):
    """The policy with search switched off: one turn, no tools (AdaSearch, SAAS)."""

    name = "closed_book"
    version = 11
    config_type = ClosedBookConfig
    reads = ("tasks",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"closed_book": ClosedBookRow}
    over = "tasks"
    libraries = ("numpy",)

    def __init__(self, config: ClosedBookConfig, context: Context) -> None:
        super().__init__(config, context)
        prompt = load_prompt(config.prompt, config.prompt_version)
        if prompt.ref.sha256 != config.prompt_sha256:
            raise ValueError(f"prompt {prompt.ref} is not the one that was planned ({config.prompt_sha256})")
        self._system = prompt.render(instructions="There are no tools: answer from what you know, or not at all.")

    def process(self, row: Task) -> Outcome:
        policy: Policy = self.context.make(self.config.policy, task=row)
        prompt = Prompt(system=self._system, question=row.question, tools=())
        answers: list[str | None] = []
        rejected: list[Rejection] = []
        for number in range(self.config.rollouts):
            try:
                answers.append(
                    act(policy, prompt, (), self.context.generator(row.id, "closed_book", number)).turn.answer
                )
            except TurnRejected as error:
                rejected.append(self._rejection(row, number, error))
        found = ClosedBookRow(
            id=row.id,
            rollouts=len(answers),
            answered=sum(answer is not None for answer in answers),
            successes=sum(check_task(row, answer).correct is True for answer in answers),
            split=row.split,
        )
        return Outcome((found,), tuple(rejected))

    def _rejection(self, task: Task, number: int, error: TurnRejected) -> Rejection:
        return Rejection(
            stage=self.name,
            row_id=task.id,
            reason=error.reason,
            detail=f"without tools, sample {number}, {error.detail}"[:1000],
            split=task.split,
            part=number,
            preview=task.question[:500],
        )


_NEVER = ClosedBookRow(id="?", rollouts=0, answered=0, successes=0, split="train")
"""Of a task that the policy never came to answer without tools."""


class CurriculumTarget(StageConfig):
    low: float = Field(ge=0, lt=1)
    """Least success rate."""
    high: float = Field(gt=0, le=1)
    """The rate that it stays below (1: at most)."""
    share: float = Field(gt=0, le=1)
    """Share of the curriculum."""


class DifficultyConfig(StageConfig):
    folds: int = Field(default=5, ge=2, le=50)
    """Parts of the tasks: each is predicted by a model of the others."""
    targets: tuple[CurriculumTarget, ...] = ()
    """What the curriculum is to hold; empty = every task, from easy to hard."""
    tasks: int | None = Field(default=None, ge=1)
    """Exactly how many tasks the curriculum has; empty = all, or with targets as many as let each have its share."""


class Difficulties(TableStage[DifficultyConfig]):
    """Fits predicted to measured success, and orders the tasks into a curriculum (DARC).

    Targets go by measured success where a task has rollouts, else by the prediction.
    """

    name = "difficulty"
    version = 11
    config_type = DifficultyConfig
    reads = ("tasks", "policy_runs", "closed_book")
    known_as: ClassVar[Mapping[str, str]] = {"policy_runs": "trajectories@policy"}
    writes: ClassVar[Mapping[str, type[Row]]] = {"difficulty": DifficultyRow}
    libraries = ("numpy",)

    def run(self) -> Batch:
        inputs = self.context.inputs
        tasks: list[Task] = list(inputs.table("tasks").rows())
        right: dict[str, int] = defaultdict(int)
        tried: dict[str, int] = defaultdict(int)
        columns = inputs.table("policy_runs").arrow.select(["task_id", "success", "verdict"])
        for batch in columns.to_batches(max_chunksize=4096):
            for run in batch.to_pylist():
                judged = run["verdict"]["correct"] is not None
                tried[run["task_id"]] += judged
                right[run["task_id"]] += judged and run["success"]
        closed: dict[str, ClosedBookRow] = {row.id: row for row in inputs.table("closed_book").rows()}
        predicted, folds = cross_fit(
            tasks, [right[t.id] for t in tasks], [tried[t.id] for t in tasks], folds=self.config.folds
        )
        chance = {task.id: value for task, value in zip(tasks, predicted, strict=True)}
        rate = {t.id: right[t.id] / tried[t.id] if tried[t.id] else chance[t.id] for t in tasks}
        chosen = self._chosen([task.id for task in tasks], [rate[task.id] for task in tasks])
        easy_first = sorted(chance, key=lambda name: (-chance[name], name))
        order = {name: place for place, name in enumerate(easy_first)}
        rows = []
        for task, fold in zip(tasks, folds, strict=True):
            without = closed.get(task.id, _NEVER)
            rows.append(
                DifficultyRow(
                    task_id=task.id,
                    shape=task.shape,
                    obfuscation=task.obfuscation,
                    predicted=chance[task.id],
                    fold=fold,
                    bin=min(9, int(chance[task.id] * 10)),
                    successes=right[task.id],
                    rollouts=tried[task.id],
                    closed_book_successes=without.successes,
                    closed_book_rollouts=without.rollouts,
                    search_needed=without.successes < without.rollouts if without.rollouts else None,
                    order=order[task.id],
                    target=chosen.get(task.id),
                    chosen=task.id in chosen,
                    split=task.split,
                    provenance=self.context.provenance,
                )
            )
        return Batch(tables={"difficulty": rows}, rows_in=len(tasks), kept_in=len(tasks))

    def _chosen(self, ids: list[str], rates: list[float]) -> dict[str, int | None]:
        targets = [Target(item.low, item.high, item.share) for item in self.config.targets]
        return choose(ids, rates, targets, self.config.tasks)
