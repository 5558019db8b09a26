"""All rules, and what stands behind each column: ``synth validate --coverage``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from synth.dataset.card.counts import COUNTS
from synth.dataset.configs import CONFIGS, columns
from synth.dataset.rules.code import CODE_RULES
from synth.dataset.rules.helpers import HELPER_RULES
from synth.dataset.rules.origin import ORIGIN_RULES
from synth.dataset.rules.pages import PAGE_RULES
from synth.dataset.rules.pair_runs import PAIR_RUN_RULES
from synth.dataset.rules.pairs import PAIR_RULES
from synth.dataset.rules.references import annotated
from synth.dataset.rules.rules import Rule
from synth.dataset.rules.runs import RUN_RULES
from synth.dataset.rules.tasks import TASK_RULES
from synth.dataset.rules.thoughts import THOUGHT_RULES
from synth.dataset.rules.training import TRAINING_RULES
from synth.dataset.rules.trees import TREE_RULES
from synth.dataset.rules.values import VALUE_RULES

__all__ = ["RULES", "coverage"]

RULES: tuple[Rule, ...] = (
    *TASK_RULES,
    *PAGE_RULES,
    *TRAINING_RULES,
    *RUN_RULES,
    *TREE_RULES,
    *HELPER_RULES,
    *CODE_RULES,
    *VALUE_RULES,
    *THOUGHT_RULES,
    *PAIR_RULES,
    *PAIR_RUN_RULES,
    *ORIGIN_RULES,
)


_WEAK: Mapping[str, tuple[str, ...]] = {
    "continuations": ("stop_reason",),
    "judgments": ("id", "alternative", "provenance.fingerprint", "provenance.model_revision"),
    "planted_misinformation": ("id",),
    "preferences": ("provenance.backend",),
    "steps": ("criticality.alternative",),
    "trajectories": ("provenance.fingerprint",),
}
"""Columns that a rule or a key names, and in which a single wrong value may pass: another stage run, backend, free
id, or alternative with the same counts is as good."""


def coverage() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """(table, column, what proves it) of every column: names of rules, keys, references and counts.

    Nothing proves a column that is only carried: a wrong value of the right type may pass there, when the hashes are
    written anew as well. ``--deep`` computes many of them once more: walks, labels, verdicts of answers, facts.
    """
    for config in CONFIGS:
        about = annotated(config.row_type)
        behind: list[tuple[str, str]] = [(name, "key") for key in about.keys for name in key]
        behind += [("split", "file")] if config.sole_split is None else []
        for path, ref in about.references:
            behind.append((".".join(path), f"reference to {ref.table}"))
            behind += [(name, f"reference to {ref.table}") for name in ref.inherits]
        behind += [(name, rule.name) for rule in RULES if config.name in rule.tables for name in rule.columns]
        counted = (count.columns.get(config.name, ()) for count in COUNTS.values())
        behind += [(name, "count in the report") for names in counted for name in names]
        for column in columns(config.row_type):
            if not column.type.endswith("struct"):
                found = dict.fromkeys(what for name, what in behind if _covers(name, column.path))
                yield config.name, column.path, () if column.path in _WEAK.get(config.name, ()) else tuple(found)


def _covers(name: str, path: str) -> bool:
    plain = path.replace("[]", "")
    return any(one == name or one.startswith((f"{name}.", f"{name}[")) for one in (path, plain))
