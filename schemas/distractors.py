"""Distractors: pages that lead astray. What a task's runs met, and what was written to be false."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from synth.schemas.documents import Evidence, ValueKind
from synth.schemas.provenance import Provenance
from synth.schemas.row import Key, NonEmpty, Ref, Row, Split
from synth.schemas.tasks import CheckResult
from synth.schemas.trajectories import Role

__all__ = ["CueKind", "Distractor", "DistractorKind", "PlantedMisinformation", "WrittenKind", "WrittenLevel"]

DistractorKind = Literal["opened_not_cited", "retrieved_not_opened", "bm25", "embedding"]
"""How a page became a distractor of a task.

``opened_not_cited`` an agent read it, and it is neither evidence nor the page of an entity of the walk (tier 1 of
LongTraceRL, arXiv 2605.31584); ``retrieved_not_opened`` a search of an agent returned it and no agent opened it (tier
2); ``bm25`` and ``embedding`` near the question or the evidence by words or by vectors, and met by no agent (tier 3).
"""

WrittenLevel = Literal["perception", "cognition"]
"""Whether a page deceives by what it looks like or by what it argues (RAGShaper, arXiv 2601.08699)."""

WrittenKind = Literal["lookalike", "stale", "partial", "contradiction", "wrong_chain", "inference"]
"""``lookalike`` another thing of the same name; ``stale`` a copy of the entry from an old edition, with the value of
then; ``partial`` a damaged copy of the entry, in which the value can't be read (these three: perception);
``contradiction`` prose that gives another value in passing; ``wrong_chain`` a step to the wrong page and a true step on
from there; ``inference`` true premises and a conclusion that does not follow (these three: cognition)."""

CueKind = Literal["other_thing", "dated", "illegible", "hearsay", "retraction", "supposition"]
"""What on the page tells a careful reader: it is about another thing; it says of which year it is; it says that words
can't be read; it names its source as hearsay; it was withdrawn; it says that nothing bears it out."""


class Distractor(Row):
    """A page that leads astray from one task, and where that was seen."""

    table: ClassVar[str | None] = "distractors"
    unique_together = (("task_id", "document_id"),)

    id: Annotated[NonEmpty, Key()]
    """``distractor-<16 hex>``, the hash of task, document and kind."""
    task_id: Annotated[NonEmpty, Ref("tasks", ("split",))]
    """Id of the task in ``tasks``."""
    document_id: Annotated[NonEmpty, Ref("documents")]
    """Id of the page in ``documents``: neither a gold document of the task nor the page of an entity of its walk. Each
    page once per task, in its lowest tier."""
    tier: Literal[1, 2, 3]
    """1 = opened and not cited, 2 = retrieved and never opened, 3 = a neighbour that no agent met."""
    kind: DistractorKind
    """How it became a distractor."""
    role: Role | None = None
    """Whose run met it first (tiers 1 and 2): the teacher's runs are looked at before the policy's."""
    trajectory_id: Annotated[str | None, Ref("trajectories", ("task_id",))] = None
    """That run (tiers 1 and 2)."""
    step: int | None = None
    """The turn in which the page was opened (tier 1) or returned (tier 2), from 0."""
    runs: int = 0
    """How many of the task's runs met it so (tiers 1 and 2)."""
    method: str | None = None
    """What ranked it: ``bm25``, or the name of the encoder (tier 3); None for tiers 1 and 2, where the agent's own
    search did."""
    query: str = ""
    """What was searched for: the agent's query, the question, or the evidence's words. Empty when a link led there."""
    rank: int | None = None
    """Place among the results for ``query``, from 1; None when a link led there."""
    score: float | None = None
    """Score of ``method``, rounded to four decimals (tier 3)."""
    misinformation_id: Annotated[str | None, Ref("planted_misinformation")] = None
    """Row in ``planted_misinformation`` when the page was written to be false."""
    checks: tuple[CheckResult, ...]
    """``not_gold`` and ``does_not_answer``, with what was seen; all passed."""
    split: Split
    """The split of the task."""
    provenance: Provenance
    """What made the row."""


class PlantedMisinformation(Row):
    """What a written page says that is not so, how a reader can tell, and where the truth stands.

    The stated fact is in no graph and is evidence of nothing.
    """

    table: ClassVar[str | None] = "planted_misinformation"

    id: Annotated[NonEmpty, Key()]
    """``falsehood-<16 hex>``, the hash of the page's id and of the fact."""
    document_id: Annotated[NonEmpty, Ref("documents")]
    """The written page, in ``documents``."""
    level: WrittenLevel
    """Perception or cognition."""
    kind: WrittenKind
    """How it deceives."""
    subject: Annotated[NonEmpty, Ref("entities")]
    """Id of the entity that it leads a reader astray about."""
    relation: NonEmpty
    """Relation of the fact that it falsifies (``partial``: withholds)."""
    true_object: NonEmpty
    """Id of the true object, or the true value as ``Edge.value`` stores it."""
    stated_object: str | None
    """Id or value that the page states instead; None for ``partial``."""
    value_kind: ValueKind
    """What kind of thing the objects are."""
    statement: Evidence
    """The words that mislead."""
    cue: CueKind
    """What kind of hint the page itself gives."""
    cue_words: Evidence
    """The words that give it."""
    truth: Evidence
    """Where the entity's own page states the true fact: it contradicts the statement."""
    partition: Split
    """The split that owns the subject."""
