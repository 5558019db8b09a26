"""A build is a trace: what a collector of OpenTelemetry is sent, decoded with the protocol's own messages."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk", reason="the extra telemetry is not installed")

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

import synth
from synth.errors import InputError, SynthError

pytestmark = pytest.mark.extras


class Collector(ThreadingHTTPServer):
    """Takes what is sent to ``/v1/traces``; answers ``status``."""

    def __init__(self, status: int = 200) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.requests, self.headers = status, list[ExportTraceServiceRequest](), list[dict[str, str]]()
        self.address = f"http://127.0.0.1:{self.server_port}"

    @property
    def spans(self) -> dict[str, Any]:
        return {
            span.name: span
            for request in self.requests
            for of in request.resource_spans
            for scope in of.scope_spans
            for span in scope.spans
        }


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/v1/traces" and self.server.status == 200:
            self.server.requests.append(ExportTraceServiceRequest.FromString(body))
            self.server.headers.append(dict(self.headers))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    yield from serving(Collector())


@pytest.fixture
def refusing() -> Iterator[Collector]:
    yield from serving(Collector(400))


def serving(server: Collector) -> Iterator[Collector]:
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def said(span: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


def test_a_build_is_one_trace_with_a_span_for_each_stage(
    collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYNTH_TRACES", collector.address)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=sesame")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "team=agents")
    built = synth.build("world-search", tasks=4, out=tmp_path / "out", store=tmp_path / "store", progress="quiet")
    spans = collector.spans
    build = spans.pop("build world-search")
    reports = {stage.label: stage for stage in built.report.stages}
    assert set(spans) == set(reports)
    for label, span in spans.items():
        assert span.parent_span_id == build.span_id
        assert span.trace_id == build.trace_id
        assert build.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano
        figures, report = said(span), reports[label]
        assert figures["synth.kept"] == report.kept
        assert {reason: figures[f"synth.rejected.{reason}"] for reason in report.rejected} == report.rejected
    assert said(build)["synth.stages"] == len(reports)
    assert all(span.status.code == 0 for span in (build, *spans.values()))
    resource = {one.key: one.value.string_value for one in collector.requests[0].resource_spans[0].resource.attributes}
    assert resource["service.name"] == "synth"
    assert resource["team"] == "agents"
    assert {headers["authorization"] for headers in collector.headers} == {"sesame"}


def test_a_build_that_fails_is_an_error_in_the_trace(
    collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYNTH_TRACES", collector.address)
    facts = tmp_path / "facts.tsv"
    facts.write_text("subject\trelation\tobject\nAda\tborn in\tLondon\n")
    with pytest.raises(SynthError):
        synth.build(
            "graph-search", source=facts, tasks=50, out=tmp_path / "out", store=tmp_path / "store", progress="quiet"
        )
    spans = collector.spans
    assert spans.pop("build graph-search").status.code == 2
    assert {span.status.code for span in spans.values()} == {0, 2}, "some stages ended and one did not"


def test_a_collector_that_takes_nothing_costs_one_line(
    refusing: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SYNTH_TRACES", refusing.address)
    synth.build("world-search", tasks=2, out=tmp_path / "out", store=tmp_path / "store", progress="json")
    lines = [line for line in capsys.readouterr().err.splitlines() if "SYNTH_TRACES" in line or "xport" in line]
    assert len(lines) == 1
    assert f"not all spans were taken at {refusing.address}" in lines[0]


def test_a_place_that_is_no_address_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNTH_TRACES", "localhost:4318")
    with pytest.raises(InputError, match="'localhost:4318' is no address"):
        synth.build("world-search", tasks=2, out=tmp_path / "out", store=tmp_path / "store", progress="quiet")
