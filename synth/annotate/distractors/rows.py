"""From pages that could mislead to rows: each is checked to do no gold page's work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from synth.annotate.contexts.admit import Admission, PageWords
from synth.annotate.distractors.neighbours import Near
from synth.annotate.distractors.retrieved import RetrievedPage
from synth.identity import digest
from synth.schemas.distractors import Distractor, DistractorKind
from synth.schemas.provenance import Provenance
from synth.schemas.tasks import CheckResult, Task

__all__ = ["distractor_rows"]

_TIERS: Mapping[int, DistractorKind] = {1: "opened_not_cited", 2: "retrieved_not_opened"}


def distractor_rows(
    task: Task,
    candidates: Iterable[RetrievedPage | Near],
    pages: Callable[[str], PageWords | None],
    *,
    falsehoods: Mapping[str, str],
    provenance: Provenance,
    limits: Mapping[str, int],
) -> tuple[list[Distractor], Counter[str]]:
    """The rows of those ``candidates`` that pass, each page once, and why others were refused.

    Args:
        pages: The words of a page by document id; None where there is none.
        candidates: In the order in which they are preferred: tier 1, tier 2, neighbours.
        falsehoods: Document id -> id of the falsehood that it was written for.
        limits: Kind of distractor -> rows at most; a kind that is missing has no limit.
    """
    admission, checks = Admission(task), _checks(task)
    rows: dict[str, Distractor] = {}
    refused: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for item in candidates:
        kind = item.kind if isinstance(item, Near) else _TIERS[item.tier]
        if item.document_id in rows or counts[kind] >= limits.get(kind, len(rows) + 1):
            continue
        page = pages(item.document_id)
        if page is None:
            refused["no_document"] += 1
            continue
        why = admission.refusal(item.document_id, page)
        if why is not None:
            refused[_slug(why)] += 1
            continue
        counts[kind] += 1
        met, near = (item, None) if isinstance(item, RetrievedPage) else (None, item)
        rows[item.document_id] = Distractor(
            id=f"distractor-{digest('distractor', task.id, item.document_id, kind)[:16]}",
            task_id=task.id,
            document_id=item.document_id,
            tier=met.tier if met is not None else 3,
            kind=kind,
            role=met.role if met is not None else None,
            trajectory_id=met.trajectory_id if met is not None else None,
            step=met.step if met is not None else None,
            runs=met.runs if met is not None else 0,
            method=near.method if near is not None else None,
            query=item.query,
            rank=item.rank,
            score=near.score if near is not None else None,
            misinformation_id=falsehoods.get(item.document_id),
            checks=checks,
            split=task.split,
            provenance=provenance,
        )
    return list(rows.values()), refused


def _checks(task: Task) -> tuple[CheckResult, ...]:
    told = (
        f"no sentence, taken with the title, names both ends of any of {len(task.walk.hops)} hops"
        if task.walk.hops
        else "the page does not name the answer"
    )
    return (
        CheckResult(check="not_gold", outcome="passed", detail=f"{len(task.gold_documents)} gold documents"),
        CheckResult(check="does_not_answer", outcome="passed", detail=told),
    )


def _slug(why: str) -> str:
    """One name per kind of refusal, whatever the hop."""
    if why.startswith("it says what hop"):
        return "states_a_hop"
    return why.removeprefix("it ").replace(" ", "_")
