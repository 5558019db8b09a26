"""One HTTP response is read as what it is, whatever its form and the pieces that it comes in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_http import FORMS, OK

from synth.models.http_reader import Reader


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("step", [1, 2, 7, 10_000])
def test_a_response_in_pieces_is_the_same(form: str, step: int) -> None:
    data, reusable = FORMS[form]
    reader = Reader()
    found = None
    for at in range(0, len(data), step):
        found = reader.feed(data[at : at + step])
        if found is not None:
            break
    assert found is not None
    assert found.status == 200
    assert found.body == (b"" if form == "nothing" else b"hello world")
    if form != "more than asked" or step == 10_000:
        assert reader.reusable is reusable


@given(st.binary(max_size=200), st.lists(st.integers(1, 50), max_size=20), st.lists(st.integers(1, 40), max_size=40))
def test_any_body_in_any_chunks_and_any_pieces(body: bytes, chunks: list[int], steps: list[int]) -> None:
    data, left = OK + b"Transfer-Encoding: chunked\r\n\r\n", body
    for size in [*chunks, len(body)]:
        if left:
            data += b"%x\r\n%b\r\n" % (len(left[:size]), left[:size])
            left = left[size:]
    data += b"0\r\n\r\n"
    reader = Reader()
    found = None
    for step in [*steps, len(data)]:
        assert found is None or not data
        if data:
            found, data = reader.feed(data[:step]), data[step:]
    assert found is not None
    assert found.body == body
    assert reader.reusable
