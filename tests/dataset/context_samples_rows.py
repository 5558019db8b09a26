"""Rows of ``rl`` and ``contexts`` over the small dataset of ``exporter_samples``."""

from __future__ import annotations

import pyarrow as pa
from exporter_samples import PROVENANCE, TOOLS, page, sample_tables, task

from synth.annotate.contexts.assemble import Shortfall
from synth.annotate.contexts.rows import ContextMaker, Page
from synth.annotate.contexts.tokens import WordTokenizer
from synth.annotate.rewards import ground_truth
from synth.identity import derive_generator
from synth.prompting import load_prompt
from synth.schemas.arrow import to_arrow
from synth.schemas.contexts import ContextRow
from synth.schemas.documents import Document
from synth.schemas.rl import ExtraInfo, Message, RewardModel, RlRow

BUDGET = 700
PROMPT = load_prompt("contexts/read")


def rl_row(number: int) -> RlRow:
    about = task(number)
    name = f"rl-{number:04x}"
    return RlRow(
        id=name,
        task_id=about.id,
        data_source="world-search",
        prompt=(Message(role="system", content="Look it up."), Message(role="user", content=about.question)),
        tools=TOOLS,
        reward_model=RewardModel(ground_truth=ground_truth(about)),
        extra_info=ExtraInfo(index=number, split=about.split, id=name, task_id=about.id),
        environment="search",
        environment_version="1",
        shape=about.shape,
        hops=2,
        obfuscation=0,
        split=about.split,
        licence=about.licence,
        provenance=PROVENANCE,
    )


def context_row(number: int, pages: dict[str, Document], budget: int = BUDGET) -> ContextRow:
    known = {name: Page(document) for name, document in pages.items()}
    maker = ContextMaker(
        known.get,
        frame=lambda documents, question: PROMPT.render(documents=documents, question=question),
        budget=budget,
        tokenizer=WordTokenizer(),
        provenance=PROVENANCE,
    )
    about = task(number)
    made = maker.make(about, (), (), known.values(), ground_truth(about), derive_generator(7, "context", number))
    assert not isinstance(made, Shortfall), made
    return made


def reward_tables(tasks: int = 20) -> dict[str, pa.Table]:
    """The tables of ``exporter_samples`` with rows for rewards; contexts of the first six tasks."""
    tables = sample_tables(tasks)
    pages = {f"p{number}": page(number) for number in range(3 * tasks + 2)}
    return tables | {
        "rl": to_arrow([rl_row(number) for number in range(tasks)], RlRow),
        "contexts": to_arrow([context_row(number, pages) for number in range(6)], ContextRow),
    }
