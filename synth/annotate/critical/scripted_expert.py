"""The embedded expert: other actions at a step, chosen among what the history shows.

It looks at the policy's own history in three ways: the scripted teacher goes on from it, the teacher goes on after it
has thought again about what was settled wrongly, and plain rules pick what else is in sight. Knowing the gold walk, it
may only choose: what it says must follow from what was observed, and a proposal is dropped for whatever ``ungrounded``
or ``poor_reason`` finds in it. With ``skill`` it does not know the walk: it proposes what a scripted policy would do,
and is as often wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from pydantic import Field

from synth.agents.contract import Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.grounding.computed import answer_is_computed
from synth.agents.grounding.consistency import poor_reason
from synth.agents.grounding.mistakes import passes_over
from synth.agents.scripted.config import TeacherConfig
from synth.agents.scripted.matching import Lexicon, quotable, same_name
from synth.agents.scripted.phrases import Thoughts
from synth.agents.scripted.players import gold_planner, scripted_policy, world_lexicon
from synth.agents.scripted.reading import Reading, clue_hops, read_task
from synth.agents.scripted.set_questions import SetQuestions
from synth.agents.scripted.state import State, Value, key_of, state_of
from synth.annotate.critical.actions import action_key
from synth.annotate.critical.contract import Point
from synth.annotate.critical.in_sight import proves, turns_in_sight
from synth.annotate.critical.plan_turns import plan_turns
from synth.annotate.evidence.view import EvidenceView
from synth.identity import versioned
from synth.schemas.described import Described
from synth.schemas.plans import Planned
from synth.schemas.tasks import Hop, Task
from synth.sources.world.statements import says
from synth.text.words import fold

__all__ = ["ExpertConfig", "ScriptedExpert", "scripted_expert"]


class ExpertConfig(Described):
    """How the embedded expert works."""

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
        self._says = says if language == "world" else None

    def propose(self, point: Point, n: int, generator: np.random.Generator) -> tuple[Turn, ...]:
        """At most ``n`` turns, the likeliest first."""
        kept: dict[str, Turn] = {}
        recorded = action_key(point.recorded, point.prompt.tools)
        for turn in self._all(point, generator):
            if len(kept) >= n:
                break
            turn = _numbered(turn, point.step)
            key = action_key(turn, point.prompt.tools)
            if key == recorded or key in kept or (not turn.calls and turn.answer is None):
                continue
            history, computed = (*point.history, Step(turn=turn)), answer_is_computed(point.task)
            loose = ungrounded(point.prompt, history, start=point.step, computed=computed)
            knows = self._config.skill is None
            poor = knows and (poor_reason(point.prompt, history, start=point.step) or passes_over(point.task, history))
            if not loose and not poor:
                kept[key] = turn
        return tuple(kept.values())

    def _all(self, point: Point, generator: np.random.Generator) -> Iterator[Turn]:
        if self._config.skill is not None:
            yield from self._unknowing(point, self._config.skill, generator)
            return
        if Planned.stand_in(point.task.details):
            yield from plan_turns(point, generator, patience=self._config.patience)
            return
        reading = read_task(point.task)
        for number in range(self._config.tries):
            for again in (True, False):
                own = np.random.default_rng(int(generator.integers(2**63)))
                config = TeacherConfig(
                    verify=float(number % 2),
                    detour=0.0,
                    crosscheck=0.0,
                    parallel=0.0,
                    rest=0.0,
                    patience=self._config.patience,
                )
                turn = self._teacher(point, reading, config, own, again=again)
                if turn is not None:
                    yield turn
        yield from turns_in_sight(point, reading, generator, self._says)

    def _unknowing(self, point: Point, skill: float, generator: np.random.Generator) -> Iterator[Turn]:
        policy = scripted_policy(task=point.task, role="policy", language=self._language, skill=skill)
        for _ in range(2 * self._config.tries):
            own = np.random.default_rng(int(generator.integers(2**63)))
            turn = policy.act(point.prompt, point.history, own).turn
            if turn.thought:
                yield turn

    def _teacher(
        self, point: Point, reading: Reading, config: TeacherConfig, generator: np.random.Generator, *, again: bool
    ) -> Turn | None:
        """What the teacher does next, with its way of choosing over a state that was mended first; ``again``: it takes
        back what was settled wrongly, and reads what is open as if for the first time. None when there is nothing to
        think again about, or nothing that was read speaks against what was settled."""
        state = state_of(reading, point.history)
        back, aside = _readmit(point.task, state)
        planner = gold_planner(point.task, state, self._lexicon, config, generator, point.prompt.tools, self._says)
        said = state.seen.thoughts
        planner.thoughts = Thoughts(point.task.question, generator, terse=False, earlier=said)  # a correction says why
        own_thoughts = Thoughts(point.task.question, generator, terse=False, earlier=said)
        planner.explains = True
        planner.begin()
        planner.put_aside = {fold(name): name for name in aside}
        if back is not None:
            del planner.put_aside[fold(back)]
            planner.thoughts.add("mend_return", name=back)
            planner.note("return", back)
        if not again:
            return self._proven(point, planner.turn(), state, own_thoughts)
        unknown = next((unknown for unknown in sorted(state.values) if _doubtful(state, point.task, unknown)), None)
        if unknown is not None:
            right = next(hop for clue, hop in _behind(point.task) if reading.clues[clue].target == unknown)
            if not planner.objects(unknown, (right.target.document_id or "").partition("/")[0]):
                return None
            planner.note("dismiss", state.values[unknown].name)
        elif not _mend_sets(state, point.task, planner) and point.task.environment == "graph":
            return None  # facts say the same when they are read again
        planner.noted = True
        return self._proven(point, planner.turn(), state, own_thoughts)

    def _proven(self, point: Point, turn: Turn, state: State, thoughts: Thoughts) -> Turn | None:
        """``turn``; before an answer, with the lines for what the run had settled rightly and without proof. None where
        no line that was read is one: the answer would be right by luck."""
        if turn.answer is None:
            return turn
        if any(_is_wrong(state, point.task, unknown) for unknown in state.values):
            return None
        if point.task.environment == "graph":
            return turn
        view = EvidenceView(point.task, point.history)
        told = " ".join([*state.seen.thoughts, turn.thought or ""])
        for clue, hop in _behind(point.task):
            value = state.values.get(state.reading.clues[clue].target)
            if value is None or state.reading.clues[clue].every or not _means(hop, value):
                continue
            number = point.task.walk.hops.index(hop)
            lines = [one for one in view.stated.get(number, ()) if proves(view, number, one, self._says)]
            if any(one.text in told or one.text.replace('"', "”") in told for one in lines):
                continue
            line = next((one for one in lines if quotable(one.text) and one.document in view.read), None)
            if line is None:
                return None
            thoughts.add("mend_proof", name=value.name)
            thoughts.add("quote", quote=line.text, title=line.title)
        return turn.model_copy(update={"thought": f"{thoughts.text()} {turn.thought}"}) if thoughts else turn


def _behind(task: Task) -> list[tuple[int, Hop]]:
    """(clue of the question's reading, hop)."""
    return [(clue, task.walk.hops[number]) for clue, numbers in enumerate(clue_hops(task)) for number in numbers]


def _doubtful(state: State, task: Task, unknown: int) -> bool:
    """Whether what was settled is wrong, and the history gives reason to think so: the right one was shown, by the
    passage or among the facts that state it, or what the wrong one is about was read."""
    value, seen = state.values[unknown], state.seen
    hops = [hop for clue, hop in _behind(task) if state.reading.clues[clue].target == unknown]
    if not hops or any(_means(hop, value) for hop in hops):
        return False
    if task.environment == "graph" and any(hop.source.id in seen.listed for hop in hops):
        return True  # the relation that is meant was listed beside the one that was read
    ends = {end.id or end.name for fan in seen.fans.values() for end in fan.ends()}
    if any({hop.target.id, hop.target.name, hop.target.document_id or ""} & ends for hop in hops):
        return True
    texts = [fold(said.text) for document in seen.documents.values() for said in document.sentences()]
    stated = any(fold(hop.evidence.quote) in text for hop in hops for text in texts if fold(hop.evidence.quote))
    return stated or value.document in (seen.listed or seen.documents)


def _is_wrong(state: State, task: Task, unknown: int) -> bool:
    """Whether something was settled as what is not on the walk: what is answered then may be right by luck alone."""
    hops = [hop for clue, hop in _behind(task) if state.reading.clues[clue].target == unknown]
    return bool(hops) and not any(_means(hop, state.values[unknown]) for hop in hops)


def _mend_sets(state: State, task: Task, planner: SetQuestions) -> bool:
    """Open again what was settled wrongly of sets, where what was read tells: who was put on a list without reason,
    who was left out of it, what was noted of a member. Whether there was anything of the kind."""
    texts = [fold(said.text) for document in state.seen.documents.values() for said in document.sentences()]
    behind: dict[int, list[Hop]] = {}
    for number, hop in _behind(task):
        if state.reading.clues[number].every:
            behind.setdefault(number, []).append(hop)
    mended = False
    for number, hops in sorted(behind.items()):
        quotes = [(hop, fold(hop.evidence.quote)) for hop in hops]
        read = [hop for hop, quote in quotes if quote and any(quote in text for text in texts)]
        if not state.lists(number):
            mended |= _mend_told(state, number, hops, read, planner)
            continue
        others = [n for n in behind if n != number and _target(state, n) == _target(state, number)]
        if not others:
            mended |= _mend_list(state, number, hops, read, planner)
        elif number in state.resolved:
            for n in others:
                mended |= _mend_sifted(state, number, n, hops, behind[n])
    return mended


def _target(state: State, number: int) -> int:
    return state.reading.clues[number].target


def _mend_told(state: State, number: int, hops: Sequence[Hop], read: Sequence[Hop], planner: SetQuestions) -> bool:
    """What was not found of members that have it, and what was noted although what was ``read`` says otherwise. Each is
    said, for a correction that passes over its mistake contradicts the run."""
    wrong = []
    for asked, key in state.told:
        told = state.told[asked, key]
        known = hops if told is None else read
        own = [hop for hop in known if key in (hop.source.id, hop.source.document_id, fold(hop.source.name))]
        if asked == number and own and (told is None or not any(_means(hop, told) for hop in own)):
            wrong.append((asked, key))
            intent = "mend_told" if told is not None else "mend_untold" if own[0] in read else "mend_unread"
            planner.thoughts.add(intent, name=own[0].source.name, **({"told": told.name} if told is not None else {}))
    for one in wrong:
        del state.told[one]
    return bool(wrong)


def _mend_list(state: State, number: int, hops: Sequence[Hop], read: Sequence[Hop], planner: SetQuestions) -> bool:
    """Members that what was read speaks against are struck; where one is missing, the list is open again."""
    members = state.members.get(_target(state, number), [])
    kind = (hops[0].target.document_id or "").partition("/")[0]
    struck = False
    for value in [one for one in members if not any(_means(hop, one) for hop in hops)]:
        if planner.disputes(number, value, kind):
            planner.note("strike", value.name)
            struck = True
    if number not in state.resolved or all(any(_means(hop, value) for value in members) for hop in read):
        return struck
    state.resolved.discard(number)
    planner.thoughts.add("mend_list", name=planner.source(state.reading.clues[number])[0] or members[-1].name)
    return True


def _mend_sifted(state: State, number: int, other: int, hops: Sequence[Hop], sifting: Sequence[Hop]) -> bool:
    """Corrects a list that a further condition narrows: members that meet it but were struck off are listed again, and
    members that do not but were kept are tested again."""
    members = state.members.get(_target(state, number), [])
    kept = [value for value in members if (other, key_of(value)) in state.kept]
    wrong = {(other, key_of(value)) for value in kept if not any(_means(hop, value) for hop in sifting)}
    state.kept -= wrong
    both = [hop for hop in hops if hop.target.id in {one.target.id for one in sifting}]
    lost = {(number, hop.target.document_id or fold(hop.target.name)) for hop in both} & state.dismissed
    lost |= {(other, key) for _, key in lost}
    state.dismissed -= lost
    if lost:
        state.resolved.discard(number)
    return bool(wrong or lost)


def _means(hop: Hop, value: Value) -> bool:
    if value.document is not None and value.document in (hop.target.id, hop.target.document_id):
        return True
    return any(same_name(value.name, name) for name in (hop.target.name, *hop.target.aliases))


def _readmit(task: Task, state: State) -> tuple[str | None, list[str]]:
    """What is on the walk may be looked at again, although the policy had put it aside. The name of that which it has
    to go back to now, if there is any; all names of what was put aside."""
    back, at, aside = None, state.open_clue(), dict[str, None]()
    gone, postponed = set(state.dismissed), at in state.postponed
    for clue, hop in _behind(task):
        relation = " ".join(hop.relation.split())
        state.dismissed -= {(clue, fold(f"{relation} ({way})")) for way in ("out", "in", "both")}
        state.dismissed.discard((clue, hop.evidence.document_id))
        for end in (hop.source, hop.target):
            names = (end.name, *end.aliases)
            own = {(clue, name) for name in (end.id, end.document_id or "", *(fold(name) for name in names))}
            if own & gone:
                aside |= dict.fromkeys(name for name in names if state.place(name) is not None)
            if clue == at and own & gone:
                back = back or next((name for name in names if state.place(name) is not None), None)
            state.dismissed -= own
    if back is not None and postponed:
        state.postponed.discard(at)
    return back, list(aside)


def _numbered(turn: Turn, step: int) -> Turn:
    calls = tuple(call.model_copy(update={"id": f"call_{step}_{place}"}) for place, call in enumerate(turn.calls))
    return turn.model_copy(update={"calls": calls})


@versioned(164)
def scripted_expert(*, language: str = "docs", lexicon: Lexicon | None = None, **options: object) -> ScriptedExpert:
    """What the registry calls. ``language`` as for the scripted agents; ``options`` are those of
    :class:`ExpertConfig`.

    Raises:
        pydantic.ValidationError: an option that the expert does not have.
    """
    if lexicon is None and language == "world":
        lexicon = world_lexicon()
    return ScriptedExpert(ExpertConfig.model_validate(options), lexicon, language)
