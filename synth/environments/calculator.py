"""A calculator as a tool: arithmetic over quantities as pages write them, and years between dates.

After SciResearcher (arXiv 2605.01489), whose agents compute over what they retrieved.

It evaluates a syntax tree of numbers and four operations, exactly, and nothing else.
"""

from __future__ import annotations

import ast
import operator
import re
from fractions import Fraction

from synth.environments.contract import ToolCall, ToolResult, ToolSchema, text_argument
from synth.environments.pages import render
from synth.environments.shown import Result
from synth.text.dates import parse_date
from synth.text.numbers import NUMBER, parse_quantity

__all__ = ["CALCULATE_TOOL", "calculate", "calculated"]

_LONGEST = 400
CALCULATE_TOOL = ToolSchema.of(
    "calculate",
    "Work out + - * / and brackets over numbers, which may have units, or the full years between two dates.",
    {"expression": text_argument('"1,200 km - 350 km", "(3 + 4) / 2" or "years from 3 May 1900 to 1950".', _LONGEST)},
)
_YEARS = re.compile(r"(?:full )?years from (?P<early>.+?) to (?P<late>.+)", re.I)
_UNIT = re.compile(r" ?(?P<unit>(?:square |cubic )?[^\W\d_]+[²³]?)")
_DONE = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def calculated(call: ToolCall) -> ToolResult:
    """The answer to a call of the calculator."""
    expression = " ".join(str(call.arguments["expression"]).split())
    try:
        return call.answered(render(Result(expression, calculate(expression))))
    except ValueError as error:
        return call.answered(str(error), "bad_arguments")


def calculate(expression: str) -> str:
    """What ``expression`` comes to, as pages write quantities.

    Raises:
        ValueError: it is no such expression, its units differ, or it divides by zero; one line for the agent.
    """
    text = " ".join(expression.split())
    between = _YEARS.fullmatch(text)
    if between is not None:
        return _years(between["early"], between["late"])
    plain, units = _without_units(text.replace("−", "-").replace("×", "*").replace("÷", "/"))
    try:
        tree = ast.parse(plain, mode="eval").body
    except (SyntaxError, MemoryError, RecursionError):
        raise ValueError(f"This is no sum: {text}") from None
    if units and not all(
        isinstance(node, ast.Add | ast.Sub) for node in ast.walk(tree) if isinstance(node, ast.operator)
    ):
        raise ValueError("Quantities with units are added and subtracted only.")
    if len(units) > 1:
        raise ValueError(f"The units differ: {', '.join(sorted(unit or 'none' for unit in units))}.")
    value = _value(tree, text)
    try:
        number = int(value) if value.denominator == 1 else round(float(value), 6)
    except OverflowError:
        raise ValueError("The result is too large.") from None
    return f"{number:,} {next(iter(units), '')}".strip()


def _without_units(text: str) -> tuple[str, set[str]]:
    """The bare arithmetic in ``text``, and the units of its quantities, each of which has one or none has."""
    pieces: list[str] = []
    units: set[str] = set()
    end = 0
    for number in NUMBER.finditer(text):
        if number.start() < end:
            continue
        pieces += [text[end : number.start()], number.group().replace(",", "")]
        end = number.end()
        unit = _UNIT.match(text, end)
        known = unit is not None and parse_quantity(number.group() + unit.group()) is not None
        units.add(unit["unit"].casefold() if unit is not None and known else "")
        end = unit.end() if unit is not None and known else end
    return "".join([*pieces, text[end:]]), units if units != {""} else set()


def _value(node: ast.expr, text: str) -> Fraction:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return Fraction(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, text)
    if isinstance(node, ast.BinOp) and type(node.op) in _DONE:
        left, right = _value(node.left, text), _value(node.right, text)
        if isinstance(node.op, ast.Div) and not right:
            raise ValueError("Nothing can be divided by zero.")
        return Fraction(_DONE[type(node.op)](left, right))
    raise ValueError(f"This is no sum: {text}")


def _years(early: str, late: str) -> str:
    first, last = parse_date(early.strip()), parse_date(late.strip().rstrip("."))
    if first is None or last is None:
        raise ValueError(f"This is no date: {early if first is None else late}")
    whole = None not in (*first, *last)
    begun = whole and (last[1], last[2]) < (first[1], first[2])
    years = last[0] - first[0] - begun
    if years < 0:
        raise ValueError(f"{late} comes before {early}.")
    return f"{years} {'year' if years == 1 else 'years'}"
