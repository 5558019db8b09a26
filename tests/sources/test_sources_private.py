"""Personal data and secrets by their form: what is found, what belongs to nobody, and what only looks alike.

Keys are put together here, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.schemas.rejections import Reason
from synth.sources.docs.source import DocsConfig, DocsSource
from synth.sources.private import PrivateKind, find_private, masked
from synth.sources.records.source import RecordsConfig, RecordsSource

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


def pages(folder: Path) -> Path:
    (folder / "a.html").write_text(
        "<title>Ann, ann@somewhere.org</title><h1>Ann, ann@somewhere.org</h1>"
        "<p>Write to ann@somewhere.org or see <a href='b.html'>the other page</a>.</p>"
    )
    (folder / "b.html").write_text("<title>Other</title><p>Nothing of anybody stands here.</p>")
    return folder


def test_a_page_is_masked_and_its_links_stand_where_they_stood(tmp_path: Path) -> None:
    path = str(pages(tmp_path))
    kept, masks, rejects = (DocsSource(DocsConfig(path=path, private=way)) for way in ("keep", "mask", "reject"))
    (before, other), _ = kept.read(kept.files)
    (after, same), rejected = masks.read(masks.files)
    assert rejected == []
    assert same == other
    assert "ann@somewhere.org" in before.text
    assert "somewhere" not in after.model_dump_json()
    assert "***@*********.***" in after.title
    assert len(after.text) == len(before.text)
    assert after.links == before.links
    link = after.links[0]
    assert after.text[link.start : link.end] == "the other page"
    assert set(masks.private) == {"email"}
    (only,), (gone,) = rejects.read(rejects.files)
    assert only == other
    assert (gone.reason, gone.row_id, gone.detail, gone.preview) == (Reason.PRIVATE_DATA, "a.html", "email", "")
    assert kept.private == {}


def test_records_are_masked_before_triples_are_looked_for(tmp_path: Path) -> None:
    record = {
        "id": "r",
        "title": "Bo",
        "text": "Bo lives in Rome. Bo writes from bo@somewhere.org.",
        "triples": [
            {"subject": "Bo", "relation": "lives in", "object": "Rome"},
            {"subject": "Bo", "relation": "writes from", "object": "bo@somewhere.org"},
        ],
    }
    (tmp_path / "r.jsonl").write_text(json.dumps(record))
    source = RecordsSource(RecordsConfig(path=str(tmp_path), private="mask"))
    found = source.read(source.files)
    assert found.documents[0].text == "Bo lives in Rome. Bo writes from **@*********.***."
    assert [triple.object for triple in found.triples] == ["Rome"]
    assert len(found.rejected) == 1
    source = RecordsSource(RecordsConfig(path=str(tmp_path), private="reject"))
    found = source.read(source.files)
    assert (found.documents, found.triples) == ([], [])
    assert [row.reason for row in found.rejected] == [Reason.PRIVATE_DATA]
