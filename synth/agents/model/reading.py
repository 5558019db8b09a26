"""From a reply to a turn. What can be meant in one way only is taken as said, and marked; the rest is refused with a
reason, and in words that tell the model what was wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from synth.agents.contract import Turn
from synth.agents.model.narrated import announces, calls_in, narrated
from synth.agents.model.wire import GAVE_UP, Mode, gave_up
from synth.environments.contract import ToolCall, ToolSchema
from synth.identity import canonical_json
from synth.models.contract import ChatReply, Finish
from synth.models.lenient import read_json, read_object, refuses, texts_of
from synth.patterns import schema_errors
from synth.schemas.rejections import Reason

__all__ = ["Reading", "Unreadable", "fit", "raw_text", "read_reply", "tool_named"]

_FORM = frozenset(("type", "required", "additionalProperties"))
"""Rules whose breach is one of form. A value that is merely wrong (a page that does not exist, too many results) is the
agent's own doing: the environment answers it."""
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,15})")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?")


def tool_named(name: str, tools: Sequence[ToolSchema]) -> tuple[ToolSchema | None, tuple[str, ...]]:
    """The tool that ``name`` means: as written, else without a namespace, special tokens and case."""
    exact = next((tool for tool in tools if tool.name == name), None)
    if exact is not None:
        return exact, ()
    bare = re.split(r"<[|｜]|:\d+$", name.strip())[0].strip()
    for prefix in ("functions.", "functions/", "tools.", "function."):
        bare = bare.removeprefix(prefix)
    alike = [tool for tool in tools if tool.name.casefold() == bare.casefold()]
    return (alike[0], ("tool_name",)) if len(alike) == 1 else (None, ())


def fit(tool: ToolSchema, arguments: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """``arguments`` in the types that the tool takes, where they can be meant in one way only: ``"5"`` for a whole
    number, 1984 for a text, null for what may be left out.

    Raises:
        ValueError: they have another form than the tool takes (a type, a missing or an unknown name); in words.
    """
    known = tool.parameters.get("properties", {})
    required = tool.parameters.get("required", [])
    fitted: dict[str, Any] = {}
    repaired: list[str] = []
    for name, value in arguments.items():
        wanted = known.get(name, {}).get("type")
        if value is None and name in known and name not in required and wanted is not None:
            repaired.append("null_argument")
            continue
        fitted[name], changed = _fit(value, wanted)
        repaired += ["coerced"] if changed else []
    for error in schema_errors(tool.parameters, fitted):
        if error.validator in _FORM:
            place = ".".join(str(part) for part in error.absolute_path)
            message = error.message if len(error.message) < 200 else f"{error.message[:200]}..."
            raise ValueError(f"{place}: {message}" if place else message)
    return fitted, tuple(dict.fromkeys(repaired))


def _fit(value: Any, wanted: Any) -> tuple[Any, bool]:
    if isinstance(value, str):
        plain = value.strip()
        if wanted == "integer" and _INTEGER.fullmatch(plain):
            return int(plain), True
        if wanted == "number" and _NUMBER.fullmatch(plain):
            return float(plain), True
        if wanted == "boolean" and plain.casefold() in ("true", "false"):
            return plain.casefold() == "true", True
    elif wanted == "integer" and isinstance(value, float) and value.is_integer():
        return int(value), True
    elif wanted == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value), True
    return value, False


_MARKED = re.compile(r"(?:^|\n)\W{0,4}(?:final )?answer\W{0,4}:\W{0,4}[ \t]*(\S[^\n]*?)[*_`]*\s*\Z", re.I)
_BOXED = re.compile(r"<answer>\s*(.+?)\s*</answer>\s*\Z", re.S)
_SHORT = 300
_AGAIN = "Make a tool call, or give the final answer and nothing else."


@dataclass(frozen=True)
class Reading:
    """A turn, and what was read otherwise than it was written."""

    turn: Turn
    repaired: tuple[str, ...] = ()


class Unreadable(Exception):
    """A reply that gives no turn."""

    def __init__(self, reason: Reason, problem: str, *, hopeless: bool = False) -> None:
        super().__init__(problem)
        self.reason = reason
        self.problem = problem
        """What the model is told."""
        self.hopeless = hopeless
        """Whether asking once more is of no use: it refused, or ran into a limit."""


def read_reply(
    reply: ChatReply, tools: Sequence[ToolSchema], mode: Mode, *, check: bool = True, again: bool = False
) -> Reading:
    """The turn that ``reply`` makes.

    Args:
        check: Refuse calls of unknown tools, and arguments of another form than the tool takes; otherwise they are
            taken as they are, for the environment to answer.
        again: It answers a correction, which asked for a call or the bare answer.

    Raises:
        Unreadable: it makes none.
    """
    if reply.refusal:
        raise Unreadable(Reason.REFUSAL, reply.refusal, hopeless=True)
    if reply.finish is Finish.CONTENT_FILTER:
        raise Unreadable(Reason.CONTENT_FILTER, "the server's filter held the reply back", hopeless=True)
    if reply.finish is Finish.LENGTH:
        shown = f"; it ends with {raw_text(reply)[-60:]!r}" if raw_text(reply) else ""
        raise Unreadable(Reason.TRUNCATED, f"the reply was cut off{shown}", hopeless=True)
    thought, content, repaired = texts_of(reply)
    offered = _Offered(tuple(tools), check)
    try:
        if reply.tool_calls:
            calls = [(call.name, call.arguments) for call in reply.tool_calls]
            ids = [call.id for call in reply.tool_calls]
            repaired += ["duplicate_ids"] if len(set(ids)) < len(ids) else []
            return _calls(calls, thought, content or None, offered, repaired)
        if not content:
            return _silent(reply, thought, offered, repaired, again)
        if refuses(content):
            raise Unreadable(Reason.REFUSAL, content, hopeless=True)
        if mode == "structured":
            return _structured(content, thought, offered, repaired)
        return _text(content, thought, offered, repaired)
    except ValidationError as error:
        # A value that no row can hold.
        detail = error.errors()[0]["msg"]
        raise Unreadable(Reason.MALFORMED_CALL, f"the arguments can't be taken: {detail}. {_AGAIN}") from None


def raw_text(reply: ChatReply, *, ids: bool = True) -> str:
    """The reply as one text: its content as it is, else all that it holds as JSON; empty when it holds nothing.

    Without ``ids``, those that the server drew for the calls are left out: what is sent on must depend on nothing that
    the server draws, else a call that is made again would have another key.
    """
    if not reply.tool_calls and not reply.reasoning:
        return reply.content or ""
    parts = {
        "content": reply.content,
        "reasoning": reply.reasoning,
        "tool_calls": [call.model_dump(mode="json", exclude=None if ids else {"id"}) for call in reply.tool_calls],
    }
    return canonical_json({name: part for name, part in parts.items() if part})


@dataclass(frozen=True)
class _Offered:
    """The tools that the model was given, and whether calls are held to them."""

    tools: tuple[ToolSchema, ...]
    check: bool

    @property
    def names(self) -> list[str]:
        return [tool.name for tool in self.tools]

    def call(self, name: str, text: str, place: int) -> tuple[ToolCall, tuple[str, ...]]:
        """The call of ``name`` with the arguments ``text``, and what was repaired.

        Raises:
            Unreadable: it is none.
        """
        tool, renamed = tool_named(name, self.tools)
        if tool is None and (self.check or not self.tools or not name.strip()):
            known = f"The tools are: {', '.join(self.names)}." if self.tools else "There are no tools."
            raise Unreadable(Reason.UNKNOWN_TOOL, f"there is no tool {name[:80]!r}. {known} {_AGAIN}")
        try:
            arguments, how = read_object(text)
        except ValueError as error:
            problem = f"the arguments of {name[:80]} can't be read: {error}. {_AGAIN}"
            raise Unreadable(Reason.MALFORMED_CALL, problem) from None
        fitted: tuple[str, ...] = ()
        if tool is not None and self.check:
            try:
                arguments, fitted = fit(tool, arguments)
            except ValueError as error:
                problem = f"wrong arguments for {tool.name}: {error}. {_AGAIN}"
                raise Unreadable(Reason.WRONG_ARGUMENTS, problem) from None
        called = tool.name if tool is not None else name
        return ToolCall(id=f"call_{place}", name=called, arguments=arguments), (*renamed, *how, *fitted)


def _calls(
    written: Sequence[tuple[str, str]],
    thought: str | None,
    said: str | None,
    offered: _Offered,
    repaired: list[str],
) -> Reading:
    calls = []
    for place, (name, text) in enumerate(written):
        call, how = offered.call(name, text, place)
        repaired = [*repaired, *how]
        calls.append(call)
    return Reading(Turn(thought=thought, said=said, calls=tuple(calls)), tuple(dict.fromkeys(repaired)))


def _final(text: str, thought: str | None, said: str | None, repaired: list[str]) -> Reading:
    if gave_up(text):
        return Reading(Turn(thought=thought, said=None if text == GAVE_UP else text), tuple(repaired))
    return Reading(Turn(thought=thought, said=said, answer=text), tuple(repaired))


def _text(content: str, thought: str | None, offered: _Offered, repaired: list[str]) -> Reading:
    """A message without calls: a call in words, or the answer."""
    names = offered.names
    try:
        told = narrated(content, names)
    except ValueError as error:
        raise Unreadable(Reason.MALFORMED_CALL, f"{error}. {_AGAIN}") from None
    if told is not None:
        return _calls(told.calls, thought, told.before or None, offered, [*repaired, "narrated_call"])
    if announces(content, names):
        raise Unreadable(Reason.NARRATED_CALL, f"you spoke of a tool call and made none. {_AGAIN}")
    return _final(content, thought, None, repaired)


def _silent(reply: ChatReply, thought: str | None, offered: _Offered, repaired: list[str], again: bool) -> Reading:
    """No content and no calls: whatever there is stands in the reasoning."""
    if thought is not None:
        names = offered.names
        try:
            told = narrated(thought, names) if announces(thought, names) else None
        except ValueError:
            told = None
        if told is not None:
            return _calls(told.calls, told.before or None, None, offered, [*repaired, "call_in_reasoning"])
        marked = _BOXED.search(thought) or _MARKED.search(thought)
        if marked is not None:
            before = thought[: marked.start()].strip() or None
            return _final(marked.group(1).strip(), before, None, [*repaired, "answer_in_reasoning"])
        if again and len(thought) <= _SHORT and "\n" not in thought and not announces(thought, names):
            return _final(thought, None, None, [*repaired, "answer_in_reasoning"])
    told_of = "you spoke of a tool call and made none" if reply.finish is Finish.TOOL_CALLS else "you said nothing"
    raise Unreadable(Reason.EMPTY_REPLY, f"{told_of}. {_AGAIN}")


def _structured(content: str, thought: str | None, offered: _Offered, repaired: list[str]) -> Reading:
    """One JSON object with thought and action."""
    value, before, how = _object_in(content, offered)
    repaired = [*repaired, *how]
    if not isinstance(value, Mapping):
        told = narrated(content, offered.names)
        if told is None:
            raise _no_action("it is not a JSON object")
        return _calls(told.calls, thought, told.before or None, offered, [*repaired, "narrated_call"])
    inner = value.get("thought")
    if isinstance(inner, str) and inner.strip():
        thought = "\n\n".join(part for part in (thought, inner.strip()) if part)
    action: Any = value.get("action")
    if isinstance(action, str):
        try:
            action, _ = read_json(action)
            repaired.append("double_encoded")
        except ValueError:
            action = None
    if not isinstance(action, Mapping):
        # The parts of the action beside the thought, not below it.
        action = {key: item for key, item in value.items() if key not in ("thought", "action") or key == "answer"}
        repaired.append("flat_action")
    names = offered.names
    wanted = action.get("calls") or ([action] if action.get("tool") or action.get("name") else [])
    answer = action.get("answer")
    if wanted and answer:
        raise _no_action("it holds both a tool call and an answer")
    if wanted:
        calls = _named_calls(wanted, names)
        return _calls(calls, thought, before or None, offered, repaired)
    if "answer" not in action:
        raise _no_action("it holds neither a tool call nor an answer")
    if answer is None:
        return Reading(Turn(thought=thought), (*repaired, "null_answer"))
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        answer = str(answer)
        repaired.append("coerced")
    if not isinstance(answer, str):
        raise _no_action("the answer is not a text")
    if not answer.strip():
        raise Unreadable(Reason.EMPTY_REPLY, f"the answer is empty. If nothing can be found, answer: {GAVE_UP}")
    return _final(answer.strip(), thought, before or None, repaired)


def _object_in(content: str, offered: _Offered) -> tuple[Any, str, tuple[str, ...]]:
    """The JSON value of a reply, what stands before it, and what was looked past."""
    try:
        value, how = read_json(content)
        return value, "", how
    except ValueError as error:
        try:
            if narrated(content, offered.names) is not None:
                return None, "", ()
        except ValueError:
            pass
        start = content.find("{")
        if start > 0:
            try:
                value, how = read_json(content[start:].removesuffix("```").strip())
                return value, content[:start].replace("```json", "").replace("```", "").strip(), (*how, "text_around")
            except ValueError:
                pass
        raise _no_action(str(error)) from None


def _named_calls(wanted: Any, names: Sequence[str]) -> list[tuple[str, str]]:
    calls: list[tuple[str, str]] = []
    for item in wanted if isinstance(wanted, list) else [wanted]:
        if not isinstance(item, Mapping):
            raise _no_action("a call is not an object")
        name = item.get("tool") or item.get("name")
        if not isinstance(name, str):
            raise _no_action("a call names no tool")
        found = calls_in(item, [*names, name])
        calls.append(found[0] if found else (name, ""))
    return calls


def _no_action(problem: str) -> Unreadable:
    form = 'Reply with one JSON object with the keys "thought" and "action" and nothing else.'
    return Unreadable(Reason.MALFORMED_CALL, f"your reply is not of the agreed form: {problem}. {form}")
