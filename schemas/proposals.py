"""What a model explored before it proposed a question: a trajectory of its own, kept with the task that came of it."""

from __future__ import annotations

from typing import Annotated, ClassVar

from synth.schemas.adp import ContentItem
from synth.schemas.model_turns import ModelTurn
from synth.schemas.provenance import Provenance
from synth.schemas.row import JsonList, Key, NonEmpty, Ref, Row, Split

__all__ = ["ProposalRow"]


class ProposalRow(Row):
    """The exploration behind one task. No agent worked on the task here, so it is not a row of ``trajectories``."""

    table: ClassVar[str | None] = "proposals"
    unique_together = (("task_id",),)

    id: Annotated[NonEmpty, Key()]
    """Hash of what the row is."""
    task_id: Annotated[NonEmpty, Ref("tasks", ("split",))]
    """Id of the task in ``tasks``."""
    seed_document: Annotated[NonEmpty, Ref("documents")]
    """Id of the page that it began with."""
    instruction: NonEmpty
    """What the explorer was told to do."""
    system_prompt: str
    """What it was told before."""
    tool_schemas: JsonList
    """Its tools as JSON Schema functions."""
    content: tuple[ContentItem, ...]
    """What it did and saw, as the content of an ADP trajectory; its last message holds its notes."""
    turns: int
    """Turns of the exploration, the last message included."""
    read: tuple[Annotated[str, Ref("documents")], ...]
    """Ids of the pages that it opened, in order, once each."""
    refused: tuple[str, ...] = ()
    """Proposals that broke a rule, each with the reason, then its question."""
    hardened: tuple[str, ...] = ()
    """The questions that were made harder, in order: the task asks what came of the last one."""
    model: str | None = None
    """Who explored and proposed."""
    prompts: tuple[NonEmpty, ...]
    """``<stage>/<name>/v<N>@<sha256>`` of the prompt files: of the exploration, of proposing, of hardening."""
    turn_calls: tuple[ModelTurn, ...] = ()
    """Where the turns of the exploration come from."""
    calls: tuple[str, ...] = ()
    """Keys of the calls that proposed and hardened."""
    licence: str | None
    """SPDX id of what the observations quote, None when unknown or mixed."""
    split: Split
    """The task's split."""
    provenance: Provenance
    """What made the row."""
