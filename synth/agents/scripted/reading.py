"""What a reader of the question understands before searching. Never the name or id of a bridge, member or answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from synth.agents.scripted.nouns import sought_kind
from synth.schemas.documents import ValueKind
from synth.schemas.tasks import Hop, Node, Operation, OperationKind, Task
from synth.tasks.pattern import Pattern, pattern_of
from synth.text.words import fold

__all__ = ["Bound", "Clue", "Deed", "Reading", "clue_hops", "read_task"]

_MEMBER = re.compile(r"(?!.*see also)(?:is |are |be )?(?:found in|from|part of|belongs? to|in)\b", re.IGNORECASE)
_VALUES = frozenset(("date", "year", "number", "quantity", "text", "range"))
_ON_PAGE = re.compile(r"\b(?:in|page) “([^“”]{2,90})”")


@dataclass(frozen=True)
class Clue:
    """One condition of the question: it leads from a source to a target. Unknowns are numbers."""

    cue: str
    """Words of the question that state it."""
    source: int | None
    """The unknown that it starts from; None when the question says where to start."""
    name: str
    """The name in the question that it starts from; empty when the start is an unknown or only described."""
    target: int
    """The unknown that it leads to."""
    value: bool = False
    """The name is not a page but a date, a number or a word ("founded in 1874"): it tests candidates."""
    member: bool = False
    """It only says what the target is part of, which holds for many things: better tested than followed."""
    sought: str = ""
    """The kind of thing that it leads to, as the question names it ("class"); empty where it names none that tells."""
    described: bool = False
    """The question describes a page without naming it; the cue is the description."""
    kind: ValueKind = "entity"
    """What kind of thing its words ask for: an entity, or a date, a number ..."""
    every: bool = False
    """It asks for all that fit: its target is a set. Where its source is a set, it is asked of each member."""
    span: tuple[str, str] | None = None
    """Of a value clue: the least and the greatest plain value that its words allow ("in the 1870s": days), either of
    which may be empty."""


@dataclass(frozen=True)
class Bound:
    """Between what the measure of a filter must lie: each end a plain value that the question gives, the unknown of a
    value that has to be found first, or None."""

    low: str | int | None
    high: str | int | None


@dataclass(frozen=True)
class Deed:
    """What the question wants done with what was found (:class:`synth.schemas.tasks.Operation` without its result)."""

    kind: OperationKind
    over: tuple[int, ...]
    """Clues: those that lead to the members (``list``, ``count``), or those that lead to the values."""
    within: int | None
    """The earlier deed that leaves the only candidates."""
    bound: Bound | None
    cue: str


@dataclass(frozen=True)
class Reading:
    question: str
    clues: tuple[Clue, ...]
    """In an order in which they can be solved."""
    answer: int
    """The unknown that is asked for; -1 where something has to be done with what is found, or several are asked for."""
    asked: ValueKind
    """What kind of thing the question word asks for (which/who, when, what year, how many, how long)."""
    deeds: tuple[Deed, ...] = ()
    """In the order in which they can be done."""
    pages: tuple[str, ...] = ()
    """Titles of the pages on which the question says that a thing stands ("the --all option in “Config”")."""
    wanted: tuple[tuple[str, int], ...] = ()
    """Where ``answer`` is -1: what the answer is made of, in order, as ("clue", unknown) or ("deed", number)."""

    def is_set(self, unknown: int | None) -> bool:
        """Whether an unknown stands for several things."""
        return any(clue.every and clue.target == unknown for clue in self.clues)


def clue_hops(task: Task) -> tuple[tuple[int, ...], ...]:
    """For each clue of ``read_task(task)`` the hops of the walk behind it: several where it asks for all that fit. For
    those who know the walk; no reader does."""
    pattern = _pattern(task)
    if pattern is None:
        return tuple((number,) for number in range(len(task.walk.hops)))
    edges = range(len(pattern.edges))
    return tuple(tuple(n for n, edge in enumerate(pattern.hop_edges) if edge == number) for number in edges)


def read_task(task: Task) -> Reading:
    """The reading of ``task``'s question: hops in order as clues, with bridges and answer as numbered unknowns.

    What the walk lists one by one (the members of a set, their values) is one clue: the question does not say how many
    there are.
    """
    pattern = _pattern(task)
    if pattern is not None:
        return _read_pattern(task, pattern)
    unknowns: dict[str, int] = {}
    clues: list[Clue] = []
    hops = task.walk.hops
    for hop in hops:
        source = None if not hop.needs else unknowns[hops[hop.needs[-1]].target.id]
        target = unknowns.setdefault(hop.target.id, len(unknowns))
        clues.append(_clue(task, hop, source, target))
    if not clues:
        return Reading(task.question, (Clue(task.question, None, "", 0, described=True),), 0, task.answer_kind)
    kinds = _kinds(task.question, clues)
    asked = clues[-1].target
    clues = [_with(clue, kinds[clue.target], task.answer_kind if clue.target == asked else None) for clue in clues]
    return Reading(task.question, tuple(clues), asked, task.answer_kind, pages=_pages(task.question))


def _pattern(task: Task) -> Pattern | None:
    """The walk's pattern where it has operations or several ends; else each hop is a clue of its own."""
    walk = task.walk
    return pattern_of(walk) if walk.operations or walk.shape in ("parallel", "masked") else None


def _read_pattern(task: Task, pattern: Pattern) -> Reading:
    hops = task.walk.hops
    numbers = {variable: number for number, variable in enumerate(pattern.variables)}
    clues: list[Clue] = []
    first: list[Hop] = []
    for number, edge in enumerate(pattern.edges):
        hop = hops[pattern.hop_edges.index(number)]
        first.append(hop)
        source = numbers[edge.source] if edge.source >= 0 else None
        clue = _clue(task, hop, source, numbers[edge.target])
        every = edge.target in pattern.sets or edge.source in pattern.sets
        clues.append(_replace(clue, every=every))
    kinds = _kinds(task.question, clues)
    clues = [_with(clue, kinds[clue.target], _value_kind(hop)) for clue, hop in zip(clues, first, strict=True)]
    deeds = tuple(_deed(operation, task, pattern, numbers) for operation in task.walk.operations)
    wanted = _wanted(task, pattern, numbers, deeds)
    return Reading(task.question, tuple(clues), -1, task.answer_kind, deeds, _pages(task.question), wanted)


def _pages(question: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(match[1] for match in _ON_PAGE.finditer(question)))


def _clue(task: Task, hop: Hop, source: int | None, target: int) -> Clue:
    described = source is None and hop.source.kind == "description"
    name = "" if source is not None or described else named_in(task.question, hop)
    span = None
    if source is None and hop.source.kind == "range":
        name = name or hop.cue
        span = _span(hop.source.id, hop.source.name)
    return Clue(
        hop.cue or task.question,
        source,
        name,
        target,
        value=bool(name) and hop.source.kind in _VALUES,
        member=_MEMBER.match(hop.cue) is not None and span is None,
        described=described or (source is None and not name),
        span=span,
    )


def _span(ends: str, said: str) -> tuple[str, str]:
    """The ends of a range; those of years as days, so that "1870" can't be taken for a number. Numbers of four digits
    and more are written with a comma."""
    low, _, high = ends.partition("/")
    years = all(re.fullmatch(r"\d{4}", end) for end in (low, high) if end)
    if years and not re.search(r"\d,\d{3}", said):
        return (f"{low}-01-01" if low else "", f"{high}-12-31" if high else "")
    return low, high


def _replace(clue: Clue, **changes: object) -> Clue:
    return Clue(**{**clue.__dict__, **changes})


def _with(clue: Clue, sought: str, kind: ValueKind | None) -> Clue:
    return _replace(clue, sought=sought, kind=kind or "entity")


def _value_kind(hop: Hop) -> ValueKind | None:
    is_value = hop.target.document_id is None and hop.target.kind in ("date", "year", "number", "quantity", "text")
    return cast(ValueKind, hop.target.kind) if is_value else None


def _deed(operation: Operation, task: Task, pattern: Pattern, numbers: dict[int, int]) -> Deed:
    over = tuple(dict.fromkeys(pattern.hop_edges[hop] for hop in operation.over))
    bound = None if operation.bound is None else _bound(operation.bound, operation, task, pattern, numbers)
    return Deed(operation.kind, over, operation.within, bound, operation.cue)


def _bound(node: Node, operation: Operation, task: Task, pattern: Pattern, numbers: dict[int, int]) -> Bound:
    """The bound as the question has it: what another hop has to find is an unknown."""
    measured = {hop for other in task.walk.operations for hop in other.over}
    found = {
        hop.target.id: numbers[pattern.edges[pattern.hop_edges[number]].target]
        for number, hop in enumerate(task.walk.hops)
        if number not in measured and _value_kind(hop) is not None
    }
    low, high = node.id.split("/", 1) if node.kind == "range" else (node.id, node.id)
    return Bound(*(found.get(end, end) if end else None for end in (low, high)))


def _wanted(
    task: Task, pattern: Pattern, numbers: dict[int, int], deeds: Sequence[Deed]
) -> tuple[tuple[str, int], ...]:
    """What the answer is made of, in the order of the question's hops."""
    walk = task.walk
    if walk.shape not in ("parallel", "masked"):
        return (("deed", len(deeds) - 1),)
    inner = {deed.within for deed in deeds}
    used = {need for hop in walk.hops for need in hop.needs}
    used |= {hop for operation in walk.operations for hop in operation.over}
    parts: list[tuple[int, tuple[str, int]]] = [
        (max(operation.over), ("deed", number))
        for number, operation in enumerate(walk.operations)
        if number not in inner
    ]
    parts += [
        (number, ("clue", numbers[pattern.edges[pattern.hop_edges[number]].target]))
        for number in range(len(walk.hops))
        if number not in used
    ]
    return tuple(dict.fromkeys(part for _, part in sorted(parts)))


def _kinds(question: str, clues: Sequence[Clue]) -> dict[int, str]:
    """The kind that the question gives each unknown, by the clue about it that the question brings first."""
    first: dict[int, str] = {}
    for clue in clues:
        known = first.get(clue.target)
        if known is None or question.find(clue.cue) < question.find(known):
            first[clue.target] = clue.cue
    return {unknown: sought_kind(question, cue) for unknown, cue in first.items()}


def named_in(question: str, hop: Hop) -> str:
    """The source's name or alias as the question writes it; empty when it does not."""
    names = sorted({hop.source.name, *hop.source.aliases}, key=lambda name: (-len(name), name))
    for name in names:
        match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.IGNORECASE)
        if match:
            return match.group()
    padded = f" {fold(question)} "
    return next((name for name in names if f" {fold(name)} " in padded), "")
