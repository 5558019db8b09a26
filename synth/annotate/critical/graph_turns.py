"""What the embedded expert proposes in a graph: the teacher's next turn, the teacher's after a second thought, and what
plain rules find in sight: entities on the walk that were not looked at, their relations that were not read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from synth.agents.contract import Turn
from synth.agents.scripted.cues import quotable
from synth.agents.scripted.matching import Lexicon, same_name
from synth.agents.scripted.phrases import Thoughts
from synth.agents.scripted.reading import Reading, clue_hops, read_task
from synth.agents.scripted.seen import Seen
from synth.agents.scripted.state import State, Value, state_of
from synth.agents.scripted.teacher_config import TeacherConfig
from synth.agents.scripted.walker.planner import GraphPlanner
from synth.agents.scripted.walker.teacher import GraphGoldChooser
from synth.annotate.critical.contract import Point
from synth.annotate.evidence.assessment import missing_for_answer
from synth.annotate.evidence.view import EvidenceView, names_of
from synth.environments.contract import ToolCall
from synth.lexicon.reading import phrases
from synth.schemas.tasks import Hop, Task
from synth.text.words import fold, same_words, words_of

__all__ = ["graph_turns"]

_WORDS = phrases("expert")


def graph_turns(
    point: Point, lexicon: Lexicon, generator: np.random.Generator, *, tries: int, patience: int
) -> Iterator[Turn]:
    """Turns in order of promise, some of them equal. Each rests on what the history shows."""
    reading = read_task(point.task)
    for number in range(tries):
        for again in (False, True):
            own = np.random.default_rng(int(generator.integers(2**63)))
            config = TeacherConfig(verify=float(number % 2), detour=0.0, rival=0.0, parallel=0.0, patience=patience)
            turn = _teacher(point, reading, config, lexicon, own, again=again)
            if turn is not None:
                yield turn
    yield from _rules(point, reading, generator)


def _teacher(
    point: Point,
    reading: Reading,
    config: TeacherConfig,
    lexicon: Lexicon,
    generator: np.random.Generator,
    *,
    again: bool,
) -> Turn | None:
    """What the teacher does next; ``again``: after it took back what was settled wrongly. None where nothing was."""
    state = state_of(reading, point.history, Seen())
    _readmit(point.task, state)
    planner = GraphPlanner(
        state,
        GraphGoldChooser(point.task, state, lexicon, config, generator),
        generator,
        patience=config.patience,
        parallel=config.parallel,
    )
    if not again:
        return planner.turn()
    doubted = [value for unknown, value in sorted(state.values.items()) if _doubtful(point.task, state, unknown)]
    if not doubted:
        return None
    planner.note("dismiss", doubted[0].name)
    turn = planner.turn()
    phrase = _WORDS["doubts"][int(generator.integers(len(_WORDS["doubts"])))].format(name=doubted[0].name)
    return turn.model_copy(update={"thought": f"{phrase} {turn.thought or ''}".strip()})


def _hops(task: Task) -> list[tuple[int, Hop]]:
    """(clue of the question's reading, hop)."""
    return [(clue, task.walk.hops[number]) for clue, numbers in enumerate(clue_hops(task)) for number in numbers]


def _doubtful(task: Task, state: State, unknown: int) -> bool:
    """Whether what was settled is wrong, and the history gives reason to think so: the right one was shown beside it,
    or the relations of the wrong one were listed."""
    value = state.values[unknown]
    clues = state.reading.clues
    hops = [hop for clue, hop in _hops(task) if clues[clue].target == unknown]
    if not hops or any(_means(hop, value) for hop in hops):
        return False
    shown = {end.id or end.name for fan in state.seen.fans.values() for end in fan.ends()}
    right = any({hop.target.id, hop.target.name, hop.target.document_id or ""} & shown for hop in hops)
    return right or value.place in state.seen.listed


def _means(hop: Hop, value: Value) -> bool:
    if value.place is not None and value.place in (hop.target.id, hop.target.document_id):
        return True
    return any(same_name(value.name, name) for name in (hop.target.name, *hop.target.aliases))


def _readmit(task: Task, state: State) -> None:
    """What is on the walk may be looked at again, although the policy had put it aside."""
    for clue, hop in _hops(task):
        relation = " ".join(hop.relation.split())
        ways = [f"{relation} ({way})" for way in ("out", "in", "both")]
        for end in (hop.source, hop.target):
            names = (fold(name) for name in (end.name, *end.aliases))
            for name in (end.id, end.document_id or "", *names, *map(fold, ways)):
                state.dismissed.discard((clue, name))


def _rules(point: Point, reading: Reading, generator: np.random.Generator) -> Iterator[Turn]:
    view = EvidenceView(point.task, point.history)
    yield from _answers(point, view, generator)
    for hop in point.task.walk.hops:
        for end in (hop.source, hop.target):
            entity = end.document_id or end.id
            if entity not in view.named_documents:
                continue
            listed = view.relations.get(entity)
            if listed is None:
                yield _turn(point, generator, "g_relations", {"name": end.name}, "get_relations", {"entity": entity})
                continue
            ways = ("out", "both") if (end is hop.source) == hop.forward else ("in", "both")
            for way in ways:
                item = listed.get((" ".join(hop.relation.split()), way))
                if item is not None and not _was_read(view, entity, item.relation):
                    arguments = {"entity": entity, "relation": item.relation, "direction": way}
                    slots = {"name": end.name, "relation": item.relation}
                    yield _turn(point, generator, "g_triples", slots, "get_triples", arguments)
    looked = [str(call.arguments.get("name", "")) for call, _ in view.searches]
    for name in dict.fromkeys(clue.name for clue in reading.clues if clue.name and not clue.value):
        if not any(same_words(name, query) for query in looked):
            yield _turn(point, generator, "g_find", {"name": name}, "find_entity", {"name": name})


def _was_read(view: EvidenceView, entity: str, relation: str) -> bool:
    return any(
        call.name == "get_triples"
        and call.arguments.get("entity") == entity
        and call.arguments.get("relation") == relation
        and result.error is None
        for call, result in view.results
    )


def _answers(point: Point, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """The answer as it was read, once every hop was in view."""
    task = point.task
    hops = task.walk.hops
    if not hops or missing_for_answer(view) or task.walk.operations or task.answer_parts:
        return  # what has to be worked out is the teacher's to say
    last = hops[-1]
    fact = next((passage for passage in view.stated[len(hops) - 1] if passage.fact is not None), None)
    if fact is None:
        return
    name = next((name for name in names_of(last.target) if words_of(name) in words_of(fact.text)), None)
    if name is None:
        return
    thoughts = Thoughts(task.question, generator)
    if quotable(fact.text):
        thoughts.add("g_quote", quote=fact.text)
    thoughts.add("answer", answer=name)
    yield Turn(thought=thoughts.text(), answer=name)


def _turn(
    point: Point,
    generator: np.random.Generator,
    intent: str,
    slots: dict[str, Any],
    tool: str,
    arguments: dict[str, Any],
) -> Turn:
    thoughts = Thoughts(point.task.question, generator)
    thoughts.add(intent, **slots)
    return Turn(thought=thoughts.text(), calls=(ToolCall(id=f"call_{point.step}_0", name=tool, arguments=arguments),))
