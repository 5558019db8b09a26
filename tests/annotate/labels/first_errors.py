"""Where a scripted policy first went wrong: the truth that labels are measured against. For tests only.

The side table (``injected_errors``) says what was done wrong on purpose. It is not the whole truth, in both ways:

* An injected error may change nothing: the sentence taken for another one names the right thing, the first date on the
  page is the right date, the page opened for another one is a later one of the walk, the list that was closed early
  lacks nothing, the evidence of the check that was left out had been read. Such an error is none (``_effective``).
* The policy reads by likeness of words and errs without being made to. What it settled on can be read back from its own
  notes, and the world's facts say whether that is true: a *natural* error is a note that takes, confirms or rules out
  something against the facts, or closes a list that lacks a member, or else the wrong answer itself. What follows from
  a candidate that the run tests is held against the facts of that candidate, not of the right one. To put aside the
  page that the clue at work starts from, leads to or has its evidence on is against the facts. To open a page of
  another title where the one of the very name was listed is the same deed when it is not forced (``lookalike``), and
  counts the same.

In documents much can not be decided (see :class:`Facts`). A run in which an undecided turn comes before any error has
no known first error (``UNDECIDED``), and counts neither for nor against anybody.

The true first error is the first turn with either. Where both fall on one turn it counts under the injected mode.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from synth.agents.scripted.matching import same_name
from synth.agents.scripted.phrases import read_notes
from synth.agents.scripted.reading import clue_hops, read_task
from synth.agents.scripted.seen import Seen
from synth.agents.scripted.state import State
from synth.agents.trajectory import history_of
from synth.environments.answers import judge
from synth.environments.rendering import plain
from synth.schemas.documents import Edge, Entity
from synth.schemas.injected import InjectedError
from synth.schemas.tasks import Hop, Task
from synth.schemas.trajectories import TrajectoryRow
from synth.text.words import fold

_TOOK = re.compile(r"took (?P<quote>['\"])(?P<name>.*?)(?P=quote)(?: rather than |, the first on )")


_LOOKALIKE = re.compile(r"opened (?P<quote>['\"])(?P<name>.*?)(?P=quote) for ")


_CLAIMS = frozenset(
    ("found", "candidate", "candidate_next", "candidate_read", "confirm", "dismiss", "member", "keep", "told", "strike")
)
"""Notes that say something of the world, which facts can bear out or not."""


@dataclass(frozen=True)
class FirstError:
    turn: int
    mode: str
    """That of the injected error, ``natural: ...``, or ``UNDECIDED``."""


UNDECIDED = "undecided"
"""Nobody can tell from the facts whether this turn went wrong, so not which turn was the first to."""


class Facts:
    """The edges of a collection, to be asked whether a hop's relation holds between two names.

    A world states all that is true of it. A graph of documents does not (``world=False``): an edge that it lacks
    decides nothing. There only the checks of the task decide: what a hop leads to is the only thing that fits, unless
    the question has a further condition on it, or on what follows from it.
    """

    def __init__(self, entities: Iterable[Entity], edges: Iterable[Edge], *, world: bool = True) -> None:
        known = list(entities)
        self._by_name: dict[str, set[str]] = {}
        for entity in known:
            for name in (entity.name, *entity.aliases):
                self._by_name.setdefault(fold(name), set()).add(entity.id)
        self._pairs: dict[tuple[str, str], set[str]] = {}
        self._world = world
        for edge in edges:
            ends = known[edge.subject].id, known[edge.object].id if edge.object >= 0 else fold(edge.value or "")
            self._pairs.setdefault(ends, set()).add(edge.relation)

    def decide(self, task: Task, hop: Hop) -> bool:
        """Whether what is not known to hold for ``hop`` is known not to."""
        return self._world or not _is_tested(task.walk.hops, task.walk.hops.index(hop))

    def hold(self, hop: Hop, name: str, inverses: Mapping[str, str], source: str | None = None) -> bool:
        """Whether the hop is known to lead from its source (or from what is called ``source``) to something called
        ``name``, in its own direction."""
        sources = (
            {hop.source.id, fold(hop.source.id), fold(hop.source.name)}
            if source is None
            else {*self._by_name.get(fold(source), set()), fold(source)}
        )
        for target in (*self._by_name.get(fold(name), set()), fold(name)):
            for known in sources:
                stated = (known, target) if hop.forward else (target, known)
                turned = {left for left, right in inverses.items() if hop.relation in (left, right)} | {
                    right for left, right in inverses.items() if hop.relation in (left, right)
                }
                turned -= {hop.relation} if inverses.get(hop.relation) != hop.relation else set()
                if hop.relation in self._pairs.get(stated, set()) or turned & self._pairs.get(stated[::-1], set()):
                    return True
        return False


def _is_tested(hops: Sequence[Hop], number: int) -> bool:
    """Whether a further condition, on what the hop leads to or on what follows from it, tells which it is."""
    if sum(other.target.id == hops[number].target.id for other in hops) > 1:
        return True
    return any(number in other.needs and _is_tested(hops, n) for n, other in enumerate(hops))


def first_error(
    row: TrajectoryRow, task: Task, injected: Sequence[InjectedError], facts: Facts, inverses: Mapping[str, str]
) -> FirstError | None:
    """The first turn that went wrong, or of which nobody can tell; None when none did."""
    mine = sorted((e for e in injected if e.trajectory_id == row.id), key=lambda e: e.turn)
    short = _short_lists(row, task)
    verdicts = (
        (e, e.turn in short if e.mode == "short_list" else _effective(e, row, task, facts, inverses)) for e in mine
    )
    forced = next(
        (FirstError(e.turn, e.mode if wrong else UNDECIDED) for e, wrong in verdicts if wrong is not False), None
    )
    natural = _natural(row, task, facts, inverses)
    if forced is not None and (natural is None or forced.turn <= natural.turn):
        return natural if natural is not None and natural.turn == forced.turn and forced.mode == UNDECIDED else forced
    if natural is not None:
        return natural
    return None if row.success else FirstError(row.turns - 1, "natural: ending")


def _effective(
    error: InjectedError, row: TrajectoryRow, task: Task, facts: Facts, inverses: Mapping[str, str]
) -> bool | None:
    if error.mode == "skipped_check" and error.detail.startswith("answered") and row.success:
        return not _all_read(row, task, error.turn)
    opened = _LOOKALIKE.match(error.detail)
    if opened is not None:
        return not any(_is_target(hop, opened.group("name")) for hop in task.walk.hops)
    took = _TOOK.match(error.detail)
    if took is None:
        return True  # it made another call, took another page, or ended the run
    name = took.group("name")
    if judge(name, gold=task.answer, aliases=task.answer_aliases, kind=task.answer_kind).correct:
        return False
    if any(_is_target(hop, name) or facts.hold(hop, name, inverses) for hop in task.walk.hops):
        return False
    return True if all(facts.decide(task, hop) for hop in task.walk.hops) else None


def _all_read(row: TrajectoryRow, task: Task, turn: int) -> bool:
    """Whether the evidence of every hop stood, word for word, in what was read before ``turn``."""
    _, history = history_of(row)
    text = " ".join(f" {fold(plain(result.content))} " for step in history[:turn] for result in step.results)
    return all(f" {fold(hop.evidence.quote)} " in text for hop in task.walk.hops)


_CHAPTER = re.compile(r"^\d+(?:\.\d+)*\.\s+")


_SUBTITLE = re.compile(r"\s+[—–]\s.*$")


def _is_target(hop: Hop, name: str) -> bool:
    """Whether ``name`` is what the hop's target is called: by a name of it, with or without the number of a chapter
    before and a subtitle behind it, or by the end of a dotted one ("Telnet.open" of "telnetlib.Telnet.open")."""
    known = [fold(text) for text in (hop.target.name, hop.target.id, *hop.target.aliases)]
    said = {fold(text) for text in (name, _CHAPTER.sub("", name), _SUBTITLE.sub("", _CHAPTER.sub("", name)))}
    dotted = fold(name) if "." in name.strip(".") else None
    return bool(said & set(known)) or (dotted is not None and any(text.endswith(f" {dotted}") for text in known))


def _natural(row: TrajectoryRow, task: Task, facts: Facts, inverses: Mapping[str, str]) -> FirstError | None:
    """The first note or deed against the facts, taken into account as the policy itself does."""
    for turn, state, intent, name, hops in _notes(row, task):
        if intent == _OPENED:
            return FirstError(turn, "natural: lookalike")
        if intent == "complete" and _lacks(state, hops):
            return FirstError(turn, "natural: complete")
        if not hops or intent not in _CLAIMS:
            continue
        if intent == "dismiss" and _is_needed(state, name, hops):
            return FirstError(turn, "natural: dismiss")
        against = [_against(task, hop, intent, name, facts, inverses, _taken(state, task, hop)) for hop in hops]
        if False not in against:
            return FirstError(turn, f"natural: {intent}" if all(against) else UNDECIDED)
    return None


_OPENED = "opened another than the one of that name"


def _notes(row: TrajectoryRow, task: Task) -> Iterator[tuple[int, State, str, str, list[Hop]]]:
    """(turn, state before it, intent, name, hops behind the clue at work) of every note; of a page that was opened
    although the one of the very name was listed, ``_OPENED``."""
    _, history = history_of(row)
    reading, behind = read_task(task), clue_hops(task)
    state = State(reading, Seen())
    texts = [reading.question]
    listed: list[tuple[str, dict[str, str]]] = []
    for turn, step in enumerate(history):
        for intent, name in read_notes(step.turn.thought or "", texts):
            number = state.open_clue()
            hops = [task.walk.hops[n] for n in behind[number]] if number is not None and number < len(behind) else []
            yield turn, state, intent, name, hops
            state.note(intent, name, turn)
        for call in step.turn.calls:
            title = _opened_alike(str(call.arguments.get("document")), listed)
            if title is not None and not _on_walk(task, title):
                yield turn, state, _OPENED, title, []
        before = len(state.seen.searches)
        state.seen.take(step)
        made = [c for c, result in zip(step.turn.calls, step.results, strict=False) if result.error is None]
        queries = [str(call.arguments["query"]) for call in made if "query" in call.arguments]
        if queries:
            searches = state.seen.searches[before:]
            hits = [{hit.document: hit.title for hit in search.hits} for search in searches]
            listed = list(zip(queries, hits, strict=False))
        elif made:  # of several searches in one turn, those of which nothing was opened are still to be dealt with
            opened = {str(call.arguments.get("document")) for call in made}
            listed = [one for one in listed if opened.isdisjoint(one[1])] if len(listed) > 1 else []
        texts += [plain(result.content) for result in step.results]


def _opened_alike(document: str, listed: Sequence[tuple[str, Mapping[str, str]]]) -> str | None:
    """The title of a page that a search for the name of another one listed beside that."""
    for query, titles in listed:
        title = titles.get(document)
        named = fold(query) in {fold(known) for known in titles.values()} - {fold(title or "")}
        if title is not None and named and _is_alike(title, query):
            return title
    return None


def _is_alike(title: str, name: str) -> bool:
    """Whether the title is the name with something beside it: another thing of that name."""
    return fold(title) != fold(name) and fold(title).startswith(fold(name))


def _is_needed(state: State, title: str, hops: Sequence[Hop]) -> bool:
    """Whether the page of that title, which was opened, is where one of the hops starts, leads or has its evidence."""
    pages = {
        page for hop in hops for page in (hop.source.document_id, hop.target.document_id, hop.evidence.document_id)
    }
    return any(same_name(page.title, title) and page.document in pages for page in state.seen.documents.values())


def _on_walk(task: Task, title: str) -> bool:
    return any(fold(title) in {fold(end.name) for end in (hop.source, hop.target)} for hop in task.walk.hops)


def _short_lists(row: TrajectoryRow, task: Task) -> frozenset[int]:
    """Turns that close a list which lacks a member."""
    notes = _notes(row, task)
    return frozenset(turn for turn, state, intent, _, hops in notes if intent == "complete" and _lacks(state, hops))


def _lacks(state: State, hops: Sequence[Hop]) -> bool:
    number = state.open_clue()
    if number is None or not state.lists(number):
        return False
    members = state.members.get(state.reading.clues[number].target, [])
    return any(
        not any(value.document == hop.target.document_id or _is_target(hop, value.name) for value in members)
        for hop in hops
    )


def _taken(state: State, task: Task, hop: Hop) -> str | None:
    """What the run has taken for the hop's source, where that is another thing: a candidate that it tests."""
    number = state.open_clue()
    source = None if number is None else state.reading.clues[number].source
    value = None if source is None else state.values.get(source)
    known = {fold(name) for name in (hop.source.name, hop.source.id, *hop.source.aliases)}
    return None if value is None or fold(value.name) in known else value.name


def _against(
    task: Task, hop: Hop, intent: str, name: str, facts: Facts, inverses: Mapping[str, str], source: str | None
) -> bool | None:
    if intent in ("dismiss", "strike"):
        return any(_is_target(other, name) for other in task.walk.hops)
    # Of two values that one phrase of the question asks for ("at what age did she die"), either may be read first.
    asked = [h for h in task.walk.hops if (h.source.id, h.cue) == (hop.source.id, hop.cue)]
    true = any(_is_target(other, name) for other in asked) or facts.hold(hop, name, inverses, source)
    if hop.target.document_id is None:
        true = true or judge(name, gold=task.answer, aliases=task.answer_aliases, kind=task.answer_kind).correct is True
    return False if true else True if facts.decide(task, hop) else None
