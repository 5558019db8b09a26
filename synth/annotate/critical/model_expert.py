"""An ``expert`` that a language model plays.

It reads the policy's own conversation and is asked, one suggestion at a time, for a step other than the one that was
taken and than those that it suggested before; each reply is read as a policy's turn is. It knows nothing of the answer:
it is as little privileged as the policy.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from pydantic import Field

from synth.agents.contract import Step, Turn, TurnRejected
from synth.agents.grounding.check import ungrounded
from synth.agents.grounding.computed import answer_is_computed
from synth.agents.model.policy import ModelConfig, ModelPolicy
from synth.agents.model.shown import one_line, shown_turn
from synth.agents.model.wire import GAVE_UP, STRUCTURED_PROMPT
from synth.annotate.critical.actions import action_key
from synth.annotate.critical.contract import Point, Proposals
from synth.identity import digest, key_of, versioned
from synth.models.contract import Model
from synth.prompting import PromptFile, load_prompt
from synth.schemas.model_turns import ModelTurn
from synth.schemas.rejections import Reason

__all__ = ["PROPOSE_PROMPT", "ModelExpert", "ModelExpertConfig", "expert_prompts", "model_expert", "propose_prompt"]

PROPOSE_PROMPT = ("critical/propose", 1)


class ModelExpertConfig(ModelConfig):
    """How a model proposes other actions."""

    extra: int = Field(default=2, ge=0, le=20)
    """How many more suggestions are asked for where some were old steps, unreadable or ungrounded."""
    grounded: bool = True
    """Leave out suggestions that name what the conversation has not shown."""


class ModelExpert:
    """An expert (``synth.annotate.critical.contract.Expert``). It keeps nothing between calls.

    All suggestions at one step are samples of one name, for each is asked with those before it in view; one that
    repeats a step is asked for under another.
    """

    privileged = False

    def __init__(self, model: Model, config: ModelExpertConfig | None = None) -> None:
        self._config = config or ModelExpertConfig()
        self._policy = ModelPolicy(model, self._config)
        self._prompt = propose_prompt()

    def propose(self, point: Point, n: int, generator: np.random.Generator) -> Proposals:
        """At most ``n`` turns, in the order in which they were suggested; a reply that is not a turn is counted."""
        sample, dropped = key_of(generator), Counter[str]()
        known = {action_key(point.recorded, point.prompt.tools)}
        seen: list[Turn] = []
        kept: list[Turn] = []
        sources: list[ModelTurn | None] = []
        asked = repeated = 0
        while len(kept) < n and asked < n + self._config.extra:
            asked += 1
            name = sample if not repeated else digest("other suggestion", sample, repeated)[:32]
            try:
                decision = self._policy.turn(point.prompt, point.history, name, self._words(point, seen))
            except TurnRejected as error:
                dropped[error.reason.value] += 1
                repeated += 1
                continue
            turn = decision.turn
            if not turn.calls and turn.answer is None:
                break  # there is no other step that makes sense
            turn = _numbered(turn, point.step)
            if (key := action_key(turn, point.prompt.tools)) in known:
                dropped["same_action"] += 1
                repeated += 1
                continue
            known.add(key)
            seen.append(turn)
            if self._config.grounded and _names_unseen(point, turn):
                dropped[Reason.UNGROUNDED.value] += 1
                continue
            kept.append(turn)
            sources.append(decision.source)
        return Proposals(kept, dropped, sources)

    def _words(self, point: Point, seen: list[Turn]) -> str:
        return self._prompt.render(
            recorded=one_line(_deed(point.recorded)),
            proposed="\n".join(one_line(_deed(turn)) for turn in seen),
            gave_up=GAVE_UP,
        )


def _deed(turn: Turn) -> dict[str, Any]:
    return shown_turn(turn.model_copy(update={"thought": None, "said": None}))


def _names_unseen(point: Point, turn: Turn) -> bool:
    history = (*point.history, Step(turn=turn))
    computed = answer_is_computed(point.task)
    return bool(ungrounded(point.prompt, history, start=point.step, computed=computed, own_words=True))


def _numbered(turn: Turn, step: int) -> Turn:
    calls = tuple(call.model_copy(update={"id": f"call_{step}_{place}"}) for place, call in enumerate(turn.calls))
    return turn.model_copy(update={"calls": calls})


def propose_prompt() -> PromptFile:
    """The prompt that other actions are asked for with."""
    return load_prompt(*PROPOSE_PROMPT)


def expert_prompts(mode: str) -> tuple[PromptFile, ...]:
    """All prompts that stand in what an expert is sent."""
    own = propose_prompt()
    return (own, load_prompt(*STRUCTURED_PROMPT)) if mode == "structured" else (own,)


@versioned(32)
def model_expert(*, model: Model, **options: Any) -> ModelExpert:
    """What the registry calls. ``options`` are those of :class:`ModelExpertConfig`.

    Raises:
        pydantic.ValidationError: an option that it does not have.
    """
    return ModelExpert(model, ModelExpertConfig.model_validate(options))
