"""Where a scripted policy first went wrong: the truth that labels are measured against. For tests only.

The side table (``injected_errors``) says what was done wrong on purpose. It is not the whole truth, in both ways:

* An injected error may change nothing: the sentence taken for another one names the right thing, the first date on the
  page is the right date. Such an error is none (``effective``).
* The policy reads by likeness of words and errs without being made to. What it settled on can be read back from its own
  notes, and the world's facts say whether that is true: a *natural* error is a note that takes, confirms or rules out
  something against the facts, or else the wrong answer itself.

The true first error is the first turn with either. Where both fall on one turn it counts under the injected mode.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from synth.agents.scripted.matching import fold
from synth.agents.scripted.phrases import read_notes
from synth.agents.scripted.reading import read_task
from synth.agents.scripted.seen import Seen
from synth.agents.scripted.state import State
from synth.agents.trajectory import history_of
from synth.environments.answers import judge
from synth.environments.rendering import plain
from synth.schemas.documents import Edge, Entity
from synth.schemas.injected import InjectedError
from synth.schemas.tasks import Hop, Task
from synth.schemas.trajectories import TrajectoryRow

_TOOK = re.compile(r"took (?P<quote>['\"])(?P<name>.*?)(?P=quote)(?: rather than |, the first on )")


@dataclass(frozen=True)
class FirstError:
    turn: int
    mode: str
    """That of the injected error, or ``natural: ...``."""


class Facts:
    """The edges of a world, to be asked whether a hop's relation holds between two names."""

    def __init__(self, entities: Iterable[Entity], edges: Iterable[Edge]) -> None:
        known = list(entities)
        self._by_name: dict[str, set[str]] = {}
        for entity in known:
            for name in (entity.name, *entity.aliases):
                self._by_name.setdefault(fold(name), set()).add(entity.id)
        self._pairs: dict[tuple[str, str], set[str]] = {}
        for edge in edges:
            ends = known[edge.subject].id, known[edge.object].id if edge.object >= 0 else fold(edge.value or "")
            self._pairs.setdefault(ends, set()).add(edge.relation)

    def hold(self, hop: Hop, name: str, inverses: Mapping[str, str]) -> bool:
        """Whether the hop leads from its source to something called ``name``, in its own direction."""
        sources = {hop.source.id, fold(hop.source.id), fold(hop.source.name)}
        for target in self._by_name.get(fold(name), set()):
            for source in sources:
                stated = (source, target) if hop.forward else (target, source)
                turned = {left for left, right in inverses.items() if hop.relation in (left, right)} | {
                    right for left, right in inverses.items() if hop.relation in (left, right)
                }
                turned -= {hop.relation} if inverses.get(hop.relation) != hop.relation else set()
                if hop.relation in self._pairs.get(stated, set()) or turned & self._pairs.get(stated[::-1], set()):
                    return True
        return False


def first_error(
    row: TrajectoryRow, task: Task, injected: Sequence[InjectedError], facts: Facts, inverses: Mapping[str, str]
) -> FirstError | None:
    """The first turn that went wrong; None when none did."""
    mine = sorted((e for e in injected if e.trajectory_id == row.id), key=lambda e: e.turn)
    forced = next((e for e in mine if _effective(e, task, facts, inverses)), None)
    natural = _natural(row, task, facts, inverses)
    if forced is not None and (natural is None or forced.turn <= natural.turn):
        return FirstError(forced.turn, forced.mode)
    if natural is not None:
        return natural
    return None if row.success else FirstError(row.turns - 1, "natural: ending")


def _effective(error: InjectedError, task: Task, facts: Facts, inverses: Mapping[str, str]) -> bool:
    took = _TOOK.match(error.detail)
    if took is None:
        return True  # it made another call, took another page, or ended the run
    return not _right(task, took.group("name"), facts, inverses)


def _right(task: Task, name: str, facts: Facts, inverses: Mapping[str, str]) -> bool:
    if judge(name, gold=task.answer, aliases=task.answer_aliases, kind=task.answer_kind).correct:
        return True
    return any(_is_target(hop, name) or facts.hold(hop, name, inverses) for hop in task.walk.hops)


def _is_target(hop: Hop, name: str) -> bool:
    return fold(name) in {fold(known) for known in (hop.target.name, hop.target.id, *hop.target.aliases)}


def _natural(row: TrajectoryRow, task: Task, facts: Facts, inverses: Mapping[str, str]) -> FirstError | None:
    """The first note against the facts, taken into account as the policy itself does."""
    _, history = history_of(row)
    reading = read_task(task)
    state = State(reading, Seen())
    texts = [reading.question]
    for turn, step in enumerate(history):
        for intent, name in read_notes(step.turn.thought or "", texts):
            number = state.open_clue()
            hop = task.walk.hops[number] if number is not None and number < len(task.walk.hops) else None
            if hop is not None and _against(task, hop, intent, name, facts, inverses):
                return FirstError(turn, f"natural: {intent}")
            state.note(intent, name, turn)
        state.seen.take(step)
        texts += [plain(result.content) for result in step.results]
    return None


def _against(task: Task, hop: Hop, intent: str, name: str, facts: Facts, inverses: Mapping[str, str]) -> bool:
    value = hop.target.document_id is None
    true = _is_target(hop, name) or facts.hold(hop, name, inverses)
    if value:
        true = true or judge(name, gold=task.answer, aliases=task.answer_aliases, kind=task.answer_kind).correct is True
    if intent == "dismiss":
        return any(_is_target(other, name) for other in task.walk.hops)
    return not true
