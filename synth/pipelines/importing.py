"""Recorded runs as a recipe: what ``synth import`` and ``synth.annotate`` build.

Both are a recipe whose source is of kind runs, built by the stages of every dataset. What a user gives in Python, rows
or objects, is written to a temporary file or lent to the build while it goes on.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synth.agents.contract import Policy
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.contract import Expert, Scorer
from synth.dataset.configs import config_named
from synth.dataset.layout import write_config
from synth.environments.contract import Environment
from synth.errors import InputError
from synth.pipelines import lent
from synth.pipelines.building import Prepared, prepare
from synth.pipelines.recorded import verdicts_of
from synth.pipelines.request import BuildRequest, BuildResult, ProgressName
from synth.recipe.load import parse_recipe
from synth.schemas.adp import Trajectory, dump
from synth.schemas.arrow import to_arrow
from synth.schemas.described import Described
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import SCHEMA_VERSION, Row
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.store.remote import local_copy

__all__ = ["ImportReport", "Imported", "Recorded", "annotate", "import_file"]

Recorded = TrajectoryRow | Trajectory | Mapping[str, Any]
"""One of our rows (with its own verdict), an ADP trajectory, or an object of any format that can be imported."""
_READING = ("read_runs", "recorded_runs")
_EXAMPLES = 1000
"""Causes are counted apart up to so many; what comes later counts as other ones."""


class ImportReport(Described):
    """What became of every object: ``trajectories`` + ``rejected`` = ``objects``."""

    format: str
    """Name of the format."""
    file: str
    """Name of the file or folder, without its folder."""
    sha256: str
    """Of its content."""
    schema_version: str
    """Version of the tables that were written."""
    objects: int
    """Objects in the files."""
    trajectories: int
    """Those that became rows of ``trajectories``."""
    rejected: dict[str, int]
    """Those that did not, by reason; what exactly stands in the table ``rejected``."""
    causes: dict[str, int] = {}
    """The same in words, places left out."""
    examples: dict[str, str] = {}
    """Cause -> where it was met first."""
    judged: dict[str, int]
    """Runs that are ``right``, ``wrong`` and ``unjudged``."""


@dataclass(frozen=True)
class Imported:
    """What came of an import."""

    path: Path | None
    """None where it was only looked at."""
    report: ImportReport


def import_file(
    file: Path,
    format_: str,
    out: Path | None,
    *,
    tasks: Path | None = None,
    all_correct: bool = False,
    licence: str | None = None,
    benchmarks: Sequence[Path] = (),
    distinct: bool = False,
    store: Path | str | None = None,
    progress: ProgressName = "quiet",
) -> Imported:
    """Build the dataset of a recipe whose source is ``file``; arguments as of :func:`synth.api.import_file`.

    Raises:
        InputError: a file or a benchmark can't be read.
        BuildError: nothing in the files is JSON.
        StoreError: ``out`` holds something that is not a dataset, or can't be written.
    """
    file, tasks = local_copy(file), None if tasks is None else local_copy(tasks)
    given: dict[str, Any] = {"source": {"format": format_, "all_correct": all_correct, "licence": licence}}
    if tasks is not None:
        given["questions"] = {"kind": "given", "path": str(tasks)}
    if benchmarks:
        given["decontaminate"] = {"benchmarks": [str(local_copy(one)) for one in benchmarks]}
    if distinct:
        given["dedup"] = {"tasks": None}
    with tempfile.TemporaryDirectory(prefix="synth-import-") as scratch:
        if out is None:
            store = Path(scratch) / "store"
        prepared = _prepared(file, out or Path(scratch) / "out", given, store=store, progress=progress)
        with prepared.engine:
            for label in prepared.labels:
                if out is not None or label in ("tasks", "runs", *prepared.recipe.acting):
                    prepared.run_stage(label)
            report = _report(prepared, file.name, format_)
            if out is not None:
                prepared.finish()
    return Imported(out, report)


def _prepared(
    runs: Path, out: Path, given: Mapping[str, Any], *, store: Path | str | None, progress: ProgressName
) -> Prepared:
    name = re.sub(r"[^a-z0-9._-]+", "-", runs.stem.lower()).strip("-._")[:90] or "runs"
    source = {"kind": "runs", "path": str(runs), "name": runs.name, **given.get("source", {})}
    recipe = parse_recipe({"name": name, **given, "source": source}, "synth import")
    return prepare(BuildRequest(out=out, store=store), recipe=recipe, progress=progress)


def _report(prepared: Prepared, file: str, format_: str) -> ImportReport:
    engine = prepared.engine
    stages = [engine.run_stage(node.label) for node in engine.plan.nodes if node.stage.name in _READING]
    rejected: Counter[str] = Counter()
    causes: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for one in _refused(prepared):
        cause = _cause(one.detail) if one.reason is not Reason.DUPLICATE_ID else "an earlier run is the same"
        if cause not in causes and len(causes) >= _EXAMPLES:
            cause = "other causes"
        rejected[one.reason.value] += 1
        causes[cause] += 1
        examples.setdefault(cause, one.row_id)
    told = causes.most_common()
    return ImportReport(
        format=format_,
        file=file,
        sha256=engine.fingerprint("runs").content or "",
        schema_version=SCHEMA_VERSION,
        objects=stages[0].rows_in,
        trajectories=sum(stage.kept for stage in stages[1:]),
        rejected=dict(sorted(rejected.items())),
        causes=dict(told),
        examples={cause: examples[cause] for cause, _ in told},
        judged=dict(sorted(verdicts_of(engine).items())),
    )


def _refused(prepared: Prepared) -> Iterator[Rejection]:
    for node in prepared.engine.plan.nodes:
        if node.stage.name in _READING:
            yield from prepared.engine.view(node.label).rejected.rows()


def _cause(detail: str) -> str:
    """A detail without what differs from object to object: places, quoted values, numbers."""
    told = re.sub(r"\[\d+\]", "[]", detail)
    told = re.sub(r"'[^']{25,}'|\"[^\"]{25,}\"", "...", told)
    return re.sub(r"\d+", "N", told)[:160]


def annotate(
    trajectories: Path | str | Iterable[Recorded],
    tasks: Path | str | Iterable[Task],
    out: Path | str,
    *,
    environment: Environment | None = None,
    policy: Callable[[Task], Policy] | None = None,
    expert: Expert | None = None,
    scorer: Scorer | None = None,
    search: CriticalConfig | None = None,
    name: str = "recorded",
    licence: str | None = None,
    seed: int = 7,
    store: Path | str | None = None,
    progress: ProgressName = "quiet",
) -> BuildResult:
    """Label recorded runs and make pairs of them: a dataset in ``out``.

        synth.annotate("runs.jsonl", "questions.jsonl", "out/labelled")

    Args:
        trajectories: Objects of any format that can be imported, a file or folder of them, or our rows.
            :mod:`synth.agents.imported` says which keys of ``details`` are read.
        tasks: Questions with gold answers (a file as for ``--tasks-file``; evidence is not looked for), or tasks of
            ours. A task without a walk has no evidence to measure against: then only calls and the answer are judged.
        out: A folder; an earlier dataset in it is replaced.
        environment: Where the runs were recorded. What it answers otherwise now is labelled all the same, and its
            continuations and perturbations are refused with a reason.
        policy: Who continues from the steps of a task's runs; needs ``environment``. It must be the agent that made
            them, or what is verified holds for another agent. Runs of the role ``policy`` are searched.
        expert: Who proposes other actions; without it the scripted one.
        scorer: Who judges actions; without it the one that measures against the task's evidence.
        search: Budgets and thresholds of the search.
        name: Name of the dataset.
        licence: SPDX id of what the observations quote.
        seed: Of everything that is drawn.
        store: Where finished work is kept, so that the same call goes on after an interruption; None = nowhere.

    A recipe says the same with ``environment: {kind: own, made_by: ...}`` and ``roles.policy.backend``. A chosen side
    must pass the check of groundedness, whose plain words are those of the scripted agents: pairs whose chosen side
    speaks otherwise are rejected as ``ungrounded`` and not made.

    Raises:
        InputError: a file can't be read, or a policy without an environment.
    """
    if policy is not None and environment is None:
        raise InputError("a policy can't continue without an environment", mend="give environment= as well")
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="synth-annotate-")))
        stack.enter_context(lent.lending(environment=environment, policy=policy, expert=expert, scorer=scorer))
        runs = local_copy(trajectories) if isinstance(trajectories, str | Path) else _written(trajectories, scratch)
        given = {
            "name": name,
            "seed": seed,
            "source": {"name": name, "licence": licence},
            "questions": _questions(tasks, scratch),
            **_lent(environment, policy, expert, scorer),
        }
        if search is not None:
            given["critical"] = {"search": search.model_dump()}
        return _prepared(runs, Path(out), given, store=store or scratch / "store", progress=progress).run()


def _lent(
    environment: Environment | None, policy: Any | None, expert: Expert | None, scorer: Scorer | None
) -> dict[str, Any]:
    """Keys of the recipe that name what is lent."""
    found: dict[str, Any] = {}
    if environment is not None:
        about = {"version": f"{environment.name} {environment.version}"}
        found["environment"] = {"kind": "own", "made_by": lent.ENVIRONMENT, "options": about}
    who = {"policy": (policy, lent.POLICY)}
    if policy is not None:
        who |= {"expert": (expert, lent.EXPERT), "prm": (scorer, lent.SCORER)}
    roles = {role: {"backend": backend} for role, (one, backend) in who.items() if one is not None}
    return {**found, "roles": roles}


def _questions(tasks: Path | str | Iterable[Task], scratch: Path) -> dict[str, Any]:
    if isinstance(tasks, str | Path):
        return {"kind": "given", "path": str(local_copy(tasks))}
    write_config(scratch, config_named("tasks"), to_arrow(list(tasks), Task).to_batches())
    return {"kind": "dataset", "path": str(scratch), "splits": ["train", "validation", "test"]}


def _written(values: Iterable[Recorded], scratch: Path) -> Path:
    path = scratch / "runs.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for value in values:
            plain = value.model_dump(mode="json") if isinstance(value, Row) else value
            plain = dump(value) if isinstance(value, Trajectory) else plain
            file.write(json.dumps(plain) + "\n")
    return path
