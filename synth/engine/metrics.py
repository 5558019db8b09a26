"""What a build is at, for a Prometheus server to scrape: ``SYNTH_METRICS=9464 synth build ...``."""

from __future__ import annotations

from collections.abc import Sequence

from synth.distribution import install
from synth.engine.progress import CallsNow, Progress
from synth.errors import InputError
from synth.schemas.reports import RunUse, StageReport

__all__ = ["Metrics"]

_USE = {
    "calls": "Model calls that were answered",
    "from_store": "Of these: answered by the store",
    "failed": "Model calls that ended without a reply",
    "prompt_tokens": "Tokens of prompts that were paid for",
    "completion_tokens": "Tokens of replies that were paid for",
    "cost": "Money spent, in the currency of the recipe's prices",
}


class Metrics:
    """Passes everything on to ``beside`` and serves it at ``http://HOST:PORT/metrics`` until it is closed.

    Args:
        place: ``PORT`` on this machine, or ``HOST:PORT``.

    Raises:
        InputError: it is no such place, nothing can listen there, or the extra is not installed.
    """

    def __init__(self, beside: Progress, dataset: str, place: str) -> None:
        try:
            from prometheus_client import CollectorRegistry, Gauge, start_http_server
        except ImportError:
            mend = f"install it with `{install('telemetry')}`"
            raise InputError("needs the library prometheus-client", where="SYNTH_METRICS", mend=mend) from None
        self._beside, self._dataset = beside, dataset
        registry = CollectorRegistry()

        def gauge(name: str, meaning: str, *labels: str) -> Gauge:
            return Gauge(f"synth_{name}", meaning, ("dataset", "stage", *labels), registry=registry)

        self._finished = gauge("units", "Rows, candidates or shards that are finished")
        self._wanted = gauge("units_wanted", "How many there are to be; missing while nobody knows")
        self._rows = gauge("rows", "Rows of a finished stage: kept, or rejected for a reason", "outcome")
        self._seconds = gauge("seconds", "What a finished stage took in this run")
        self._in_flight = gauge("rows_in_flight", "Rows that wait for a model")
        self._use = {name: gauge(name, meaning) for name, meaning in _USE.items()}
        host, _, port = place.rpartition(":")
        try:
            self._server, _ = start_http_server(int(port), host or "127.0.0.1", registry)
        except (OSError, ValueError, OverflowError) as error:
            mend = "give a free port, or HOST:PORT"
            raise InputError(f"can't serve at {place!r}: {error}", where="SYNTH_METRICS", mend=mend) from None
        self.port: int = self._server.server_port

    def plan(self, labels: Sequence[str]) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._beside.plan(labels)

    def begin(self, label: str, units: int | None, reused: int) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._finished.labels(self._dataset, label).set(reused)
        if units is not None:
            self._wanted.labels(self._dataset, label).set(units + reused)
        self._beside.begin(label, units, reused)

    def advance(self, label: str, units: int) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._finished.labels(self._dataset, label).inc(units)
        self._beside.advance(label, units)

    def calls(self, label: str, now: CallsNow) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._in_flight.labels(self._dataset, label).set(now.rows)
        self._used(label, now.use)
        self._beside.calls(label, now)

    def end(self, report: StageReport) -> None:
        """See :class:`~synth.engine.Progress`."""
        for outcome, count in {"kept": report.kept, **report.rejected}.items():
            self._rows.labels(self._dataset, report.label, outcome).set(count)
        self._seconds.labels(self._dataset, report.label).set(report.seconds or 0)
        if report.run is not None:
            self._in_flight.labels(self._dataset, report.label).set(0)
            self._used(report.label, report.run)
        self._beside.end(report)

    def note(self, line: str) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._beside.note(line)

    def close(self) -> None:
        """See :class:`~synth.engine.Progress`."""
        self._server.shutdown()
        self._server.server_close()
        self._beside.close()

    def _used(self, label: str, use: RunUse) -> None:
        for name, gauge in self._use.items():
            gauge.labels(self._dataset, label).set(getattr(use, name))
