"""``synth validate --deep``: a second opinion on a finished dataset, from its Parquet alone.

It shares no code with what proposes and checks tasks.
"""

from synth.dataset.audit.audit import audit, render_audit
from synth.dataset.audit.findings import Audit, RuleCount, Violation

__all__ = ["Audit", "RuleCount", "Violation", "audit", "render_audit"]
