"""Pages that lead astray, asked of the facts: none of them may state what a gold page of its task states."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from synth.dataset.audit.facts import Facts, Key, key_of, text_of, value_key
from synth.dataset.audit.findings import Findings, raw
from synth.dataset.audit.values import measure, span_of
from synth.dataset.reader import Dataset
from synth.schemas.tasks import Hop, Task

__all__ = ["DISTRACTOR_RULES", "DistractorAudit"]

DISTRACTOR_RULES: Mapping[str, str] = {
    "distractor": "No distractor is gold, and no fact of its page is a hop of the task that it leads astray.",
    "context": "Every gold document stands in a context once; no fact of another document in it is a hop of its task.",
}
_Pair = tuple[Key, Key]


class DistractorAudit:
    """Remembers the two ends of every hop, then reads facts, distractors and contexts."""

    def __init__(self, found: Findings, facts: Facts) -> None:
        self._found = found
        self._facts = facts
        self._hops: dict[str, tuple[_Pair, ...]] = {}
        self._gold: dict[str, tuple[str, ...]] = {}
        self._relations: dict[_Pair, set[str]] = defaultdict(set)

    def see(self, task: Task) -> None:
        pairs: dict[_Pair, None] = {}
        for hop in task.walk.hops:
            if hop.relation in self._facts.relations:
                for pair in self._ends(hop):
                    pairs[pair] = None
                    self._relations[pair].add(hop.relation)
        self._hops[task.id] = tuple(pairs)
        self._gold[task.id] = task.gold_documents

    def _ends(self, hop: Hop) -> Iterator[_Pair]:
        source, target = key_of(hop.source), key_of(hop.target)
        if hop.source.kind != "range":
            yield (source, target) if source <= target else (target, source)
            return
        span = span_of(hop.source.id)
        for key in self._facts.step(target, hop.relation, not hop.forward):
            value = measure(text_of(key))
            if span is not None and value is not None and span.holds(value):
                yield (key, target) if key <= target else (target, key)

    def settle(self, dataset: Dataset) -> None:
        """Judge both tables, where there are any."""
        if not {"distractors", "contexts"} & set(dataset.configs):
            return
        stated = self._stated(dataset)
        for label, first, batch in raw(dataset, "distractors", ["id", "task_id", "document_id"], 10_000):
            for number, (id_, task, page) in enumerate(zip(*(c.to_pylist() for c in batch.columns), strict=True)):
                if task in self._hops:
                    self._found.rows["distractor"] += 1
                    if page in self._gold[task]:
                        self._found.add((label, first + number), id_, "distractor", f"{page!r} is gold of {task}")
                    elif said := self._says(task, stated.get(page)):
                        self._found.add((label, first + number), id_, "distractor", f"{page!r} states {said} of {task}")
        for label, first, batch in raw(dataset, "contexts", ["id", "task_id", "documents"], 50):
            for number, (id_, task, items) in enumerate(zip(*(c.to_pylist() for c in batch.columns), strict=True)):
                if task not in self._hops:
                    continue
                self._found.rows["context"] += 1
                pages = [item["document_id"] for item in items]
                for what in self._context(task, pages, stated):
                    self._found.add((label, first + number), id_, "context", what)

    def _context(self, task: str, pages: list[str], stated: Mapping[str, set[_Pair]]) -> Iterator[str]:
        for name in self._gold[task]:
            if (times := pages.count(name)) != 1:
                yield f"the gold document {name!r} stands there {times} times"
        for name in dict.fromkeys(pages):
            if name not in self._gold[task] and (said := self._says(task, stated.get(name))):
                yield f"{name!r} is not gold and states {said} of {task}"

    def _says(self, task: str, pairs: set[_Pair] | None) -> str:
        for pair in self._hops[task] if pairs else ():
            if pairs is not None and pair in pairs:
                return f"how {self._facts.name(pair[0])} and {self._facts.name(pair[1])} are joined"
        return ""

    def _stated(self, dataset: Dataset) -> dict[str, set[_Pair]]:
        """Document -> the ends of hops that facts on it join."""
        found: dict[str, set[_Pair]] = defaultdict(set)
        names = ["subject", "relation", "object", "value", "document_id"]
        for _, _, batch in raw(dataset, "facts", names, 10_000):
            columns = (column.to_pylist() for column in batch.columns)
            for subject, relation, target, value, page in zip(*columns, strict=True):
                key = target if target is not None else value_key(value or "")
                pair = (subject, key) if subject <= key else (key, subject)
                relations = self._relations.get(pair)
                if relations is not None and any(self._facts.same(relation, other) for other in relations):
                    found[page].add(pair)
        return found
