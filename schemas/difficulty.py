"""How hard a task is: predicted from its structure, and measured with a policy."""

from __future__ import annotations

from typing import Annotated, ClassVar

from synth.schemas.provenance import Provenance
from synth.schemas.row import Key, NonEmpty, Ref, Row, Split
from synth.schemas.tasks import Shape

__all__ = ["ClosedBookRow", "DifficultyRow"]


class ClosedBookRow(Row):
    """What the policy can answer with its tools taken away."""

    table: ClassVar[str | None] = "closed_book"

    id: NonEmpty
    """The task's id."""
    rollouts: int
    """How often it was asked and came to a reply; a model's reply may be cut off, or refused."""
    answered: int
    """How often it gave an answer at all: it may abstain."""
    successes: int
    """How often the answer was right."""
    split: Split


class DifficultyRow(Row):
    """One task: success that its structure predicts, success that was measured, whether search is needed."""

    table: ClassVar[str | None] = "difficulty"

    task_id: Annotated[NonEmpty, Key(), Ref("tasks", ("split",))]
    """Id of the task in ``tasks``."""
    shape: Shape
    """As in the task."""
    obfuscation: int
    """As in the task."""
    predicted: float
    """The policy's success as a model of the task's structure predicts it that was fitted without this task
    (cross-fitting): what could be said before any rollout."""
    fold: int
    """The part of the tasks that this one was left out with."""
    bin: int
    """Tenth in which ``predicted`` lies: 3 is 0.3 to 0.4."""
    successes: int
    """Runs of the policy whose answer was right."""
    rollouts: int
    """Runs of the policy that could be judged."""
    closed_book_successes: int
    """Right answers of the policy without tools."""
    closed_book_rollouts: int
    """How often it was asked without tools and came to a reply."""
    search_needed: bool | None
    """None where it was never asked without tools, or never came to a reply. False where the policy answered rightly
    without tools every time (AdaSearch, SAAS); a lucky guess is no knowledge."""
    order: int
    """Place in the curriculum, from easy to hard by ``predicted``."""
    target: int | None = None
    """The target of the curriculum (its number in the recipe) that the task was chosen for, by its measured rate of
    success, or the predicted one where it has no rollout; None when it was not chosen, or only to fill up."""
    chosen: bool = True
    """Whether the task is part of the curriculum."""
    split: Split
    """The task's split."""
    provenance: Provenance
    """What made the row."""
