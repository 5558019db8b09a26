"""How hard a task is: predicted from its structure, and measured with a policy."""

from __future__ import annotations

from typing import Annotated, ClassVar

from synth.schemas.provenance import Provenance
from synth.schemas.row import Key, NonEmpty, Ref, Row, Split
from synth.schemas.tasks import Shape

__all__ = ["ClosedBookRow", "DifficultyReport", "DifficultyRow", "ReliabilityBin", "TargetReport", "TaskYield"]


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
    without tools every time (AdaSearch, SAAS); a lucky guess is not knowledge."""
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


class TaskYield(Row):
    """What became of the candidates of one shape. The exporter counts it from ``tasks`` and ``rejected``."""

    shape: NonEmpty
    """Shape of the walk; ``-`` for candidates that failed before they had one."""
    accepted: int
    """Tasks in the dataset."""
    ranks: dict[str, int] = {}
    """Those of questions over documents by how well their kind reads (``details.rank``)."""
    rejected: dict[str, int] = {}
    """Candidates by the check that they failed, or by the ``Reason`` where it was none."""

    @property
    def candidates(self) -> int:
        return self.accepted + sum(self.rejected.values())

    @property
    def share(self) -> float:
        """Accepted over all candidates, in [0, 1]; 0 when there was none."""
        return self.accepted / self.candidates if self.candidates else 0.0


class ReliabilityBin(Row):
    """Tasks whose predicted success lies between ``low`` and ``high``."""

    low: float
    high: float
    tasks: int
    """Those with a judged rollout."""
    rollouts: int
    predicted: float
    """Mean of the predictions, by rollouts."""
    measured: float
    """Share of the rollouts that succeeded."""
    measured_low: float
    """Lower end of its 95 % interval, which allows for the rollouts of a task being alike."""
    measured_high: float
    """Upper end."""


class TargetReport(Row):
    """A target of the curriculum, and what was chosen for it."""

    low: float
    """Least success rate."""
    high: float
    """The rate that it stays below (1: at most)."""
    share: float
    """Share of the curriculum that was asked for."""
    tasks: int
    """Tasks that were chosen for it."""


class DifficultyReport(Row):
    """How hard the tasks are for the policy. Predictions are cross-fitted: none has seen its own task.

    Counted from the table ``difficulty`` by the exporter while it writes; the same for any order of its rows.
    """

    tasks: int
    bins: tuple[ReliabilityBin, ...]
    """Those that hold a judged rollout."""
    error: float
    """Expected calibration error: mean distance of predicted and measured success, by rollouts."""
    brier: float
    """Mean squared distance of the prediction from each rollout's outcome."""
    brier_of_mean: float
    """The same for predicting the mean success of all tasks."""
    auc: float | None
    """Chance that a rollout that succeeded was predicted higher than one that failed, ties half; None where all ended
    alike."""
    closed_book: float | None
    """Share of the policy's answers without tools that were right, abstentions counted as wrong; None where it was not
    asked."""
    search_needed: float | None
    """Share of the tasks it was asked so that the policy does not answer rightly every time without tools; None where
    it was not asked."""
    chosen: int
    """Tasks of the curriculum."""
    targets: tuple[TargetReport, ...] = ()
    """In the order of the recipe; empty = no shares were asked for."""
