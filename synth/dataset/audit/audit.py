"""The deep audit from beginning to end.

Facts come first, into SQLite; tasks stream by and are asked again; after every 20,000 tasks the documents
and facts stream by for their evidence. Memory: 1 kB per task, and those 20,000 tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from synth.dataset.audit.evidence import EVIDENCE_RULES, NOT_A_QUERY, EvidenceAudit, asks_pages, is_given
from synth.dataset.audit.facts import Facts
from synth.dataset.audit.findings import Audit, Findings, facts_of, raw, rows
from synth.dataset.audit.run_rules import PLAN_RULES, RUN_RULES, PlanAudit, answers_of, judge_runs
from synth.dataset.audit.separation_rules import BENCHMARK_RULES, DISTRACTOR_RULES, Contamination, DistractorAudit
from synth.dataset.audit.table_rules import (
    COPY_RULES,
    NEAR_DUPLICATE_RULES,
    TABLE_RULES,
    NearDuplicates,
    TaskTable,
    judge_copies,
)
from synth.dataset.audit.walk_rules import WALK_RULES, TaskAudit
from synth.dataset.reader import load
from synth.dataset.show.terminal import clean
from synth.errors import DatasetError, InputError
from synth.schemas.code import Mutated
from synth.schemas.plans import Planned
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["RULES", "audit", "render_audit"]

RULES = {
    **WALK_RULES,
    **EVIDENCE_RULES,
    **TABLE_RULES,
    **NEAR_DUPLICATE_RULES,
    **COPY_RULES,
    **BENCHMARK_RULES,
    **RUN_RULES,
    **DISTRACTOR_RULES,
    **PLAN_RULES,
}
"""Every rule, with what holds where nothing violates it."""

_CHUNK = 20_000


def audit(
    folder: str | Path,
    *,
    limit: int = 100,
    benchmarks: Sequence[str | Path] = (),
    environment: Mapping[str, Any] | None = None,
) -> Audit:
    """Ask every task of the dataset in ``folder`` again, from its files alone.

    Rows that do not parse are left to :func:`synth.dataset.rules.validate.validate`. At most ``limit`` violations of a
    rule are listed, all are counted.

    Args:
        benchmarks: Files of the benchmarks that the tasks must stay away from: a dataset holds their hashes alone.
        environment: ``kind`` and options of the environment that the dataset was made in, as it is here: it is started.
            Without it nothing is that does not come with this package, and rules that need it are left undecided.

    Raises:
        InputError: there is no dataset in the folder, text is redacted in it, or a benchmark can't be read.
    """
    dataset = load(folder)
    found = Findings(RULES, limit)
    try:
        report = dataset.report
    except DatasetError:
        report = None  # the plain validation says so
    if dataset.redacted:
        what = "text is redacted in this edition of the dataset, so its questions can't be asked of it"
        raise InputError(
            what, where=str(folder), mend="put the text back first: synth rehydrate DIR --from COPY --out NEW"
        )
    exempt = frozenset(report.exempt_entities) if report is not None else frozenset()
    facts = facts_of(dataset) if "facts" in dataset.configs and "entities" in dataset.configs else None
    partitions = {
        name: split
        for _, _, batch in raw(dataset, "documents", ["id", "partition"], 10_000)
        for name, split in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    }
    known = facts or Facts()
    hubs = {page for name in exempt if (entity := known.entity(name)) is not None and (page := entity.document_id)}
    walks = TaskAudit(known, exempt, partitions)
    table, evidence = TaskTable(found, exempt, report), EvidenceAudit(found, facts, walks)
    plans = PlanAudit(found, report, dataset, environment)
    distractors, duplicates = DistractorAudit(found, known), NearDuplicates(found, report)
    clean = Contamination(found, report, [Path(path) for path in benchmarks])
    answers: dict[str, Task] = {}
    for place, task in rows(dataset, "tasks", Task):
        table.see(place, task, hubs)
        plans.see(place, task)
        duplicates.see(place, task)
        clean.see(place, task)
        if not (Planned.stand_in(task.details) or Mutated.stand_in(task.details)):
            answers[task.id] = answers_of(task)  # the others are judged by doing
        if not task.walk.hops:
            continue  # a given question: there is no walk to prove
        if is_given(task) and facts is not None:
            walks.leave(["unique", "shortcut"], NOT_A_QUERY)
        solve = not asks_pages(task) and not is_given(task)
        for rule, what in walks.audit(task, known=facts is not None, solve=solve):
            found.add(place, task.id, rule, what)
        evidence.see(place, task)
        distractors.see(task)
        if evidence.tasks >= _CHUNK:
            evidence.settle(dataset)
    evidence.settle(dataset)
    if "tasks" not in dataset.configs:  # an import of runs alone
        for place, run in rows(dataset, "trajectories", TrajectoryRow):
            clean.see_run(place, run)
    duplicates.settle()
    clean.settle()
    found.rows.update(walks.checked)
    for rule, (count, why) in walks.undecided.items():
        found.leave(rule, why, count)
    judge_runs(dataset, answers, found)
    plans.judge(dataset)
    judge_copies(dataset, report, found)
    if facts is not None:
        distractors.settle(dataset)
    return found.audit()


def render_audit(audit: Audit) -> RenderableType:
    """One line per rule: rows judged, rows that it could not judge, violations, and what holds where there are none."""
    table = Table(box=None, pad_edge=False)
    for name in ("rule", "rows", "undecided", "violations"):
        table.add_column(name, header_style="dim", justify="left" if name == "rule" else "right", no_wrap=True)
    table.add_column("what holds", header_style="dim", overflow="fold")
    for rule in audit.rules:
        numbers = (f"{number:,}" if number else "-" for number in (rule.rows, rule.undecided, rule.violations))
        table.add_row(rule.rule, *numbers, Text(clean(rule.sentence)), style="bold red" if rule.violations else "")
    reasons = [f"{rule.rule}: {rule.undecided:,} rows undecided: {rule.why}" for rule in audit.rules if rule.undecided]
    return Group(table, *(Text(clean(line)) for line in reasons))
