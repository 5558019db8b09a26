"""What a failed attempt means."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from synth.models.contract import FailureKind
from synth.models.failures import Scope, retry_after, trouble_of


def meant(status: int, error: Any = None, **headers: str) -> Any:
    body = b"" if error is None else json.dumps({"error": error}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return trouble_of(status, named, body, longest_wait=600)


@pytest.mark.parametrize(
    ("status", "error", "kind", "scope", "costs"),
    [
        (429, {"message": "Rate limit reached"}, FailureKind.RATE_LIMITED, Scope.ATTEMPT, False),
        (429, None, FailureKind.RATE_LIMITED, Scope.ATTEMPT, False),
        (429, {"code": "insufficient_quota"}, FailureKind.RATE_LIMITED, Scope.ENDPOINT, False),
        (429, {"type": "insufficient_quota", "message": "x"}, FailureKind.RATE_LIMITED, Scope.ENDPOINT, False),
        (429, {"message": "You exceeded your current quota"}, FailureKind.RATE_LIMITED, Scope.ENDPOINT, False),
        (429, {"message": "Daily limit of 100 requests"}, FailureKind.RATE_LIMITED, Scope.ENDPOINT, False),
        (429, {"message": "requests per day (RPD): Limit 50"}, FailureKind.RATE_LIMITED, Scope.ENDPOINT, False),
        (402, {"message": "Insufficient credits"}, FailureKind.RATE_LIMITED, Scope.ENDPOINT, False),
        (401, {"message": "wrong key"}, FailureKind.REQUEST, Scope.ENDPOINT, False),
        (403, None, FailureKind.REQUEST, Scope.ENDPOINT, False),
        (500, {"message": "oh"}, FailureKind.SERVER, Scope.ATTEMPT, True),
        (502, None, FailureKind.SERVER, Scope.ATTEMPT, True),
        (504, None, FailureKind.SERVER, Scope.ATTEMPT, True),
        (529, None, FailureKind.SERVER, Scope.ATTEMPT, True),
        (503, None, FailureKind.SERVER, Scope.ATTEMPT, False),
        (408, None, FailureKind.TIMEOUT, Scope.ATTEMPT, True),
        (400, {"message": "bad tools"}, FailureKind.REQUEST, Scope.CALL, False),
        (413, None, FailureKind.REQUEST, Scope.CALL, False),
        (422, {"detail": "x"}, FailureKind.REQUEST, Scope.CALL, False),
        (400, {"code": "context_length_exceeded"}, FailureKind.CONTEXT, Scope.CALL, False),
        (
            400,
            {"message": "This model's maximum context length is 2048 tokens. However, you requested 3000 tokens"},
            FailureKind.CONTEXT,
            Scope.CALL,
            False,
        ),
        (
            400,
            {"message": "The decoder prompt (length 9) is longer than the maximum model length of 8."},
            FailureKind.CONTEXT,
            Scope.CALL,
            False,
        ),
        (404, {"message": "no such model"}, FailureKind.REQUEST, Scope.UNKNOWN_MODEL, False),
        (307, None, FailureKind.REQUEST, Scope.UNKNOWN_MODEL, False),
        (204, None, FailureKind.MALFORMED, Scope.ATTEMPT, True),
    ],
)
def test_statuses(status: int, error: Any, kind: FailureKind, scope: Scope, costs: bool) -> None:
    trouble = meant(status, error)
    assert (trouble.kind, trouble.scope, trouble.costs) == (kind, scope, costs)
    assert str(status) in trouble.detail
    if scope is Scope.ENDPOINT or scope is Scope.UNKNOWN_MODEL:
        assert trouble.mend


@pytest.mark.parametrize("status", [400, 500, 503])
def test_no_word_of_a_message_makes_a_rate_limit(status: int) -> None:
    for message in ("failed to generate", "rate", "daily limit", "insufficient_quota in the text", "429"):
        assert meant(status, {"message": message}).kind is not FailureKind.RATE_LIMITED


def test_a_quota_word_under_another_status_ends_nothing() -> None:
    assert meant(500, {"message": "the question asks for a daily limit"}).scope is Scope.ATTEMPT


def test_retry_after_in_its_forms() -> None:
    later = datetime.now(UTC) + timedelta(seconds=30)
    assert retry_after({}) is None
    assert retry_after({"Retry-After": "7"}) == 7
    assert retry_after({"Retry-After": "0.5"}) == 0.5
    assert retry_after({"Retry-After": "-3"}) == 0
    assert retry_after({"Retry-After": "soon"}) is None
    assert retry_after({"Retry-After": "nan"}) is None
    assert retry_after({"Retry-After": ""}) is None
    found = retry_after({"Retry-After": format_datetime(later, usegmt=True)})
    assert found is not None
    assert 0 < found <= 30
    assert retry_after({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0


def test_a_wait_beyond_the_bound_is_a_used_up_quota() -> None:
    assert meant(429, Retry_After="600").scope is Scope.ATTEMPT
    assert meant(429, Retry_After="601").scope is Scope.ENDPOINT
    assert meant(503, Retry_After="86400").scope is Scope.ENDPOINT
    assert "86,400 s" in meant(429, Retry_After="86400").detail


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"<html>\n<h1>Bad\n Gateway</h1>", "HTTP 502: <html> <h1>Bad Gateway</h1>"),
        (b'{"detail": "down"}', "HTTP 502: down"),
        (b'{"error": "down"}', "HTTP 502: down"),
        (b'{"message": "down"}', "HTTP 502: down"),
        (b'["down"]', "HTTP 502: ['down']"),
        (b"", "HTTP 502"),
        (b"\xff" * 2000, "HTTP 502: " + "\ufffd" * 300),
    ],
)
def test_what_the_server_said_stands_in_the_detail(body: bytes, detail: str) -> None:
    assert trouble_of(502, {}, body, longest_wait=600).detail == detail
