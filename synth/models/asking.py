"""One question to a model, one answer of a given form: what writers, judges, scorers and checkers do.

A question is a prompt file with its variables filled in; the answer is a row type. Its JSON Schema goes along as the
request's ``response_format``, so that servers which can hold the model to it. A reply of another form is asked for once
more, with what was wrong in words; then there is no answer, and the reason says why: no answer is never taken for one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

from pydantic import ValidationError

from synth.identity import digest
from synth.models.contract import CallFailed, ChatReply, FailureKind, Finish, Model
from synth.models.lenient import read_json, refuses, texts_of
from synth.prompting import PromptFile
from synth.schemas.rejections import Reason
from synth.schemas.row import Row

__all__ = ["AskConfig", "Asked", "Asker", "Asks", "answer_schema", "quoted"]

T = TypeVar("T", bound=Row)


class AskConfig(Row):
    """How a model is asked: options of every role that answers questions."""

    response_format: Literal["json_schema", "json_object", "none"] = "json_schema"
    """What the server is told of the form: the schema, only that it is JSON, or nothing (it stands in the prompt)."""
    strict: bool = False
    """Say ``strict`` with the schema: servers that hold a model to it only when asked want that."""
    correct: bool = True
    """Whether a reply of another form is asked for once more."""


@dataclass(frozen=True)
class Asked(Generic[T]):
    """What came of a question."""

    answer: T | None
    """None = there is none."""
    reason: Reason | None = None
    """Why there is none."""
    detail: str = ""
    calls: tuple[str, ...] = ()
    """Keys of the calls that were made, in order."""
    thought: str | None = None
    """What the model thought before it answered, where the server gives it."""
    repaired: tuple[str, ...] = ()
    """What had to be looked past to read the answer."""


class Asks(Protocol):
    """Who is asked one question: an :class:`Asker`, or a user's own."""

    def ask(self, sample: str, **values: Any) -> Asked[Any]:
        """The answer where ``values`` stand for the prompt's variables, or why there is none."""


def quoted(**data: Any) -> str:
    """Data for a prompt as one line of JSON: however its text reads, it ends where the JSON ends."""
    return json.dumps(data, ensure_ascii=False)


class Asker(Generic[T]):
    """Asks ``model`` the question of ``prompt``; the answer is a row of ``answer``.

    The prompt's first part should be the same from question to question: servers keep the work on it.
    """

    def __init__(self, model: Model, prompt: PromptFile, answer: type[T], config: AskConfig | None = None) -> None:
        self.model = model
        self.prompt = prompt
        self._answer = answer
        self._config = config or AskConfig()
        self._format = _response_format(answer, self._config)
        self._session = digest("asked", str(prompt.ref))[:16]

    def ask(self, sample: str, **values: Any) -> Asked[T]:
        """The answer where ``values`` stand for the prompt's variables.

        Args:
            sample: Names this sample of the question (``synth.identity.key_of`` of a generator, or a digest): n samples
                are n calls.

        Raises:
            InputError: values are missing, or not the prompt's.
            BudgetReached: the cap allows no further call.
            EndpointDown: the endpoint does not answer.
        """
        messages: list[dict[str, Any]] = [{"role": "user", "content": self.prompt.render(**values)}]
        calls: list[str] = []
        for again in (False, True):
            try:
                reply = self.model.chat(
                    messages,
                    sample=digest("corrective turn", sample)[:32] if again else sample,
                    response_format=self._format,
                    session=self._session,
                )
            except CallFailed as error:
                overflow = error.kind is FailureKind.CONTEXT
                reason = Reason.CONTEXT_OVERFLOW if overflow else Reason.ENDPOINT_FAILED
                return Asked(None, reason, f"{error.kind.value}: {error.detail}", tuple(calls))
            calls.append(reply.call)
            held_back = _held_back(reply)
            if held_back is not None:
                return Asked(None, *held_back, tuple(calls))
            thought, content, repaired = texts_of(reply)
            if refuses(content):
                return Asked(None, Reason.REFUSAL, content, tuple(calls))
            try:
                answer, how = self._read(content)
            except ValueError as error:
                reason = Reason.MALFORMED if content else Reason.EMPTY_REPLY
                problem = " ".join(str(error).split())[:600]
                if again or not self._config.correct:
                    return Asked(None, reason, problem, tuple(calls))
                messages = [*messages, *_correction(content, problem)]
                continue
            return Asked(answer, None, "", tuple(calls), thought, (*repaired, *how))
        raise AssertionError("both rounds return")

    def _read(self, content: str) -> tuple[T, tuple[str, ...]]:
        """
        Raises:
            ValueError: it is not of the form; in words for the model.
        """
        if not content:
            raise ValueError("you said nothing")
        try:
            value, repaired = read_json(content)
        except ValueError:
            start, end = content.find("{"), content.rfind("}")
            if start < 0 or end < start or (start, end) == (0, len(content) - 1):
                raise
            value, repaired = read_json(content[start : end + 1])
            repaired = (*repaired, "text_around")
        try:
            return self._answer.model_validate(value), repaired
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            raise ValueError(f"{place}: {first['msg']}" if place else first["msg"]) from None


def _held_back(reply: ChatReply) -> tuple[Reason, str] | None:
    """A reply that asking once more would not mend."""
    if reply.refusal:
        return Reason.REFUSAL, reply.refusal
    if reply.finish is Finish.CONTENT_FILTER:
        return Reason.CONTENT_FILTER, "the server's filter held the reply back"
    if reply.finish is Finish.LENGTH:
        return Reason.TRUNCATED, "the reply was cut off"
    return None


def _correction(content: str, problem: str) -> list[dict[str, Any]]:
    return [
        {"role": "assistant", "content": content or "(nothing)"},
        {"role": "user", "content": f"This could not be read: {problem}. Reply with the JSON object and nothing else."},
    ]


def answer_schema(answer: type[Row]) -> dict[str, Any]:
    """JSON Schema of a row type as servers take it: every key is required, and no other is allowed. The order of the
    keys is that of the fields: servers let a model write them in that order, so reasons stand before verdicts."""
    found: dict[str, Any] = _plain(answer.model_json_schema())
    return found


def _plain(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    plain: dict[str, Any] = {}
    for name, part in schema.items():
        if name in ("properties", "$defs"):
            plain[name] = {key: _plain(item) for key, item in part.items()}
        elif name not in ("title", "default"):
            plain[name] = _plain(part)
    if "properties" in plain:
        plain |= {"required": list(plain["properties"]), "additionalProperties": False}
    return plain


def _response_format(answer: type[Row], config: AskConfig) -> dict[str, Any] | None:
    if config.response_format == "none":
        return None
    if config.response_format == "json_object":
        return {"type": "json_object"}
    schema = {"name": "answer", "strict": config.strict, "schema": answer_schema(answer)}
    return {"type": "json_schema", "json_schema": schema}
