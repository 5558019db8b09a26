"""How probable the policy holds an answer after each of its turns (IGPO, arXiv 2510.14967).

The answer stands behind the question and each turn in the place of the final message, and the server says how
probable its tokens are there (``prompt_logprobs``, as vLLM has it). Nothing is drawn, so there is no noise, and a turn
costs one call, which reads and writes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from synth.agents.contract import Turn
from synth.agents.model.wire import Mode, function_tools, messages_of, structured_action
from synth.agents.trajectory import history_of
from synth.errors import InputError
from synth.identity import canonical_json, digest, versioned
from synth.models.contract import CallFailed, ChatReply, FailureKind, Model
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["SENT", "AnswerProbability", "answer_probability"]

SENT = {"prompt_logprobs": 0, "add_generation_prompt": False, "continue_final_message": True}
"""What the request says beside the conversation."""


class AnswerProbability:
    """Asks a model's server, and keeps nothing between calls."""

    def __init__(self, model: Model, mode: Mode = "native", *, strict: bool = False) -> None:
        self._model, self._mode, self._strict = model, mode, strict

    def after(self, run: TrajectoryRow, wanted: str) -> tuple[float | None, ...]:
        """The probability, 0 to 1, of the answer ``wanted`` after 0, 1, ... turns, the last of those that call tools
        included: the geometric mean over its tokens. None where the server could not tell (a conversation too long for
        the model, tokens that do not spell the answer).

        Raises:
            ValueError: the run is not of the form that rollouts have.
            InputError: the server gives no log probabilities of a prompt.
        """
        prompt, history = history_of(run)
        acted = sum(bool(step.turn.calls) for step in history)
        structured = self._mode == "structured"
        content = structured_action(Turn(answer=wanted)) if structured else wanted
        written = canonical_json(wanted)[1:-1] if structured else wanted
        native = self._mode == "native" and bool(prompt.tools)
        found: list[float | None] = []
        for seen in range(acted + 1):
            messages = messages_of(prompt, history[:seen], mode=self._mode)
            try:
                reply = self._model.chat(
                    [*messages, {"role": "assistant", "content": content}],
                    sample="0",
                    tools=function_tools(prompt.tools, strict=self._strict) if native else (),
                    session=digest("session", prompt.question)[:16],
                )
            except CallFailed as error:
                if error.kind is FailureKind.REQUEST:
                    raise _refused(f"it refuses the request ({error.detail[:200]})") from None
                found.append(None)
                continue
            found.append(_probability(_tail(reply), content, written))
        return tuple(found)


def _tail(reply: ChatReply) -> tuple[tuple[str, float], ...]:
    if reply.prompt_tail is None:
        raise _refused("its reply holds none")
    return reply.prompt_tail


def _refused(why: str) -> InputError:
    return InputError(
        f"the policy's server gives no log probabilities of a prompt: {why}",
        where="ratings.answer_probability, ratings.outcome_potential",
        mend="serve the model with vLLM, which knows prompt_logprobs, or leave them out",
    )


def _probability(tail: Sequence[tuple[str, float]], content: str, written: str) -> float | None:
    """That of ``written`` in ``content``, with which the prompt ends. Blanks are not compared: what a token says of the
    blank before it differs between tokenizers."""
    texts = ["".join(text.split()) for text, _ in tail]
    whole, ending, wanted = "".join(texts), "".join(content.split()), "".join(written.split())
    if not wanted or not whole.endswith(ending):
        return None
    first = len(whole) - len(ending) + ending.rindex(wanted)
    last, at = first + len(wanted), 0
    logs: list[float] = []
    for text, (_, log) in zip(texts, tail, strict=True):
        if at < last and at + len(text) > first:
            logs.append(min(log, 0.0))
        at += len(text)
    return math.exp(math.fsum(logs) / len(logs)) if logs else None


@versioned(5)
def answer_probability(*, model: Model, mode: Mode = "native", strict: bool = False) -> AnswerProbability:
    """What the registry calls."""
    return AnswerProbability(model, mode, strict=strict)
