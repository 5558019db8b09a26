"""Rules of the tables that models are trained on: ``rl`` and ``contexts``, against the tasks and documents that they
are made of."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from synth.annotate.contexts.admit import may_hold
from synth.annotate.contexts.rows import preview_of, shares_of
from synth.annotate.contexts.tokens import WordTokenizer
from synth.annotate.rewards.reward import VERIFIERS
from synth.dataset.rules.rules import Known, Place, rule
from synth.dataset.rules.tasks import hashed_truth, of_task
from synth.schemas.contexts import ContextRow
from synth.schemas.documents import Document
from synth.schemas.rl import RlRow
from synth.schemas.row import Split

__all__ = ["TIERS", "TRAINING_RULES"]

TIERS = {"gold": 0, "opened_not_cited": 1, "retrieved_not_opened": 2, "bm25": 3, "embedding": 3, "random": 4}
"""Kind of a document beside a task -> its tier."""


@rule("rl contexts", "data_source verifier ability agent_name extra_info hops reward_model")
def trained_on(row: RlRow | ContextRow, known: Known) -> Iterator[str]:
    """Names the dataset, the reward function that ships and the agent of the table, and repeats the task's ground
    truth."""
    if row.data_source != row.provenance.dataset:
        yield f"data_source: {row.data_source}, but the row is of {row.provenance.dataset}"
    if row.verifier.function.startswith("synth.") and row.verifier != VERIFIERS.get(row.verifier.function):
        yield "verifier: is not the reward function that ships"
    wanted = str(known.recipe.get("reward") or "")
    if ":" in wanted and row.table == "rl" and row.verifier.function.partition("@")[0] != wanted:
        yield f"verifier: is not {wanted}, which the recipe names"
    if not known.same(("verifier", row.table, row.provenance.fingerprint), row.verifier):
        yield "verifier: another row of the same stage run has another"
    for name in ("ability", "agent_name"):
        if getattr(row, name) != type(row).model_fields[name].default:
            yield f"{name}: {getattr(row, name)}"
    info, task = row.extra_info, known.tasks.get(row.task_id)
    if (info.id, info.task_id, info.split) != (row.id, row.task_id, row.split):
        yield "extra_info: names another row, task or split"
    if task is None:
        return
    if task.hops != row.hops:
        yield f"hops: {row.hops}, but its task has {task.hops}"
    if hashed_truth(row.reward_model.ground_truth, known) != task.truth:
        yield "reward_model.ground_truth: is not that of its task"


@rule("rl", "prompt[]")
def rl_prompt(row: RlRow, known: Known) -> Iterator[str]:
    """The prompt is a system prompt and the task's question."""
    task = known.tasks.get(row.task_id)
    if task is not None and row.prompt[-1].content != task.question:
        yield "prompt: its last message is not the question of the task"
    if not known.redacted and [message.role for message in row.prompt] != ["system", "user"]:
        yield "prompt: is not a system prompt and a question"


@rule("rl", "environment_version", text=True)
def rl_environment(row: RlRow, known: Known) -> Iterator[str]:
    """The environment is that of the runs."""
    if not known.same(("version", row.provenance.dataset, row.environment), row.environment_version):
        yield f"environment_version: {row.environment_version}, but runs are of another"


# -- contexts ---------------------------------------------------------------------------------------------------------


@dataclass
class _Quoted:
    texts: dict[str, dict[tuple[int, bytes, bool], Place]] = field(default_factory=dict)
    """Document -> (code points, hash of the text, whole) of all that is quoted of it, with a place for each."""
    beside: dict[str, dict[Split, Place]] = field(default_factory=dict)
    """Document -> splits in whose contexts it stands without being gold."""


@cache
def _words() -> WordTokenizer:
    return WordTokenizer()


@rule("contexts", "documents[].kind documents[].cut documents[].tier gold_positions gold_depths tier_shares")
def context_documents(row: ContextRow, known: Known) -> Iterator[str]:
    """All gold documents of the task stand there whole, among others that are not gold."""
    counts = Counter(item.document_id for item in row.documents)
    yield from (f"documents: {name} stands there {n} times" for name, n in counts.items() if n > 1)
    task = known.tasks.get(row.task_id)
    there = {item.document_id for item in row.documents if item.kind == "gold"}
    if task is not None:
        gold = set(task.gold_documents)
        yield from (f"documents: the gold document {name} is missing" for name in sorted(gold - there))
        yield from (f"documents: {name} is called gold and is not" for name in sorted(there - gold))
        strange = sorted({item.document_id for item in row.documents if item.kind != "gold"} & gold)
        yield from (f"documents: {name} is gold and called a distractor" for name in strange)
    for place, item in enumerate(row.documents):
        if item.kind == "gold" and item.cut != "none":
            yield f"documents[{place}]: a gold document is cut"
        if TIERS[item.kind] != item.tier:
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
    if row.tier_shares != shares_of(row.documents, row.tokens):
        yield "tier_shares: are not those of the documents"


@rule("contexts", "tokens documents[].start documents[].end documents[].token_start documents[].token_end")
def context_text(row: ContextRow, known: Known) -> Iterator[str]:
    """Documents stand one after the other above the question, within the budget of tokens, and quote what is in the
    table of documents. Where references stand for passages, spans and counts are those of the rehydrated text."""
    content, state, task = row.prompt[-1].content, known.of(_Quoted), known.tasks.get(row.task_id)
    if known.unread(content):
        return
    for item in row.documents:
        text = content[item.start : item.end]
        key = (len(text), hashlib.sha256(text.encode()).digest(), item.cut == "none")
        state.texts.setdefault(item.document_id, {}).setdefault(key, known.place)
        if item.kind != "gold":
            state.beside.setdefault(item.document_id, {}).setdefault(row.split, known.place)
    if not 0.99 * row.budget <= row.tokens <= row.budget:
        yield f"tokens: {row.tokens:,}, but the budget is {row.budget:,}"
    at = 0
    for place, item in enumerate(row.documents):
        if not at <= item.start < item.end <= len(content):
            yield f"documents[{place}]: span {item.start} to {item.end} overlaps another or is not in the message"
            return
        at = item.end
    if task is not None and task.question not in content[at:]:
        yield "prompt: the question does not stand below the documents"
    if row.tokenizer == _words().name:
        yield from _counted(row, content)


def _counted(row: ContextRow, content: str) -> Iterator[str]:
    starts = _words().starts(content)
    if len(starts) != row.tokens:
        yield f"tokens: {row.tokens:,}, but {_words().name} counts {len(starts):,}"
    for name in ("start", "end"):
        spans = np.array([getattr(item, name) for item in row.documents], dtype=np.int64)
        stated = np.array([getattr(item, f"token_{name}") for item in row.documents], dtype=np.int64)
        wrong = np.flatnonzero(np.searchsorted(starts, spans, side="left") != stated)
        yield from (f"documents[{place}].token_{name}: {stated[place]} is another place" for place in wrong[:1])


@rule("contexts", "preview documents[].title", text=True)
def context_preview(row: ContextRow, known: Known) -> Iterator[str]:
    """Preview and titles are those of row and documents, and no gold document is said to name the answer."""
    task, question = known.tasks.get(row.task_id), row.reward_model.ground_truth.question
    if task is not None and row.preview != preview_of(question, task.answer, row.documents, row.tokens):
        yield "preview: is not that of the row"
    for place, item in enumerate(row.documents):
        if not known.same(("title", item.document_id), item.title):
            yield f"documents[{place}].title: {item.title!r}, but another context gives {item.document_id} another"
        if item.names_answer and item.kind == "gold":
            yield f"documents[{place}].names_answer: it is gold"


@rule("documents")
def quoted_in_contexts(row: Document, known: Known) -> Iterator[str]:
    """Contexts quote a document as it is, and a split's contexts hold no document of another one beside gold."""
    for (length, hashed, whole), place in known.of(_Quoted).texts.pop(row.id, {}).items():
        if hashlib.sha256(row.text[:length].encode()).digest() != hashed:
            known.found.add(*place, f"documents: the text of {row.id} differs")
        elif whole != (length == len(row.text)):
            known.found.add(*place, f"documents: {row.id} is {'not ' if whole else ''}whole")
    for split, place in known.of(_Quoted).beside.pop(row.id, {}).items():
        if not may_hold(split, row.partition):
            what = f"{row.id} of partition {row.partition} stands in a {split} context and is not its gold"
            known.found.add(*place, f"documents: {what}")
    yield from ()


TRAINING_RULES = (
    trained_on,
    of_task("rl", "candidate_index", "shape", "obfuscation", "licence", "environment"),
    of_task("contexts", "candidate_index", "shape", "obfuscation"),
    rl_prompt,
    rl_environment,
    context_documents,
    context_text,
    context_preview,
    quoted_in_contexts,
)
