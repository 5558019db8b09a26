"""Explore, reduce, word, audit: one pipeline for every environment that can be explored.

Explore first, derive the task afterwards (OS-Genesis, arXiv 2412.19723). A candidate walks through a fresh episode and
keeps the steps that had an effect; they are reduced until none can be left out; what is left is worded as a person
would ask for it, with the plan that solves it; and what comes of that is proved by replay before it is a task. What
the steps are, when a part of them comes to the same end, how a value is said and what is proved differs by
environment: those are the hooks, :class:`Explorable` and :class:`Attempt`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import permutations
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from synth.environments.contract import Environment
from synth.exploration.config import ExplorationConfig
from synth.schemas.details import Facts, details_with
from synth.schemas.documents import ValueKind
from synth.schemas.plans import Plan
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import JsonObject, Split
from synth.schemas.tasks import CheckResult, Difficulty, Task, Walk
from synth.tasks.contract import Checked
from synth.tasks.draft import Draft
from synth.tasks.writing.requests import Values, parts_in

__all__ = [
    "Attempt",
    "Candidate",
    "Dropped",
    "Explorable",
    "Exploration",
    "Hopeless",
    "Solved",
    "blank_task",
    "leaves",
    "line_with",
    "minimal",
    "orders",
    "removable",
    "word_in",
]

C = TypeVar("C", bound="Candidate")
S = TypeVar("S")
_NOWHERE = Provenance(
    dataset="-", stage="exploration", stage_version=1, fingerprint="-", seed=0, source="-", source_sha256="-"
)


class Dropped(Exception):
    """No task comes of this attempt."""

    def __init__(self, reason: Reason, detail: str, question: str = "") -> None:
        super().__init__(detail)
        self.reason, self.detail, self.question = reason, detail, question


class Hopeless(Dropped):
    """No further attempt of this candidate can do better."""


@dataclass(frozen=True)
class Candidate:
    """What a candidate is to be, before it is explored."""

    index: int
    kind: str
    split: Split | None
    """None: known only once it is seen what the task is about."""


@dataclass(frozen=True)
class Solved:
    """A request with its solution, before the audit."""

    question: str
    surface: str
    """The question without what it says of its own values: what two requests in the same words share."""
    stretches: Sequence[tuple[str, Sequence[str]]]
    """Clauses of the question, each with the words in it that say a value; none = it must not be reworded."""
    plan: Plan
    split: Split
    gold: tuple[str, ...]
    """What the task is about, as ids; no two splits share one."""
    constraints: int
    """How many things are asked for."""
    facts: tuple[Facts, ...]
    """What an environment, a privileged agent and an audit need, for the details of the task."""
    answer: str = "Done."
    answer_kind: ValueKind = "text"
    aliases: tuple[str, ...] = ()


class Attempt(Protocol[S]):
    """One exploration of a candidate, from the walk to the audit. Every method but ``close`` may raise Dropped."""

    def explore(self) -> Sequence[S]:
        """Steps that come to something; none where the kind of task is about no change."""

    def reaches(self, steps: Sequence[S], /) -> bool:
        """Whether these of the explored steps come to the same in a fresh episode."""

    def word(self, steps: Sequence[S], /) -> Solved:
        """The request for the reduced ``steps``, and the plan that solves it."""

    def audit(self, solved: Solved, /) -> tuple[CheckResult, ...]:
        """The checks that it passed, each from a fresh episode."""

    def close(self) -> None:
        """Let go of all episodes."""


class Explorable(Protocol[C]):
    """An environment as the pipeline sees it."""

    draws: ClassVar[str]
    """The name under which its random numbers are derived."""
    parallel: ClassVar[int]
    """Candidates that are worked on at once, where most of the time is waiting."""
    environment: Environment
    config: ExplorationConfig

    @property
    def changing(self) -> tuple[str, ...]:
        """The tools that change something."""

    def candidate(self, index: int, seed: int, /) -> C:
        """What candidate ``index`` is to be; depends on the environment, the config, the seed and ``index`` alone."""

    def attempt(self, candidate: C, seed: int, number: int, /) -> Attempt[Any]:
        """Attempt ``number`` of it. Raises Dropped."""

    def others(self, draft: Draft, /) -> Values:
        """Short texts in the environment where a task begins, and those that its tools choose from: a request may say
        those of its own, and no others."""

    def duplicate_key(self, row: Any, /) -> str:
        """Tasks with one key are one task."""


class Exploration(Generic[C]):
    """Derives tasks from one environment."""

    def __init__(self, hooks: Explorable[C], *, stage: str = "explored_tasks") -> None:
        self.hooks = hooks
        self.stage = stage

    def propose(self, indices: Sequence[int], seed: int) -> Sequence[Checked | Rejection]:
        """One outcome per candidate index, in order."""

        def outcome(index: int) -> Checked | Rejection:
            return self._outcome(self.hooks.candidate(index, seed), seed)

        if len(indices) < 2 or self.hooks.parallel < 2:
            return [outcome(index) for index in indices]
        with ThreadPoolExecutor(self.hooks.parallel) as pool:
            return list(pool.map(outcome, indices))

    def _outcome(self, candidate: C, seed: int) -> Checked | Rejection:
        problem = Dropped(Reason.NO_WALK, "nothing was tried")
        for number in range(self.hooks.config.attempts):
            try:
                return self._checked(self.hooks.attempt(candidate, seed, number))
            except Dropped as found:
                # What was explored and could not be worded is a better reason than a walk that found nothing.
                if problem.reason == Reason.NO_WALK or found.reason != Reason.NO_WALK:
                    problem = found
                if isinstance(found, Hopeless):
                    break
        return Rejection(
            stage=self.stage,
            row_id=str(candidate.index),
            reason=problem.reason,
            detail=f"{candidate.kind}: {problem.detail}"[:500],
            split=candidate.split,
            preview=problem.question[:500],
        )

    def _checked(self, attempt: Attempt[Any]) -> Checked:
        with closing(attempt):
            steps = attempt.explore()
            solved = attempt.word(_reduced(steps, attempt.reaches) if steps else ())
            checks = attempt.audit(solved)
        draft = _draft(self.hooks.environment.name, solved)
        return Checked(draft, checks, parts_in(solved.question, solved.stretches) if solved.stretches else ())


def _reduced(steps: Sequence[S], reaches: Callable[[Sequence[S]], bool]) -> tuple[S, ...]:
    if not reaches(steps):
        raise Dropped(Reason.NO_WALK, "the walk does not replay")
    kept = minimal(steps, reaches)
    if not kept or reaches(()):
        raise Dropped(Reason.NO_WALK, "the walk comes to nothing: it is so from the beginning")
    return kept


def _draft(environment: str, solved: Solved) -> Draft:
    return Draft(
        question=solved.question,
        answer=solved.answer,
        answer_aliases=solved.aliases,
        answer_kind=solved.answer_kind,
        environment=environment,
        shape="reverse",
        walk=Walk(shape="reverse", hops=()),
        gold_entities=solved.gold,
        gold_documents=(),
        difficulty=Difficulty(hops=0, constraints=solved.constraints, branching=1.0, documents=0),
        split=solved.split,
        surface=solved.surface,
        details=details_with(*solved.facts),
    )


def blank_task(task_id: str, environment: str, details: JsonObject) -> Task:
    """A task that says nothing but where it begins: what an episode needs while the task itself is still to be made.

    ``task_id`` tells beginnings apart, and walks are drawn by it. It is never a row of a dataset.
    """
    return Task(
        id=task_id,
        question="-",
        answer="-",
        answer_kind="text",
        environment=environment,
        shape="reverse",
        walk=Walk(shape="reverse", hops=()),
        gold_entities=(),
        gold_documents=(),
        difficulty=Difficulty(hops=0, constraints=0, branching=1.0, documents=0),
        checks=(),
        split="train",
        candidate_index=0,
        details=details,
        provenance=_NOWHERE,
    )


T = TypeVar("T")
_MOST_ORDERS = 24


def minimal(items: Sequence[T], holds: Callable[[tuple[T, ...]], bool]) -> tuple[T, ...]:
    """A part of ``items``, in their order, for which ``holds`` and from which no single item can be taken away
    (1-minimal; ddmin of Zeller and Hildebrandt, IEEE TSE 28(2), 2002: complements of ever smaller pieces).

    Args:
        holds: Whether a part will do; asked at most once for each. It is true of ``items``.
    """
    known: dict[tuple[int, ...], bool] = {}

    def will_do(places: tuple[int, ...]) -> bool:
        if places not in known:
            known[places] = holds(tuple(items[at] for at in places))
        return known[places]

    left, pieces = tuple(range(len(items))), 2
    while len(left) >= 2:
        size = -(-len(left) // pieces)
        without = (left[:at] + left[at + size :] for at in range(0, len(left), size))
        smaller = next((places for places in without if will_do(places)), None)
        if smaller is not None:
            left, pieces = smaller, max(2, pieces - 1)
        elif size == 1:
            break
        else:
            pieces = min(len(left), 2 * pieces)
    if len(left) == 1 and will_do(()):
        left = ()
    return tuple(items[at] for at in left)


def removable(items: Sequence[T], reaches: Callable[[Sequence[T]], bool]) -> int | None:
    """Index of the first item that can be left out; None if all are needed."""
    return next((at for at in range(len(items)) if reaches([*items[:at], *items[at + 1 :]])), None)


def orders(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Other orders of ``items``, all of up to four."""
    for number, order in enumerate(permutations(range(len(items)))):
        if 0 < number < _MOST_ORDERS:
            yield [items[at] for at in order]


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, value) of every plain value in arguments: ``items.0.amount``."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from leaves(item, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from leaves(item, f"{path}.{number}")
    else:
        yield path, value


def word_in(text: str, value: str, *, any_case: bool = False) -> str | None:
    """``value`` as it stands in ``text``, as whole words: "ferry" does not stand in "Ferryman"."""
    found = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE if any_case else 0)
    return None if found is None else found.group()


def line_with(lines: Iterable[str], value: str, *, any_case: bool = False) -> str | None:
    """The first line that holds ``value``, without the blanks around it."""
    return next((line.strip() for line in lines if word_in(line, value, any_case=any_case) is not None), None)
