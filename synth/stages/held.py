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

    @property
    def spanned(self) -> int:
        """In how many collections the evidence of a task must lie."""
        return 1 if self._divided is None else self._divided.wanted.spanned

    def of(self, documents: tuple[str, ...]) -> dict[str, str]:
        """Id of each of ``documents`` -> its collection; those in none are left out."""
        return {} if self._divided is None else self._divided.held(documents)

    def too_few(self, documents: tuple[str, ...]) -> str | None:
        """Where evidence on ``documents`` lies, if in fewer collections than wanted."""
        used = sorted({*self.of(documents).values()})
        if self._divided is None or len(used) >= self.spanned:
            return None
        return f"its evidence lies in {', '.join(used) or 'no collection'}; {self.spanned} are wanted"

    def kept(self, task: Task) -> Outcome:
        """``task``, or why it is none for these collections."""
        against = self.too_few(task.gold_documents)
        if against is None:
            return Outcome(kept=(self.with_collections(task),))
        rejected = Rejection(
            stage=self._stage,
            row_id=str(task.candidate_index),
            reason=Reason.ONE_COLLECTION,
            detail=against,
            split=task.split,
            preview=task.question[:500],
        )
        return Outcome(rejected=(rejected,))

    def with_collections(self, task: Task) -> Task:
        """``task``, saying which collection holds each page of its evidence."""
        if self._divided is None:
            return task
        held = Held(collections=self.of(task.gold_documents))
        return task.model_copy(update={"details": details_with(task.details, held)})
