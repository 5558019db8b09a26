"""A ``judge`` that a language model plays: which side of a pair is better.

It is asked twice, with the sides in either order, and its verdict counts where both agree; else it likes a place, not a
side, and abstains. It never sees which side we prefer, or why. Its verdict stands beside the pair: what was measured on
continuations is not outvoted by it (``preferences.selection.judge`` may require both).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from synth.agents.contract import History, Prompt
from synth.agents.model.shown import (
    ShownConfig,
    one_line,
    shown_history,
    shown_question,
    shown_step,
    wrong_citations,
)
from synth.agents.trajectory import history_of
from synth.identity import digest, versioned
from synth.models.asking import Asked, Asker, answer_schema
from synth.models.contract import Model
from synth.prompting import PromptFile, load_prompt
from synth.schemas.adp import ContentItem
from synth.schemas.preferences import PreferenceRow, swap
from synth.schemas.rejections import Reason
from synth.schemas.row import Row
from synth.schemas.trajectories import StopReason, TrajectoryRow

__all__ = ["COMPARE_PROMPT", "Comparison", "ModelPairJudge", "PairVerdict", "compare_prompt", "model_pair_judge"]

COMPARE_PROMPT = ("judge/compare", 1)


class Comparison(Row):
    """What the model says of two ways of going on."""

    reason: str
    cites: tuple[int, ...]
    """Numbers of the steps that the verdict rests on."""
    better: Literal["A", "B", "unsure"]


class PairVerdict(Row):
    """Whether the judge prefers what the pair prefers. ``agrees`` None = abstained."""

    agrees: bool | None
    reason: str
    cites: tuple[int, ...] = ()
    orders: tuple[str, ...] = ()
    """Which side it preferred with the chosen one first, and with the rejected one first: ``chosen``, ``rejected`` or
    ``none``."""
    abstained: Reason | None = None
    calls: tuple[str, ...] = ()


class ModelPairJudge:
    """Judges pairs. It keeps nothing between calls."""

    def __init__(self, model: Model, config: ShownConfig | None = None) -> None:
        self._config = config or ShownConfig()
        self._asker = Asker(model, compare_prompt(), Comparison, self._config)
        self._schema = json.dumps(answer_schema(Comparison), ensure_ascii=False)

    def judge(self, pair: PreferenceRow, run: TrajectoryRow) -> PairVerdict:
        """The verdict on ``pair``, whose prefix comes from ``run``.

        Raises:
            ValueError: the pair can't be read as turns of calls and observations.
        """
        readings: dict[str, tuple[str, Asked[Comparison], str | None]] = {}
        for order in ("chosen", "rejected"):
            shown = pair if order == "chosen" else swap(pair)
            asked, problem = self._ask(shown, run)
            said = "none" if asked.answer is None else {"A": order, "B": _other(order)}.get(asked.answer.better, "none")
            readings[order] = (said, asked, problem)
        return _settled(readings)

    def _ask(self, pair: PreferenceRow, run: TrajectoryRow) -> tuple[Asked[Comparison], str | None]:
        """The reply with the pair's ``chosen`` side as A, and what is wrong with its citations."""
        prompt, history = _read(run, pair.prompt)
        sides = [_read(run, (*pair.prompt, *side))[1][len(history) :] for side in (pair.chosen, pair.rejected)]
        asked = self._asker.ask(
            digest("compare sides", pair.id)[:32],
            schema=self._schema,
            question=shown_question(prompt.question),
            history=shown_history(history, self._config),
            options="\n".join(
                one_line({"option": letter, **shown_step(len(history) + number, step, self._config.older)})
                for letter, side in zip("AB", sides, strict=True)
                for number, step in enumerate(side)
            ),
        )
        steps = len(history) + max(len(side) for side in sides)
        return asked, None if asked.answer is None else wrong_citations(asked.answer.cites, steps)


def _settled(readings: dict[str, tuple[str, Asked[Comparison], str | None]]) -> PairVerdict:
    """One verdict of both orders."""
    both = [readings["chosen"], readings["rejected"]]
    calls = tuple(call for _, asked, _ in both for call in asked.calls)
    orders = tuple(said for said, _, _ in both)

    def silent(reason: str, why: Reason) -> PairVerdict:
        return PairVerdict(agrees=None, reason=reason, orders=orders, abstained=why, calls=calls)

    for _, asked, _ in both:
        if asked.answer is None:
            assert asked.reason is not None
            return silent(asked.detail, asked.reason)
    answers = [asked.answer for _, asked, _ in both if asked.answer is not None]
    words = " / ".join(" ".join(answer.reason.split()) for answer in answers)
    for said, _, problem in both:
        if said == "none":
            return silent(words, Reason.UNSURE)
        if problem is not None:
            return silent(f"{problem}: {words}", Reason.BAD_CITATION)
    if orders[0] != orders[1]:
        return silent(words, Reason.INCONSISTENT)
    cites = tuple(dict.fromkeys(cited for answer in answers for cited in answer.cites))
    return PairVerdict(agrees=orders[0] == "chosen", reason=words, cites=cites, orders=orders, calls=calls)


def _other(side: str) -> str:
    return "rejected" if side == "chosen" else "chosen"


def _read(run: TrajectoryRow, content: Sequence[ContentItem]) -> tuple[Prompt, History]:
    # Content alone does not tell whether a last message gives up: it is shown as the message that it is.
    changed = {"content": tuple(content), "stop_reason": StopReason.ANSWERED}
    return history_of(run.model_copy(update=changed))


def compare_prompt() -> PromptFile:
    """The prompt that sides are compared with."""
    return load_prompt(*COMPARE_PROMPT)


@versioned(6)
def model_pair_judge(*, model: Model, **options: Any) -> ModelPairJudge:
    """What the registry calls. ``options`` are those of :class:`ShownConfig`.

    Raises:
        pydantic.ValidationError: an option that it does not have.
    """
    return ModelPairJudge(model, ShownConfig.model_validate(options))
