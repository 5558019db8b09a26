"""Repairs that come to mind over code that was read and a failure that was seen, the likeliest first.

They are the edits by which code is broken, made over what stands there now, and guards for the arguments of the call
that failed. Nothing here knows what was broken.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from synth.agents.scripted.code.memory import Function
from synth.environments.reports import Failure
from synth.sources.code.mutations import REMOVALS, edits_of

__all__ = ["Repair", "repairs"]

_LIKELY = 4.0
_TRUTHS = ("equality", "boolean", "negation", "truth", "boundary", "direction")


@dataclass(frozen=True)
class Repair:
    """Lines in the place of others."""

    path: str
    line: int
    old: str
    new: str
    operator: str
    change: tuple[str, str]
    """What of the line is replaced, and by what."""
    weight: float
    """How likely it seems, by what was seen."""


def repairs(function: Function, failure: Failure | None) -> tuple[Repair, ...]:
    """What could mend ``function``, the likeliest first."""
    found = [*_edits(function, failure), *_guards(function, failure)]
    return tuple(sorted(found, key=lambda one: (-one.weight, one.line, one.new)))


def _edits(function: Function, failure: Failure | None) -> Iterator[Repair]:
    text, stack = function.text, {} if failure is None else {line: path for path, line, _, _ in failure.frames}
    kinds = _kinds(failure)
    for edit in edits_of(text):
        if edit.operator in REMOVALS or "\n" in edit.old + edit.new:
            continue
        old = function.lines[edit.line - 1]
        start = edit.start - text.rfind("\n", 0, edit.start) - 1 + len(old) - len(text.split("\n")[edit.line - 1])
        new = old[:start] + edit.new + old[start + len(edit.old) :]
        line = function.line + edit.line - 1
        weight = (4.0 if edit.operator in kinds else 1.0) * (_LIKELY if stack.get(line) == function.path else 1.0)
        yield Repair(function.path, line, old, new, edit.operator, (edit.old, edit.new), weight)


def _kinds(failure: Failure | None) -> tuple[str, ...]:
    """Operators that would show as what was seen."""
    compared = failure.compared if failure is not None else None
    if compared is None:
        return ()
    if compared["came"] == "raises nothing":
        return (*_TRUTHS, "off_by_one")
    came, should = (_value(compared[name].partition(" ")[2]) for name in ("came", "should"))
    if isinstance(came, bool) or isinstance(should, bool) or should in ("a true value", "a false value"):
        return _TRUTHS
    if isinstance(came, int | float) and isinstance(should, int | float):
        return ("off_by_one", "boundary") if abs(came - should) == 1 else ("arithmetic", "off_by_one", "function")
    if isinstance(came, str | list | tuple) and isinstance(should, str | list | tuple):
        if len(came) == len(should):
            return ("arguments", "order", "function", "slice")
        return ("boundary", "off_by_one", "slice", "loop", "boolean")
    return (*_TRUTHS, "loop")


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _guards(function: Function, failure: Failure | None) -> Iterator[Repair]:
    """A condition on an argument of the call that failed, before all else: ``if size < 1: raise ValueError``."""
    compared = failure.compared if failure is not None else None
    if compared is None:
        return
    try:
        call = ast.parse(compared["call"], mode="eval").body
        made = ast.parse(function.text).body[0]
    except (SyntaxError, IndexError):  # of a class, no function was shown
        return
    if not isinstance(call, ast.Call) or not isinstance(made, ast.FunctionDef):
        return
    names = [arg.arg for arg in made.args.args if arg.arg not in ("self", "cls")]
    values = {name: _value(ast.unparse(arg)) for name, arg in zip(names, call.args, strict=False)}
    values |= {one.arg: _value(ast.unparse(one.value)) for one in call.keywords if one.arg in names}
    body = [node for node in made.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    if not body or getattr(call.func, "attr", getattr(call.func, "id", "")) != function.name:
        return
    at = body[0].lineno - 1
    old = function.lines[at]
    indent = old[: len(old) - len(old.lstrip())]
    does = compared["should"]
    if not does.startswith(("raise ", "return ")) or does.endswith((" value", "...")):
        return
    weight = 2.5 if compared["came"] == "raises nothing" or compared["came"].startswith("raises ") else 0.5
    for condition in _conditions(values):
        new = f"{indent}if {condition}:\n{indent}    {does}\n{old}"
        yield Repair(function.path, function.line + at, old, new, "guard", ("", f"if {condition}: {does}"), weight)


def _conditions(values: dict[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{name} < {value + 1}"
            yield f"{name} > {value - 1}"
        elif not value:
            yield f"not {name}"
    numbers = {name: value for name, value in values.items() if isinstance(value, int) and not isinstance(value, bool)}
    for name, value in numbers.items():
        yield from (f"{name} > {other}" for other in numbers if value > numbers[other])
