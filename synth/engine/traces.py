"""A build as a trace, for any collector that speaks OpenTelemetry's protocol: ``SYNTH_TRACES=http://localhost:4318``."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from synth.distribution import install, version
from synth.engine.progress import CallsNow, Progress
from synth.errors import InputError
from synth.schemas.reports import StageReport

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
    from opentelemetry.trace import Span

__all__ = ["Traces"]

_PATIENCE_S = 5
"""How long a collector may take to answer; a build waits for it at its end alone."""


class Traces:
    """Passes everything on to ``beside``; sends a span for the build, and one within it for each stage as it ends.

    A stage's span says what became of its rows (``synth.kept``, ``synth.rejected.REASON``, ``synth.errored.KIND``) and
    what its calls came to in this run (``synth.calls``, ``synth.tokens``, ``synth.cost``). Notes are events of the
    build's span. Spans of what did not end have the status ERROR. OpenTelemetry's own variables name resource and
    headers (``OTEL_SERVICE_NAME``, ``OTEL_RESOURCE_ATTRIBUTES``, ``OTEL_EXPORTER_OTLP_HEADERS``).

    Args:
        place: ``http://HOST:PORT`` of the collector; the spans go to ``/v1/traces`` there.

    Raises:
        InputError: it is no such address, or the extra is not installed.
    """

    def __init__(self, beside: Progress, dataset: str, place: str) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError:
            mend = f"install it with `{install('telemetry')}`"
            raise InputError("needs the library opentelemetry-sdk", where="SYNTH_TRACES", mend=mend) from None
        if not place.startswith(("http://", "https://")):
            mend = "give the address of a collector: http://HOST:4318"
            raise InputError(f"{place!r} is no address", where="SYNTH_TRACES", mend=mend)
        self._beside, self._place = beside, place
        self._sender = _Sender(OTLPSpanExporter(f"{place.rstrip('/')}/v1/traces", timeout=_PATIENCE_S))
        # It would print a line for each try, and a note of ours says it once.
        logging.getLogger("opentelemetry.exporter.otlp.proto.http").setLevel(logging.CRITICAL)

        ours = {"service.name": os.environ.get("OTEL_SERVICE_NAME", "synth"), "service.version": version()}
        self._provider = TracerProvider(resource=Resource.create(ours), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(self._sender))
        self._tracer = self._provider.get_tracer("synth")
        self._build: Span = self._tracer.start_span(f"build {dataset}", attributes={"synth.dataset": dataset})
        self._open: dict[str, Span] = {}
        self._left: set[str] = set()

    def plan(self, labels: Sequence[str]) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._left = set(labels)
        self._build.set_attribute("synth.stages", len(labels))
        self._beside.plan(labels)

    def begin(self, label: str, units: int | None, reused: int) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._open[label] = self._span(label)
        self._beside.begin(label, units, reused)

    def advance(self, label: str, units: int) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._beside.advance(label, units)

    def calls(self, label: str, now: CallsNow) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._beside.calls(label, now)

    def end(self, report: StageReport) -> None:
        """See :class:`~synth.engine.Progress`."""
        span = self._open.pop(report.label, None) or self._span(report.label)
        span.set_attributes(_figures(report))
        span.end()
        self._left.discard(report.label)
        self._beside.end(report)

    def note(self, line: str) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._build.add_event("note", {"synth.note": line})
        self._beside.note(line)

    def close(self) -> None:
        """See :class:`~synth.engine.Progress`."""
        from opentelemetry.trace import Status, StatusCode

        if self._build.is_recording():
            for span in (*self._open.values(), self._build) if self._left else ():
                span.set_status(Status(StatusCode.ERROR, f"{len(self._left)} stages did not end"))
            for span in (*self._open.values(), self._build):
                span.end()
            self._provider.shutdown()
            if self._sender.lost:
                self._beside.note(f"SYNTH_TRACES: not all spans were taken at {self._place}")
        self._beside.close()

    def _span(self, label: str) -> Span:
        from opentelemetry.trace import set_span_in_context

        return self._tracer.start_span(label, set_span_in_context(self._build), attributes={"synth.stage": label})


class _Sender:
    """An exporter of OpenTelemetry's that remembers whether anything was lost."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self.lost = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Called from the processor's own thread."""
        result = self._exporter.export(spans)
        self.lost = self.lost or result.name != "SUCCESS"
        return result

    def shutdown(self) -> None:
        """The last spans were handed over."""
        self._exporter.shutdown()


def _figures(report: StageReport) -> dict[str, str | int | float]:
    found: dict[str, str | int | float] = {
        "synth.kind": report.stage,
        "synth.fingerprint": report.fingerprint,
        "synth.rows_in": report.rows_in,
        "synth.kept": report.kept,
        "synth.shards": report.shards,
        "synth.reused_shards": report.reused_shards,
    }
    found |= {f"synth.rejected.{reason}": count for reason, count in report.rejected.items()}
    found |= {f"synth.errored.{kind}": count for kind, count in report.errored.items()}
    if (run := report.run) is not None:
        tokens = run.prompt_tokens + run.completion_tokens
        found |= {"synth.calls": run.calls, "synth.calls_from_store": run.from_store, "synth.tokens": tokens}
        found |= {"synth.calls_failed": run.failed, "synth.cost": run.cost}
    return found
