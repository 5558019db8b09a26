"""Keys of structure: equal where the structure is, whatever the words, order and numbering."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.filtering.dedup import calls_key, walk_key
from synth.schemas.adp import ApiAction, CodeAction, ContentItem, MessageAction, TextObservation
from synth.schemas.documents import Evidence
from synth.schemas.tasks import Hop, Node, Operation, Walk


def _node(name: str, kind: str = "city") -> Node:
    return Node(id=name, name=name.title(), kind=kind)


def _evidence() -> Evidence:
    return Evidence.model_construct(document_id="d", start=0, end=1, text="x")


def _hop(source: str, relation: str, target: str, forward: bool = True, cue: str = "cue") -> Hop:
    return Hop(
        source=_node(source), target=_node(target), relation=relation, forward=forward, evidence=_evidence(), cue=cue
    )


HOPS = (_hop("a", "near", "b"), _hop("b", "rules", "c"), _hop("a", "rules", "c"), _hop("a", "sees", "b"))


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(4)))
def test_order_and_words_of_hops_do_not_count(order: list[int]) -> None:
    walk = Walk(shape="cycle", hops=tuple(HOPS[at].model_copy(update={"cue": f"cue {at}"}) for at in order))
    for entities in (True, False):
        assert walk_key(walk, entities=entities) == walk_key(Walk(shape="cycle", hops=HOPS), entities=entities)


@pytest.mark.parametrize(
    "hops",
    [
        HOPS[:3],
        (*HOPS[:3], _hop("a", "sees", "b", forward=False)),
        (*HOPS[:3], _hop("b", "sees", "a")),
        (*HOPS[:3], _hop("a", "hears", "b")),
        (*HOPS[:3], _hop("a", "sees", "c")),
    ],
)
def test_another_edge_is_another_walk(hops: tuple[Hop, ...]) -> None:
    for entities in (True, False):
        one, other = Walk(shape="cycle", hops=HOPS), Walk(shape="cycle", hops=hops)
        assert walk_key(one, entities=entities) != walk_key(other, entities=entities)


def test_patterns_leave_out_who_is_meant_and_operations_count() -> None:
    one = Walk(shape="composition", hops=(_hop("a", "near", "b"), _hop("b", "near", "c")))
    other = Walk(shape="composition", hops=(_hop("x", "near", "y"), _hop("y", "near", "z")))
    assert walk_key(one) != walk_key(other)
    assert walk_key(one, entities=False) == walk_key(other, entities=False)
    lists = [
        one.model_copy(update={"operations": (Operation(kind=kind, over=(0, 1), result=(_node("c"),), cue="which"),)})
        for kind in ("list", "count")
    ]
    assert len({walk_key(walk) for walk in (one, *lists)}) == 3
    # Six hops in a ring and twice three in a ring: refinement can't part them without ids, ids do.
    ring = [_hop(str(at), "near", str((at + 1) % 6)) for at in range(6)]
    twice = [_hop(str(at), "near", str(at // 3 * 3 + (at + 1) % 3)) for at in range(6)]
    assert walk_key(Walk(shape="cycle", hops=tuple(ring))) != walk_key(Walk(shape="cycle", hops=tuple(twice)))


def test_runs_are_the_same_by_what_they_do() -> None:
    def run(thought: str, call_id: str, seen: str, **arguments: object) -> tuple[ContentItem, ...]:
        return (
            TextObservation(content="question", source="user"),
            ApiAction(function="search", kwargs=dict(arguments), tool_call_id=call_id, reasoning_content=thought),
            TextObservation(content=seen, source="environment", tool_call_id=call_id),
            MessageAction(content="Done."),
        )

    first = calls_key(run("I look.", "c1", "page one", query="x", k=5), "42")
    tools = ({"type": "function", "function": {"name": "search", "parameters": {"properties": {"k": {"default": 5}}}}},)
    left_out, given = (run("I look.", "c1", "page one", query="x", **more) for more in ({}, {"k": 5}))
    assert calls_key(left_out, "42") != first == calls_key(left_out, "42", tools) == calls_key(given, "42", tools)
    assert first == calls_key(run("Let me see.", "c9", "page two", k=5, query="x"), "42")  # type: ignore[arg-type]
    assert first != calls_key(run("I look.", "c1", "page one", query="x", k=6), "42")  # type: ignore[arg-type]
    assert first != calls_key(run("I look.", "c1", "page one", query="x", k=5), "43")  # type: ignore[arg-type]
    code = CodeAction(language="python", content="1+1")
    assert calls_key((code,), None) not in (None, calls_key((code, code), None))
    assert calls_key((MessageAction(content="42"),), "42") is None
