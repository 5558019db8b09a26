"""What a call does for a task whose walk is known: does it lead on, look around, or go astray?

The measure is what was visible: a call goes wrong when it passes over what the observations had shown to be right, or
when it follows something that can't be what is sought. Looking around where nothing better was in sight is no error.
Thoughts are not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from synth.agents.evidence import EvidenceView, Passage, names_of, observe, states
from synth.agents.planned import PlanView
from synth.environments.answers import judge
from synth.environments.contract import ID_ARGUMENTS, ToolCall, ToolResult
from synth.environments.triples import Triple
from synth.identity import canonical_json
from synth.schemas.tasks import Hop, Task
from synth.text.dates import parse_date
from synth.text.numbers import parse_quantity
from synth.text.words import same_words, words_of

__all__ = [
    "OFF_PATH",
    "ON_PATH",
    "Move",
    "MoveKind",
    "gold_documents",
    "judge_call",
    "judge_document",
    "missing_for_answer",
    "telling",
]


class MoveKind(StrEnum):
    """From the best to the worst, roughly."""

    PROGRESS = "progress"
    """Brings evidence of the walk into view."""
    REACHES = "reaches"
    """Shows, for the first time, a page that is still needed."""
    ON_PATH = "on_path"
    """About something on the walk, and shows nothing new of it."""
    CANDIDATE = "candidate"
    """Tests something that could be what is sought, as far as was visible."""
    EXPLORES = "explores"
    """Looks elsewhere while nothing better was visible."""
    UNMEASURED = "unmeasured"
    """No evidence is known to measure it by."""
    FAILED = "failed"
    """The tool broke."""
    REPEATED = "repeated"
    """The same call with the same observation as before."""
    ASTRAY = "astray"
    """Goes on from a page that is not on the walk."""
    CHANGED = "changed"
    """Changes something that nobody asked for, or otherwise than it was asked for."""
    UNFIT = "unfit"
    """Follows something that can't be what is sought: another kind of thing."""
    PASSED_OVER = "passed_over"
    """Follows another link although a text had named the right one."""
    WRONG_RESULT = "wrong_result"
    """Opens another result although the page that was asked for by name was listed."""
    INVALID = "invalid"
    """A call that the tool refuses."""
    REPEATED_FAILURE = "repeated_failure"
    """A call that had failed before, made again."""


OFF_PATH = frozenset((MoveKind.PASSED_OVER, MoveKind.WRONG_RESULT, MoveKind.UNFIT, MoveKind.ASTRAY, MoveKind.CHANGED))
"""Off the walk although something better was visible, or it can't be right."""


ON_PATH = frozenset((MoveKind.PROGRESS, MoveKind.REACHES, MoveKind.ON_PATH, MoveKind.CANDIDATE))
"""What leads on; after a wrong turn, what leaves it behind."""
_MANAGING = frozenset(("compress", "delegate"))
"""Actions beside the tools of an environment (``synth.agents.management``)."""
_TELLING = (
    MoveKind.REPEATED_FAILURE,
    MoveKind.CHANGED,
    MoveKind.INVALID,
    MoveKind.PASSED_OVER,
    MoveKind.WRONG_RESULT,
    MoveKind.UNFIT,
    MoveKind.ASTRAY,
    MoveKind.PROGRESS,
    MoveKind.REACHES,
    MoveKind.CANDIDATE,
    MoveKind.ON_PATH,
    MoveKind.EXPLORES,
    MoveKind.UNMEASURED,
    MoveKind.FAILED,
    MoveKind.REPEATED,
)


_PATIENCE = 2
"""How often a tool may break at the same call before one more try is the agent's fault, where something is to be done:
an application says when a call may go through the next time."""


@dataclass(frozen=True)
class Move:
    kind: MoveKind
    why: str
    """One line."""
    about: str = ""
    """The document that it goes to, where it is off the walk."""
    hops: frozenset[int] = frozenset()
    """Hops that it brings into view."""


def telling(moves: Sequence[Move]) -> Move | None:
    """Of the calls of one turn the one that says most about it: a harmful one, else the best. None without calls."""
    return min(moves, key=lambda move: _TELLING.index(move.kind), default=None)


def gold_documents(task: Task) -> frozenset[str]:
    """Pages on the walk: of its ends and of its evidence."""
    found = set(task.gold_documents)
    for hop in task.walk.hops:
        found |= {hop.source.document_id or "", hop.target.document_id or "", hop.evidence.document_id}
    return frozenset(found - {""})


def missing_for_answer(view: EvidenceView) -> tuple[int, ...]:
    """Hops whose evidence was not in view: with any of them missing, no answer rests on what was read."""
    return tuple(number for number in range(len(view.task.walk.hops)) if number not in view.hops)


def judge_call(view: EvidenceView, call: ToolCall, result: ToolResult) -> Move:
    """What ``call``, answered by ``result``, does at a point where ``view`` was in sight."""
    made = _same_calls(view, call)
    if result.error == "refused" and view.plan is not None and (tried := view.plan.would_bring(call, result)):
        told = "; ".join(view.plan.name_of(number) for number in sorted(tried))
        return Move(MoveKind.PROGRESS, f"nothing written forbids it, and only trying tells: {told}"[:300], hops=tried)
    if result.error is not None:
        broke = sum(before.error == "failure" for before in made)
        patience = _PATIENCE if view.plan is not None else 0
        if any(before.error not in (None, "failure") for before in made) or broke > patience:
            return Move(MoveKind.REPEATED_FAILURE, f"{call.name} failed the same way before")
        if result.error == "failure":
            return Move(MoveKind.FAILED, f"{call.name} broke")
        return Move(MoveKind.INVALID, f"{call.name}: {result.content.splitlines()[0] if result.content else ''}"[:200])
    if view.plan is not None:
        return _of_plan(view.plan, call, result, repeated=any(before.content == result.content for before in made))
    hops = view.would_show(call, result)
    if hops:
        return Move(MoveKind.PROGRESS, f"shows {_hops(view.task, hops)}", hops=hops)
    if any(before.content == result.content for before in made):
        return Move(MoveKind.REPEATED, f"the same {call.name} as before shows the same")
    if not view.task.walk.hops:
        return Move(MoveKind.UNMEASURED, "no evidence is known for this task")
    if call.name in _MANAGING:
        return Move(MoveKind.EXPLORES, f"{call.name} looks at nothing itself")
    wrong = _wrong_value(view, call)
    if wrong is not None:
        return wrong
    seen = observe(result.content)
    if seen.page:
        return _page(view, call, result, seen.page)
    return _look(view, call, result)


def _of_plan(plan: PlanView, call: ToolCall, result: ToolResult, *, repeated: bool) -> Move:
    """What a call that was not refused does for a task whose plan is known. Calls of no plan that change nothing are
    looking around, unless they look at another thing than the one that was in view."""
    if call.name in plan.changing and plan.match(call) is None:
        again = "again" if plan.repeats(call) else "in a way that nobody asked for"
        return Move(MoveKind.CHANGED, f"changes something {again}: {_first_line(result)}"[:200])
    new = plan.would_bring(call, result)
    if new:
        told = "; ".join(plan.name_of(number) for number in sorted(new))
        return Move(MoveKind.PROGRESS, f"does what is needed: {told}"[:300], hops=new)
    if repeated:
        return Move(MoveKind.REPEATED, f"the same {call.name} as before shows the same")
    meant = plan.meant_by(call)
    if meant is not None:
        return Move(MoveKind.PASSED_OVER, f"looks at {meant[0]}, where {meant[1]} was in view and is meant")
    if plan.repeats(call) or plan.checks(call):
        return Move(MoveKind.ON_PATH, "looks at what was changed")
    return Move(MoveKind.EXPLORES, "looks at what the task does not need")


def _first_line(result: ToolResult) -> str:
    return next((line for line in result.content.split("\n") if line.strip()), "")


def _wrong_value(view: EvidenceView, call: ToolCall) -> Move | None:
    """A call about a date or number that answers the question wrongly, although the right one was in view."""
    task = view.task
    last = len(task.walk.hops) - 1
    if task.answer_kind not in ("date", "year", "number", "quantity") or last not in view.hops:
        return None
    if task.walk.operations or task.answer_parts:
        return None  # the answer is no value of a page, and every value may be looked at
    parse = parse_date if task.answer_kind in ("date", "year") else parse_quantity
    for value in call.arguments.values():
        if not isinstance(value, str) or parse(value) is None or words_of(value) in words_of(task.question):
            continue
        verdict = judge(value, gold=task.answer, aliases=task.answer_aliases, kind=task.answer_kind)
        on_walk = any(same_words(value, name) for hop in task.walk.hops for name in names_of(hop.source))
        if verdict.correct is False and not on_walk:
            return Move(MoveKind.PASSED_OVER, f"{task.answer} was in view; looks for {value}")
    return None


def _same_calls(view: EvidenceView, call: ToolCall) -> list[ToolResult]:
    """What equal calls were answered before."""
    mine = canonical_json(call.arguments)
    return [
        result
        for before, result in view.results
        if before.name == call.name and canonical_json(before.arguments) == mine
    ]


def _hops(task: Task, hops: frozenset[int]) -> str:
    return "; ".join(
        f"{task.walk.hops[number].source.name} -> {task.walk.hops[number].target.name}" for number in sorted(hops)
    )


def _page(view: EvidenceView, call: ToolCall, result: ToolResult, document: str) -> Move:
    task = view.task
    searched = _off_path(view, call) if not ID_ARGUMENTS & call.arguments.keys() else None
    if searched is not None:
        return searched
    if document in gold_documents(task):
        facts = [passage.fact for passage in observe(result.content).passages if passage.fact is not None]
        if facts and not _asked_for(view, document, facts):
            return _other_relation(view, document, facts[0])
        new = document not in view.read
        return Move(MoveKind.REACHES if new else MoveKind.ON_PATH, f"{document} is on the walk")
    if document in view.read:
        return Move(MoveKind.EXPLORES, f"reads more of {document}", document)
    return judge_document(view, document)


def _ways(task: Task, document: str) -> dict[tuple[str, str], list[int]]:
    """(relation, direction) by which hops of the walk stand in facts of a thing -> those hops."""
    found: dict[tuple[str, str], list[int]] = {}
    for number, hop in enumerate(task.walk.hops):
        for end, way in ((hop.source, "out" if hop.forward else "in"), (hop.target, "in" if hop.forward else "out")):
            if document in (end.id, end.document_id):
                found.setdefault((" ".join(hop.relation.split()), way), []).append(number)
    return found


def _asked_for(view: EvidenceView, document: str, facts: Sequence[Triple]) -> bool:
    """Whether one of the facts of a thing on the walk is by a relation that the walk takes there."""
    ways = _ways(view.task, document)
    return any((fact.relation, "out" if fact.subject.id == document else "in") in ways for fact in facts) or any(
        fact.relation == relation and (relation, "both") in view.relations.get(document, {})
        for fact in facts
        for relation, _ in ways
    )


def _other_relation(view: EvidenceView, document: str, fact: Triple) -> Move:
    """Reads, of a thing on the walk, facts by a relation that the walk does not take: wrong where the right one was
    listed and is still to be read."""
    listed = view.relations.get(document, {})
    hops = view.task.walk.hops
    for (relation, way), numbers in _ways(view.task, document).items():
        known = (relation, way) in listed or (relation, "both") in listed
        waiting = [n for n in numbers if n not in view.hops and all(need in view.hops for need in hops[n].needs)]
        if known and waiting:
            cue = hops[waiting[0]].cue
            return Move(MoveKind.PASSED_OVER, f"{relation} was listed for {cue!r}; reads {fact.relation}")
    return Move(MoveKind.EXPLORES, f"reads {fact.relation}, which the question does not ask for")


def judge_document(view: EvidenceView, document: str) -> Move:
    """What going for ``document``, which is not on the walk, would be at a point where ``view`` was in sight."""
    hops = view.task.walk.hops
    worked_out = bool(view.task.walk.operations) or bool(view.task.answer_parts)
    if hops and not worked_out and not missing_for_answer(view) and hops[-1].target.document_id in view.read:
        return Move(MoveKind.PASSED_OVER, f"{hops[-1].target.name} was read and fits; goes to {document}", document)
    if view.shown_by_link.get(document):
        return _link(view, document)
    if view.listed.get(document):
        return _hit(view, document)
    return Move(MoveKind.EXPLORES, f"{document} was not shown before", document)


def _link(view: EvidenceView, document: str) -> Move:
    task, gold = view.task, gold_documents(view.task)
    passages = view.links[document]
    verdicts: list[Move] = []
    for number, hop in enumerate(task.walk.hops):
        own = [passage for passage in passages if _page_of(hop, passage)]
        if own and _is_listing(task, number):
            # One of several: the question asks for all that fit. To look whether a page is one is no error, only to say
            # that it is.
            verdicts.append(
                Move(MoveKind.CANDIDATE, f"{document} could be one more for {hop.cue!r}", document)
                if _fits(document, hop)
                else Move(MoveKind.EXPLORES, f"{document} is no {hop.target.kind}; looks whether it belongs", document)
            )
            continue
        if own and hop.target.document_id is None and any(_is_listing(task, before) for before in hop.needs):
            # From the page of one member to another page: it may be looking for more members.
            verdicts.append(Move(MoveKind.EXPLORES, f"{document} is linked from a member's page", document))
            continue
        if _is_rival_page(view, number, passages):
            # A page that could be this hop's source is being tested: what it leads to has to be followed for that.
            verdicts.append(
                Move(MoveKind.CANDIDATE, f"{document} would follow for {hop.cue!r}", document)
                if _fits(document, hop)
                else Move(MoveKind.UNFIT, f"{document} is no {hop.target.kind}: {hop.cue!r}", document)
            )
            continue
        if any(states(hop, passage) for passage in passages):
            verdicts.append(_rival(view, number, hop, document))
        elif number in view.hops and any(passage.fact is not None for passage in own):
            verdicts.append(_rival(view, number, hop, document))  # another fact by the same relation
        elif own and number in view.hops and (not _is_tested(task, number) or _stated_beside(view, number, own)):
            verdicts.append(
                Move(
                    MoveKind.PASSED_OVER, f"{hop.target.name} was in view for {hop.cue!r}; goes to {document}", document
                )
            )
        elif own and _fits(document, hop):
            verdicts.append(Move(MoveKind.CANDIDATE, f"{document} could be what {hop.cue!r} means", document))
        elif own:
            verdicts.append(Move(MoveKind.UNFIT, f"{document} is no {hop.target.kind}: {hop.cue!r}", document))
    for kind in (MoveKind.CANDIDATE, MoveKind.PASSED_OVER, MoveKind.UNFIT, MoveKind.EXPLORES):
        found = next((move for move in verdicts if move.kind is kind), None)
        if found is not None:
            return found
    by = next((passage.fact for passage in reversed(passages) if passage.fact is not None), None)
    if by is not None and all(passage.fact is not None for passage in passages) and passages[-1].about in gold:
        return Move(MoveKind.UNFIT, f"{document} comes by {by.relation}, which the question does not ask for", document)
    if any(passage.about in gold for passage in passages):
        return Move(MoveKind.EXPLORES, f"{document} is linked from a page on the walk", document)
    if document in view.listed:
        return Move(
            MoveKind.EXPLORES, f"{document} is linked from a page off the walk, and is one of the results", document
        )
    return Move(MoveKind.ASTRAY, f"{document} is linked from a page that is not on the walk", document)


def _page_of(hop: Hop, passage: Passage) -> bool:
    if passage.fact is not None:
        relation = " ".join(hop.relation.split())
        return passage.fact.relation == relation and passage.about in (hop.source.id, hop.source.document_id)
    return passage.about != "" and passage.about in (hop.source.document_id, hop.evidence.document_id)


def _is_listing(task: Task, number: int) -> bool:
    """Whether the hop is one of several that lead to the members of a set."""
    counted = {
        hop for operation in task.walk.operations if operation.kind in ("list", "count") for hop in operation.over
    }
    mine = task.walk.hops[number]
    return number in counted or any(
        (other.source.id, other.relation, other.forward, other.cue)
        == (mine.source.id, mine.relation, mine.forward, mine.cue)
        for n, other in enumerate(task.walk.hops)
        if n != number and task.walk.operations
    )


def _siblings(task: Task, number: int) -> list[int]:
    """Further conditions on what the hop seeks: with any, candidates are there to be tested."""
    hops = task.walk.hops
    return [n for n, other in enumerate(hops) if n != number and other.target.id == hops[number].target.id]


def _is_tested(task: Task, number: int) -> bool:
    """Whether a further condition, on what the hop seeks or on what follows from it, tells which of several it is."""
    if _siblings(task, number):
        return True
    return any(number in hop.needs and _is_tested(task, n) for n, hop in enumerate(task.walk.hops))


def _is_rival_page(view: EvidenceView, number: int, passages: Sequence[Passage]) -> bool:
    """Whether one of ``passages`` stands on a page that was a fair candidate for the hop's source, and is no page of
    the walk."""
    task, gold = view.task, gold_documents(view.task)
    pages = {passage.about for passage in passages} - gold - {""}
    for before in task.walk.hops[number].needs:
        hop = task.walk.hops[before]
        if not _is_tested(task, before):
            continue
        for page in pages:
            shown = view.links.get(page, [])
            if _fits(page, hop) and (
                any(_page_of(hop, passage) for passage in shown) or _is_rival_page(view, before, shown)
            ):
                return True
    return False


def _stated_beside(view: EvidenceView, number: int, passages: list[Passage]) -> bool:
    """Whether one of the pages that ``passages`` stand in states the hop. An entry of a list says nothing that would
    tell it from the right one."""
    pages = {passage.about for passage in passages if not _is_entry(passage)}
    return any(passage.about in pages for passage in view.stated[number])


def _is_entry(passage: Passage) -> bool:
    """Whether the passage is links and nothing else."""
    return words_of(passage.text) == words_of(" ".join(anchor for anchor, _ in passage.links))


def _rival(view: EvidenceView, number: int, hop: Hop, document: str) -> Move:
    """Named beside the right one: to be tested where a further condition tells which is right."""
    if _is_tested(view.task, number) and (_siblings(view.task, number) or _fits(document, hop)):
        return Move(MoveKind.CANDIDATE, f"{document} is named beside {hop.target.name}: a condition tells", document)
    return Move(MoveKind.PASSED_OVER, f"{hop.target.name} was in view for {hop.cue!r}; goes to {document}", document)


def _fits(document: str, hop: Hop) -> bool:
    """Whether it may be the kind of thing that the hop seeks, as far as ids tell: the folder that they stand in."""
    target = hop.target.document_id
    return target is None or document.rpartition("/")[0] == target.rpartition("/")[0]


def _hit(view: EvidenceView, document: str) -> Move:
    task = view.task
    call, hits = view.searches[view.listed[document][-1]]
    query = str(call.arguments.get("query", ""))
    title = next(hit.title for hit in hits if hit.document == document)
    for hop in task.walk.hops:
        for end in (hop.source, hop.target):
            listed = end.document_id is not None and any(hit.document == end.document_id for hit in hits)
            asked = any(same_words(query, name) for name in names_of(end))
            if listed and asked and end.document_id not in view.read and not same_words(title, query):
                return Move(MoveKind.WRONG_RESULT, f"{end.name} was listed; opens {title}", document)
    return Move(MoveKind.EXPLORES, f"{title} is one of the results", document)


def _look(view: EvidenceView, call: ToolCall, result: ToolResult) -> Move:
    """A search, or a call of a tool that shows no page."""
    task, gold = view.task, gold_documents(view.task)
    hits = {hit.document for hit in observe(result.content).hits}
    new = sorted(document for document in hits & gold if document not in view.named_documents)
    astray = _off_path(view, call)
    if astray is not None:
        return astray
    if new:
        return Move(MoveKind.REACHES, f"shows {new[0]}, which is on the walk")
    text = _text(call)
    about = any(_on_walk(view, name) for name in _subjects(view, text)) or _asks(task, text)
    return Move(MoveKind.ON_PATH if about else MoveKind.EXPLORES, "shows nothing new of the walk")


def _text(call: ToolCall) -> str:
    return words_of(" ".join(str(value) for value in call.arguments.values()))


def _on_walk(view: EvidenceView, name: str) -> bool:
    return bool(view.named.get(name, set()) & gold_documents(view.task)) or name in words_of(view.task.question)


def _off_path(view: EvidenceView, call: ToolCall) -> Move | None:
    """The judgement on what the call's words name, where that is wrong to go for; None where it is not."""
    mine = _subjects(view, _text(call))
    if not mine or any(_on_walk(view, name) for name in mine):
        return None
    move = judge_document(view, sorted(document for name in mine for document in view.named[name])[0])
    # To name what only a page off the walk has shown is not to follow it.
    return move if move.kind in OFF_PATH and move.kind is not MoveKind.ASTRAY else None


def _subjects(view: EvidenceView, text: str) -> list[str]:
    """Names that were seen and stand in ``text``; a name within a longer one does not count."""
    found = sorted((name for name in view.named if name.strip() and name in text), key=lambda name: (-len(name), name))
    kept: list[str] = []
    for name in found:
        if not any(name in longer for longer in kept):
            kept.append(name)
    return kept


def _asks(task: Task, text: str) -> bool:
    """Whether the call speaks in the words of the question."""
    known = set(words_of(task.question).split())
    return bool(text.split()) and len([word for word in text.split() if word in known]) >= 0.6 * len(text.split())
