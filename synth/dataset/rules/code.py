"""Rules of code that tasks are about: its files are those that the tasks were made from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from synth.dataset.rules.rules import Known, Place, rule
from synth.identity import digest
from synth.schemas.code import CodeFile, Mutated
from synth.schemas.tasks import Task

__all__ = ["CODE_RULES"]


@dataclass
class _Project:
    sources: set[str] = field(default_factory=set)
    """Hashes of the code that tasks were made from; several in a mix, of which nothing is told."""
    files: list[list[str]] = field(default_factory=list)
    place: Place | None = None


@rule("tasks")
def code_of_tasks(row: Task, known: Known) -> Iterator[str]:
    """Which code tasks were made from is known."""
    if Mutated.stand_in(row.details):
        known.of(_Project).sources.add(row.provenance.source_sha256)
    yield from ()


def _is_the_source(known: Known) -> Iterator[tuple[Place, str]]:
    project = known.of(_Project)
    if project.place is None or len(project.sources) != 1:
        return
    found = digest("code", project.files)
    if {found} != project.sources:
        yield project.place, f"the files hash to {found[:12]}, and tasks were made from {min(project.sources)[:12]}"


@rule("code_files", "id text", close=_is_the_source, text=True)
def files_of_the_source(row: CodeFile, known: Known) -> Iterator[str]:
    """Path and text of all files are those that the tasks were made from, by their hash."""
    project = known.of(_Project)
    project.files.append([row.id, row.text])
    project.place = project.place or known.place
    yield from ()


CODE_RULES = (code_of_tasks, files_of_the_source)
