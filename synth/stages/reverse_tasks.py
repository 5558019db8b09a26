"""Tasks that were derived from what was explored, each with the plan that solves it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

from synth.schemas.rejections import Rejection
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.stages.contract import CandidateStage, Context, Outcome, StageConfig
from synth.tasks.contract import Checked
from synth.tasks.draft import finish, same_question

__all__ = ["ReverseTasks"]

C = TypeVar("C", bound=StageConfig)


class Proposer(Protocol):
    def propose(self, indices: Sequence[int], seed: int) -> Sequence[Checked | Rejection]:
        """One outcome per candidate index, in order; each depends on the source, the seed and its index alone."""


class ReverseTasks(CandidateStage[C]):
    """Asks a proposer, candidate by candidate. A subclass per kind of source says which."""

    writes: ClassVar[Mapping[str, type[Row]]] = {"tasks": Task}
    libraries = ("numpy",)
    candidates_per_shard = 64

    def __init__(self, config: C, context: Context) -> None:
        super().__init__(config, context)
        self._proposer, self._environment = self._opened()

    @abstractmethod
    def _opened(self) -> tuple[Proposer, str]:
        """Who proposes, and the name of the environment in which tasks are to be solved."""

    def propose(self, start: int, stop: int) -> Sequence[Outcome]:
        indices = range(start, stop)
        outcomes = []
        for index, verdict in zip(indices, self._proposer.propose(indices, self.context.seed), strict=True):
            if isinstance(verdict, Checked):
                draft = verdict.draft.model_copy(update={"environment": self._environment})
                task = finish(draft, verdict.checks, self.context.provenance, index)
                outcomes.append(Outcome(kept=(task,)))
            else:
                outcomes.append(Outcome(rejected=(verdict,)))
        return outcomes

    def duplicate_key(self, row: Any) -> str:
        return same_question(row)
