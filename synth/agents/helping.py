"""Whether the result of a step helps: the right answer for ``judge``, against which its labels are scored (ReSeek,
arXiv 2510.00568)."""

from __future__ import annotations

from synth.agents.contract import Step
from synth.environments.observed import observe
from synth.schemas.tasks import Task

__all__ = ["helps"]


def helps(task: Task, step: Step) -> bool | None:
    """Whether ``step`` shows or lists a page or an entity of the task's walk, even if it was seen before or the part
    shown lacks the evidence. None where there is no walk."""
    if not task.walk.hops:
        return None
    needed = {*task.gold_documents, *(node.id for hop in task.walk.hops for node in (hop.source, hop.target))}
    shown = [observe(result.content) for result in step.results if result.error is None]
    named = {one.about for one in shown} | {hit.document for one in shown for hit in one.results}
    return not needed.isdisjoint(name.partition("#")[0] for name in named)
