"""What a call does for a task whose walk is known: does it lead on, look around, or go astray?

The measure is what was visible: a call goes wrong when it passes over what the observations had shown to be right, or
when it follows something that can't be what is sought. Looking around is no mistake where nothing better was in sight.
Thoughts are not read.
"""

from __future__ import annotations

from collections.abc import Sequence

from synth.agents.actions import MANAGING
from synth.agents.plan_view import ASK, PlanView
from synth.annotate.evidence.assessment import (
    OFF_PATH,
    Effect,
    StepAssessment,
    gold_documents,
)
from synth.annotate.evidence.pages import judge_document
from synth.annotate.evidence.view import EvidenceView, names_of
from synth.environments.answers import judge
from synth.environments.contract import ID_ARGUMENTS, ToolCall, ToolResult, call_key
from synth.environments.observed import observe
from synth.environments.passages import Triple
from synth.schemas.tasks import Task
from synth.text.dates import parse_date
from synth.text.numbers import parse_quantity
from synth.text.words import same_words, words_of

__all__ = ["judge_call"]

"""Actions beside the tools of an environment (``synth.agents.management``)."""
_PATIENCE = 2
"""How often a tool may break at the same call before one more try is the agent's fault, where something is to be done:
an application says when a call may go through the next time."""


def judge_call(view: EvidenceView, call: ToolCall, result: ToolResult) -> StepAssessment:
    """What ``call``, answered by ``result``, does at a point where ``view`` was in sight."""
    made = _same_calls(view, call)
    if result.error == "refused" and view.plan is not None and (tried := view.plan.would_bring(call, result)):
        told = "; ".join(view.plan.name_of(number) for number in sorted(tried))
        return StepAssessment(
            Effect.PROGRESS, f"nothing written forbids it, and only trying tells: {told}"[:300], hops=tried
        )
    if result.error is not None:
        broke = sum(before.error == "failure" for before in made)
        patience = _PATIENCE if view.plan is not None else 0
        if any(before.error not in (None, "failure") for before in made) or broke > patience:
            return StepAssessment(Effect.REPEATED_FAILURE, f"{call.name} failed the same way before")
        if result.error == "failure":
            return StepAssessment(Effect.FAILED, f"{call.name} broke")
        return StepAssessment(
            Effect.INVALID, f"{call.name}: {result.content.splitlines()[0] if result.content else ''}"[:200]
        )
    if view.plan is not None:
        unasked = _unasked(view, view.plan, call)
        if unasked is not None:
            return StepAssessment(Effect.CHANGED, f"changes something before the user has agreed to {unasked}")
        return _of_plan(view.plan, call, result, repeated=any(before.content == result.content for before in made))
    hops = view.would_show(result)
    if hops:
        return StepAssessment(Effect.PROGRESS, f"shows {_hops(view.task, hops)}", hops=hops)
    if any(before.content == result.content for before in made):
        return StepAssessment(Effect.REPEATED, f"the same {call.name} as before shows the same")
    if not view.task.walk.hops:
        return StepAssessment(Effect.UNMEASURED, "no evidence is known for this task")
    if call.name in MANAGING:
        return StepAssessment(Effect.EXPLORES, f"{call.name} looks at nothing itself")
    wrong = _wrong_value(view, call)
    if wrong is not None:
        return wrong
    seen = observe(result.content)
    if seen.about:
        return _page(view, call, result, seen.about)
    return _look(view, call, result)


def _of_plan(plan: PlanView, call: ToolCall, result: ToolResult, *, repeated: bool) -> StepAssessment:
    """What a call that was not refused does for a task whose plan is known. Calls of no plan that change nothing are
    looking around, unless they look at another thing than the one that was in view."""
    if call.name in plan.changing and plan.match(call) is None:
        again = "again" if plan.repeats(call) else "in a way that nobody asked for"
        return StepAssessment(Effect.CHANGED, f"changes something {again}: {_first_line(result)}"[:200])
    new = plan.would_bring(call, result)
    if new:
        told = "; ".join(plan.name_of(number) for number in sorted(new))
        return StepAssessment(Effect.PROGRESS, f"does what is needed: {told}"[:300], hops=new)
    if repeated:
        return StepAssessment(Effect.REPEATED, f"the same {call.name} as before shows the same")
    meant = plan.meant_by(call)
    if meant is not None:
        return StepAssessment(Effect.PASSED_OVER, f"looks at {meant[0]}, where {meant[1]} was in view and is meant")
    if plan.repeats(call) or plan.checks(call):
        return StepAssessment(Effect.ON_PATH, "looks at what was changed")
    return StepAssessment(Effect.EXPLORES, "looks at what the task does not need")


def _unasked(view: EvidenceView, plan: PlanView, call: ToolCall) -> str | None:
    """The sum that a planned call charges or refunds without the user's leave, where they can be asked."""
    number = plan.match(call) if any(tool.name == ASK for tool in view.tools) else None
    fact = None if number is None else plan.unagreed(number)
    return None if fact is None else fact.amount


def _first_line(result: ToolResult) -> str:
    return next((line for line in result.content.split("\n") if line.strip()), "")


def _wrong_value(view: EvidenceView, call: ToolCall) -> StepAssessment | None:
    """A call about a date or number that answers the question wrongly, although the right one was in view."""
    task = view.task
    last = len(task.walk.hops) - 1
    if task.answer_kind not in ("date", "year", "number", "quantity") or last not in view.hops:
        return None
    if task.walk.operations or task.answer_parts:
        return None  # the answer is not a value of a page, and every value may be looked at
    parse = parse_date if task.answer_kind in ("date", "year") else parse_quantity
    for value in call.arguments.values():
        if not isinstance(value, str) or parse(value) is None or words_of(value) in words_of(task.question):
            continue
        verdict = judge(value, gold=task.answer, aliases=task.answer_aliases, kind=task.answer_kind)
        on_walk = any(same_words(value, name) for hop in task.walk.hops for name in names_of(hop.source))
        if verdict.correct is False and not on_walk:
            return StepAssessment(Effect.PASSED_OVER, f"{task.answer} was in view; looks for {value}")
    return None


def _same_calls(view: EvidenceView, call: ToolCall) -> list[ToolResult]:
    """What equal calls were answered before."""
    mine = call_key(call, view.tools)
    return [
        result for before, result in view.results if before.name == call.name and call_key(before, view.tools) == mine
    ]


def _hops(task: Task, hops: frozenset[int]) -> str:
    return "; ".join(
        f"{task.walk.hops[number].source.name} -> {task.walk.hops[number].target.name}" for number in sorted(hops)
    )


def _page(view: EvidenceView, call: ToolCall, result: ToolResult, document: str) -> StepAssessment:
    task = view.task
    searched = _off_path(view, call) if not ID_ARGUMENTS & call.arguments.keys() else None
    if searched is not None:
        return searched
    if document in gold_documents(task):
        facts = [passage.fact for passage in observe(result.content).passages if passage.fact is not None]
        if facts and not _asked_for(view, document, facts):
            return _other_relation(view, document, facts[0])
        new = document not in view.read
        return StepAssessment(Effect.REACHES if new else Effect.ON_PATH, f"{document} is on the walk")
    if document in view.read:
        return StepAssessment(Effect.EXPLORES, f"reads more of {document}", document)
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


def _other_relation(view: EvidenceView, document: str, fact: Triple) -> StepAssessment:
    """Reads, of a thing on the walk, facts by a relation that the walk does not take: wrong where the right one was
    listed and is still to be read."""
    listed = view.relations.get(document, {})
    hops = view.task.walk.hops
    for (relation, way), numbers in _ways(view.task, document).items():
        known = (relation, way) in listed or (relation, "both") in listed
        waiting = [n for n in numbers if n not in view.hops and all(need in view.hops for need in hops[n].needs)]
        if known and waiting:
            cue = hops[waiting[0]].cue
            return StepAssessment(Effect.PASSED_OVER, f"{relation} was listed for {cue!r}; reads {fact.relation}")
    return StepAssessment(Effect.EXPLORES, f"reads {fact.relation}, which the question does not ask for")


def _look(view: EvidenceView, call: ToolCall, result: ToolResult) -> StepAssessment:
    """A search, or a call of a tool that shows no page."""
    task, gold = view.task, gold_documents(view.task)
    hits = {hit.document for hit in observe(result.content).results}
    new = sorted(document for document in hits & gold if document not in view.named_documents)
    astray = _off_path(view, call)
    if astray is not None:
        return astray
    if new:
        return StepAssessment(Effect.REACHES, f"shows {new[0]}, which is on the walk")
    text = _text(call)
    about = any(_on_walk(view, name) for name in _subjects(view, text)) or _asks(task, text)
    return StepAssessment(Effect.ON_PATH if about else Effect.EXPLORES, "shows nothing new of the walk")


def _text(call: ToolCall) -> str:
    return words_of(" ".join(str(value) for value in call.arguments.values()))


def _on_walk(view: EvidenceView, name: str) -> bool:
    return bool(view.named.get(name, set()) & gold_documents(view.task)) or name in words_of(view.task.question)


def _off_path(view: EvidenceView, call: ToolCall) -> StepAssessment | None:
    """The judgement on what the call's words name, where that is wrong to go for; None where it is not."""
    mine = _subjects(view, _text(call))
    if not mine or any(_on_walk(view, name) for name in mine):
        return None
    assessment = judge_document(view, sorted(document for name in mine for document in view.named[name])[0])
    # To name what only a page off the walk has shown is not to follow it.
    return assessment if assessment.kind in OFF_PATH and assessment.kind is not Effect.ASTRAY else None


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
