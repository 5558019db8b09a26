"""A ``prm`` that a language model plays.

It is shown the question, the history and the actions, lettered in an order of its own per sample, and gives each a
reason and a score. What it does not score, or scores in no form that can be read, is an abstention, never a 0 and never
a 0.5 (CSO's code, arXiv 2602.03412, takes 0.5 for a failed call: METHODS 7).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import fmean
from string import ascii_uppercase
from typing import Any

from pydantic import Field

from synth.agents.contract import Turn
from synth.agents.model.shown import ShownConfig, one_line, shown_history, shown_question, shown_turn
from synth.annotate.critical.actions import action_key
from synth.annotate.critical.contract import Point, Score
from synth.identity import digest, generator_of, versioned
from synth.models.asking import Asked, Asker, answer_schema
from synth.models.contract import Model
from synth.prompting import PromptFile, load_prompt
from synth.schemas.rejections import Reason
from synth.schemas.row import Row

__all__ = ["SCORE_PROMPT", "ActionScore", "ActionScores", "ModelScorer", "ScorerConfig", "model_scorer", "score_prompt"]

SCORE_PROMPT = ("critical/score", 1)


class ScorerConfig(ShownConfig):
    """How a model scores actions."""

    samples: int = Field(default=1, ge=1, le=32)
    """How often it is asked; scores are averaged."""
    disagreement: float = Field(default=0.3, ge=0, le=1)
    """Samples that lie further apart than this are not a score."""


class ActionScore(Row):
    """What the model says of one action."""

    action: str
    """Its letter."""
    reason: str
    score: float | None
    """0 to 1; null = can't tell. Held to its range by the reader, action by action: one wrong number is one
    abstention."""


class ActionScores(Row):
    """One entry for every action."""

    scores: tuple[ActionScore, ...]


class ModelScorer:
    """A scorer (``synth.annotate.critical.contract.Scorer``). It keeps nothing between calls.

    The same actions at the same place are the same question, whichever run they come from, so the store answers it.
    """

    def __init__(self, model: Model, config: ScorerConfig | None = None) -> None:
        self._config = config or ScorerConfig()
        self._asker = Asker(model, score_prompt(), ActionScores, self._config)
        self._schema = json.dumps(answer_schema(ActionScores), ensure_ascii=False)

    def score(self, point: Point, turns: Sequence[Turn]) -> tuple[Score, ...]:
        """One score per turn. At most 26 are shown together."""
        found: list[Score] = []
        for start in range(0, len(turns), len(ascii_uppercase)):
            found += self._together(point, turns[start : start + len(ascii_uppercase)])
        return tuple(found)

    def _together(self, point: Point, turns: Sequence[Turn]) -> list[Score]:
        samples = [self._sample(point, turns, number) for number in range(self._config.samples)]
        return [self._averaged([sample[place] for sample in samples]) for place in range(len(turns))]

    def _sample(self, point: Point, turns: Sequence[Turn], number: int) -> list[Score]:
        name = digest(
            "prm", point.task.id, point.step, [action_key(turn, point.prompt.tools) for turn in turns], number
        )[:32]
        order = [int(place) for place in generator_of(name).permutation(len(turns))]
        lettered = [{"action": ascii_uppercase[at], **shown_turn(turns[place])} for at, place in enumerate(order)]
        asked = self._asker.ask(
            name,
            schema=self._schema,
            question=shown_question(point.prompt.question),
            history=shown_history(point.history, self._config),
            actions="\n".join(map(one_line, lettered)),
        )
        letters = {place: ascii_uppercase[at] for at, place in enumerate(order)}
        return [_read(asked, letters[place]) for place in range(len(turns))]

    def _averaged(self, scores: Sequence[Score]) -> Score:
        calls = tuple(dict.fromkeys(call for score in scores for call in score.calls))
        missing = next((score for score in scores if score.value is None), None)
        if missing is not None:
            return missing.model_copy(update={"calls": calls})
        values = [score.value for score in scores if score.value is not None]
        low, high = min(values), max(values)
        if high - low > self._config.disagreement:
            said = f"{len(values)} samples lie between {low:.2f} and {high:.2f}: {scores[0].reason}"
            return Score(value=None, reason=said, abstained=Reason.INCONSISTENT, calls=calls)
        return Score(value=round(fmean(values), 4), reason=scores[0].reason, calls=calls)


def _read(asked: Asked[ActionScores], letter: str) -> Score:
    if asked.answer is None:
        assert asked.reason is not None
        return Score(value=None, reason=asked.detail, abstained=asked.reason, calls=asked.calls)
    mine = [entry for entry in asked.answer.scores if entry.action.strip().strip(".:()").upper() == letter]
    if len(mine) != 1:
        problem = f"it was scored {len(mine)} times" if mine else "it was left out"
        return Score(value=None, reason=problem, abstained=Reason.MALFORMED, calls=asked.calls)
    (entry,) = mine
    said = " ".join(entry.reason.split())
    if entry.score is None:
        return Score(value=None, reason=said or "can't tell", abstained=Reason.UNSURE, calls=asked.calls)
    if not 0 <= entry.score <= 1:
        problem = f"{entry.score:g} is not a score between 0 and 1: {said}"
        return Score(value=None, reason=problem, abstained=Reason.MALFORMED, calls=asked.calls)
    return Score(value=round(entry.score, 4), reason=said, calls=asked.calls)


def score_prompt() -> PromptFile:
    """The prompt that actions are scored with."""
    return load_prompt(*SCORE_PROMPT)


@versioned(6)
def model_scorer(*, model: Model, **options: Any) -> ModelScorer:
    """What the registry calls. ``options`` are those of :class:`ScorerConfig`.

    Raises:
        pydantic.ValidationError: an option that it does not have.
    """
    return ModelScorer(model, ScorerConfig.model_validate(options))
