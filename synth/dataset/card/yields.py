"""How many candidates of each shape became tasks, and which check kept the others out."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import pyarrow as pa

from synth.schemas.reports import TaskYield
from synth.schemas.tasks import SHAPES

__all__ = ["Yields"]

_NONE = "-"
_DETAIL = re.compile(rf"(?P<shape>{'|'.join(SHAPES)}): (?:(?P<check>[a-z][a-z_]*)(?: failed| abstained)?: )?")


class Yields:
    """Counts the tables ``tasks`` and ``rejected`` of a dataset, batch by batch."""

    def __init__(self) -> None:
        self._accepted: Counter[str] = Counter()
        self._rejected: dict[str, Counter[str]] = defaultdict(Counter)

    def see_tasks(self, batch: pa.RecordBatch) -> None:
        self._accepted.update(batch.column("shape").to_pylist())

    def see_rejected(self, batch: pa.RecordBatch) -> None:
        """What stages of tasks rejected. Its detail begins with the shape, then comes the check that it failed."""
        columns = (batch.column(name).to_pylist() for name in ("stage", "reason", "detail"))
        for stage, reason, detail in zip(*columns, strict=True):
            if stage.endswith("_tasks"):
                match = _DETAIL.match(detail or "")
                shape = match["shape"] if match else _NONE
                self._rejected[shape][(match["check"] if match else None) or reason] += 1

    def reports(self) -> tuple[TaskYield, ...]:
        """One line per shape, in the order of the schema."""
        return tuple(
            TaskYield(shape=shape, accepted=self._accepted[shape], rejected=dict(sorted(self._rejected[shape].items())))
            for shape in (*SHAPES, *sorted(self._accepted.keys() - {*SHAPES, _NONE}), _NONE)
            if self._accepted[shape] or self._rejected[shape]
        )
