"""Long contexts: gold documents among distractors, up to a budget of tokens."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from synth.schemas.provenance import Provenance
from synth.schemas.rl import ExtraInfo, Message, RewardModel, Verifier
from synth.schemas.row import Key, NonEmpty, Ref, Row, Split
from synth.schemas.tasks import Shape

__all__ = ["ContextItem", "ContextKind", "ContextRow", "Cut"]

ContextKind = Literal["gold", "opened_not_cited", "retrieved_not_opened", "bm25", "embedding", "random"]
"""``gold`` states a hop of the walk; ``random`` was drawn from the collection to fill the budget; the others are
distractors of the task, of the kinds that ``distractors`` has."""

Cut = Literal["none", "sentence", "line", "word"]
"""Where a document was cut off to meet the budget. ``none`` = it is whole; ``line`` and ``word`` only where no end of a
sentence meets the budget."""


class ContextItem(Row):
    """One document of a context. Its text stands at ``content[start:end]`` of the message that holds the context."""

    document_id: Annotated[NonEmpty, Ref("documents")]
    """Id in ``documents``."""
    title: NonEmpty
    """Its title, which stands above its text."""
    kind: ContextKind
    """How it came into the context."""
    tier: int
    """0 = gold, 1 = opened by an agent and not cited, 2 = retrieved and never opened, 3 = a neighbour that no agent
    met, 4 = drawn at random."""
    start: int
    """Offset in the message where the document's text begins (below its title), in code points."""
    end: int
    """Offset just past it."""
    token_start: int
    """Tokens of the message before the text."""
    token_end: int
    """Tokens of the message before its end."""
    cut: Cut = "none"
    """Whether the text goes on in ``documents``: then the message holds its first ``end - start`` code points. Never
    for gold."""
    names_answer: bool = False
    """Whether a document that is not gold names the answer, without saying of it what the question asks."""


class ContextRow(Row):
    """A task to be solved by reading: the question below a long context that holds its evidence."""

    table: ClassVar[str | None] = "contexts"
    unique_together = (("task_id", "budget"),)

    id: Annotated[NonEmpty, Key()]
    """``context-<16 hex>``, the hash of what the row is."""
    task_id: Annotated[NonEmpty, Ref("tasks", ("split",))]
    """Id of the task in ``tasks``."""
    preview: str
    """Question, answer and the documents in their order, for a person: the prompt is too long to read."""
    data_source: NonEmpty
    """Name of the dataset: verl chooses the reward function by it."""
    prompt: tuple[Message, ...]
    """One user message: the documents, then the question."""
    ability: NonEmpty = "long_context"
    """What is trained."""
    agent_name: NonEmpty = "single_turn_agent"
    """The agent loop of verl that calls no tools."""
    reward_model: RewardModel
    """The ground truth and the rubric."""
    extra_info: ExtraInfo
    """Ids and split, for the reward function."""
    verifier: Verifier = Verifier()
    """The reward function that ships with the project."""
    budget: int
    """Tokens that the message was to have."""
    tokens: int
    """Tokens that it has: at most the budget, and at least 99 % of it. A chat template adds its own."""
    tokenizer: NonEmpty
    """What counted them: ``words-1`` (``annotate.contexts.tokens``), or ``file:<sha256>`` of a ``tokenizers`` file."""
    documents: tuple[ContextItem, ...]
    """All documents, in the order of the message."""
    gold_positions: tuple[int, ...]
    """Places of the gold documents in ``documents``, from 0, in order of the text."""
    gold_depths: tuple[float, ...]
    """How deep in the message each gold document begins: tokens before it over all tokens, in [0, 1)."""
    tier_shares: tuple[float, ...]
    """Share of the message's tokens that documents of tier 0, 1, 2, 3 and 4 (random) take, each in [0, 1]."""
    shape: Shape
    """Shape of the walk."""
    hops: int
    """Hops of the walk; 0 for given questions."""
    obfuscation: int
    """Level of obfuscation of the question."""
    split: Split
    """The split of the task. A train context holds documents of the partition ``train`` only, but for gold documents
    that are exempt hubs."""
    licence: str | None
    """SPDX id of the documents in it, None when unknown or mixed."""
    provenance: Provenance
    """What made the row."""
