"""A generated world: tasks, the graph environment to act in, and the gold route of each task. Relations can be swapped.

A *relation* here is what a step of a walk follows: the kind of thing that it starts from, its label, its direction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from efficacy_lab.listing import ListingEnvironment
from efficacy_lab.rows import Action, Step, call
from synth import api
from synth.environments.graph import Fan, GraphEnvironment
from synth.identity import derive_generator
from synth.pipelines.reopen import reopen
from synth.schemas.tasks import Task
from synth.store.files import write_file

__all__ = ["Leg", "Relation", "Route", "Swaps", "World", "open_world", "swapped_relations"]

Relation: TypeAlias = tuple[str, str, str]
"""(kind of the source, label, ``out``, ``in`` or ``both``)."""
_MOST_FACTS = 8
"""A relation with more facts is no likely misreading of one with a single fact."""


@dataclass(frozen=True)
class Leg:
    """One step of a route."""

    node: int
    entity: str
    fan: Fan
    page: int
    """Which shows the fact; 0 = there are no pages, and relations are listed before."""

    @property
    def calls(self) -> tuple[Action, ...]:
        """What shows the fact, call by call."""
        asked = {"entity": self.entity, "relation": self.fan.relation, "direction": self.fan.direction}
        # The second page is what the tool gives unless it is told another one.
        turns = (call("page", **asked, **({"page": page} if page > 2 else {})) for page in range(2, self.page + 1))
        first = () if self.page else (call("get_relations", entity=self.entity),)
        return (*first, call("get_triples", **asked), *turns)


@dataclass(frozen=True)
class Swaps:
    """Who always takes another relation for some of them."""

    reader: str
    """Of two readers each takes another one."""
    relations: frozenset[Relation]


@dataclass(frozen=True)
class Route:
    """How to come to an answer: find the start, list and read step by step, answer."""

    name: str
    legs: tuple[Leg, ...]
    answer: str
    swapped: bool
    """Whether a step follows another relation than the question asks for."""

    def next(self, steps: Sequence[Step]) -> tuple[Action, Leg | None]:
        """What comes next after ``steps``; the leg whose relation it names, if it names one."""
        done = {step.action for step in steps}
        found = f"({self.legs[0].entity})"
        if not any(found in step.observation for step in steps):
            return call("find_entity", name=self.name), None
        for leg in self.legs:
            if leg.calls[-1] not in done:
                place, action = next((at, one) for at, one in enumerate(leg.calls) if one not in done)
                return action, leg if place or leg.page else None
        return Action(None, self.answer), None


@dataclass(frozen=True)
class World:
    environment: GraphEnvironment
    tasks: tuple[Task, ...]
    _misread: dict[tuple[str, int, Relation], Fan | None] = field(default_factory=dict)

    @cached_property
    def gold(self) -> tuple[Route | None, ...]:
        """Of each task; None where its walk is not one fact after the other."""
        return tuple(self.route(number) for number in range(len(self.tasks)))

    def relation(self, leg: Leg) -> Relation:
        return self.environment.kind(leg.node), leg.fan.relation, leg.fan.direction

    def route(self, number: int, swaps: Swaps | None = None) -> Route | None:
        """The route of a task under ``swaps``, followed until it ends or gets stuck; None where there is none."""
        task, environment = self.tasks[number], self.environment
        hops = task.walk.hops
        node, legs, swapped = environment.node(hops[0].source.id), list[Leg](), False
        for place, hop in enumerate(hops):
            if node is None or node >= environment.graph.n_entities:
                return None
            wanted = ("out" if hop.forward else "in", "both")
            fans = [fan for fan in environment.fans(node) if fan.relation == hop.relation and fan.direction in wanted]
            # Behind a wrong turn the relation may be missing: then the likest one is read.
            leg = self._leg(node, fans[0]) if fans else self._other(node, hop.relation, place + 1 < len(hops), swaps)
            if leg is None:
                return None
            other = self.misread(leg, swaps) if swaps is not None else None
            if other is not None and (place + 1 == len(hops) or not self._is_value(other)):
                leg, swapped = self._leg(node, other), True
            legs.append(leg)
            node = int(environment.graph.step_target[leg.fan.start])
        return (
            Route(hops[0].source.name, tuple(legs), environment.end(node).name, swapped) if node is not None else None
        )

    def misread(self, leg: Leg, swaps: Swaps) -> Fan | None:
        """What is read in the place of a leg's relation, always the same where it is at hand; None = the right one."""
        relation = self.relation(leg)
        if relation not in swaps.relations:
            return None
        key = (swaps.reader, leg.node, relation)
        if key not in self._misread:
            self._misread[key] = self._likest(leg.node, leg.fan.relation, swaps.reader, self._shape(leg.fan))
        return self._misread[key]

    def instead(self, leg: Leg, fan: Fan, steps: Sequence[Step]) -> Action:
        """What one does after ``steps`` who takes ``fan`` for the ``leg``."""
        done, calls = {step.action for step in steps}, self._leg(leg.node, fan).calls
        return next((one for one in calls if one not in done), calls[-1])

    def _other(self, node: int, label: str, onwards: bool, swaps: Swaps | None) -> Leg | None:
        if swaps is None:
            return None
        fan = self._likest(node, label, swaps.reader, (not onwards, ()))
        return None if fan is None else self._leg(node, fan)

    def _leg(self, node: int, fan: Fan) -> Leg:
        environment = self.environment
        page = environment.page(node) if isinstance(environment, ListingEnvironment) else 0
        return Leg(node, environment.end(node).id, fan, page)

    def _likest(self, node: int, label: str, reader: str, shape: tuple[bool, tuple[str, ...]]) -> Fan | None:
        """Of a node's other relations one that leads to a value if the right one does, rather to the same kind."""
        kind = self.environment.kind(node)

        def rank(fan: Fan) -> tuple[bool, float]:
            drawn = derive_generator(0, "swap", reader, kind, label, fan.relation, fan.direction).random()
            return self._shape(fan)[1] != shape[1], float(drawn)

        others = (fan for fan in self.environment.fans(node) if fan.relation != label and len(fan) <= _MOST_FACTS)
        return min((fan for fan in others if self._is_value(fan) == shape[0]), key=rank, default=None)

    def _shape(self, fan: Fan) -> tuple[bool, tuple[str, ...]]:
        return self._is_value(fan), self.environment.far_kinds(fan)

    def _is_value(self, fan: Fan) -> bool:
        graph = self.environment.graph
        return int(graph.step_target[fan.start]) >= graph.n_entities


def swapped_relations(relations: Iterable[Relation], share: float, reader: str, seed: int) -> Swaps:
    """``share`` of the relations that occur, of frequent and of rare ones alike."""
    counts = Counter(relations)
    order = sorted(counts, key=lambda one: (-counts[one], one))
    generator = derive_generator(seed, "swapped", reader)
    chosen: set[Relation] = set()
    for start in range(0, len(order), 10):
        block = order[start : start + 10]
        drawn = generator.permutation(len(block))[: round(share * len(block))]
        chosen |= {block[place] for place in drawn}
    return Swaps(reader, frozenset(chosen))


def open_world(recipe: Mapping[str, Any], folder: Path, store: Path, page_size: int | None = None) -> World:
    """Build the dataset of ``recipe`` and open its environment, or one that lists facts, ``page_size`` a page."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "recipe.yaml"
    write_file(file, yaml.safe_dump(dict(recipe), sort_keys=False).encode())
    built = api.build("efficacy", recipe=file, out=folder / "data", store=store)
    environment, tasks = reopen(api.load(built.path))
    assert isinstance(environment, GraphEnvironment)
    environment = environment if page_size is None else ListingEnvironment(environment, page_size)
    return World(environment, tuple(tasks.by_number(number) for number in range(len(tasks))))
