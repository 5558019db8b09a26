"""The embedded expert: other actions at a step, chosen among what the history shows.

It looks at the policy's own history in three ways: the scripted teacher goes on from it, the teacher goes on after it
has thought again about what was settled wrongly, and plain rules pick what else is in sight. Knowing the gold walk, it
may only choose; what it says must follow from what was observed, and whatever ``ungrounded`` finds in a proposal drops
it. With ``skill`` it does not know the walk: it proposes what a scripted policy would do, and is as often wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from synth.agents.contract import Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.grounding.computed import answer_is_computed
from synth.agents.scripted.cues import quotable, strip
from synth.agents.scripted.matching import Lexicon, same_name
from synth.agents.scripted.phrases import Thoughts
from synth.agents.scripted.planner import Planner
from synth.agents.scripted.reading import Reading, clue_hops, read_task
from synth.agents.scripted.state import State, Value, state_of
from synth.agents.scripted.teacher import TeacherConfig, _GoldChooser
from synth.annotate.critical.actions import action_key, action_kind
from synth.annotate.critical.contract import Point
from synth.annotate.critical.graph_turns import graph_turns
from synth.annotate.critical.plan_turns import plan_turns
from synth.annotate.evidence.assessment import missing_for_answer
from synth.annotate.evidence.view import EvidenceView, names_of
from synth.environments.contract import ToolCall
from synth.environments.rendering import plain
from synth.environments.shown import Passage
from synth.identity import versioned
from synth.lexicon.reading import phrases
from synth.schemas.plans import Planned
from synth.schemas.tasks import Hop, Task
from synth.text.words import fold, same_words, words_of

__all__ = ["ExpertConfig", "ScriptedExpert", "scripted_expert"]

_WORDS = phrases("expert")


class ExpertConfig(BaseModel):
    """How the embedded expert works."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    tries: int = Field(default=3, ge=1, le=16)
    """How often the teacher is asked in each of its ways, with another generator each time."""
    patience: int = Field(default=40, ge=1)
    """Turns after which the teacher gives up: more than a policy has."""
    skill: float | None = Field(default=None, ge=0, le=1)
    """None = it knows the gold walk, or the plan. A number: it knows what a policy knows, and errs as a scripted one of
    this skill; asked ``2 * tries`` times, each with another generator."""


class ScriptedExpert:
    """An :class:`~synth.annotate.critical.contract.Expert` for tasks of the search and the graph environment, and for
    tasks with plans in any."""

    def __init__(
        self, config: ExpertConfig | None = None, lexicon: Lexicon | None = None, language: str = "docs"
    ) -> None:
        self._config = config or ExpertConfig()
        self._lexicon = lexicon or {}
        self._language = language

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
            computed = answer_is_computed(point.task)
            if not ungrounded(point.prompt, (*point.history, Step(turn=turn)), start=point.step, computed=computed):
                kept[key] = turn
        return tuple(kept.values())

    def _all(self, point: Point, generator: np.random.Generator) -> Iterator[Turn]:
        if self._config.skill is not None:
            yield from self._unknowing(point, self._config.skill, generator)
            return
        if Planned.stand_in(point.task.details):
            yield from plan_turns(point, generator, patience=self._config.patience)
            return
        if point.task.environment == "graph":
            tries, patience = self._config.tries, self._config.patience
            yield from graph_turns(point, self._lexicon, generator, tries=tries, patience=patience)
            return
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
        rules = list(_rules(point, reading, EvidenceView(point.task, point.history), generator))
        # Pairs of the same kind of action teach most.
        yield from sorted(rules, key=lambda turn: action_kind(turn) != action_kind(point.recorded))

    def _unknowing(self, point: Point, skill: float, generator: np.random.Generator) -> Iterator[Turn]:
        from synth.agents.scripted.backend import scripted_policy

        policy = scripted_policy(task=point.task, role="policy", language=self._language, skill=skill)
        for _ in range(2 * self._config.tries):
            own = np.random.default_rng(int(generator.integers(2**63)))
            yield policy.act(point.prompt, point.history, own).turn

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
            phrase = _WORDS["doubts"][int(generator.integers(len(_WORDS["doubts"])))].format(name=doubted[0].name)
            turn = turn.model_copy(update={"thought": f"{phrase} {turn.thought or ''}".strip()})
        return turn


class _Rethinking(Planner):
    """A planner that may take back what the history settled, and reads what is open as if for the first time.

    It is the teacher's, with the teacher's way of choosing over a state that was mended first.
    """

    def rethink(self, doubted: Value | None) -> Turn:
        if doubted is not None:
            self.note("dismiss", doubted.name)
        self.noted = True
        return self.turn()


def _doubtful(task: Task, state: State, unknown: int) -> bool:
    """Whether what was settled is wrong, and the history gives reason to think so: the passage that states the right
    one was read, or the page of the wrong one was."""
    value = state.values[unknown]
    hops = [hop for clue, hop in _behind(task) if _target(state, clue) == unknown]
    if not hops or any(_means(hop, value) for hop in hops):
        return False
    texts = [fold(s.text) for document in state.seen.documents.values() for s in document.sentences()]
    stated = any(fold(hop.evidence.quote) in text for hop in hops for text in texts if fold(hop.evidence.quote))
    return stated or value.document in state.seen.documents


def _behind(task: Task) -> list[tuple[int, Hop]]:
    """(clue of the question's reading, hop)."""
    return [(clue, task.walk.hops[number]) for clue, numbers in enumerate(clue_hops(task)) for number in numbers]


def _target(state: State, clue: int) -> int:
    return state.reading.clues[clue].target


def _means(hop: Hop, value: Value) -> bool:
    if value.document is not None and value.document == hop.target.document_id:
        return True
    return any(same_name(value.name, name) for name in (hop.target.name, *hop.target.aliases))


def _readmit(task: Task, state: State) -> None:
    """What is on the walk may be looked at again, although the policy had put it aside."""
    for number, hop in _behind(task):
        for end in (hop.source, hop.target):
            for name in (end.document_id, *(fold(name) for name in (end.name, *end.aliases))):
                state.dismissed.discard((number, name or ""))
        state.dismissed.discard((number, hop.evidence.document_id))


def _numbered(turn: Turn, step: int) -> Turn:
    calls = tuple(call.model_copy(update={"id": f"call_{step}_{place}"}) for place, call in enumerate(turn.calls))
    return turn.model_copy(update={"calls": calls})


def _rules(point: Point, reading: Reading, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """Turns in order of promise. Each needs what it rests on to be in view; the tools must be there."""
    tools = {tool.name for tool in point.prompt.tools}
    yield from _answers(point, view, generator)
    if "open" in tools:
        yield from _links(point, view, generator)
        yield from _hits(point, view, generator)
    if "search" in tools:
        yield from _searches(point, reading, view, generator)
    if "find" in tools and view.last_page:
        yield from _finds(point, reading, view, generator)


def _answers(point: Point, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """The answer as it was read, once every hop was in view."""
    task = point.task
    hops = task.walk.hops
    if not hops or missing_for_answer(view) or task.walk.operations or task.answer_parts:
        return  # what has to be worked out is the teacher's to say
    texts = [plain(result.content) for _, result in view.results if result.error is None]
    for name in (task.answer, *task.answer_aliases, hops[-1].target.name):
        if any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for text in texts):
            thoughts = Thoughts(task.question, generator)
            passage = next((p for p in view.stated[len(hops) - 1] if words_of(name) in words_of(p.text)), None)
            _quote(thoughts, passage)
            thoughts.add("answer", answer=name)
            yield Turn(thought=thoughts.text(), answer=name)
            return


def _links(point: Point, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """Pages of the walk that a text linked to and nobody opened, the passage that names them beside."""
    for document in _on_walk(view):
        if document in view.links:
            passage = view.links[document][-1]
            anchor = next(item.anchor for item in passage.links if item.document == document)
            thoughts = Thoughts(point.task.question, generator)
            _quote(thoughts, passage)
            thoughts.add("open_link", name=anchor)
            yield _call_turn(point, thoughts, "open", {"document": document})


def _hits(point: Point, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """Pages of the walk that a search listed and nobody opened."""
    for document in _on_walk(view):
        if document in view.listed and document not in view.links:
            _, hits = view.searches[view.listed[document][-1]]
            title = next(hit.title for hit in hits if hit.document == document)
            told = [p for passages in view.stated.values() for p in passages if p.document == document]
            thoughts = Thoughts(point.task.question, generator)
            if told and quotable(told[0].text):
                thoughts.add("hit_snippet", title=title, quote=told[0].text)
            else:
                thoughts.add("hit_try", title=title)
            yield _call_turn(point, thoughts, "open", {"document": document})


def _on_walk(view: EvidenceView) -> list[str]:
    """Pages of the walk that were shown and not opened, in the order of the walk."""
    found: dict[str, None] = {}
    for hop in view.task.walk.hops:
        for document in (hop.source.document_id, hop.evidence.document_id, hop.target.document_id):
            if document is not None and document in view.named_documents and document not in view.read:
                found.setdefault(document)
    return list(found)


def _searches(point: Point, reading: Reading, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """A name of the question, or one on the walk that was seen, not searched for yet; then words of the question."""
    made = [str(call.arguments.get("query", "")) for call, _ in view.searches]
    named = [clue.name for clue in reading.clues if clue.name]
    for hop in point.task.walk.hops:
        named += [name for name in names_of(hop.source) if words_of(name) in view.named]
    for name in dict.fromkeys(named):
        if not any(same_words(name, query) for query in made):
            thoughts = Thoughts(point.task.question, generator)
            thoughts.add("search_name", name=name)
            yield _call_turn(point, thoughts, "search", {"query": name})
    for clue in reading.clues:
        cue = strip(clue.cue)
        if cue and not any(same_words(cue, query) for query in made):
            phrase = _WORDS["in_its_words"][int(generator.integers(len(_WORDS["in_its_words"])))]
            yield _call_turn(point, phrase, "search", {"query": cue})


def _finds(point: Point, reading: Reading, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """Names of the question on the page that is open."""
    for name in dict.fromkeys(clue.name for clue in reading.clues if clue.name):
        thoughts = Thoughts(point.task.question, generator)
        thoughts.add("verify_find", name=name)
        yield _call_turn(point, thoughts, "find", {"pattern": name})


def _quote(thoughts: Thoughts, passage: Passage | None) -> None:
    if passage is not None and passage.title and quotable(passage.text):
        thoughts.add("quote", quote=passage.text, title=passage.title)


def _call_turn(point: Point, thoughts: Thoughts | str, name: str, arguments: dict[str, Any]) -> Turn:
    call = ToolCall(id=f"call_{point.step}_0", name=name, arguments=arguments)
    return Turn(thought=thoughts if isinstance(thoughts, str) else thoughts.text(), calls=(call,))


@versioned(1)
def scripted_expert(*, language: str = "docs", lexicon: Lexicon | None = None, **options: object) -> ScriptedExpert:
    """What the registry calls. ``language`` as for the scripted agents; ``options`` are those of
    :class:`ExpertConfig`.

    Raises:
        pydantic.ValidationError: an option that the expert does not have.
    """
    from synth.agents.scripted.backend import world_lexicon

    if lexicon is None and language == "world":
        lexicon = world_lexicon()
    return ScriptedExpert(ExpertConfig.model_validate(options), lexicon, language)
