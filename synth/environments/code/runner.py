"""Runs tests inside the sandbox and tells, as JSON behind a mark, how each ended. A file of its own, run by path: it
imports the standard library, and pytest only where tests import it.

Of a failed test it tells the lines of the project that were on the stack, and, where the test compares what a call
gives, the call with the values of the test's variables in it, what came and what was expected.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import io
import json
import linecache
import os
import sys
import traceback
import unittest
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

__all__ = ["main"]

_FRAMES = 6
"""Lines of the stack that are told, the innermost."""
_LONG = 400
_SHORT = 90
"""Signs of a value that a sentence can quote."""
_EQUALS = {"assertEqual": "==", "assertEquals": "==", "assertListEqual": "==", "assertDictEqual": "=="}
_OTHER = {"assertTrue": "true", "assertFalse": "false", "assertIsNone": "none"}


def own(path: str, root: str) -> bool:
    return os.path.abspath(path).startswith(f"{root}/")


Spaces = tuple[dict[str, Any], dict[str, Any]]
"""Globals and locals of a test."""


def frames(error: BaseException, root: str) -> list[tuple[FrameType, list[Any]]]:
    found = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        path = os.path.abspath(frame.f_code.co_filename)
        if own(path, root):
            text = linecache.getline(path, line).strip()
            found.append((frame, [os.path.relpath(path, root), line, frame.f_code.co_name, text]))
    return found


def told(error: BaseException, root: str, tests: set[str]) -> dict[str, Any]:
    """What is told of a failure."""
    stack = frames(error, root)
    shown = [line for _, line in stack]
    name = type(error).__name__
    words = str(error).split("\n")[0][:_LONG]
    of_test = [(frame, line) for frame, line in stack if line[0] in tests]
    compared = None
    if of_test:
        frame, line = of_test[-1]
        try:
            compared = comparison(
                frame, line[1], error, partial(is_ours, root=root, tests=tests), shown[-1] is not line
            )
        except Exception:
            compared = None
    return {
        "error": name,
        "message": words,
        "frames": shown[:1] + shown[1:][-_FRAMES:] if len(shown) > _FRAMES else shown,
        "compared": compared,
    }


def statement(frame: FrameType, line: int) -> tuple[Any, Any]:
    """The statement of the test that failed, and the ``with`` around it."""
    with open(frame.f_code.co_filename, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    best, around = None, None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            if isinstance(node, ast.With):
                around = node
            if isinstance(node, ast.Assert | ast.Expr | ast.Assign | ast.With):
                best = node if best is None or node.lineno >= best.lineno else best
    return best, around


def comparison(
    frame: FrameType, line: int, error: BaseException, ours: Callable[[object], bool], inner: bool
) -> dict[str, str] | None:
    """(call, what came, what was expected) of a failed assertion; None where no plain sentence tells it."""
    node, around = statement(frame, line)
    spaces = (frame.f_globals, frame.f_locals)
    expected = raised_by(around)
    if expected is not None:
        body = around.body[0]
        called = body.value if isinstance(body, ast.Expr | ast.Assign) else None
        if len(around.body) != 1 or not isinstance(called, ast.Call):
            return None
        came = f"raises {type(error).__name__}: {str(error)[:_SHORT]}" if inner else "raises nothing"
        return sentence(called, spaces, came, f"raise {expected}")
    left, sign, right = sides(node)
    if left is None:
        return None
    asked = [part is not None and calls(part, spaces, ours) for part in (left, right)]
    if asked == [False, True] and sign == "==":
        left, right = right, left
    elif asked != [True, False]:
        return None  # it asks the project nothing, or compares two of its answers
    if inner:
        came = f"raises {type(error).__name__}: {str(error)[:_SHORT]}".rstrip(": ")
        return sentence(left, spaces, came, wanted(sign, right, spaces))
    value = evaluated(left, spaces)
    if holds(sign, value, None if right is None else evaluated(right, spaces)):
        return None  # a second look finds something else
    return sentence(left, spaces, f"returns {short(value)}", wanted(sign, right, spaces))


def raised_by(around: Any) -> str | None:
    """The exception that ``with raises(...)`` waits for."""
    if around is None:
        return None
    made = around.items[0].context_expr
    name = getattr(getattr(made, "func", None), "attr", getattr(getattr(made, "func", None), "id", ""))
    if name in ("raises", "assertRaises") and len(around.items) == 1 and made.args:
        return ast.unparse(made.args[0])
    return None


def sides(node: Any) -> tuple[Any, Any, Any]:
    if isinstance(node, ast.Assert):
        test = node.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            signs = {ast.Eq: "==", ast.Is: "is", ast.In: "in"}
            sign = signs.get(type(test.ops[0]))
            return (test.left, sign, test.comparators[0]) if sign else (None, None, None)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return test.operand, "false", None
        return (test, "true", None) if isinstance(test, ast.Call) else (None, None, None)
    call = getattr(node, "value", None)
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        if call.func.attr in _EQUALS and len(call.args) >= 2:
            return call.args[0], "==", call.args[1]
        if call.func.attr in _OTHER and call.args:
            return call.args[0], _OTHER[call.func.attr], None
    return None, None, None


def calls(node: ast.AST, spaces: Spaces, ours: Callable[[object], bool]) -> bool:
    """Whether an expression calls something of the project's."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            try:
                if ours(evaluated(part.func, spaces)):
                    return True
            except Exception:
                continue
    return False


def is_ours(called: object, *, root: str, tests: set[str]) -> bool:
    """Whether a function or class stands in a file of the project that is no test."""
    module = sys.modules.get(str(getattr(inspect.unwrap(called), "__module__", "")))  # type: ignore[arg-type]
    path = os.path.abspath(getattr(module, "__file__", None) or "/")
    return own(path, root) and os.path.relpath(path, root) not in tests


def evaluated(node: Any, spaces: Spaces) -> Any:
    return eval(compile(ast.Expression(node), "<test>", "eval"), *spaces)  # the test's own expression


def holds(sign: str, left: Any, right: Any) -> bool:
    if sign in ("==", "is", "in"):
        return bool(left == right if sign == "==" else left is right if sign == "is" else left in right)
    return left is None if sign == "none" else bool(left) == (sign == "true")


def wanted(sign: str, right: Any, spaces: Spaces) -> str:
    if right is None:
        return {"true": "return a true value", "false": "return a false value", "none": "return None"}[sign]
    value = short(evaluated(right, spaces))
    return f"return one of {value}" if sign == "in" else f"return {value}"


def short(value: Any) -> str:
    text = repr(value)
    if len(text) > _SHORT or " at 0x" in text or "\n" in text:
        raise ValueError("too long to be told")
    return text


class _Said(ast.NodeTransformer):
    """Puts the values of the test's variables in their place."""

    def __init__(self, spaces: Spaces) -> None:
        self.spaces = spaces

    def visit_Name(self, node: ast.Name) -> ast.AST:
        held = next((space for space in (self.spaces[1], self.spaces[0]) if node.id in space), None)
        if held is None:
            return node
        value = held[node.id]
        if inspect.isclass(value) and value.__module__ == "builtins":
            return ast.Name(value.__name__, node.ctx)
        if inspect.ismodule(value) or inspect.isclass(value) or inspect.isroutine(value):
            return node
        return ast.parse(short(value), mode="eval").body

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "self" and "self" in self.spaces[1]:
            return ast.parse(short(getattr(self.spaces[1]["self"], node.attr)), mode="eval").body
        self.generic_visit(node)
        return node


def sentence(called: ast.AST, spaces: Spaces, came: str, should: str) -> dict[str, str] | None:
    for part in ast.walk(called):
        if isinstance(part, ast.Lambda | ast.comprehension | ast.NamedExpr | ast.Await):
            return None
    name = ast.unparse(called)
    text = ast.unparse(_Said(spaces).visit(ast.parse(name, mode="eval").body))
    if len(text) > 2 * _SHORT or "\n" in text:
        return None
    return {"call": text, "came": came, "should": should}


class Plain:
    """Tests that need no library: functions ``test*``, classes ``Test*``, ``unittest`` cases."""

    def __init__(self, root: str, paths: list[str]) -> None:
        self.root, self.paths, self.tests = root, paths, set(paths)
        self.found: list[dict[str, Any]] = []
        self.broken: list[dict[str, Any]] = []

    def run(self) -> None:
        for path in self.paths:
            name = path[:-3].replace("/", ".")
            sys.path.insert(0, os.path.dirname(os.path.join(self.root, path)))
            try:
                spec = importlib.util.spec_from_file_location(name, os.path.join(self.root, path))
                assert spec is not None
                assert spec.loader is not None
                module = importlib.util.module_from_spec(spec)
                sys.modules[name] = module
                spec.loader.exec_module(module)
            except BaseException as error:
                self.broken.append({"path": path, **told(error, self.root, self.tests)})
                continue
            finally:
                sys.path.pop(0)
            for one, value in list(vars(module).items()):
                if inspect.isfunction(value) and one.startswith("test") and value.__module__ == name:
                    self.test(f"{path}::{one}", value)
                elif inspect.isclass(value) and value.__module__ == name:
                    self.case(path, value)

    def case(self, path: str, kind: type[Any]) -> None:
        is_unit = issubclass(kind, unittest.TestCase)
        if not is_unit and not kind.__name__.startswith("Test"):
            return
        for one in [name for name in dir(kind) if name.startswith("test")]:
            made = kind(one) if is_unit else kind()
            before = [getattr(made, "setUp", None)] if is_unit else [getattr(made, "setup_method", None)]

            def all_of(made: Any = made, one: str = one, before: list[Any] = before) -> None:
                for step in (*before, getattr(made, one)):
                    if step is not None:
                        step()

            self.test(f"{path}::{kind.__name__}::{one}", all_of)

    def test(self, name: str, run: Callable[[], object]) -> None:
        try:
            run()
        except unittest.SkipTest:
            return
        except BaseException as error:
            self.found.append({"id": name, "passed": False, **told(error, self.root, self.tests)})
        else:
            self.found.append({"id": name, "passed": True})


class ByPytest(Plain):
    """Tests that are written for pytest."""

    def run(self) -> None:
        import pytest

        os.chdir(self.root)
        options = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--tb=no", "-o", "addopts=", "--rootdir=."]
        options.append("--continue-on-collection-errors")
        pytest.main([*options, *self.paths], plugins=[self])

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" and report.passed and not hasattr(report, "wasxfail"):
            self.found.append({"id": report.nodeid, "passed": True})

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        said = told(call.excinfo.value, self.root, self.tests)
        if report.__class__.__name__ == "CollectReport":
            said |= imported(str(call.excinfo.value))
            self.broken.append({"path": node.nodeid.split("::")[0], **said})
        else:
            self.found.append({"id": node.nodeid, "passed": False, **said})


def imported(text: str) -> dict[str, str]:
    """Why a file of tests could not be imported: what Python said last in pytest's account of it."""
    last = [line[2:].strip() for line in text.splitlines() if line.startswith("E ")]
    error, colon, words = last[-1].partition(": ") if last else ("", "", "")
    return {"error": error, "message": words[:_LONG]} if colon and error.isidentifier() else {}


def main() -> None:
    asked = json.loads(sys.argv[1])
    root, real = asked["root"], os.dup(1)
    os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
    os.dup2(1, 2)
    sys.stdout = sys.stderr = io.StringIO()
    sys.dont_write_bytecode = True
    sys.path[:0] = [folder for folder in (os.path.join(root, "src"), root) if os.path.isdir(folder)]
    made = (ByPytest if asked["pytest"] else Plain)(root, asked["tests"])
    made.run()
    said = json.dumps({"tests": made.found, "broken": made.broken})
    os.write(real, b"\n" + asked["mark"].encode())
    data = said.encode()
    while data:
        data = data[os.write(real, data) :]
    os._exit(0)


if __name__ == "__main__":
    main()
