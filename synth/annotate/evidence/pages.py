"""What going for a page that is not on the walk is worth, by what was in view."""

from __future__ import annotations

from collections.abc import Sequence

from synth.annotate.evidence.assessment import (
    Effect,
    StepAssessment,
    gold_documents,
    missing_for_answer,
)
from synth.annotate.evidence.view import EvidenceView, names_of
from synth.environments.contract import WORD_ARGUMENTS
from synth.environments.passages import Passage
from synth.schemas.tasks import Hop, Node, Task
from synth.text.words import same_words, words_of

__all__ = ["judge_document"]


def judge_document(view: EvidenceView, document: str) -> StepAssessment:
    """What going for ``document``, which is not on the walk, would be at a point where ``view`` was in sight."""
    hops = view.task.walk.hops
    worked_out = bool(view.task.walk.operations) or bool(view.task.answer_parts)
    if hops and not worked_out and not missing_for_answer(view) and hops[-1].target.document_id in view.read:
        if view.listed.get(document) and (not _fits(document, hops[-1]) or _speaks_of(view, document, hops[-1].target)):
            return StepAssessment(Effect.EXPLORES, f"all was read; sees what else {document} says", document)
        beside = _listed_beside(view, document)
        if beside is not None:
            why = f"all was read; sees whether {document}, listed beside {beside.target.name}, fits as well"
            return StepAssessment(Effect.EXPLORES, why, document)
        return StepAssessment(
            Effect.PASSED_OVER, f"{hops[-1].target.name} was read and fits; goes to {document}", document
        )
    if view.shown_by_link.get(document):
        return _link(view, document)
    if view.listed.get(document):
        return _hit(view, document)
    return StepAssessment(Effect.EXPLORES, f"{document} was not shown before", document)


def _listed_beside(view: EvidenceView, document: str) -> Hop | None:
    """The hop whose target ``document`` was named beside, or is named beside on the page of another start, where a
    further condition tells which of them it is."""
    passages = view.links.get(document, ())
    for number, hop in enumerate(view.task.walk.hops):
        named = any(_page_of(hop, one) for one in passages) or _is_rival_page(view, number, passages)
        if named and _is_tested(view.task, number) and _fits(document, hop):
            return hop
    return None


def _link(view: EvidenceView, document: str) -> StepAssessment:
    task, gold = view.task, gold_documents(view.task)
    passages = view.links[document]
    verdicts: list[StepAssessment] = []
    for number, hop in enumerate(task.walk.hops):
        own = [passage for passage in passages if _page_of(hop, passage)]
        if own and _is_listing(task, number):
            # One of several: the question asks for all that fit. Looking at a page is not an error, only to say
            # that it is.
            verdicts.append(
                StepAssessment(Effect.CANDIDATE, f"{document} could be one more for {hop.cue!r}", document)
                if _fits(document, hop)
                else StepAssessment(
                    Effect.EXPLORES, f"{document} is not of kind {hop.target.kind}; checks whether it belongs", document
                )
            )
            continue
        if own and hop.target.document_id is None and any(_is_listing(task, before) for before in hop.needs):
            # From the page of one member to another page: it may be looking for more members.
            verdicts.append(StepAssessment(Effect.EXPLORES, f"{document} is linked from a member's page", document))
            continue
        if _is_rival_page(view, number, passages):
            # A page that could be this hop's source is being tested: what it leads to has to be followed for that.
            verdicts.append(
                StepAssessment(Effect.CANDIDATE, f"{document} would follow for {hop.cue!r}", document)
                if _fits(document, hop)
                else StepAssessment(Effect.UNFIT, f"{document} is not of kind {hop.target.kind}: {hop.cue!r}", document)
            )
            continue
        if any(map(view.sought[number].stated, passages)):
            verdicts.append(_rival(view, number, hop, document))
        elif number in view.hops and any(passage.fact is not None for passage in own):
            verdicts.append(_rival(view, number, hop, document))  # another fact by the same relation
        elif own and number in view.hops and (not _is_tested(task, number) or _stated_beside(view, number, own)):
            verdicts.append(
                StepAssessment(
                    Effect.PASSED_OVER,
                    f"{hop.target.name} was in view for {hop.cue!r}; goes to {document}",
                    document,
                )
            )
        elif own and _fits(document, hop):
            verdicts.append(StepAssessment(Effect.CANDIDATE, f"{document} could be what {hop.cue!r} means", document))
        elif own:
            verdicts.append(
                StepAssessment(Effect.UNFIT, f"{document} is not of kind {hop.target.kind}: {hop.cue!r}", document)
            )
    for kind in (Effect.CANDIDATE, Effect.PASSED_OVER, Effect.UNFIT, Effect.EXPLORES):
        found = next((assessment for assessment in verdicts if assessment.kind is kind), None)
        if found is not None:
            return found
    by = next((passage.fact for passage in reversed(passages) if passage.fact is not None), None)
    if by is not None and all(passage.fact is not None for passage in passages) and passages[-1].document in gold:
        return StepAssessment(
            Effect.UNFIT, f"{document} comes by {by.relation}, which the question does not ask for", document
        )
    if any(passage.document in gold for passage in passages):
        return StepAssessment(Effect.EXPLORES, f"{document} is linked from a page on the walk", document)
    if document in view.listed:
        return StepAssessment(
            Effect.EXPLORES,
            f"{document} is linked from a page off the walk, and is one of the results",
            document,
        )
    return StepAssessment(Effect.ASTRAY, f"{document} is linked from a page that is not on the walk", document)


def _page_of(hop: Hop, passage: Passage) -> bool:
    if passage.fact is not None:
        relation = " ".join(hop.relation.split())
        return passage.fact.relation == relation and passage.document in (hop.source.id, hop.source.document_id)
    return passage.document != "" and passage.document in (hop.source.document_id, hop.evidence.document_id)


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
    """Whether one of ``passages`` stands on a page that was a fair candidate for the hop's source, and is not a page of
    the walk."""
    task, gold = view.task, gold_documents(view.task)
    pages = {passage.document for passage in passages} - gold - {""}
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
    pages = {passage.document for passage in passages if not _is_entry(passage)}
    return any(passage.document in pages for passage in view.stated.get(number, ()))


def _is_entry(passage: Passage) -> bool:
    """Whether the passage is links and nothing else."""
    return words_of(passage.text) == words_of(" ".join(item.anchor for item in passage.links))


def _rival(view: EvidenceView, number: int, hop: Hop, document: str) -> StepAssessment:
    """Named beside the right one: to be tested where a further condition tells which is right."""
    if _is_tested(view.task, number) and (_siblings(view.task, number) or _fits(document, hop)):
        return StepAssessment(
            Effect.CANDIDATE, f"{document} is named beside {hop.target.name}: a condition tells", document
        )
    return StepAssessment(
        Effect.PASSED_OVER, f"{hop.target.name} was in view for {hop.cue!r}; goes to {document}", document
    )


def _fits(document: str, hop: Hop) -> bool:
    """Whether it may be the kind of thing that the hop seeks, as far as ids tell: the folder that they stand in."""
    target = hop.target.document_id
    return target is None or document.rpartition("/")[0] == target.rpartition("/")[0]


def _speaks_of(view: EvidenceView, document: str, node: Node) -> bool:
    """Whether the search that listed it last shows a name of ``node`` in it."""
    opened = next(hit for hit in view.searches[view.listed[document][-1]][1] if hit.document == document)
    return any(words_of(name) in words_of(opened.text) for name in names_of(node))


def _hit(view: EvidenceView, document: str) -> StepAssessment:
    task = view.task
    call, hits = view.searches[view.listed[document][-1]]
    query = next((value for name, value in call.arguments.items() if name in WORD_ARGUMENTS), "")
    opened = next(hit for hit in hits if hit.document == document)
    for hop in task.walk.hops:
        for end in (hop.source, hop.target):
            listed = end.document_id is not None and any(hit.document == end.document_id for hit in hits)
            asked = any(same_words(str(query), name) for name in names_of(end))
            if not listed or not asked or end.document_id in view.read or same_words(opened.title, str(query)):
                continue
            # A name that both go by tells them apart only where the question says the whole name of one.
            if words_of(str(query)) in words_of(opened.text) and end.name not in task.question:
                continue
            return StepAssessment(Effect.WRONG_RESULT, f"{end.name} was listed; opens {opened.title}", document)
    return StepAssessment(Effect.EXPLORES, f"{opened.title} is one of the results", document)
