"""Whether the result of a step helps: the right answer for ``judge``, against which its labels are scored (ReSeek,
arXiv 2510.00568)."""

from __future__ import annotations

from collections.abc import Iterator

from synth.agents.contract import History, Step
from synth.environments.observed import observe
from synth.environments.passages import Passage
from synth.environments.shown import Relations, Shown
from synth.schemas.tasks import Hop, Node, Task

__all__ = ["helps"]


def helps(task: Task, history: History, number: int) -> bool | None:
    """Whether step ``number`` brings the run nearer to the answer. None where the task has no walk.

    What was opened helps if it tells a hop of the walk, from either end. A list of results helps if it tells a hop, or
    names a page of the walk, that no step before it did: the same list again brings nothing.
    """
    if not task.walk.hops:
        return None
    needed = {*task.gold_documents, *(node.id for hop in task.walk.hops for node in (hop.source, hop.target))}
    listed: set[str] = set()
    told: set[int] = set()
    for step in history[:number]:
        for one in _shown(step):
            listed |= {one.about, *_named(one)}
            told |= set(_told(one, task.walk.hops))
    for one in _shown(history[number]):
        hops = set(_told(one, task.walk.hops))
        if one.results:
            if hops - told or (needed & _named(one)) - listed:
                return True
        elif hops or (isinstance(one, Relations) and one.about in needed):
            return True
    return False


def _shown(step: Step) -> Iterator[Shown]:
    return (observe(result.content) for result in step.results if result.error is None)


def _named(shown: Shown) -> set[str]:
    return {hit.document.partition("#")[0] for hit in shown.results}


def _told(shown: Shown, hops: tuple[Hop, ...]) -> Iterator[int]:
    """Hops that it tells: it shows their evidence, or is about one end and names the other."""
    for passage in shown.passages:
        for number, hop in enumerate(hops):
            if _is_evidence(passage, hop) or any(
                passage.document == one.id and _names(passage, other)
                for one, other in ((hop.source, hop.target), (hop.target, hop.source))
            ):
                yield number


def _is_evidence(passage: Passage, hop: Hop) -> bool:
    evidence = hop.evidence
    if passage.document != evidence.document_id or not passage.text:
        return False
    return passage.text in evidence.quote or evidence.quote in passage.text


def _names(passage: Passage, node: Node) -> bool:
    if passage.fact is not None:
        ends = (passage.fact.subject, passage.fact.object)
        return any(end.id == node.id if end.id else end.name == node.name for end in ends)
    if any(link.document == node.id for link in passage.links):
        return True
    return any(f" {name} " in f" {passage.text.rstrip('.')} " for name in (node.name, *node.aliases))
