"""What tasks must keep apart from: distractors that answer them, and benchmarks that they repeat."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from synth.dataset.audit.facts import Facts, Key, key_of, text_of, value_key
from synth.dataset.audit.findings import Findings, Place, raw
from synth.dataset.audit.values import measure, span_of
from synth.dataset.reader import Dataset
from synth.filtering.decontamination.benchmarks import Benchmarks, Item, read_benchmark
from synth.filtering.decontamination.config import Rules
from synth.schemas.adp import TextObservation, error_lines
from synth.schemas.reports import BuildReport
from synth.schemas.tasks import Hop, Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = [
    "BENCHMARK_RULES",
    "DISTRACTOR_RULES",
    "Contamination",
    "DistractorAudit",
]

DISTRACTOR_RULES: Mapping[str, str] = {
    "distractor": "No distractor is gold, and no fact of its page is a hop of the task that it leads astray.",
    "context": "Every gold document is in a context once; no fact of another document in it is a hop of its task.",
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
                yield f"the gold document {name!r} is there {times} times"
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


BENCHMARK_RULES: Mapping[str, str] = {
    "benchmark": "No task, and no run without one, overlaps with a benchmark that the recipe names or that was given.",
}
_TOGETHER = 256
"""Tasks that are looked at together."""


class Contamination:
    """Sees every task once, and runs that have none.

    Args:
        files: Benchmarks that were given to the audit. Those of the recipe are known by their hashes, whatever they are
            called; others are looked at as well.

    Raises:
        InputError: a file can't be read, or holds nothing to compare with.
    """

    def __init__(self, found: Findings, report: BuildReport | None, files: Sequence[Path]) -> None:
        self._found = found
        self._why: list[str] = []
        self._waiting: list[tuple[Place, Task]] = []
        self._screen: Benchmarks | None = None
        self._tasks = 0
        wanted = {} if report is None else report.recipe.get("decontaminate") or {}
        rules = self._rules({name: value for name, value in wanted.items() if name != "benchmarks"})
        missing = {} if report is None else {sha: name for name, sha in report.benchmarks.items()}
        items: list[Item] = []
        for path in files:
            content, rows = read_benchmark(path.name, str(path), rules)
            missing.pop(hashlib.sha256(content).hexdigest(), None)
            items += rows
        if items:
            self._screen = Benchmarks(items, rules)
        for sha, name in sorted(missing.items(), key=lambda item: item[1]):
            self._why.append(f"{name} (sha256 {sha[:16]}) was not given: say --benchmark FILE")

    def _rules(self, wanted: Mapping[str, object]) -> Rules:
        if wanted.get("encoder", "hashed") != "hashed":
            # A dataset must not say which model is loaded here.
            self._why.append("vectors of a model are not compared")
            wanted = {**wanted, "similarity": None, "encoder": "hashed", "model": None, "revision": None}
        try:
            return Rules.model_validate(wanted)
        except ValidationError as error:
            self._why.append(f"the report's rules do not parse ({error_lines(error)[0]}): the usual ones were used")
            return Rules()

    def see(self, place: Place, task: Task) -> None:
        self._tasks += 1
        if self._screen is not None:
            self._waiting.append((place, task.model_copy(update={"checks": ()})))
            if len(self._waiting) == _TOGETHER:
                self._look()

    def see_run(self, place: Place, row: TrajectoryRow) -> None:
        """A run whose task the dataset does not hold: its question and its answer."""
        self._tasks += 1
        if self._screen is None:
            return
        self._found.rows["benchmark"] += 1
        first = row.content[0] if row.content else None
        question = first.content if isinstance(first, TextObservation) else ""
        said = self._screen.run(question, row.answer)
        if said is not None:
            self._found.add(place, row.id, "benchmark", said)

    def settle(self) -> None:
        """Judge what is left, and say what was not compared."""
        self._look()
        if self._why and self._tasks:
            self._found.leave("benchmark", f"not checked: {'; '.join(self._why)}", self._tasks)

    def _look(self) -> None:
        if self._screen is None or not self._waiting:
            return
        self._found.rows["benchmark"] += len(self._waiting)
        verdicts = self._screen.look([task for _, task in self._waiting])
        for (place, task), verdict in zip(self._waiting, verdicts, strict=True):
            if verdict is not None:
                self._found.add(place, task.id, "benchmark", verdict[1])
        self._waiting = []
