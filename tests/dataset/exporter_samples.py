"""A small dataset that holds together: pages, tasks over them, rollouts of two roles, rejections, and its report.

The tables of steps, continuations and pairs over it are in ``critical_samples``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import pyarrow as pa

from synth.schemas.adp import ADP_VERSION, ApiAction, ContentItem, MessageAction, TextObservation
from synth.schemas.arrow import to_arrow
from synth.schemas.documents import Document, Evidence, Link, Section
from synth.schemas.facts import EntityRow, FactRow
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.reports import BuildReport, RoleReport, SourceReport, StageReport
from synth.schemas.row import Split
from synth.schemas.tasks import CheckResult, Difficulty, Hop, Node, Task, Walk
from synth.schemas.trajectories import StopReason, TrajectoryRow, Verdict

SPLITS: tuple[Split, ...] = ("train", "train", "train", "validation", "test")
PROVENANCE = Provenance(
    dataset="world-search",
    stage="tasks",
    stage_version=1,
    fingerprint="f" * 64,
    seed=7,
    source="world",
    source_sha256="5" * 64,
)
TOOLS = (
    {
        "type": "function",
        "function": {
            "name": "search",
            "description": "Search the pages.",
            "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
        },
    },
)


def page(number: int) -> Document:
    """Page ``number`` says where place ``number`` lies (place ``number + 1``) and who founded it."""
    text = (
        f"Place {number}\n\nPlace {number} lies in Place {number + 1}. It was founded by Ada {number} — “the café”.\n"
        + "It rains. " * (number % 7)
    )
    start = text.index(f"Place {number + 1}")
    links = (Link(start=start, end=start + len(f"Place {number + 1}"), target=f"p{number + 1}"),)
    return Document(
        id=f"p{number}",
        title=f"Place {number}",
        text=text,
        kind="place",
        sections=(Section(heading=f"Place {number}", level=1, start=text.index("\n") + 2, end=len(text)),),
        links=links,
        source="world",
        licence="CC0-1.0",
        partition=SPLITS[number // 3 % 5],
    )


def evidence(number: int, quote: str) -> Evidence:
    start = page(number).text.index(quote)
    return Evidence(document_id=f"p{number}", start=start, end=start + len(quote), quote=quote)


def task(number: int) -> Task:
    """Place 3n lies in place 3n+1; who founded that? Gold: place 3n+1 and its founder's name."""
    first, second = 3 * number, 3 * number + 1
    hops = (
        Hop(
            source=Node(id=f"place-{first}", name=f"Place {first}", kind="place", document_id=f"p{first}"),
            target=Node(id=f"place-{second}", name=f"Place {second}", kind="place", document_id=f"p{second}"),
            relation="lies_in",
            forward=True,
            evidence=evidence(first, f"Place {first} lies in Place {second}."),
            cue=f"where Place {first} lies",
        ),
        Hop(
            source=Node(id=f"place-{second}", name=f"Place {second}", kind="place", document_id=f"p{second}"),
            target=Node(id=f"ada-{second}", name=f"Ada {second}", kind="person"),
            relation="founded_by",
            forward=True,
            needs=(0,),
            evidence=evidence(second, f"It was founded by Ada {second}"),
            cue="Who founded",
        ),
    )
    return Task(
        id=f"task-{number:016x}",
        question=f"Who founded the place where Place {first} lies?",
        answer=f"Ada {second}",
        answer_kind="entity",
        shape="composition",
        walk=Walk(shape="composition", hops=hops),
        gold_entities=(f"place-{second}", f"ada-{second}"),
        gold_documents=(f"p{first}", f"p{second}"),
        difficulty=Difficulty(hops=2, constraints=1, branching=1.5, documents=2),
        checks=(
            CheckResult(check="unique_answer", outcome="passed"),
            CheckResult(check="no_shortcut", outcome="passed"),
        ),
        split=SPLITS[number % 5],
        candidate_index=number,
        licence="CC0-1.0",
        details={"seen": [1, {"a": None}], "hub_count": number},
        provenance=PROVENANCE,
    )


def trajectory(number: int, role: str) -> TrajectoryRow:
    about = task(number)
    right = role == "teacher" or number % 2 == 0
    answer = about.answer if right else "Nobody"
    content: list[ContentItem] = [TextObservation(content=about.question, source="user", name="user")]
    for place in range(2):
        content.append(
            ApiAction(
                function="search",
                kwargs={"query": f"Place {number}", "k": 5} if place else {"query": "Ada"},
                tool_call_id=f"call_{place}",
                reasoning_content="I look it up.",
            )
        )
        content.append(
            TextObservation(
                content=page(number).text, source="environment", name="search", tool_call_id=f"call_{place}"
            )
        )
    content.append(MessageAction(content=answer, reasoning_content="Found."))
    return TrajectoryRow(
        schema_version=ADP_VERSION,
        id=f"trajectory-{role}-{number:04d}",
        content=tuple(content),
        available_custom_tools=("search",),
        task_id=about.id,
        rollout=0,
        role=role,  # type: ignore[arg-type]
        model=None,
        privileged=role == "teacher",
        success=right,
        verdict=Verdict(correct=right, rule="exact", evidence=answer),
        answer=answer,
        stop_reason=StopReason.ANSWERED,
        turns=3,
        tool_calls=2,
        split=about.split,
        licence=about.licence,
        system_prompt="You answer questions.",
        tool_schemas=TOOLS,
        environment="search",
        environment_version="1",
        provenance=PROVENANCE.model_copy(update={"stage": "rollouts", "backend": "scripted"}),
    )


def rejection(number: int) -> Rejection:
    return Rejection(
        stage="tasks", row_id=f"{100 + number}", reason=Reason.SHORTCUT, detail=f"clause {number} is enough | alone"
    )


def entity(document: Document) -> EntityRow:
    return EntityRow(id=document.id, name=document.title, kind=document.kind, document_id=document.id)


def fact(document: Document) -> FactRow:
    return FactRow(
        subject=document.id,
        relation="says",
        value=document.text[:4],
        value_kind="text",
        document_id=document.id,
        start=0,
        end=4,
    )


def sample_tables(tasks: int = 20, rejected: int = 4) -> dict[str, pa.Table]:
    return dict(_sample_tables(tasks, rejected))


@cache
def _sample_tables(tasks: int, rejected: int) -> dict[str, pa.Table]:
    pages = [page(number) for number in range(3 * tasks + 2)]
    last = pages[-1].model_copy(update={"links": ()})
    rows = [trajectory(number, role) for role in ("policy", "teacher") for number in range(tasks)]
    return {
        "tasks": to_arrow([task(number) for number in range(tasks)], Task),
        "trajectories": to_arrow(rows, TrajectoryRow),
        "documents": to_arrow([*pages[:-1], last], Document),
        "entities": to_arrow([entity(document) for document in pages], EntityRow),
        "facts": to_arrow([fact(document) for document in pages], FactRow),
        "rejected": to_arrow([rejection(number) for number in range(rejected)], Rejection),
    }


def _stages(tables_: Mapping[str, pa.Table]) -> Iterator[StageReport]:
    """A stage run for each that the rows name."""
    made = {
        (one["stage"], one["stage_version"], one["fingerprint"])
        for table in tables_.values()
        if "provenance" in table.schema.names
        for one in table.column("provenance").to_pylist()
    }
    for stage, version, fingerprint in sorted(made):
        yield StageReport(label=stage, stage=stage, version=version, fingerprint=fingerprint, rows_in=0, kept=0)


def sample_report(tables_: Mapping[str, pa.Table], /, **changes: object) -> BuildReport:
    tasks, rejected = tables_["tasks"].num_rows, tables_["rejected"].num_rows
    values: dict[str, object] = {
        "dataset": "world-search",
        "title": "World search",
        "synth_version": "0.1.0",
        "seed": 7,
        "wanted": tasks,
        "recipe": {"dataset": "world-search", "source": {"kind": "world", "entities": 62}},
        "source": SourceReport(
            name="world", kind="records", sha256="5" * 64, description="A fictional world of 62 places.", fictional=True
        ),
        "roles": (
            RoleReport(role="teacher", backend="scripted", privileged=True),
            RoleReport(role="policy", backend="scripted"),
        ),
        "stages": (
            *_stages(tables_),
            StageReport(
                label="tasks",
                stage="tasks",
                version=1,
                fingerprint="f" * 64,
                rows_in=tasks + rejected,
                kept=tasks,
                rejected={"shortcut": rejected} if rejected else {},
                shards=1,
                reused_shards=1,
                seconds=1.5,
            ),
        ),
        "split_fractions": {"train": 0.6, "validation": 0.2, "test": 0.2},
        "command": "synth build world-search --tasks 20 --seed 7",
    }
    return BuildReport.model_validate({**values, **changes})
