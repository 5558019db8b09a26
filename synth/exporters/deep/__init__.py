"""``synth validate --deep``: a brute-force audit of a finished dataset from its Parquet alone."""

from synth.exporters.deep.audit import audit
from synth.exporters.deep.findings import Audit, RuleCount, Violation
from synth.exporters.deep.table import render_audit

__all__ = ["Audit", "RuleCount", "Violation", "audit", "render_audit"]
