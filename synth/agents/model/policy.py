"""A policy that a language model plays."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import Field

from synth.agents.contract import Decision, History, Policy, Prompt, TurnRejected
from synth.agents.model.pictures import with_pictures
from synth.agents.model.reading import Reading, Unreadable, raw_text, read_reply
from synth.agents.model.wire import (
    Message,
    Mode,
    ReasoningField,
    correction,
    function_tools,
    messages_of,
    response_format,
    said_to,
)
from synth.identity import digest, key_of, versioned
from synth.models.contract import CallFailed, ChatReply, Model, public_name
from synth.schemas.described import Described
from synth.schemas.model_turns import ModelTurn, RepeatedCall
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Role

__all__ = ["ModelConfig", "ModelPolicy", "model_policy"]


class ModelConfig(Described):
    """How a model is spoken to."""

    mode: Mode = "native"
    """``native``: the server reads tool calls. ``structured``: every turn is one JSON object of a given schema, for
    servers without a parser of the model's tool calls."""
    strict: bool = False
    """Ask the server to hold a turn to its schema strictly. vLLM holds the arguments of native calls to it only when
    asked; servers that know the strict rules of OpenAI refuse tools with optional arguments then."""
    send_reasoning: ReasoningField | None = None
    """In the native form: the field of the request in which earlier thoughts go back to the model; None = they do not,
    as most chat templates want it."""
    check_calls: bool = True
    """Whether a call of a tool that does not exist, or with arguments of another form than the tool takes (a missing or
    unknown name, another type), counts as a reply that can't be carried out. Otherwise the environment answers it, like
    any other mistake: so for a policy, whose slips are what it has to unlearn."""
    correct: bool = True
    """Whether a reply that can't be carried out is asked for once more, with what was wrong in words."""
    vision: bool = False
    """Whether the model sees: then it is sent the pictures of what it was shown (``environment.screenshots``)."""
    pictures: int = Field(default=3, ge=1, le=50)
    """With ``vision``: how many of the last pictures go along with each call."""


class ModelPolicy:
    """A policy (``synth.agents.contract.Policy``). It knows nothing of the task but its prompt and history.

    A turn is one call, whose sample is named by the turn's generator; one more where the first reply could not be
    carried out. That reply is not a step of the trajectory: it is kept in the decision's ``source``.
    """

    privileged = False

    def __init__(self, model: Model, config: ModelConfig | None = None) -> None:
        self._model = model
        self._config = config or ModelConfig()

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        return self.turn(prompt, history, key_of(generator))

    def turn(self, prompt: Prompt, history: History, sample: str, further: str = "") -> Decision:
        """The turn that the sample of this name gives; ``further`` is said to the model behind the conversation.

        Raises:
            TurnRejected: there is none.
        """
        config = self._config
        messages = messages_of(prompt, history, mode=config.mode, send_reasoning=config.send_reasoning)
        if further:
            messages = said_to(messages, further)
        if config.vision:
            messages = with_pictures(messages, history, config.pictures)
        reply = self._chat(prompt, messages, sample)
        try:
            return self._decision(read_reply(reply, prompt.tools, config.mode, check=config.check_calls), reply)
        except Unreadable as error:
            if error.hopeless or not config.correct:
                raise TurnRejected(error.reason, _detail(len(history), error)) from None
            first, problem = reply, error.problem
        again = [*messages, *correction(raw_text(first, ids=False), problem)]
        reply = self._chat(prompt, again, digest("corrective turn", sample)[:32])
        try:
            reading = read_reply(reply, prompt.tools, config.mode, check=config.check_calls, again=True)
        except Unreadable as error:
            raise TurnRejected(error.reason, _detail(len(history), error)) from None
        return self._decision(reading, reply, first, problem)

    def _chat(self, prompt: Prompt, messages: list[Message], sample: str) -> ChatReply:
        native = self._config.mode == "native" and bool(prompt.tools)
        structured = self._config.mode == "structured"
        try:
            return self._model.chat(
                messages,
                sample=sample,
                tools=function_tools(prompt.tools, strict=self._config.strict) if native else (),
                tool_choice="auto" if native else None,
                response_format=response_format(prompt.tools, strict=self._config.strict) if structured else None,
                # By question: all runs of a task and their continuations begin alike, so one replica has read it all.
                session=digest("session", prompt.question)[:16],
            )
        except CallFailed as error:
            raise TurnRejected.of(error) from error

    def _decision(
        self, reading: Reading, reply: ChatReply, first: ChatReply | None = None, problem: str = ""
    ) -> Decision:
        replies = [reply] if first is None else [first, reply]
        usage = [one.usage for one in replies if one.usage is not None]
        known = len(usage) == len(replies)
        source = ModelTurn(
            call=reply.call,
            finish=reply.finish.value,
            prompt_tokens=sum(one.prompt_tokens for one in usage) if known else None,
            completion_tokens=sum(one.completion_tokens for one in usage) if known else None,
            repaired=reading.repaired,
            raw=raw_text(reply) if reading.repaired else None,
            corrected=RepeatedCall(call=first.call, problem=problem, raw=raw_text(first)) if first else None,
            served_by=public_name(reply.model) if reply.model and reply.model != self._model.name else None,
            fingerprint=reply.fingerprint,
            token_ids=reply.token_ids,
            logprobs=reply.logprobs,
        )
        return Decision(reading.turn, source=source)


def _detail(turn: int, error: Unreadable) -> str:
    return f"turn {turn}: {' '.join(error.problem.split())}"[:1000]


@versioned(7)
def model_policy(*, task: Task, role: Role, model: Model, **options: Any) -> Policy:
    """The agent that ``model`` plays, the same for every task and role: all that it knows is what it reads. ``options``
    are those of :class:`~synth.agents.model.policy.ModelConfig`.

    Raises:
        pydantic.ValidationError: an option that it does not have.
    """
    return ModelPolicy(model, ModelConfig(**options))
