"""Personal data and secrets by their form: what is found, what belongs to nobody, and what only looks alike.

Keys are put together here, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.screening.private import PrivateKind, find_private, masked

KEY = "s" + "k-" + "aB3" * 10
FOUND = [
    ("email", "Write to jane.doe+news@mail.somewhere.co.uk today.", "jane.doe+news@mail.somewhere.co.uk"),
    ("phone", "Call +49 (0)30 901820-44.", "+49 (0)30 901820"),
    ("phone", "Call +44 20 7946 1234 now", "+44 20 7946 1234"),
    ("phone", "at (212) 736-5000, please", "(212) 736-5000"),
    ("phone", "at 212-736-5000.", "212-736-5000"),
    ("iban", "to DE89 3704 0044 0532 0130 00 by Friday", "DE89 3704 0044 0532 0130 00"),
    ("iban", "GB82WEST12345698765432", "GB82WEST12345698765432"),
    ("card", "4111 1111 1111 1111 (12/29)", "4111 1111 1111 1111"),
    ("card", "3782-822463-10005", "3782-822463-10005"),
    ("ip", "host 8.8.4.4 answers", "8.8.4.4"),
    ("ip", "at 2001:4860:4860::8888", "2001:4860:4860::8888"),
    ("api_key", f"OPENAI={KEY};", KEY),
    ("api_key", "AKIA" + "ABCDEFGH12345678", "AKIA" + "ABCDEFGH12345678"),
    ("api_key", 'token: "' + "q7Zt9LmX2vBn4RsK" + '"', "q7Zt9LmX2vBn4RsK"),
    ("private_key", "-----BEGIN RSA " + "PRIVATE KEY-----", "-----BEGIN RSA " + "PRIVATE KEY-----"),
]
NOT = [
    "Write to jane@example.com, joe@mail.test and root@localhost.",
    "It opened on 1987-05-12, between 1914-1918, and cost 12 345 678 901 234.",
    "Call (212) 555-0143 or +1 212-555-0199.",
    "The rooms 212-736 and 500-0 are free.",
    "DE89 3704 0044 0532 0130 01 has a wrong check digit, 4111 1111 1111 1112 too.",
    "1234 5678 9012 3452 is no card of anybody.",
    "It runs at 10.0.0.1, 192.168.1.20, 127.0.0.1, 192.0.2.7 and fe80::1:2:3.",
    "version 4.18.2.1, v1.2.3.4, section 8.8.4.4",
    "It lasted 12:30:45:10, and 300.300.300.300 is none.",
    "password: correct-horse-battery-staple and token = aaaaaaaaaaaaaaaaaaaaaaaa1",
    "-----BEGIN PUBLIC KEY-----",
    "The sk-ilift of Nordholm has 1,204,331,992,100 seats.",
    "@media print and a@b, x@y.z1",
]


@pytest.mark.parametrize(("kind", "text", "what"), FOUND)
def test_what_is_found(kind: str, text: str, what: str) -> None:
    found = find_private(text)
    assert [(one.kind, text[one.start : one.stop]) for one in found if one.kind == kind] != []
    assert found[0].kind == kind
    assert text[found[0].start : found[0].stop].startswith(what)
    assert find_private(text, [other for other in PrivateKind if other != kind]) == []


@pytest.mark.parametrize("text", NOT)
def test_what_is_nobodys(text: str) -> None:
    assert [(one.kind, text[one.start : one.stop]) for one in find_private(text)] == []


@given(st.lists(st.sampled_from([text for _, text, _ in FOUND] + NOT), max_size=4), st.text(max_size=20))
def test_masks_hide_everything_and_move_nothing(parts: list[str], more: str) -> None:
    text = f" {more} ".join(parts)
    hidden = masked(text)
    assert len(hidden) == len(text)
    assert find_private(hidden) == []
    assert all(old == new or new == "*" for old, new in zip(text, hidden, strict=True))


@given(st.text(alphabet="0123456789 +-().:abcdefABCDEF@=", max_size=60))
def test_no_text_is_too_odd(text: str) -> None:
    found = find_private(text)
    assert all(one.start < one.stop <= len(text) for one in found)
    assert all(one.stop <= other.start for one, other in pairwise(found))
