"""Small edits of Python code: how working code is broken, and how one that looks for the fault would mend it.

The operators are those of mutation testing (the procedural modifications of SWE-smith, arXiv 2504.21798), as edits of
the text: formatting and comments stay. All but the removals undo each other, so that the same list of edits, made over
code that was read, holds the one that mends it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["REMOVALS", "Edit", "edits_of"]

REMOVALS = frozenset({"guard", "branch"})
"""Operators that take code away: what stood there can't be read off what is left."""
_COMPARED: dict[str, tuple[tuple[str, str], ...]] = {
    "<": (("boundary", "<="), ("direction", ">")),
    "<=": (("boundary", "<"), ("direction", ">=")),
    ">": (("boundary", ">="), ("direction", "<")),
    ">=": (("boundary", ">"), ("direction", "<=")),
    "==": (("equality", "!="),),
    "!=": (("equality", "=="),),
    "in": (("equality", "not in"),),
    "not in": (("equality", "in"),),
    "is": (("equality", "is not"),),
    "is not": (("equality", "is"),),
}
_SIGNS = {"+": ("-",), "-": ("+",), "*": ("/",), "/": ("*", "//"), "//": ("/", "%"), "%": ("//",)}
_NAMES = {
    "min": "max",
    "any": "all",
    "floor": "ceil",
    "startswith": "endswith",
    "lstrip": "rstrip",
    "lower": "upper",
    "find": "rfind",
    "removeprefix": "removesuffix",
    "append": "extend",
    "keys": "values",
}
_NAMES |= {other: name for name, other in _NAMES.items()}
_PLAIN = (ast.Name, ast.Attribute, ast.Constant)


@dataclass(frozen=True)
class Edit:
    """Replace ``old`` at ``start`` (in code points) by ``new``."""

    start: int
    old: str
    new: str
    operator: str
    scope: str
    """The function that it is in, ``Class.method``; empty at the top."""
    line: int
    """From 1."""

    def applied(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.start + len(self.old) :]


def edits_of(text: str) -> list[Edit]:
    """Every edit inside a function, in order of the text; none where it is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    found = [edit for scope, node in _scoped(tree, ()) for edit in _Editor(text, scope).edits(node)]
    return sorted(dict.fromkeys(found), key=lambda edit: (edit.start, edit.operator, edit.new))


def _scoped(node: ast.AST, scope: tuple[str, ...]) -> Iterator[tuple[str, ast.AST]]:
    """Nodes that are carried out when functions run (annotations, decorators and docstrings are not)."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = (*scope, child.name)
            for default in (*child.args.defaults, *(one for one in child.args.kw_defaults if one is not None)):
                yield ".".join(inner), default
            for statement in child.body:
                yield ".".join(inner), statement
                yield from _scoped(statement, inner)
        elif isinstance(child, ast.ClassDef):
            for statement in child.body:
                if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield from _scoped(ast.Module([statement], []), (*scope, child.name))
        else:
            if scope:
                yield ".".join(scope), child
            yield from _scoped(child, scope)


class _Editor:
    def __init__(self, text: str, scope: str) -> None:
        self.text, self.scope = text, scope
        self.lines = text.splitlines(keepends=True)

    def edits(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from self._compare(node)
        elif isinstance(node, ast.BinOp):
            yield from self._arithmetic(node)
        elif isinstance(node, ast.BoolOp):
            yield from self._boolean(node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield self._whole(node, self._of(node.operand), "negation")
        elif isinstance(node, ast.Constant):
            yield from self._constant(node)
        elif isinstance(node, ast.Call):
            yield from self._call(node)
        elif isinstance(node, ast.Slice):
            yield from self._slice(node)
        elif isinstance(node, ast.AugAssign):
            yield from self._between(node.target, node.value, {"+=": ("-=",), "-=": ("+=",)}, "arithmetic")
        elif isinstance(node, ast.Break | ast.Continue):
            yield self._whole(node, "continue" if isinstance(node, ast.Break) else "break", "loop")
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2:
            yield from self._swapped(node.value.elts[0], node.value.elts[1], "order")
        elif isinstance(node, ast.If | ast.While):
            yield from self._condition(node)

    def _at(self, line: int, column: int) -> int:
        """Offset of a place as ``ast`` says it: columns in bytes."""
        before = self.lines[line - 1].encode()[:column].decode()
        return sum(map(len, self.lines[: line - 1])) + len(before)

    def _span(self, node: ast.AST) -> tuple[int, int]:
        return (
            self._at(node.lineno, node.col_offset),  # type: ignore[attr-defined]
            self._at(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
        )

    def _of(self, node: ast.AST) -> str:
        start, end = self._span(node)
        return self.text[start:end]

    def _edit(self, start: int, end: int, new: str, operator: str) -> Edit:
        line = self.text.count("\n", 0, start) + 1
        return Edit(start, self.text[start:end], new, operator, self.scope, line)

    def _whole(self, node: ast.AST, new: str, operator: str) -> Edit:
        return self._edit(*self._span(node), new, operator)

    def _between(
        self, left: ast.AST, right: ast.AST, signs: dict[str, tuple[str, ...]], operator: str
    ) -> Iterator[Edit]:
        start, end = self._span(left)[1], self._span(right)[0]
        found = re.fullmatch(r"[\s)]*?(\S+(?: \S+)?)[\s(]*", self.text[start:end])
        sign = found.group(1) if found is not None else ""
        for new in signs.get(sign, ()):
            at = start + (found.start(1) if found is not None else 0)
            yield self._edit(at, at + len(sign), new, operator)

    def _compare(self, node: ast.Compare) -> Iterator[Edit]:
        for kind in ("boundary", "direction", "equality"):
            signs = {
                sign: tuple(new for operator, new in others if operator == kind) for sign, others in _COMPARED.items()
            }
            yield from self._between(node.left, node.comparators[0], signs, kind)

    def _arithmetic(self, node: ast.BinOp) -> Iterator[Edit]:
        texts = (ast.JoinedStr, ast.List, ast.Tuple)
        for side in (node.left, node.right):
            if isinstance(side, texts) or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes)):
                return
        yield from self._between(node.left, node.right, _SIGNS, "arithmetic")

    def _boolean(self, node: ast.BoolOp) -> Iterator[Edit]:
        if len(node.values) == 2:
            yield from self._between(node.values[0], node.values[1], {"and": ("or",), "or": ("and",)}, "boolean")
        for value in node.values:
            if isinstance(value, ast.Name | ast.Attribute | ast.Call):
                yield self._whole(value, f"not {self._of(value)}", "negation")

    def _constant(self, node: ast.Constant) -> Iterator[Edit]:
        value = node.value
        if isinstance(value, bool):
            yield self._whole(node, str(not value), "truth")
        elif isinstance(value, int) and self._of(node) == str(value) and value < 1_000:
            yield self._whole(node, str(value + 1), "off_by_one")
            if value > 0:
                yield self._whole(node, str(value - 1), "off_by_one")

    def _call(self, node: ast.Call) -> Iterator[Edit]:
        plain = [arg for arg in node.args if isinstance(arg, _PLAIN)]
        if len(plain) == len(node.args) >= 2:
            for left, right in zip(node.args, node.args[1:], strict=False):
                yield from self._swapped(left, right, "arguments")
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in _NAMES:
            end = self._span(node.func)[1]
            yield self._edit(end - len(name), end, _NAMES[name], "function")

    def _swapped(self, left: ast.AST, right: ast.AST, operator: str) -> Iterator[Edit]:
        start, end = self._span(left)[0], self._span(right)[1]
        between = self.text[self._span(left)[1] : self._span(right)[0]]
        if self._of(left) != self._of(right) and "\n" not in between:
            yield self._edit(start, end, f"{self._of(right)}{between}{self._of(left)}", operator)

    def _slice(self, node: ast.Slice) -> Iterator[Edit]:
        if node.step is None and (node.lower is None) != (node.upper is None):
            bound = node.lower or node.upper
            assert bound is not None  # one of them is there
            new = f":{self._of(bound)}" if node.upper is None else f"{self._of(bound)}:"
            yield self._whole(node, new, "slice")

    def _condition(self, node: ast.If | ast.While) -> Iterator[Edit]:
        test = node.test
        if isinstance(test, ast.Name | ast.Attribute | ast.Call):
            yield self._whole(test, f"not {self._of(test)}", "negation")
        if isinstance(node, ast.While) or node.orelse or self._of(node).startswith("elif"):
            return
        start, end = self._at(node.lineno, 0), self._span(node)[1]
        if self.text[end : end + 1] != "\n" or node.col_offset == 0:
            return
        guards = isinstance(node.body[-1], ast.Raise | ast.Return | ast.Continue | ast.Break)
        yield self._edit(start, end + 1, "", "guard" if guards else "branch")
