"""The deep audit from beginning to end.

Facts come first, into plain dictionaries; tasks stream by and are asked again; after every 20,000 tasks the documents
and facts stream by for their evidence. Memory: about 300 bytes per fact, 1 kB per task, and those 20,000 tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from synth.dataset.audit.benchmark_rules import BENCHMARK_RULES, Contamination
from synth.dataset.audit.copy_rules import COPY_RULES, judge_copies
from synth.dataset.audit.double_rules import DOUBLE_RULES, Doubles
from synth.dataset.audit.findings import Audit, Findings
from synth.dataset.audit.lure_rules import LURE_RULES, Lures
from synth.dataset.audit.plan_rules import PLAN_RULES, PlanAudit
from synth.dataset.audit.reading import graph_of, raw, rows
from synth.dataset.audit.run_rules import RUN_RULES, answers_of, judge_runs
from synth.dataset.audit.task_rules import (
    EVIDENCE_RULES,
    NOT_A_QUERY,
    TABLE_RULES,
    Evidences,
    Tasks,
    asks_pages,
    is_given,
)
from synth.dataset.reader import load
from synth.errors import DatasetError, InputError
from synth.schemas.plans import Planned
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.tasks.audit.auditor import WALK_RULES, GraphAudit
from synth.tasks.audit.graph import FactGraph

__all__ = ["RULES", "audit"]

RULES = {
    **WALK_RULES,
    **EVIDENCE_RULES,
    **TABLE_RULES,
    **DOUBLE_RULES,
    **COPY_RULES,
    **BENCHMARK_RULES,
    **RUN_RULES,
    **LURE_RULES,
    **PLAN_RULES,
}
"""Every rule, with what holds where nothing violates it."""

_CHUNK = 20_000


def audit(folder: str | Path, *, limit: int = 100, benchmarks: Sequence[str | Path] = ()) -> Audit:
    """Ask every task of the dataset in ``folder`` again, from its files alone.

    Rows that do not parse are left to :func:`synth.dataset.rules.validate.validate`. At most ``limit`` violations of a
    rule are listed, all are counted.

    Args:
        benchmarks: Files of the benchmarks that the tasks must stay away from: a dataset holds their hashes alone.

    Raises:
        InputError: there is no dataset in the folder, text is withheld in it, or a benchmark can't be read.
    """
    dataset = load(folder)
    found = Findings(RULES, limit)
    try:
        report = dataset.report
    except DatasetError:
        report = None  # the plain validation says so
    if dataset.withheld:
        what = "text is withheld in this edition of the dataset, so its questions can't be asked of it"
        raise InputError(
            what, where=str(folder), mend="put the text back first: synth restore DIR --from COPY --out NEW"
        )
    exempt = frozenset(report.exempt_entities) if report is not None else frozenset()
    graph = graph_of(dataset) if "facts" in dataset.configs and "entities" in dataset.configs else None
    partitions = {
        name: split
        for _, _, batch in raw(dataset, "documents", ["id", "partition"], 10_000)
        for name, split in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    }
    things = graph.things if graph is not None else {}
    hubs = {page for name in exempt if (thing := things.get(name)) is not None and (page := thing.document_id)}
    walks = GraphAudit(graph or FactGraph(), exempt, partitions)
    table, evidence = Tasks(found, exempt, report), Evidences(found, graph, walks)
    plans = PlanAudit(found, report)
    lures, doubles = Lures(found, graph or FactGraph()), Doubles(found, report)
    clean = Contamination(found, report, [Path(path) for path in benchmarks])
    answers: dict[str, Task] = {}
    for place, task in rows(dataset, "tasks", Task):
        table.see(place, task, hubs)
        plans.see(place, task)
        doubles.see(place, task)
        clean.see(place, task)
        if not Planned.stand_in(task.details):
            answers[task.id] = answers_of(task)  # the others are judged by doing
        if not task.walk.hops:
            continue  # a given question: there is no walk to prove
        if is_given(task) and graph is not None:
            walks.leave(["unique", "shortcut"], NOT_A_QUERY)
        solve = not asks_pages(task) and not is_given(task)
        for problem in walks.audit(task, known=graph is not None, solve=solve):
            found.add(place, task.id, problem.rule, problem.detail)
        evidence.see(place, task)
        lures.see(task)
        if evidence.tasks >= _CHUNK:
            evidence.settle(dataset)
    evidence.settle(dataset)
    if "tasks" not in dataset.configs:  # an import of runs alone
        for place, run in rows(dataset, "trajectories", TrajectoryRow):
            clean.see_run(place, run)
    doubles.settle()
    clean.settle()
    found.rows.update(walks.checked)
    for rule, (count, why) in walks.undecided.items():
        found.leave(rule, why, count)
    judge_runs(dataset, answers, found)
    plans.judge(dataset)
    judge_copies(dataset, report, found)
    if graph is not None:
        lures.settle(dataset)
    return found.audit()
