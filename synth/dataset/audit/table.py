"""The rules of a deep audit as a table for a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from synth.dataset.audit.findings import Audit
from synth.dataset.show.terminal import clean

__all__ = ["render_audit"]


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
