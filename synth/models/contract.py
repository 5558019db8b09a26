"""What a call to a language model is, and what may come of it.

Agents and stages see a :class:`Model`: one role, bound to one backend. They call it as if it were a function; who
waits for whom is the engine's business (``synth.models.bridge``).
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, Protocol

from pydantic import Field

from synth.errors import SynthError
from synth.identity import IDENTITY_SCHEME, canonical_json
from synth.schemas.row import JsonObject, NonEmpty, Row

__all__ = [
    "BatchOptions",
    "BudgetReached",
    "CallFailed",
    "ChatReply",
    "ChatRequest",
    "EndpointDown",
    "FailureKind",
    "Finish",
    "Limits",
    "Model",
    "Models",
    "Patience",
    "Price",
    "RawCall",
    "Runtime",
    "Sampling",
    "ServeOptions",
    "ToolChoice",
    "Usage",
    "public_name",
]

ToolChoice = Literal["auto", "required", "none"]
_FOLDER = re.compile(r"(?:[/\\~.]|[A-Za-z]:[/\\]).*", re.S)


class Sampling(Row):
    """How a model draws. All of it is sent as it stands, and is part of what a call is."""

    temperature: float | None = Field(default=None, ge=0)
    """None = the server's default."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int = Field(default=2048, ge=1)
    """Tokens that one reply may have; what a call can cost at most follows from it."""
    length_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """Name under which ``max_tokens`` is sent: some servers take only the second (OpenAI's reasoning models)."""
    logprobs: bool = False
    """Ask for token ids and log probabilities, as far as the server gives them."""
    extra: JsonObject = {}
    """Further fields of the request's body (``chat_template_kwargs``, ``top_k``, ``reasoning_effort``, ...)."""


@dataclass(frozen=True)
class ChatRequest:
    """One call. Two requests are the same call exactly when all of it but ``session`` is equal."""

    model: str
    messages: tuple[Mapping[str, Any], ...]
    """As ``/v1/chat/completions`` takes them."""
    tools: tuple[Mapping[str, Any], ...] = ()
    tool_choice: ToolChoice | None = None
    """None = the field is not sent."""
    response_format: Mapping[str, Any] | None = None
    sampling: Sampling = field(default_factory=Sampling)
    sample: str = "0"
    """Which sample of the prompt this is: n samples of one prompt are n calls. For a turn of an agent, the 32 hex
    digits of its generator's key: fresh for each (branch, side, j, turn)."""
    session: str = field(default="", compare=False)
    """Calls of one session go to one replica while it lives, so that its prefix cache pays. Not part of the call."""

    @cached_property
    def key(self) -> str:
        """64 hex digits over everything that makes this call what it is; no address, key or time."""
        return hashlib.sha256(f"call {IDENTITY_SCHEME}\n{self.sample}\n{self.body}".encode()).hexdigest()

    @cached_property
    def body(self) -> str:
        """JSON of the request. Canonical, so that system prompt and tools are byte-identical from call to call; only
        the response's schema keeps the order of its keys, for servers let a model write them in that order."""
        plain: dict[str, Any] = {"model": self.model, "messages": [dict(message) for message in self.messages]}
        if self.tools:
            plain["tools"] = [dict(tool) for tool in self.tools]
        if self.tool_choice is not None:
            plain["tool_choice"] = self.tool_choice
        plain[self.sampling.length_field] = self.sampling.max_tokens
        if self.sampling.temperature is not None:
            plain["temperature"] = self.sampling.temperature
        if self.sampling.top_p is not None:
            plain["top_p"] = self.sampling.top_p
        if self.sampling.logprobs:
            plain |= {"logprobs": True, "return_token_ids": True}
        text = canonical_json(plain | self.sampling.extra)
        if self.response_format is None or "response_format" in self.sampling.extra:
            return text
        schema = json.dumps(self.response_format, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return f'{text[:-1]},"response_format":{schema}}}'


class Finish(StrEnum):
    """Why the model stopped, as far as the server says."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    """Cut off by ``max_tokens`` or by the context's end."""
    CONTENT_FILTER = "content_filter"
    OTHER = "other"
    """Nothing, or a word that we do not know."""


class Usage(Row):
    """Tokens of one call."""

    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)
    """Reasoning included."""
    cached_tokens: int = Field(default=0, ge=0)
    """Of the prompt, how many came from the server's prefix cache."""


class RawCall(Row):
    """A tool call as the server gave it: nothing is trusted yet."""

    id: str
    """Whatever the server made up; may be empty or twice the same."""
    name: str
    arguments: str
    """JSON by agreement only: may be empty, torn, or no object."""


class ChatReply(Row):
    """What the model said."""

    content: str | None
    """None when empty."""
    reasoning: str | None = None
    """From ``reasoning`` or ``reasoning_content``; None when empty."""
    refusal: str | None = None
    tool_calls: tuple[RawCall, ...] = ()
    finish: Finish
    usage: Usage | None
    """None when the server gave none, or one that can't be true: the call is then booked at what it could cost at
    most."""
    model: str | None = None
    """What the server says that it is."""
    fingerprint: str | None = None
    """``system_fingerprint``."""
    token_ids: tuple[int, ...] | None = None
    """Of the completion."""
    logprobs: tuple[float, ...] | None = None
    """Of the completion's tokens."""
    prompt_tail: tuple[tuple[str, float], ...] | None = None
    """Text and log probability of the last tokens of the prompt, 128 at most, where ``prompt_logprobs`` was asked for
    and given."""
    call: NonEmpty = "?"
    """Key of the call that it answers."""


class FailureKind(StrEnum):
    """Why a call brought no reply, once every retry was used up. Becomes the reason of a rejection."""

    RATE_LIMITED = "rate_limited"
    SERVER = "server"
    """5xx."""
    CONNECTION = "connection"
    """Refused, reset, cut off in the middle of a body."""
    TIMEOUT = "timeout"
    MALFORMED = "malformed"
    """A body that is not an answer: torn JSON, another content type, no choices."""
    REQUEST = "request"
    """The server says that the request is wrong (400, 404, 413, 422): a retry would be as wrong."""
    CONTEXT = "context"
    """The conversation is longer than the model's context."""


class CallFailed(Exception):
    """A call brought no reply. The row that needed it is rejected with the reason; the build goes on."""

    def __init__(self, kind: FailureKind, detail: str) -> None:
        super().__init__(f"{kind.value}: {detail}")
        self.kind = kind
        self.detail = detail


class BudgetReached(SynthError):
    """The cap allows no further call. What is finished is kept; the same command goes on once the cap is raised."""

    exit_code = 6


class EndpointDown(SynthError):
    """An endpoint does not answer: it is down, the key is wrong, or its quota is used up. What is finished is kept."""

    exit_code = 7


class Price(Row):
    """Money per million tokens, in the currency in which the cap is given."""

    prompt: float = Field(default=0.0, ge=0)
    completion: float = Field(default=0.0, ge=0)
    cached: float | None = Field(default=None, ge=0)
    """Of prompt tokens that the server had cached; None = as ``prompt``."""


class Limits(Row):
    """What one trajectory may use, beside its turns."""

    tokens: int | None = Field(default=None, ge=1)
    """Completion tokens over all its turns."""
    seconds: float | None = Field(default=None, gt=0)
    """Wall time from its first call."""


class Patience(Row):
    """When calls go on and when they give up. Of roles that share an endpoint, the more patient one counts there."""

    seconds: float = Field(default=120.0, ge=0)
    """Without any reply, over all endpoints and in spite of attempts (429, 5xx, refused connections), before the run
    ends; what is finished is kept."""
    attempts: int = Field(default=8, ge=1)
    """Failed attempts in a row, over all calls, before the run may end: a quiet run is not a dead endpoint."""
    longest_wait: float = Field(default=600.0, ge=0)
    """Seconds of Retry-After that are waited for; an endpoint that asks for more has no quota left for us."""
    first_delay: float = Field(default=0.25, gt=0)
    """Seconds before a call's second attempt; doubled from attempt to attempt."""
    longest_delay: float = Field(default=30.0, gt=0)
    """Seconds between two attempts of a call at most; also between two trials of a broken endpoint."""
    window: int = Field(default=16, ge=1)
    """Calls at once that an endpoint is given at first."""
    broken_after: int = Field(default=5, ge=1)
    """Failed attempts in a row after which an endpoint counts as broken and gets one call at a time, to try it."""

    def or_more(self, other: Patience) -> Patience:
        """The more patient of the two."""
        mine, its = (
            (self.seconds, self.longest_wait, self.attempts),
            (other.seconds, other.longest_wait, other.attempts),
        )
        return self if mine >= its else other


class ServeOptions(Row):
    """How a server is started."""

    model: NonEmpty | None = None
    """Folder or Hub name of the weights; None = the role's model name."""
    executable: NonEmpty | None = None
    """The ``vllm`` of its own environment; None = the variable SYNTH_VLLM, else ``vllm`` on the PATH."""
    arguments: tuple[str, ...] = ()
    """Further arguments of ``vllm serve`` (``--tensor-parallel-size 2``, ``--reasoning-parser qwen3``)."""
    environment: dict[str, str] = {}
    """Further environment variables."""
    tool_call_parser: str | None = "hermes"
    """Turns on native tool calls; None = the role uses structured output."""
    ready_seconds: float = Field(default=1800.0, gt=0)
    """How long a start may take: weights may have to be downloaded."""
    restarts: int = Field(default=3, ge=0)
    """How often a server that died is started again, counted anew after each quiet hour."""


class BatchOptions(Row):
    """How calls go to a provider's batch endpoint, at a lower price and some time within a day."""

    price: float = Field(default=0.5, ge=0, le=1)
    """What a call in a batch costs, as a share of the role's price."""
    window: NonEmpty = "24h"
    """In which the provider is to be done with a batch; what it has not done by then goes into the next one."""
    calls: int = Field(default=10_000, ge=1, le=50_000)
    """Calls of one batch at most, and rows that a stage works on at once."""
    least: int = Field(default=16, ge=1)
    """Fewer calls than this are not worth a batch: they are made directly, at the full price."""
    gather: float = Field(default=5.0, gt=0)
    """Seconds without a new call after which those that came go as one batch."""
    poll: float = Field(default=60.0, gt=0)
    """Seconds between two looks at a batch."""
    attempts: int = Field(default=3, ge=1)
    """Batches that a call may be part of; then it is made directly."""
    forget: tuple[NonEmpty, ...] = ()
    """Batches under way (the provider's ids) that are given up: their calls are made again, and stay booked at what
    they may have cost."""


class Runtime(Row):
    """Where a model is and how it is called: no result depends on it, so no fingerprint holds it."""

    endpoints: tuple[NonEmpty, ...] = ()
    """Addresses up to and with ``/v1``; calls are spread over them. Empty = a server that we start (``vllm``)."""
    api_key_env: str | None = None
    """NAME of the environment variable that holds the key."""
    concurrency: int = Field(default=256, ge=1, le=100_000)
    """Calls in flight per endpoint at most; how many it takes is found out (AIMD)."""
    timeout: float = Field(default=600.0, gt=0)
    """Seconds for one attempt."""
    attempts: int = Field(default=8, ge=1, le=100)
    """Attempts per call."""
    patience: Patience | None = None
    """How long an outage or a rate limit is borne; None = the hub's own."""
    price: Price = Price()
    role: str = ""
    """What its calls are booked and shown under, within the account; empty = the model's name."""
    serve: ServeOptions | None = None
    """A vLLM server that we start ourselves, in place of ``endpoints``."""
    batch: BatchOptions | None = None
    """Calls that don't wait for one another go in batches."""

    @property
    def price_share(self) -> float:
        """What its calls cost, as a share of ``price``."""
        return 1.0 if self.batch is None else self.batch.price


class Model(ABC):
    """One role, bound to one model. Whoever writes one says its name and how it answers a request."""

    name: str
    """The model's name at its endpoint."""
    sampling: Sampling = Sampling()
    """How it draws unless a call says otherwise."""

    @abstractmethod
    def ask(self, request: ChatRequest) -> ChatReply:
        """One call; from the store when it was made before.

        Raises:
            CallFailed: no reply, after every retry.
            BudgetReached: the cap allows no further call.
            EndpointDown: the endpoint does not answer.
        """

    def chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        sample: str,
        tools: Sequence[Mapping[str, Any]] = (),
        tool_choice: ToolChoice | None = None,
        response_format: Mapping[str, Any] | None = None,
        sampling: Sampling | None = None,
        session: str = "",
    ) -> ChatReply:
        """``ask`` with a request of these parts. ``sampling`` None = the role's own. Raises the same."""
        return self.ask(
            ChatRequest(
                model=self.name,
                messages=tuple(messages),
                tools=tuple(tools),
                tool_choice=tool_choice,
                response_format=response_format,
                sampling=self.sampling if sampling is None else sampling,
                sample=sample,
                session=session,
            )
        )


class Models(Protocol):
    """All models of a build: one store of calls, one account, one limiter per endpoint."""

    def bind(self, name: str, sampling: Sampling, runtime: Runtime) -> Model:
        """The model ``name`` at the endpoints of ``runtime``."""


def public_name(name: str) -> str:
    """``name`` as it may leave this machine: servers call a model by the folder that it was loaded from, and of that
    only the last part is kept. A name that is not a path (``Qwen/Qwen3-8B``) stays as it is."""
    if not _FOLDER.fullmatch(name):
        return name
    parts = [part for part in re.split(r"[/\\]", name) if part not in ("", ".", "..", "~")]
    return parts[-1] if parts else "model"
