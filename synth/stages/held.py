"""Tasks over several collections know which one holds what, and may have to need several."""

from __future__ import annotations

import pyarrow as pa

from synth.retrieval.collections import Collections, Divided
from synth.schemas.details import details_with
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.tasks import Held, Task
from synth.stages.contract import Outcome

__all__ = ["Holdings"]


class Holdings:
    """Accepts tasks, with the collection of each page of their evidence."""

    def __init__(self, wanted: Collections | None, documents: pa.Table, stage: str) -> None:
        """
        Args:
            wanted: None = the pages are one collection, and every task is accepted as it is.

        Raises:
            InputError: a collection has no page.
        """
        self._divided = None if wanted is None else Divided(wanted, documents)
        self._stage = stage

    def kept(self, task: Task) -> Outcome:
        """``task``, or why it is none for these collections."""
        if self._divided is None:
            return Outcome(kept=(task,))
        held = self._divided.held(task.gold_documents)
        used = sorted({*held.values()})
        if len(used) < self._divided.wanted.spanned:
            return Outcome(
                rejected=(
                    Rejection(
                        stage=self._stage,
                        row_id=str(task.candidate_index),
                        reason=Reason.ONE_COLLECTION,
                        detail=f"its evidence lies in {', '.join(used) or 'no collection'}",
                        split=task.split,
                        preview=task.question[:500],
                    ),
                )
            )
        return Outcome(kept=(task.model_copy(update={"details": details_with(task.details, Held(collections=held))}),))
