"""Pages, distractors and a maker over the small collection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from synth.annotate.contexts.assemble import Shortfall
from synth.annotate.contexts.rows import ContextMaker, Page
from synth.annotate.contexts.tokens import WordTokenizer
from synth.annotate.rewards import ground_truth
from synth.identity import derive_generator
from synth.prompting import load_prompt
from synth.schemas.contexts import ContextRow
from synth.schemas.distractors import Distractor, DistractorKind
from synth.schemas.documents import Document
from synth.schemas.row import Split
from synth.schemas.tasks import CheckResult, Task
from synth.testing.corpus import PROVENANCE, small_documents, small_tasks

TASK = small_tasks()[1]
"""When was the first director (Ilse Brandt) of the company (Korvan Works) that Arvel Torrin founded born?"""
PAGES = {document.id: document for document in small_documents()}
PROMPT = load_prompt("contexts/read")


def frame(documents: str, question: str) -> str:
    return PROMPT.render(documents=documents, question=question)


def distractor(document_id: str, tier: int, rank: int = 1) -> Distractor:
    kinds: dict[int, DistractorKind] = {1: "opened_not_cited", 2: "retrieved_not_opened", 3: "bm25"}
    return Distractor(
        id=f"distractor-{document_id}",
        task_id=TASK.id,
        document_id=document_id,
        tier=tier,  # type: ignore[arg-type]
        kind=kinds[tier],
        rank=rank,
        checks=(
            CheckResult(check="not_gold", outcome="passed"),
            CheckResult(check="does_not_answer", outcome="passed"),
        ),
        split="train",
        provenance=PROVENANCE,
    )


def filler(number: int, partition: Split = "train", sentences: int = 8) -> Document:
    text = " ".join(f"Nothing of note happened in place {number}, year {1000 + n}." for n in range(sentences))
    return Document(
        id=f"filler-{number}", title=f"Place {number}", text=text, kind="page", source="small", partition=partition
    )


def made(
    budget: int,
    distractors: Sequence[Distractor] = (),
    others: Iterable[Document] = (),
    near: Iterable[Document] = (),
    task: Task = TASK,
    pages: dict[str, Document] | None = None,
    seed: int = 7,
    generator: np.random.Generator | None = None,
    alike: Iterable[Document] = (),
    max_random: float = 1.0,
) -> ContextRow | Shortfall:
    known = {name: Page(document) for name, document in (PAGES if pages is None else pages).items()}
    maker = ContextMaker(
        known.get,
        frame=frame,
        budget=budget,
        tokenizer=WordTokenizer(),
        provenance=PROVENANCE,
        max_random=max_random,
    )
    drawn = generator or derive_generator(seed, "contexts", task.id, budget)
    pages_of = [[Page(document) for document in some] for some in (near, others)]
    return maker.make(task, distractors, *pages_of, ground_truth(task), drawn, alike=map(Page, alike))
