"""``synth validate --deep``: a brute-force audit of a finished dataset from its Parquet alone."""

from synth.dataset.audit.audit import audit
from synth.dataset.audit.findings import Audit, RuleCount, Violation
from synth.dataset.audit.table import render_audit

__all__ = ["Audit", "RuleCount", "Violation", "audit", "render_audit"]
