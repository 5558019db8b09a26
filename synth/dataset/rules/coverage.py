"""Columns that are carried and not proven, and the rules behind the others: ``synth validate --coverage``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from synth.dataset.columns import columns
from synth.dataset.configs import CONFIGS
from synth.dataset.rules.references import annotated
from synth.dataset.rules.table_rules import rules_of

__all__ = ["CARRIED", "coverage"]

CARRIED: Mapping[str, tuple[str, ...]] = {
    "tasks": (
        "checks[].detail", "surface", "details", "gold_entities", "difficulty.constraints", "difficulty.branching",
        "difficulty.documents", "walk.hops[].source.id", "walk.hops[].source.name", "walk.hops[].source.aliases",
        "walk.hops[].source.kind", "walk.hops[].source.document_id", "walk.hops[].target.document_id",
        "walk.hops[].relation", "walk.hops[].forward", "walk.operations[].kind", "walk.operations[].over",
        "walk.operations[].within", "walk.operations[].cue", "walk.operations[].result[].id",
        "walk.operations[].result[].name", "walk.operations[].result[].aliases", "walk.operations[].result[].kind",
        "walk.operations[].result[].document_id",
    ),
    "trajectories": ("details", "verdict.rule", "verdict.evidence", "provenance.fingerprint"),
    "steps": (
        "first_error_branching", "pivot", "score", "criticality.low", "criticality.high", "criticality.confidence",
        "label_reason", "label_detail", "failure", "behaviours", "information_gain", "progress", "train_reason",
    ),
    "continuations": ("verdict.rule", "verdict.evidence"),
    "preferences": ("provenance.backend", "difference", "why"),
    "judgments": (
        "id", "alternative", "value", "parts", "cites", "reason", "abstained", "calls", "provenance.model_revision",
    ),
    "question_rewrites": (
        "before", "question", "reason", "detail", "model", "prompt", "confirmed_by", "confirm_prompt", "calls",
        "parts[].before",
    ),
    "task_reviews": (
        "right", "answers", "claims[].answer", "claims[].why", "claims[].quote", "missing", "documents", "model",
        "prompt", "calls",
    ),
    "contexts": ("documents[].names_answer", "licence"),
    "distractors": ("role", "step", "runs", "query", "rank", "score", "checks[].detail"),
    "planted_misinformation": ("id", "stated_object", "value_kind", "partition"),
    "documents": ("text", "sections[].end", "links[].end"),
    "facts": ("relation", "value", "start", "end"),
    "rejected": ("row_id", "reason", "detail", "part", "preview"),
}  # fmt: skip
"""Columns in which a wrong value of the right type may pass, when the hashes are written anew as well.

``--deep`` computes many of them once more: walks, labels, verdicts of answers, facts.
"""


def coverage() -> Iterator[tuple[str, str, str]]:
    """(table, column, what stands behind it) of every column: a rule's name, ``checks of rows``, or that it is only
    carried."""
    for config in CONFIGS:
        rules, about = rules_of(config.name, config.row_type), annotated(config.row_type)
        keys = {name for key in about.keys for name in key}
        references = {".".join(path): ref.table for path, ref in about.references}
        for column in columns(config.row_type):
            if column.type.endswith("struct"):
                continue
            if column.path in CARRIED.get(config.name, ()):
                yield config.name, column.path, "carried, not proven"
                continue
            names = ["key"] if column.path in keys else []
            if (table := references.get(column.path.replace("[]", ""))) is not None:
                names.append(f"reference to {table}")
            names += [rule.name for rule in rules if any(_below(column.path, one) for one in rule.columns)]
            yield config.name, column.path, ", ".join(names) or "checks of rows"


def _below(path: str, column: str) -> bool:
    return path == column or path.startswith(f"{column}.")
