"""A good run that can be gone back into: at any step another turn can be carried out, for real, and compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from synth.agents.contract import Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.trajectory import facts_of, history_of
from synth.annotate.evidence.view import EvidenceView
from synth.environments.contract import Environment, ToolCall, ToolError, ToolResult
from synth.environments.observed import observe
from synth.identity import canonical_json
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow, Verdict

__all__ = ["Attempt", "Expect", "GoodRun", "Perturbation", "Proposal", "gold_documents"]

Expect = Literal["wrong_answer", "unsupported_answer", "error", "nothing", "repeat"]
"""In what the rejected side must turn out worse, or there is no pair:

wrong_answer        the verdict on the answer is "not right"
unsupported_answer  a condition on the answer was not in view, and the recorded run still went on to see it
error               the environment refuses every call of it, and the recorded turn brings something of the walk
nothing             it shows nothing of the walk that was not in view, and the recorded turn did
repeat              it gives exactly what an equal call had given before, and the recorded turn gives something new
"""


@dataclass(frozen=True)
class Proposal:
    """A turn to be put in the place of the recorded one."""

    step: int
    turn: Turn
    expect: tuple[Expect, ...]
    """Any of these makes the pair."""
    difference: str
    """What the rejected side does otherwise, in words."""
    note: str = ""
    """More evidence, in words."""


class Perturbation(Protocol):
    """One way of doing a thing wrong."""

    name: str
    """``dropped_check``, ``swapped_argument``, ...."""
    family: str
    """What a pair of it teaches."""

    def propose(self, run: GoodRun, generator: np.random.Generator) -> Iterator[Proposal]:
        """Turns that may be worse than the recorded one, in the order in which they are to be tried."""


@dataclass(frozen=True)
class Attempt:
    """A turn that was carried out."""

    turn: Turn
    results: tuple[ToolResult, ...]
    verdict: Verdict | None
    """Of the answer, where the turn is one."""
    hops: frozenset[int]
    """Hops of the walk that it brought into view."""
    pages: frozenset[str]
    """Documents of the walk that it named for the first time."""

    @property
    def errors(self) -> tuple[ToolError, ...]:
        return tuple(result.error for result in self.results if result.error is not None)

    @property
    def gains(self) -> bool:
        return bool(self.hops or self.pages)


class GoodRun:
    """A successful trajectory, replayed, with the state before each of its turns."""

    def __init__(self, row: TrajectoryRow, task: Task, environment: Environment) -> None:
        """
        Raises:
            ValueError: the run did not succeed, is of another task, or its replay gives other observations.
        """
        if row.task_id != task.id:
            raise ValueError(f"{row.id} is of {row.task_id}, not of {task.id}")
        if row.verdict.correct is not True:
            raise ValueError(f"{row.id} did not succeed")
        self.row, self.task, self.environment = row, task, environment
        self.prompt, self.history = history_of(row)
        # The same check as for continuations: what can't be restored exactly is no place to try anything.
        self._episode = environment.resume(task, facts_of(row))
        self._states = [self._episode.snapshot()]
        for number, step in enumerate(self.history):
            for call, recorded in zip(step.turn.calls, step.results, strict=False):
                if not environment.same(self._episode.step(call), recorded):
                    raise ValueError(f"turn {number}: {call.name} answers otherwise than it did when it was recorded")
            self._states.append(self._episode.snapshot())
        self.views = [EvidenceView(task, self.history[:number]) for number in range(len(self.history))]
        """What was in view before each turn."""
        self.tools = environment.tools()
        self._recorded = [self._look(number, step.turn, step.results) for number, step in enumerate(self.history)]

    def close(self) -> None:
        self._episode.close()

    @property
    def last(self) -> int:
        """Number of the turn that answers."""
        return len(self.history) - 1

    def recorded(self, step: int) -> Attempt:
        """What the recorded turn gave."""
        return self._recorded[step]

    def attempt(self, step: int, turn: Turn) -> Attempt:
        """Carry ``turn`` out from the exact state before turn ``step``."""
        self._episode.restore(self._states[step])
        numbered = number_calls(turn, step)
        results = tuple(self._episode.step(call) for call in numbered.calls)
        verdict = self._episode.check(turn.answer) if not turn.calls else None
        return self._look(step, numbered, results, verdict)

    def _look(self, step: int, turn: Turn, results: tuple[ToolResult, ...], verdict: Verdict | None = None) -> Attempt:
        view = self.views[step]
        hops: set[int] = set()
        pages: set[str] = set()
        for result in results[: len(turn.calls)]:
            hops |= view.would_show(result)
            if result.error is None:
                pages |= _named(result) & gold_documents(self.task) - view.named_documents
        return Attempt(turn, results, verdict, frozenset(hops), frozenset(pages))

    def grounded(self, step: int, turn: Turn) -> bool:
        """Whether ``turn``, taken at ``step``, names only what was seen before."""
        history = (*self.history[:step], Step(turn=turn))
        own_words = self.row.model is not None
        return not ungrounded(self.prompt, history, start=step, own_words=own_words)

    def missing(self, step: int) -> tuple[int, ...]:
        """Hops that were not in view before ``step``, and were in view when the run answered."""
        return tuple(sorted(self.views[self.last].hops - self.views[step].hops))

    def settled(self) -> str:
        """What the right answer rests on, with the quote."""
        if not self.task.walk.hops:
            return f"The right one is {self.task.answer!r}."
        # Of something that was chosen among several, what is said of that one; else where the walk ends.
        hops = self.task.walk.hops
        own = [number for number, hop in enumerate(hops) if self.task.answer in (hop.source.name, hop.target.name)]
        return f"The right one is {self.task.answer!r}: {self.quoted(own[-1] if own else len(hops) - 1)}."

    def quoted(self, number: int) -> str:
        """What states a hop, with where it stands: the line of a fact as the run was shown it, else the passage of the
        page."""
        for passage in self.views[self.last].stated.get(number, ()):
            if passage.fact is not None:
                return f'"{passage.text}" ({passage.document})'
        found = self.task.walk.hops[number].evidence
        return f'"{found.quote}" ({found.document_id})'

    def worse(self, proposal: Proposal, tried: Attempt) -> str | None:
        """Why the attempt is worse than the recorded turn, in words with the evidence; None when that was not shown."""
        for expected in proposal.expect:
            words = _SHOWN[expected](self, proposal, tried)
            if words is not None:
                return words
        return None

    def before(self, step: int, call: ToolCall) -> list[ToolResult]:
        """What calls equal to ``call`` were answered before ``step``."""
        wanted = canonical_json([call.name, call.arguments])
        return [
            result
            for past in self.history[:step]
            for made, result in zip(past.turn.calls, past.results, strict=False)
            if canonical_json([made.name, made.arguments]) == wanted
        ]


def number_calls(turn: Turn, step: int) -> Turn:
    """The turn with the call ids that the agent loop would give it."""
    calls = tuple(call.model_copy(update={"id": f"call_{step}_{at}"}) for at, call in enumerate(turn.calls))
    return turn.model_copy(update={"calls": calls})


def gold_documents(task: Task) -> frozenset[str]:
    """Documents that the walk goes through or rests on."""
    found = set(task.gold_documents)
    for hop in task.walk.hops:
        found |= {hop.source.document_id or "", hop.target.document_id or "", hop.evidence.document_id}
    return frozenset(found - {""})


def _named(result: ToolResult) -> set[str]:
    seen = observe(result.content)
    linked = {item.document for passage in seen.passages for item in passage.links}
    return linked | {hit.document for hit in seen.results} | ({seen.about} - {""})


def _wrong(run: GoodRun, proposal: Proposal, tried: Attempt) -> str | None:
    if tried.verdict is None or tried.verdict.correct is not False:
        return None
    return f"The answer is wrong: {tried.verdict.evidence} {run.settled()}"


def _unsupported(run: GoodRun, proposal: Proposal, tried: Attempt) -> str | None:
    missing = run.missing(proposal.step)
    hops = run.task.walk.hops
    half = any(hops[number].target.id == hops[-1].target.id for number in run.views[proposal.step].hops)
    if tried.verdict is None or not missing or not half:
        return None
    hop = hops[missing[-1]]
    right = "right by luck" if tried.verdict.correct else "not settled"
    return (
        f"The answer is {right}: nothing that was read says {hop.cue or hop.relation!r}. The run that went on saw "
        f"{run.quoted(missing[-1])} before it answered."
    )


def _error(run: GoodRun, proposal: Proposal, tried: Attempt) -> str | None:
    if not tried.results or len(tried.errors) < len(tried.results) or "failure" in tried.errors:
        return None
    good = run.recorded(proposal.step)
    if good.errors or (good.turn.calls and run.task.walk.hops and not good.gains):
        return None
    return f"The environment refuses it ({_short(tried.results[0].content)}). {_brings(run, proposal.step)}"


def _nothing(run: GoodRun, proposal: Proposal, tried: Attempt) -> str | None:
    if not tried.results or tried.gains or not run.recorded(proposal.step).gains:
        return None
    return (
        f"It shows nothing of what the question needs ({_short(tried.results[0].content)}). "
        f"{_brings(run, proposal.step)}"
    )


def _repeat(run: GoodRun, proposal: Proposal, tried: Attempt) -> str | None:
    if not tried.results:
        return None
    for call, result in zip(tried.turn.calls, tried.results, strict=True):
        if not any(
            (past.content, past.error) == (result.content, result.error) for past in run.before(proposal.step, call)
        ):
            return None
    good = run.recorded(proposal.step)
    new = not good.turn.calls or any(
        (result.content, result.error) not in {(past.content, past.error) for past in run.before(proposal.step, call)}
        for call, result in zip(good.turn.calls, good.results, strict=False)
    )
    if not new:
        return None
    return f"It gives what it had given before ({_short(tried.results[0].content)}). {_brings(run, proposal.step)}"


_SHOWN = {
    "wrong_answer": _wrong,
    "unsupported_answer": _unsupported,
    "error": _error,
    "nothing": _nothing,
    "repeat": _repeat,
}


def _brings(run: GoodRun, step: int) -> str:
    """What the recorded turn brought, with the quote."""
    good = run.recorded(step)
    if good.hops:
        return f"The preferred turn brings {run.quoted(max(good.hops))} into view."
    if good.pages:
        return f"The preferred turn brings up {sorted(good.pages)[0]}, which the question needs."
    if not good.turn.calls:
        return f"The preferred turn answers, and rightly: {run.row.verdict.evidence}"
    return "The preferred turn is not refused, and shows something else."


def _short(text: str) -> str:
    line = next((line for line in text.split("\n") if line.strip()), "")
    return line if len(line) <= 160 else f"{line[:157]}..."
