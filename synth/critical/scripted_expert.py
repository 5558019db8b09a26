"""The embedded expert: other actions at a step, chosen among what the history shows.

It looks at the policy's own history in three ways: the scripted teacher goes on from it, the teacher goes on after it
has thought again about what was settled wrongly, and plain rules pick what else is in sight. Knowing the gold walk, it
may only choose; what it says must follow from what was observed, and whatever ``ungrounded`` finds in a proposal drops
it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from synth.agents.contract import Step, Turn
from synth.agents.evidence import EvidenceView
from synth.agents.grounding import ungrounded
from synth.agents.scripted.matching import Lexicon, fold, same_name
from synth.agents.scripted.planner import Planner
from synth.agents.scripted.reading import Reading, read_task

# The teacher's way of choosing, without its own state: here the state is mended first.
from synth.agents.scripted.state import State, Value, state_of
from synth.agents.scripted.teacher import TeacherConfig, _GoldChooser
from synth.critical.actions import action_key
from synth.critical.contract import Point
from synth.critical.expert_rules import proposals
from synth.schemas.tasks import Hop, Task

__all__ = ["ExpertConfig", "ScriptedExpert", "scripted_expert"]

_DOUBTS = (
    "I am not sure that {name} is what was meant.",
    "Perhaps I took the wrong one with {name}.",
    "{name} may not be what the question means, so I look again.",
    "Let me go back a step before I rely on {name}.",
    "I doubt that {name} is right.",
)


class ExpertConfig(BaseModel):
    """How the embedded expert works."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    tries: int = Field(default=3, ge=1, le=16)
    """How often the teacher is asked in each of its ways, with another generator each time."""
    patience: int = Field(default=40, ge=1)
    """Turns after which the teacher gives up: more than a policy has."""


class ScriptedExpert:
    """An expert (``synth.critical.contract.Expert``) for any task of the search environment."""

    def __init__(self, config: ExpertConfig | None = None, lexicon: Lexicon | None = None) -> None:
        self._config = config or ExpertConfig()
        self._lexicon = lexicon or {}

    def propose(self, point: Point, n: int, generator: np.random.Generator) -> tuple[Turn, ...]:
        """At most ``n`` turns, the likeliest first."""
        kept: dict[str, Turn] = {}
        known = {action_key(point.recorded)}
        for turn in self._all(point, generator):
            if len(kept) >= n:
                break
            turn = _numbered(turn, point.step)
            key = action_key(turn)
            if key in known or (not turn.calls and turn.answer is None):
                continue
            known.add(key)
            if not ungrounded(point.prompt, (*point.history, Step(turn=turn)), start=point.step):
                kept[key] = turn
        return tuple(kept.values())

    def _all(self, point: Point, generator: np.random.Generator) -> Iterator[Turn]:
        reading = read_task(point.task)
        for number in range(self._config.tries):
            for again in (False, True):
                own = np.random.default_rng(int(generator.integers(2**63)))
                config = TeacherConfig(
                    verify=float(number % 2), detour=0.0, rival=0.0, parallel=0.0, patience=self._config.patience
                )
                turn = self._teacher(point, reading, config, own, again=again)
                if turn is not None:
                    yield turn
        yield from proposals(point, reading, EvidenceView(point.task, point.history), generator)

    def _teacher(
        self, point: Point, reading: Reading, config: TeacherConfig, generator: np.random.Generator, *, again: bool
    ) -> Turn | None:
        """What the teacher does next; ``again``: it looks once more at what was read and settled. None when there is
        nothing to think again about."""
        state = state_of(reading, point.history)
        _readmit(point.task, state)
        planner = _Rethinking(
            state,
            _GoldChooser(point.task, state, self._lexicon, config, generator),
            generator,
            patience=config.patience,
            parallel=config.parallel,
        )
        if not again:
            return planner.turn()
        doubted = [value for unknown, value in sorted(state.values.items()) if _doubtful(point.task, state, unknown)]
        turn = planner.rethink(doubted[0] if doubted else None)
        if doubted:
            phrase = _DOUBTS[int(generator.integers(len(_DOUBTS)))].format(name=doubted[0].name)
            turn = turn.model_copy(update={"thought": f"{phrase} {turn.thought or ''}".strip()})
        return turn


class _Rethinking(Planner):
    """A planner that may take back what the history settled, and reads what is open as if for the first time."""

    def rethink(self, doubted: Value | None) -> Turn:
        if doubted is not None:
            self._note("dismiss", doubted.name)
        self._noted = True
        return self.turn()


def _doubtful(task: Task, state: State, unknown: int) -> bool:
    """Whether what was settled is wrong, and the history gives reason to think so: the passage that states the right
    one was read, or the page of the wrong one was."""
    value = state.values[unknown]
    hops = [hop for number, hop in enumerate(task.walk.hops) if _target(state, number) == unknown]
    if not hops or any(_means(hop, value) for hop in hops):
        return False
    texts = [fold(s.text) for document in state.seen.documents.values() for s in document.sentences()]
    stated = any(fold(hop.evidence.quote) in text for hop in hops for text in texts if fold(hop.evidence.quote))
    return stated or value.document in state.seen.documents


def _target(state: State, clue: int) -> int:
    return state.reading.clues[clue].target


def _means(hop: Hop, value: Value) -> bool:
    if value.document is not None and value.document == hop.target.document_id:
        return True
    return any(same_name(value.name, name) for name in (hop.target.name, *hop.target.aliases))


def _readmit(task: Task, state: State) -> None:
    """What is on the walk may be looked at again, although the policy had put it aside."""
    for number, hop in enumerate(task.walk.hops):
        for end in (hop.source, hop.target):
            for name in (end.document_id, *(fold(name) for name in (end.name, *end.aliases))):
                state.dismissed.discard((number, name or ""))
        state.dismissed.discard((number, hop.evidence.document_id))


def _numbered(turn: Turn, step: int) -> Turn:
    calls = tuple(call.model_copy(update={"id": f"call_{step}_{place}"}) for place, call in enumerate(turn.calls))
    return turn.model_copy(update={"calls": calls})


def scripted_expert(*, language: str = "docs", **options: object) -> ScriptedExpert:
    """What the registry calls. ``language`` as for the scripted agents; ``options`` are those of
    :class:`ExpertConfig`.

    Raises:
        pydantic.ValidationError: an option that the expert does not have.
    """
    from synth.agents.scripted.backend import world_lexicon

    return ScriptedExpert(ExpertConfig.model_validate(options), world_lexicon() if language == "world" else None)
