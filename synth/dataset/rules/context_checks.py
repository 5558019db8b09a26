"""Rows for reinforcement learning and long contexts, against the tasks and documents that they are made of."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator

import numpy as np

from synth.annotate.contexts.admit import may_hold
from synth.annotate.contexts.tokens import WordTokenizer
from synth.annotate.rewards.truth import ground_truth
from synth.dataset.files import DataFile
from synth.dataset.problems import Problems
from synth.dataset.references import holds_reference
from synth.dataset.rules.row_checks import Place, RowCheck, TaskCheck
from synth.identity import digest
from synth.schemas.contexts import ContextRow
from synth.schemas.documents import Document
from synth.schemas.rl import GroundTruth, RlRow
from synth.schemas.row import Split
from synth.schemas.tasks import Task

__all__ = ["ContextCheck", "ContextPages", "RlCheck", "Several", "TaskTruths"]


class Several:
    """One table that several look at."""

    def __init__(self, *checks: RowCheck) -> None:
        self.checks = checks

    def see(self, file: DataFile, row: int, value: object) -> None:
        for check in self.checks:
            check.see(file, row, value)

    def finish(self) -> None:
        for check in self.checks:
            check.finish()


class TaskTruths:
    """What the tasks say that responses are judged by. Holds a hash and the gold documents of each."""

    def __init__(self, *, redacted: bool = False) -> None:
        """``redacted`` = statements of a rubric stand as references or as words: they are not compared."""
        self.redacted = redacted
        self.truths: dict[str, str] = {}
        self.gold: dict[str, tuple[str, ...]] = {}

    def see(self, file: DataFile, row: int, task: Task) -> None:
        self.truths[task.id] = self.hashed(ground_truth(task))
        self.gold[task.id] = task.gold_documents

    def hashed(self, truth: GroundTruth) -> str:
        """What two equal ones share."""
        said = truth.model_dump(mode="json")
        for item in said["rubric"] if self.redacted else ():
            for fact in item["facts"]:
                fact["statement"] = ""
        return digest(said)

    def finish(self) -> None:
        """Nothing is left open."""


class RlCheck:
    """Rows of ``rl``."""

    def __init__(self, found: Problems, tasks: TaskCheck, truths: TaskTruths) -> None:
        self.found = found
        self.tasks = tasks
        self.truths = truths

    def see(self, file: DataFile, row: int, value: RlRow) -> None:
        for what in self._problems(value):
            self.found.add(file.label, row, what)

    def _problems(self, row: RlRow) -> Iterator[str]:
        yield from _about_the_task(row, self.tasks, self.truths)
        if row.task_id in self.tasks.questions and row.prompt[-1].content != self.tasks.questions[row.task_id]:
            yield "prompt: its last message is not the question of the task"

    def finish(self) -> None:
        """Nothing is left open."""


def _about_the_task(row: RlRow | ContextRow, tasks: TaskCheck, truths: TaskTruths) -> Iterator[str]:
    info = row.extra_info
    if (info.id, info.task_id, info.split) != (row.id, row.task_id, row.split):
        yield "extra_info: names another row, task or split"
    if row.task_id not in tasks.splits:
        return
    if tasks.hops[row.task_id] != row.hops:
        yield f"hops: {row.hops}, but its task has {tasks.hops[row.task_id]}"
    if truths.hashed(row.reward_model.ground_truth) != truths.truths[row.task_id]:
        yield "reward_model.ground_truth: is not that of its task"


class ContextCheck:
    """Rows of ``contexts``; what they quote is looked up by :class:`ContextPages`, which must come later."""

    def __init__(self, found: Problems, tasks: TaskCheck, truths: TaskTruths) -> None:
        """Where passages stand as references, spans and counts of a message are those of the text that is rehydrated:
        they are not looked at."""
        self.found = found
        self.tasks = tasks
        self.truths = truths
        self.quoted: dict[str, dict[tuple[int, bytes, bool], Place]] = {}
        """Document -> (code points, hash of the text, whole) of all that is quoted of it, with a place for each."""
        self.beside: dict[str, dict[Split, Place]] = {}
        """Document -> splits in whose contexts it stands without being gold."""
        self._words = WordTokenizer()

    def see(self, file: DataFile, row: int, value: ContextRow) -> None:
        place = (file.label, row)
        for what in _about_the_task(value, self.tasks, self.truths):
            self.found.add(*place, what)
        content = value.prompt[-1].content
        there = not (self.tasks.redacted and holds_reference(content))
        for what in (*self._documents(value), *(self._tokens(value) if there else ())):
            self.found.add(*place, what)
        for item in value.documents if there else ():
            text = content[item.start : item.end]
            key = (len(text), hashlib.sha256(text.encode()).digest(), item.cut == "none")
            self.quoted.setdefault(item.document_id, {}).setdefault(key, place)
            if item.kind != "gold":
                self.beside.setdefault(item.document_id, {}).setdefault(value.split, place)

    def _documents(self, row: ContextRow) -> Iterator[str]:
        counts = Counter(item.document_id for item in row.documents)
        yield from (f"documents: {name} stands there {n} times" for name, n in counts.items() if n > 1)
        gold = self.truths.gold.get(row.task_id)
        there = {item.document_id for item in row.documents if item.kind == "gold"}
        if gold is not None:
            missing, more = sorted(set(gold) - there), sorted(there - set(gold))
            yield from (f"documents: the gold document {name} is missing" for name in missing)
            yield from (f"documents: {name} is called gold and is not" for name in more)
            strange = sorted({item.document_id for item in row.documents if item.kind != "gold"} & set(gold))
            yield from (f"documents: {name} is gold and called a distractor" for name in strange)
        for place, item in enumerate(row.documents):
            if item.kind == "gold" and item.cut != "none":
                yield f"documents[{place}]: a gold document is cut"
            if (item.kind == "gold") != (item.tier == 0):
                yield f"documents[{place}]: {item.kind} of tier {item.tier}"
        cut = sum(item.cut != "none" for item in row.documents)
        if cut > 1:
            yield f"documents: {cut} are cut, one at most should be"
        places = tuple(place for place, item in enumerate(row.documents) if item.kind == "gold")
        if places != row.gold_positions:
            yield f"gold_positions: {list(row.gold_positions)}, but gold stands at {list(places)}"
        depths = tuple(round(row.documents[place].token_start / max(1, row.tokens), 4) for place in places)
        if depths != row.gold_depths:
            yield "gold_depths: are not those of the gold documents"

    def _tokens(self, row: ContextRow) -> Iterator[str]:
        content = row.prompt[-1].content
        if not 0.99 * row.budget <= row.tokens <= row.budget:
            yield f"tokens: {row.tokens:,}, but the budget is {row.budget:,}"
        at = 0
        for place, item in enumerate(row.documents):
            if not at <= item.start < item.end <= len(content):
                yield f"documents[{place}]: span {item.start} to {item.end} overlaps another or is not in the message"
                return
            at = item.end
        question = self.tasks.questions.get(row.task_id)
        if question is not None and question not in content[at:]:
            yield "prompt: the question does not stand below the documents"
        if row.tokenizer == self._words.name:
            yield from self._counted(row, content)

    def _counted(self, row: ContextRow, content: str) -> Iterator[str]:
        starts = self._words.starts(content)
        if len(starts) != row.tokens:
            yield f"tokens: {row.tokens:,}, but {self._words.name} counts {len(starts):,}"
        for name in ("start", "end"):
            spans = np.array([getattr(item, name) for item in row.documents], dtype=np.int64)
            stated = np.array([getattr(item, f"token_{name}") for item in row.documents], dtype=np.int64)
            wrong = np.flatnonzero(np.searchsorted(starts, spans, side="left") != stated)
            yield from (f"documents[{place}].token_{name}: {stated[place]} is another place" for place in wrong[:1])

    def finish(self) -> None:
        """What is quoted is looked up among the documents."""


class ContextPages:
    """Documents, against what contexts quote of them and in which splits they stand."""

    def __init__(self, found: Problems, contexts: ContextCheck) -> None:
        self.found = found
        self.contexts = contexts

    def see(self, file: DataFile, row: int, document: Document) -> None:
        for (length, hashed, whole), place in self.contexts.quoted.pop(document.id, {}).items():
            text = document.text[:length]
            if hashlib.sha256(text.encode()).digest() != hashed:
                self.found.add(*place, f"documents: the text of {document.id} is another one")
            elif whole != (length == len(document.text)):
                self.found.add(*place, f"documents: {document.id} is {'not ' if whole else ''}whole")
        for split, place in self.contexts.beside.pop(document.id, {}).items():
            if not may_hold(split, document.partition):
                what = (
                    f"{document.id} of partition {document.partition} stands in a {split} context and is not its gold"
                )
                self.found.add(*place, f"documents: {what}")

    def finish(self) -> None:
        """Nothing is left open."""
