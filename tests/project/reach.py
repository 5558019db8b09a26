"""What of a package is reached: from some of its definitions through all that their code names, name by name.

An import reaches nothing, and neither does a place in ``__all__``: what a package passes on counts where it is used.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

Symbol = tuple[str, str]
"""(module, name of a definition in it, or "" for the module as a whole)."""
_REFERENCE = re.compile(r"(\w+(?:\.\w+)+)(?::(\w+))?")
"""What code names without importing it: ``module:attribute`` of a registry, ``module`` after ``python -m``."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass
class Scope:
    """The names of one module."""

    defined: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imported: dict[str, Symbol] = field(default_factory=dict)
    body: list[ast.AST] = field(default_factory=list)
    """What runs when the module is imported: no definition, assignment or import."""
    listed: list[str] = field(default_factory=list)
    """Its ``__all__``."""
    registered: list[str] = field(default_factory=list)
    """Functions that a variable of the module takes as it is imported (``@app.command()``)."""


class Reach:
    """The definitions of a package, and which of them some others lead to."""

    def __init__(self, trees: Mapping[str, ast.Module]) -> None:
        self.scopes = {name: _scope(tree) for name, tree in trees.items()}

    def reached(self, roots: Iterable[Symbol]) -> set[Symbol]:
        """``roots`` and all that they lead to; of a module as a whole, all that it lists in ``__all__``."""
        found: set[Symbol] = set()
        left = [target for module, name in roots for target in self._whole(module, name)]
        while left:
            symbol = left.pop()
            if symbol in found:
                continue
            found.add(symbol)
            module, name = symbol
            scope = self.scopes[module]
            if name:
                left.append((module, ""))
            else:
                left += [(module, one) for one in scope.registered]
                left += [(module.rpartition(".")[0], "")] if module.rpartition(".")[0] in self.scopes else []
            for node in scope.defined[name] if name else scope.body:
                left += self._named(module, node)
        return found

    def unreached(self, roots: Iterable[Symbol]) -> tuple[set[str], set[Symbol]]:
        """(modules, definitions in other modules) that nothing leads to."""
        found = self.reached(roots)
        modules = set(self.scopes) - {module for module, _ in found}
        every = {(module, name) for module, scope in self.scopes.items() for name in scope.defined}
        return modules, {(module, name) for module, name in every - found if module not in modules}

    def _whole(self, module: str, name: str) -> Iterator[Symbol]:
        if name:
            yield from self._find(module, name)
        elif module in self.scopes:
            yield (module, "")
            for listed in self.scopes[module].listed:
                yield from self._find(module, listed)

    def _find(self, module: str, name: str) -> Iterator[Symbol]:
        """The definition behind a name, however many packages pass it on."""
        scope = self.scopes.get(module)
        if scope is None:
            return
        if name in scope.defined:
            yield (module, name)
        elif name in scope.imported:
            yield from self._target(scope.imported[name])
        elif f"{module}.{name}" in self.scopes:
            yield (f"{module}.{name}", "")

    def _target(self, target: Symbol) -> Iterator[Symbol]:
        module, name = target
        if name:
            yield from self._find(module, name)
        elif module in self.scopes:
            yield (module, "")

    def _named(self, module: str, node: ast.AST) -> Iterator[Symbol]:
        scope = self.scopes[module]
        local = _imports(node)
        for one in ast.walk(node):
            if isinstance(one, ast.Name | ast.Attribute):
                root, *attributes = _chain(one)
                for found in self._target(local[root]) if root in local else self._find_here(scope, module, root):
                    yield from self._follow(found, attributes)
            elif isinstance(one, ast.Constant) and isinstance(one.value, str):
                named = _REFERENCE.fullmatch(one.value)
                if named is not None and named[1] in self.scopes:
                    yield from self._whole(named[1], named[2] or "")

    def _find_here(self, scope: Scope, module: str, name: str) -> Iterator[Symbol]:
        if name in scope.defined:
            yield (module, name)
        elif name in scope.imported:
            yield from self._target(scope.imported[name])

    def _follow(self, found: Symbol, attributes: list[str]) -> Iterator[Symbol]:
        """A definition as it is; of a module, what stands behind the dots."""
        yield found
        if found[1] or not attributes:
            return
        for inner in self._find(found[0], attributes[0]):
            yield from self._follow(inner, attributes[1:])


def _chain(node: ast.expr) -> list[str]:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [*([node.id] if isinstance(node, ast.Name) else [""]), *reversed(names)]


def _imports(tree: ast.AST) -> dict[str, Symbol]:
    found: dict[str, Symbol] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found[alias.asname or top] = (alias.name if alias.asname else top, "")
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: (node.module or "", alias.name) for alias in node.names}
    return found


def _scope(tree: ast.Module) -> Scope:
    scope = Scope()
    for node in _statements(tree.body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            scope.imported |= _imports(node)
        elif isinstance(node, _DEFINITIONS):
            scope.defined.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            plain = all(isinstance(target, ast.Name | ast.Tuple) for target in targets)
            for name in names if plain else ():
                if name == "__all__":
                    scope.listed = [str(one) for one in ast.literal_eval(node.value)] if node.value else []
                elif not name.startswith("__"):
                    scope.defined.setdefault(name, []).append(node)
            scope.body += [] if plain else [node]
        else:
            scope.body.append(node)
    for name, nodes in scope.defined.items():
        decorators = [one for node in nodes if isinstance(node, ast.FunctionDef) for one in node.decorator_list]
        scope.registered += [name] if any(_registers(scope, one) for one in decorators) else []
    return scope


def _registers(scope: Scope, decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return any(isinstance(node, ast.Assign | ast.AnnAssign) for node in scope.defined.get(_chain(called)[0], ()))


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Those of a module, those under its ``if`` and ``try`` too."""
    for node in body:
        if isinstance(node, ast.If):
            yield ast.Expr(node.test)
            yield from _statements([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            handlers = [line for handler in node.handlers for line in handler.body]
            yield from _statements([*node.body, *handlers, *node.orelse, *node.finalbody])
        else:
            yield node
