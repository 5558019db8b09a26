"""What is said of whole runs beside the rules: ratings 1 to 5, and whether a refused answer means the right one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from synth.agents.credit import credit_of
from synth.annotate.rewards.judgments import run_judgment
from synth.annotate.rewards.met import met_of
from synth.annotate.rewards.model_judge import ModelAnswerJudge
from synth.annotate.rewards.rating import Rater
from synth.schemas.judgments import JudgmentKind, JudgmentRow
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason
from synth.schemas.rl import Criterion
from synth.schemas.row import JsonObject, Row
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.stages.contract import Context, Implementation, Outcome, RowStage, StageConfig
from synth.store.tables import RowsByKey
from synth.tasks.graded import chance_of

__all__ = ["JudgeRuns", "JudgeRunsConfig"]


class JudgeRunsConfig(StageConfig):
    rater: Implementation
    """Who rates runs."""
    answers: Implementation | None = None
    """Who compares answers that no rule took for right with the right one; None = no one."""
    checklist: bool = False
    """Whether runs are held against the checklists of their tasks."""
    graded: bool = True
    """Whether rated runs are sampled, each with a chance proportional to its reward: ``parts`` then say the ``chance``
    and whether it was ``drawn``."""


class JudgeRuns(RowStage[JudgeRunsConfig, TrajectoryRow]):
    """A run has a rating, or the reason why it has none; a run that no rule took for right also a verdict on its
    answer. Nothing else changes by them: ``success`` is the rules'."""

    name = "judge_runs"
    version = 35
    config_type = JudgeRunsConfig
    reads = ("trajectories", "tasks")
    writes: ClassVar[Mapping[str, type[Row]]] = {"judgments": JudgmentRow}
    over = "trajectories"
    looks_up = frozenset({"tasks"})

    def __init__(self, config: JudgeRunsConfig, context: Context) -> None:
        super().__init__(config, context)
        self._tasks = RowsByKey(context.inputs.table("tasks"), "id")
        self._rater: Rater = context.make(config.rater)
        self._answers: ModelAnswerJudge | None = None if config.answers is None else context.make(config.answers)

    def process(self, row: TrajectoryRow) -> Outcome:
        task: Task = self._tasks.one(row.task_id)
        rating = self._rater.rate(task, row)
        parts: JsonObject = {}
        if rating.reward is not None:
            parts = {"coherence": rating.coherence, "completion": rating.completion}
            if self.config.graded:
                chance = chance_of(rating.reward)
                drawn = bool(self.context.generator(row.id, "graded").random() < chance)
                parts |= {"chance": chance, "drawn": drawn}
                self.context.metrics.add("drawn", drawn)
        if rating.voices is not None:
            parts |= {"judges": list(rating.voices)}
        rows = [
            run_judgment(
                row,
                JudgmentKind.RUN,
                "abstains" if rating.reward is None else "rated",
                rating.reward,
                reason=rating.reason,
                provenance=self._by(self.config.rater),
                parts=parts,
                cites=rating.cites,
                abstained=rating.abstained,
                calls=rating.calls,
            )
        ]
        if self._answers is not None and self.config.answers is not None and self._answers.wanted(row):
            found = self._answers.compare(task, row)
            word = "abstains" if found.equivalent is None else "equivalent" if found.equivalent else "different"
            rows.append(
                run_judgment(
                    row,
                    JudgmentKind.ANSWER,
                    word,
                    None if found.equivalent is None else float(found.equivalent),
                    reason=found.reason,
                    provenance=self._by(self.config.answers),
                    parts={"rule": row.verdict.rule} | ({"judges": list(found.voices)} if found.voices else {}),
                    abstained=found.abstained,
                    calls=found.calls,
                )
            )
        if self.config.checklist and (met := met_of(task, row)):
            rows.append(self._checklist(row, met))
        for one in rows:
            name = f"{one.kind.value}.{one.verdict}"
            self.context.metrics.add(name)
        return Outcome(kept=tuple(rows))

    def _checklist(self, row: TrajectoryRow, met: Sequence[tuple[Criterion, bool | None]]) -> JudgmentRow:
        value = credit_of([item.weight for item, _ in met], [yes for _, yes in met])
        unknown = [item.text for item, yes in met if yes is None]
        done = sum(yes is True for _, yes in met)
        return run_judgment(
            row,
            JudgmentKind.CHECKLIST,
            "abstains" if value is None else "counted",
            value,
            reason=f"its record does not tell: {unknown[0]}" if unknown else f"{done} of {len(met)} items are met",
            provenance=self.context.provenance,
            parts={"items": [{"text": item.text, "met": yes} for item, yes in met]},
            abstained=Reason.UNSURE if value is None else None,
        )

    def _by(self, who: Implementation) -> Provenance:
        told = [str(value) for name, value in who.versions.items() if name.startswith("prompt ")]
        return self.context.provenance.model_copy(update=who.origin() | ({"prompt": told[0]} if told else {}))
