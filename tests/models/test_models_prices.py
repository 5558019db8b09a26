"""Money of a call: exact, rounded up, bounded."""

from __future__ import annotations

import json
from fractions import Fraction
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.models.contract import ChatRequest, Price, Sampling, Usage
from synth.models.prices import PriceTable, worst_case

_RATE = st.decimals(0, 200, places=4).map(float)
_PRICE = st.builds(Price, prompt=_RATE, completion=_RATE, cached=st.none() | _RATE)
_TOKENS = st.integers(0, 10**6)


@given(_PRICE, _TOKENS, _TOKENS, _TOKENS)
def test_a_cost_is_the_exact_sum_rounded_up(price: Price, fresh: int, cached: int, completion: int) -> None:
    usage = Usage(prompt_tokens=fresh + cached, completion_tokens=completion, cached_tokens=cached)
    rate = price.prompt if price.cached is None else price.cached
    exact = fresh * Fraction(str(price.prompt)) + cached * Fraction(str(rate))
    exact += completion * Fraction(str(price.completion))
    assert PriceTable(price).cost(usage) == ceil(exact / 10**6 * 10**9)


@given(_PRICE, _TOKENS, _TOKENS, _TOKENS)
def test_no_usage_within_the_bound_costs_more(price: Price, fresh: int, cached: int, completion: int) -> None:
    usage = Usage(prompt_tokens=fresh + cached, completion_tokens=completion, cached_tokens=cached)
    table = PriceTable(price)
    assert table.cost(usage) <= table.most(fresh + cached, completion)


def test_a_million_tokens_cost_the_price() -> None:
    table = PriceTable(Price(prompt=0.15, completion=0.6, cached=0.075))
    million = 10**6
    assert table.cost(Usage(prompt_tokens=million, completion_tokens=0)) == 150_000_000
    assert table.cost(Usage(prompt_tokens=0, completion_tokens=million)) == 600_000_000
    assert table.cost(Usage(prompt_tokens=million, cached_tokens=million, completion_tokens=0)) == 75_000_000
    assert table.cost(Usage(prompt_tokens=1, completion_tokens=0)) == 150
    assert PriceTable(Price()).most(million, million) == 0


@pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens"])
def test_the_worst_case_counts_bytes_and_all_that_the_reply_may_have(field: Any) -> None:
    completion = 100
    sampling = Sampling(max_tokens=completion, length_field=field)
    request = ChatRequest("m", ({"role": "user", "content": "é" * 50},), sampling=sampling)
    body = json.loads(request.body)
    assert {name: body[name] for name in body if name.startswith("max_")} == {field: completion}
    size = len(request.body.encode())
    bound = worst_case(request, size, PriceTable(Price(prompt=1, completion=2)))
    assert bound.tokens > 100 + completion
    assert bound.tokens == size + 512 + completion
    assert bound.cost == (size + 512) * 1000 + completion * 2000
