"""A question as constraints over unknown nodes, and every way of satisfying them.

Bridges are variables: two constraints on one bridge hold of the *same* node, so this is a join, not an intersection of
sets that were reached one by one. Backtracking over the variable with the fewest candidates; nothing is indexed beyond
a node's own neighbours, nothing is cached, nothing is shared with the proposers' evaluator.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from synth.tasks.audit.graph import FactGraph, Key
from synth.tasks.audit.measures import Span, measure

__all__ = ["Constraint", "Term", "Undecided", "Variable", "connected", "ends"]

_STEPS = 300_000


@dataclass(frozen=True)
class Variable:
    """A node that the question does not name."""

    name: str


Term: TypeAlias = Key | Variable | Span
"""A node that is named, one that is not, or any value that lies in a span."""


@dataclass(frozen=True)
class Constraint:
    """``relation`` leads from ``source`` to ``target``; against its direction where ``forward`` is False."""

    source: Term
    relation: str
    forward: bool
    target: Variable

    @property
    def variables(self) -> list[Variable]:
        return [term for term in (self.source, self.target) if isinstance(term, Variable)]


class Undecided(Exception):
    """The search took too many steps: no verdict, which is no pass."""


@dataclass
class _Search:
    graph: FactGraph
    constraints: Sequence[Constraint]
    wanted: Variable
    kinds: Collection[str] | None
    limit: int
    budget: int
    found: dict[Key, None] = field(default_factory=dict)
    steps: int = 0

    def run(self) -> None:
        self._extend({})

    def _extend(self, bound: dict[Variable, Key]) -> bool:
        """True when the caller has seen enough of this branch."""
        have = bound.get(self.wanted)
        if have is not None and have in self.found:
            return True
        choice: tuple[int, Variable, Collection[Key]] | None = None
        for constraint in self.constraints:
            for variable, options in self._options(constraint, bound):
                if choice is None or len(options) < choice[0]:
                    choice = (len(options), variable, options)
        if choice is None:
            if have is None:
                raise ValueError(f"no constraint holds {self.wanted.name!r}")
            self.found[have] = None
            return True
        _, variable, options = choice
        for key in options:
            self.steps += 1
            if self.steps > self.budget:
                raise Undecided
            if variable == self.wanted and (key in self.found or not self._fits(key)):
                continue
            extended = {**bound, variable: key}
            if all(self._holds(constraint, extended) for constraint in self.constraints):
                enough = self._extend(extended)
                if len(self.found) >= self.limit or (enough and have is not None):
                    return True
        return False

    def _fits(self, key: Key) -> bool:
        return self.kinds is None or self.graph.kind(key) in self.kinds

    def _options(
        self, constraint: Constraint, bound: dict[Variable, Key]
    ) -> Iterator[tuple[Variable, Collection[Key]]]:
        """Candidates for a variable that this constraint holds and that is not bound yet."""
        graph, target = self.graph, bound.get(constraint.target)
        if isinstance(constraint.source, Variable):
            source = bound.get(constraint.source)
            if source is None and target is None:
                yield constraint.source, graph.starts(constraint.relation, constraint.forward)
                yield constraint.target, graph.starts(constraint.relation, not constraint.forward)
            elif source is None and target is not None:
                yield constraint.source, graph.step(target, constraint.relation, not constraint.forward)
            elif source is not None and target is None:
                yield constraint.target, graph.step(source, constraint.relation, constraint.forward)
        elif target is None:
            yield constraint.target, _reached(graph, constraint.source, constraint.relation, constraint.forward)

    def _holds(self, constraint: Constraint, bound: dict[Variable, Key]) -> bool:
        """False when both ends are known and no fact joins them."""
        target = bound.get(constraint.target)
        if target is None:
            return True
        if isinstance(constraint.source, Span):
            back = self.graph.step(target, constraint.relation, not constraint.forward)
            return any(_inside(key, constraint.source) for key in back)
        source = bound.get(constraint.source) if isinstance(constraint.source, Variable) else constraint.source
        return source is None or target in self.graph.step(source, constraint.relation, constraint.forward)


def _inside(key: Key, span: Span) -> bool:
    """Whether a value lies in a span. What can't be told counts as inside: one more rival, never one less."""
    value = measure(key.removeprefix("\0"))
    return value is not None and span.holds(value) is not False


def _reached(graph: FactGraph, source: Key | Span, relation: str, forward: bool) -> Collection[Key]:
    if isinstance(source, Span):
        return dict.fromkeys(
            end
            for key in graph.starts(relation, forward)
            if _inside(key, source)
            for end in graph.step(key, relation, forward)
        )
    return graph.step(source, relation, forward)


def connected(constraints: Sequence[Constraint], wanted: Variable) -> list[Constraint]:
    """Those that share a variable with ``wanted``, directly or not: the others say nothing about it."""
    reach, kept = {wanted}, []
    left = list(constraints)
    while True:
        near = [item for item in left if reach & set(item.variables)]
        if not near:
            return [item for item in constraints if item in kept]
        kept += near
        left = [item for item in left if item not in near]
        reach |= {variable for item in near for variable in item.variables}


def ends(
    graph: FactGraph,
    constraints: Sequence[Constraint],
    wanted: Variable,
    *,
    kinds: Collection[str] | None = None,
    limit: int,
    steps: int = _STEPS,
) -> list[Key]:
    """Every node that ``wanted`` can be, as long as there are no more than ``limit``; the first ones otherwise.

    Args:
        kinds: types that ``wanted`` may have; None for any.
        steps: candidates that may be looked at, over all variables.

    Raises:
        Undecided: so many steps did not settle it.
        ValueError: no constraint holds ``wanted``.
    """
    search = _Search(graph, connected(constraints, wanted), wanted, kinds, limit, steps)
    search.run()
    return list(search.found)
