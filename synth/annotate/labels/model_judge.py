"""A ``judge`` that a language model plays: it labels the steps that the rules could not measure.

The rules come first: on the runs of AgentProcessBench (arXiv 2603.14465) each of 20 models made the labels worse where
its own stood above theirs. A step that the model leaves out, labels twice, or labels by steps that there are not stays
without a label.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

from synth.agents.model.shown import ShownConfig, one_line, shown_history, wrong_citations
from synth.agents.plan_view import plan_of
from synth.agents.trajectory import history_of
from synth.annotate.labels.contract import Label
from synth.identity import digest, versioned
from synth.models.asking import Asker, answer_schema
from synth.models.contract import Model
from synth.prompting import load_prompt
from synth.schemas.row import Row
from synth.schemas.steps import LabelReason
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["STEPS_PROMPT", "ModelStepJudge", "model_step_judge"]

STEPS_PROMPT = ("judge/steps", 1)
_LONGEST = 600


class StepVerdict(Row):
    """What the model says of a step."""

    step: int
    reason: str
    cites: tuple[int, ...]
    """Numbers of the steps that the label rests on."""
    label: Literal[-1, 0, 1] | None
    """null = can't tell."""


class StepVerdicts(Row):
    """What the model says of a run's steps."""

    steps: tuple[StepVerdict, ...]


class ModelStepJudge:
    """Asks a model once a run, and keeps nothing between calls."""

    def __init__(self, model: Model, config: ShownConfig | None = None) -> None:
        self._config = config or ShownConfig()
        self._asker = Asker(model, load_prompt(*STEPS_PROMPT), StepVerdicts, self._config)
        self._schema = json.dumps(answer_schema(StepVerdicts), ensure_ascii=False)

    @staticmethod
    def wanted(task: Task) -> bool:
        """Whether there is something to ask: where a walk or a plan is known, steps are measured by it."""
        return not task.walk.hops and plan_of(task) is None

    def labels(self, task: Task, run: TrajectoryRow) -> Mapping[int, Label]:
        """Step -> its label, for the steps that the model labels by steps that there are.

        Raises:
            ValueError: the run is not of the form that rollouts have.
        """
        _, history = history_of(run)
        known = {"right_answer": task.answer, "also_right": task.answer_aliases, "found_right": run.verdict.correct}
        asked = self._asker.ask(
            digest("label steps", run.id)[:32],
            schema=self._schema,
            task=one_line({"question": task.question, **known}),
            run=shown_history(history, self._config),
        )
        if asked.answer is None:
            return {}
        said = Counter(one.step for one in asked.answer.steps)
        return {
            one.step: _label(one)
            for one in asked.answer.steps
            if said[one.step] == 1
            and one.label is not None
            and wrong_citations((one.step, *one.cites), len(history)) is None
            and one.cites
        }


def _label(said: StepVerdict) -> Label:
    cites = ", ".join(str(number) for number in dict.fromkeys(said.cites))
    words = " ".join(said.reason.split())[:_LONGEST]
    return Label(said.label, LabelReason.JUDGED, f"a model, by step {cites}: {words}")


@versioned(35)
def model_step_judge(*, model: Model, **options: Any) -> ModelStepJudge:
    """What the registry calls. ``options`` are those of :class:`ShownConfig`.

    Raises:
        pydantic.ValidationError: an option that it does not have.
    """
    return ModelStepJudge(model, ShownConfig.model_validate(options))
