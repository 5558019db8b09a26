"""A tool that a user wrote: a function, named as ``module:function``, that an agent can call beside the search.

Its signature is the tool's schema, its docstring what the agent reads of it. It must answer equal arguments with equal
words: runs are replayed.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from synth.environments.contract import ToolCall, ToolResult, ToolSchema
from synth.errors import InputError
from synth.own_code import load, source_of
from synth.schemas.row import JsonObject

__all__ = ["OWN_TOOL", "OwnTool"]

OWN_TOOL = r"^[A-Za-z_]\w*(?:\.\w+)*:[A-Za-z_]\w*$"
_KEY = "environment.tools"


class OwnTool:
    """The function ``place`` as a tool. A parameter that is called ``environment`` is no argument of the tool: it is
    given what :meth:`call` is."""

    def __init__(self, place: str) -> None:
        """
        Raises:
            InputError: it can't be imported, or its signature or docstring makes no tool.
        """
        self.place = place
        name = place.partition(":")[2]
        self._function: Callable[..., Any] = load(place, _KEY)
        if not inspect.isfunction(self._function) or inspect.iscoroutinefunction(self._function):
            raise self._unfit("is no plain function")
        try:
            types = typing.get_type_hints(self._function, include_extras=True)
        except (NameError, TypeError) as error:
            raise self._unfit(f"has a type that can't be read: {error}") from None
        parameters = inspect.signature(self._function).parameters
        self._inside = "environment" in parameters
        self._types = {one: self._read_by(one, types, parameters[one]) for one in parameters if one != "environment"}
        summary, told = _docstring(self._function)
        if not summary:
            raise self._unfit("has no docstring", "its first paragraph is what an agent reads of the tool")
        arguments = {one: self._schema(one, told.get(one, "")) for one in self._types}
        optional = [one for one in self._types if parameters[one].default is not inspect.Parameter.empty]
        self.schema = ToolSchema.of(name, summary, arguments, optional=optional)

    @property
    def source(self) -> str:
        """Hash of the function's code: another text of it is another tool."""
        return source_of(self.place, _KEY)

    def _read_by(self, name: str, types: Mapping[str, Any], parameter: inspect.Parameter) -> TypeAdapter[Any]:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise self._unfit(f"takes {parameter}, which no tool can be given by name")
        if name not in types:
            raise self._unfit(f"does not say the type of {name}")
        try:
            return TypeAdapter(types[name])
        except PydanticUserError:
            raise self._unfit(f"takes {name} of a type that is no JSON") from None

    def _schema(self, name: str, about: str) -> JsonObject:
        try:
            schema: JsonObject = self._types[name].json_schema()
        except PydanticUserError:
            raise self._unfit(f"takes {name} of a type that is no JSON") from None
        return {**schema, "description": about} if about else schema

    def _unfit(self, why: str, mend: str | None = None) -> InputError:
        return InputError(f"{self.place} {why}", where=_KEY, mend=mend)

    def call(self, call: ToolCall, environment: Any) -> ToolResult:
        """What the function says to ``call``, whose arguments fit the schema. A ``ValueError`` or ``LookupError`` of it
        is said to the agent, in its words.

        Raises:
            InputError: it raised anything else, or returned no text; the line names the place in the user's code.
        """
        try:
            arguments = {name: self._types[name].validate_python(value) for name, value in call.arguments.items()}
        except ValidationError as error:
            first = error.errors()[0]
            return call.answered(f"Wrong arguments for {call.name}: {first['msg']}.", "bad_arguments")
        if self._inside:
            arguments["environment"] = environment
        try:
            said = self._function(**arguments)
        except (ValueError, LookupError) as error:
            return call.answered(" ".join(map(str, error.args)) or type(error).__name__, "refused")
        except Exception as error:
            raise self._unfit(f"raised {type(error).__name__}: {error} ({_place(error)})") from error
        if not isinstance(said, str):
            raise self._unfit(f"returned {type(said).__name__}; a tool answers in text")
        return call.answered(said)


def _docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """The first paragraph, and what the section ``Args:`` says of each argument."""
    text = inspect.getdoc(function) or ""
    told: dict[str, str] = {}
    lines = text.partition("\nArgs:\n")[2].splitlines()
    last = ""
    for line in lines:
        name, colon, words = line.strip().partition(":")
        if line.startswith("    ") and not line.startswith("     ") and colon:
            last = name.split(" ")[0]
            told[last] = words.strip()
        elif line.startswith("     ") and last:
            told[last] += f" {line.strip()}"
        else:
            break
    summary = text.partition("\n\n")[0]
    return " ".join(("" if summary.startswith("Args:") else summary).split()), told


def _place(error: Exception) -> str:
    """Where it was raised: file and line of the innermost frame."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
