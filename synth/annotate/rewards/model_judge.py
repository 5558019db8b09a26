"""A ``judge`` that a language model plays: it rates whole runs and compares answers with the right one.

What it says stands beside what the rules found and changes nothing of it. A verdict that rests on steps that there are
not, or on none, is an abstention.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import fmean
from typing import Any, Literal

from pydantic import Field

from synth.agents.model.shown import ShownConfig, one_line, shown_history, shown_question, wrong_citations
from synth.agents.trajectory import history_of
from synth.annotate.rewards.rating import Rating
from synth.identity import digest, versioned
from synth.models.asking import Asker, answer_schema
from synth.models.contract import Model
from synth.prompting import PromptFile, load_prompt
from synth.schemas.rejections import Reason
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = [
    "ANSWER_PROMPT",
    "RATE_PROMPT",
    "AnswerVerdict",
    "ModelAnswerJudge",
    "ModelRater",
    "model_answer_judge",
    "model_rater",
    "prompt_named",
]

RATE_PROMPT = ("judge/rate", 1)
ANSWER_PROMPT = ("judge/answer", 1)


class RunRatings(Row):
    """What the model says of a run."""

    reason: str
    cites: tuple[int, ...]
    """Numbers of the steps that the ratings rest on."""
    coherence: int | None = Field(ge=1, le=5)
    """null = can't tell."""
    completion: int | None = Field(ge=1, le=5)
    """null = can't tell."""


class ModelRater:
    """A :class:`~synth.annotate.rewards.rating.Rater` that asks a model, and keeps nothing between calls.

    Args:
        voices: How often it asks of each run; of several, most must rate and agree.
    """

    def __init__(self, model: Model, config: ShownConfig | None = None, voices: int = 1) -> None:
        self._voices = voices
        self._config = config or ShownConfig()
        self._asker = Asker(model, prompt_named(RATE_PROMPT), RunRatings, self._config)
        self._schema = json.dumps(answer_schema(RunRatings), ensure_ascii=False)

    def rate(self, task: Task, run: TrajectoryRow) -> Rating:
        """
        Raises:
            ValueError: the run is not of the form that rollouts have.
        """
        heard = [self._voice(run, number) for number in range(self._voices)]
        return heard[0] if len(heard) == 1 else _agreed(heard)

    def _voice(self, run: TrajectoryRow, number: int) -> Rating:
        prompt, history = history_of(run)
        asked = self._asker.ask(
            _sample(number, "rate", run.id),
            schema=self._schema,
            question=shown_question(prompt.question),
            run=shown_history(history, self._config),
        )
        if asked.answer is None:
            return Rating(reason=asked.detail, abstained=asked.reason, calls=asked.calls)
        answer, said = asked.answer, " ".join(asked.answer.reason.split())
        if answer.coherence is None or answer.completion is None:
            return Rating(reason=said or "can't tell", abstained=Reason.UNSURE, calls=asked.calls)
        problem = wrong_citations(answer.cites, len(history))
        if problem is not None:
            return Rating(reason=f"{problem}: {said}", abstained=Reason.BAD_CITATION, calls=asked.calls)
        return Rating(
            coherence=answer.coherence,
            completion=answer.completion,
            cites=tuple(dict.fromkeys(answer.cites)),
            reason=said,
            calls=asked.calls,
        )


def _sample(number: int, *of: str | None) -> str:
    """Names what one voice is asked; the first one's question is that of a judge who is asked once."""
    return digest(*of, *([number] if number else []))[:32]


def _agreed(heard: Sequence[Rating]) -> Rating:
    """What several judges say together, if most of them say something, and within 1 of each other."""
    rated = [one for one in heard if one.reward is not None]
    voices, calls = (len(rated), len(heard)), tuple(call for one in heard for call in one.calls)
    if 2 * len(rated) <= len(heard):
        first = next(one for one in heard if one.reward is None)
        said = f"{len(rated)} of {len(heard)} judges gave a rating: {first.reason}"
        return Rating(reason=said, abstained=first.abstained, calls=calls, voices=voices)
    values = {name: [getattr(one, name) for one in rated] for name in ("coherence", "completion")}
    for name, given in values.items():
        if max(given) - min(given) > 1:
            said = f"judges disagree: {name} {min(given):g} to {max(given):g}"
            return Rating(reason=said, abstained=Reason.INCONSISTENT, calls=calls, voices=voices)
    return Rating(
        coherence=round(fmean(values["coherence"]), 4),
        completion=round(fmean(values["completion"]), 4),
        cites=tuple(dict.fromkeys(step for one in rated for step in one.cites)),
        reason=rated[0].reason,
        calls=calls,
        voices=voices,
    )


class AnswerComparison(Row):
    """What the model says of an answer."""

    reason: str
    verdict: Literal["equivalent", "different", "unsure"]


class AnswerVerdict(Row):
    """Whether an answer means the same as the right one. ``equivalent`` None = abstained."""

    equivalent: bool | None
    reason: str
    abstained: Reason | None = None
    calls: tuple[str, ...] = ()
    voices: tuple[int, int] | None = None
    """Of several judges: how many gave a verdict, how many were asked."""


class ModelAnswerJudge:
    """Compares answers that no rule took for right with the right one. It keeps nothing between calls.

    Args:
        voices: How often it asks of each answer; of several, most must have a verdict, and all of those the same.
    """

    def __init__(self, model: Model, config: ShownConfig | None = None, voices: int = 1) -> None:
        self._voices = voices
        self._asker = Asker(model, prompt_named(ANSWER_PROMPT), AnswerComparison, config)
        self._schema = json.dumps(answer_schema(AnswerComparison), ensure_ascii=False)

    @staticmethod
    def wanted(run: TrajectoryRow) -> bool:
        """Whether there is something to ask: an answer, and no rule that took it for right. What a rule took for right
        is right, whatever a judge would say."""
        return run.verdict.correct is not True and bool((run.answer or "").strip())

    def compare(self, task: Task, run: TrajectoryRow) -> AnswerVerdict:
        """
        Raises:
            ValueError: there is nothing to ask.
        """
        if not self.wanted(run):
            raise ValueError(f"{run.id}: nothing to ask: {run.verdict.rule}")
        heard = [self._voice(task, run, number) for number in range(self._voices)]
        if len(heard) == 1:
            return heard[0]
        told = [one for one in heard if one.equivalent is not None]
        together = {"voices": (len(told), len(heard)), "calls": tuple(call for one in heard for call in one.calls)}
        if 2 * len(told) <= len(heard):
            return next(one for one in heard if one.equivalent is None).model_copy(update=together)
        if len({one.equivalent for one in told}) > 1:
            said = f"judges disagree: {told[0].reason}"
            torn = AnswerVerdict(equivalent=None, reason=said, abstained=Reason.INCONSISTENT)
            return torn.model_copy(update=together)
        return told[0].model_copy(update=together)

    def _voice(self, task: Task, run: TrajectoryRow, number: int) -> AnswerVerdict:
        right = [task.answer, *task.answer_aliases]
        lines = [
            {"question": task.question},
            {"right_answer": right[0], "also_right": right[1:]},
            {"given": run.answer},
        ]
        asked = self._asker.ask(
            _sample(number, "compare answers", task.id, run.answer),
            schema=self._schema,
            data="\n".join(one_line(line) for line in lines),
        )
        if asked.answer is None:
            return AnswerVerdict(equivalent=None, reason=asked.detail, abstained=asked.reason, calls=asked.calls)
        said = " ".join(asked.answer.reason.split())
        if asked.answer.verdict == "unsure":
            return AnswerVerdict(equivalent=None, reason=said, abstained=Reason.UNSURE, calls=asked.calls)
        return AnswerVerdict(equivalent=asked.answer.verdict == "equivalent", reason=said, calls=asked.calls)


def prompt_named(name: tuple[str, int]) -> PromptFile:
    """A prompt of the judge."""
    return load_prompt(*name)


@versioned(28)
def model_rater(*, model: Model, voices: int = 1, **options: Any) -> ModelRater:
    """What the registry calls. ``options`` are those of :class:`ShownConfig`.

    Raises:
        pydantic.ValidationError: an option that it does not have.
    """
    return ModelRater(model, ShownConfig.model_validate(options), voices)


@versioned(28)
def model_answer_judge(*, model: Model, voices: int = 1, **options: Any) -> ModelAnswerJudge:
    """The same for answers."""
    return ModelAnswerJudge(model, ShownConfig.model_validate(options), voices)
