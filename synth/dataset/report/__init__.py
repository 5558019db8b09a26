"""The quality report: one HTML page that opens without a network."""

from synth.dataset.report.page import Written, write_report

__all__ = ["Written", "write_report"]
