"""Keys of a recipe that say how tasks are made."""

from __future__ import annotations

from typing import Literal

from pydantic import field_validator

from synth.exploration.config import ExplorationConfig
from synth.registry import choices
from synth.schemas.described import Described
from synth.stages.code_tasks import CodeTasksConfig
from synth.stages.given_tasks import GivenTasksConfig
from synth.stages.read_dataset import DatasetTasksConfig
from synth.tasks.docs.proposer import DocsTasksConfig
from synth.tasks.world.config import WorldTasksConfig
from synth.tasks.writing.proposing import ProposalKeys

__all__ = [
    "CodeQuestions",
    "DatasetQuestions",
    "DocsQuestions",
    "GivenQuestions",
    "ProposedQuestions",
    "RecordedQuestions",
    "ReverseQuestions",
    "WorldQuestions",
]


class WorldQuestions(WorldTasksConfig):
    """Questions from walks over a graph of facts: the generated world, triples or tables."""

    kind: Literal["world"]

    @field_validator("shapes")
    @classmethod
    def _known(cls, shapes: dict[str, float]) -> dict[str, float]:
        known = choices("shapes")
        for name in shapes:
            if name not in known:
                raise ValueError(f"no shape is called {name!r}; there are {', '.join(known)}")
        return shapes


class DocsQuestions(DocsTasksConfig):
    """Questions from links, definitions and headings of documents."""

    kind: Literal["docs"]


class ProposedQuestions(ProposalKeys):
    """Questions that the role ``proposer`` writes after exploring the documents: for prose, where no rule finds facts.
    Each must pass every check of ``task_reviews`` that is made."""

    kind: Literal["proposed"]

    @property
    def wording(self) -> str:
        """What a scripted agent reads them as: a person's own words."""
        return "given"


class GivenQuestions(GivenTasksConfig):
    """Your own questions and answers."""

    kind: Literal["given"]


class DatasetQuestions(DatasetTasksConfig):
    """Tasks of a finished dataset, as they stand there."""

    kind: Literal["dataset"]
    wording: Literal["world", "docs", "given", "reverse"] = "world"
    """How they were made: what a scripted agent reads them as."""


class RecordedQuestions(Described):
    """What recorded runs were asked, where no answers are given: there is no table of tasks. Runs with questions
    whose answers are known take ``given``."""

    kind: Literal["recorded"]


class ReverseQuestions(ExplorationConfig):
    """Explore first, ask afterwards: what was done becomes the request, and its least part the solution. Of servers
    and sites there are the kinds ``done`` and ``answered`` alone."""

    kind: Literal["reverse"]


class CodeQuestions(CodeTasksConfig):
    """Repairs: code that works is broken by one edit, and its tests say what went wrong."""

    kind: Literal["code"]
