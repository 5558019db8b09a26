"""Documents, runs and pairs as corpora: which rows are the same, and which of them represents the others."""

from __future__ import annotations

from typing import Any

import pytest

from synth.filtering.dedup import Rules, TaskRules, find_duplicates
from synth.filtering.dedup.estimate import filter_bytes, table_bytes
from synth.filtering.dedup.levels import DOCUMENTS, PAIRS, RUNS, agent_text
from synth.schemas.adp import ApiAction, CodeAction, MessageAction, TextObservation
from synth.schemas.documents import Document
from synth.schemas.preferences import PreferenceRow
from synth.schemas.trajectories import TrajectoryRow

PAGE = "The page says many things that no run wrote, and says them to every run that opens it. " * 20


def _run(query: str, thought: str = "I look for it.", said: str = "Tarnvale") -> tuple[Any, ...]:
    return (
        TextObservation(content="Which city has the mill?", source="user"),
        ApiAction(function="search", kwargs={"query": query}, tool_call_id="c1", reasoning_content=thought),
        TextObservation(content=PAGE, source="environment", tool_call_id="c1"),
        MessageAction(content=said),
    )


def _row(name: str, content: tuple[Any, ...], **more: Any) -> TrajectoryRow:
    base = {
        "task_id": "t",
        "answer": content[-1].content,
        "success": True,
        "retry_of": None,
        "turns": 2,
        "tool_calls": 1,
        "split": "train",
    }
    return TrajectoryRow.model_construct(id=name, content=content, tool_schemas=(), **{**base, **more})


def _clusters(found: Any) -> dict[str, tuple[str, ...]]:
    return {found.ids[best]: tuple(found.ids[row] for row in rows) for best, rows in found.clusters().members().items()}


def test_runs_are_compared_by_what_they_do_and_the_best_represents_them() -> None:
    rows = [
        _row("a", _run("mill", "First I want to see who has ever owned such a mill."), success=False),
        _row("b", _run("mill", "Perhaps a search tells me what town this is about.")),
        _row("c", _run("mill", "Something wholly different goes through my head now."), retry_of="a"),
        _row("d", _run("tower of the old guild"), task_id="other"),
        _row("e", _run("mill", "First I want to see who has ever owned such a mill."), task_id="other"),
    ]
    found = find_duplicates(RUNS.corpus(rows), Rules(near=0.9))
    assert _clusters(found) == {"b": ("a", "b", "c", "e")}
    assert {pair.kind for pair in found.pairs} == {"exact", "structural"}
    assert PAGE not in agent_text(rows[0].content)
    assert "who has ever owned" in agent_text(rows[0].content)
    assert agent_text((CodeAction(language="python", content="1 + 1"),)) == "1 + 1"


def test_pairs_and_documents_have_representatives_too() -> None:
    def pair(name: str, wrong: str, selected: bool, prompt: int = 1) -> PreferenceRow:
        run = _run("mill")
        chosen, rejected = (run[1],), (MessageAction(content=wrong),)
        parts = {"prompt": run[:1] * prompt, "chosen": chosen, "rejected": rejected, "split": "train"}
        return PreferenceRow.model_construct(
            id=name, task_id="t", selected=selected, strength=None, tool_schemas=(), **parts
        )

    rows = [pair("a", "Senn", False), pair("b", "Senn", True), pair("c", "Obrusk", True)]
    assert _clusters(find_duplicates(PAIRS.corpus(rows), Rules(near=None))) == {"b": ("a", "b")}
    pages = [
        Document.model_construct(id=name, title="Mill", text=text)
        for name, text in (
            ("a", "A mill stands by the river."),
            ("b", "A mill, stands by the river…  "),
            ("c", "A tower."),
        )
    ]
    assert _clusters(find_duplicates(DOCUMENTS.corpus(pages), Rules())) == {"b": ("a", "b")}


def test_predictions_grow_with_what_is_asked_for() -> None:
    plain, written = filter_bytes(10_000_000, TaskRules())
    assert plain < 0.5e9
    assert 2e9 < written < 10e9
    assert filter_bytes(30_000, TaskRules())[1] == 0
    assert filter_bytes(10_000_000, TaskRules(near=None, cluster=None)) < (plain, written)
    assert filter_bytes(10_000_000, TaskRules(semantic=0.95))[1] > written + 10_000_000 * 4 * 384
    memory, disk = table_bytes(10_000_000, Rules(near=None, semantic=0.95, index="faiss-ivf"))
    assert memory > 10_000_000 * 4 * 384
    assert disk > 0
    assert table_bytes(10_000_000, Rules(near=None, semantic=0.95))[1] > 10_000_000 * 4 * 384
    # Measured at 10^6 rows (``bench_dedup.py predict``): with half as many pairs as rows; with signatures.
    runs = table_bytes(1_000_000, Rules(near=None), share=0.5)[0]
    pages = table_bytes(1_000_000, Rules(structural=False), share=0.125)[0]
    assert runs == pytest.approx(465e6, rel=0.2)
    assert pages == pytest.approx(639e6, rel=0.2)
    # Measured with an eighth as many pairs as rows (``bench_dedup.py predict --rows 120000``).
    near, exact = (table_bytes(120_000, Rules(structural=False, near=least), share=0.125)[0] for least in (0.8, None))
    assert near == pytest.approx(108e6, rel=0.2)
    assert exact == pytest.approx(61.0e6, rel=0.2)


def test_predictions_of_cells_hold_where_nothing_is_near_anything() -> None:
    rules = Rules(near=None, structural=False, semantic=0.95)
    # Measured with 1.2 * 10^5 vectors of 256 numbers drawn without any order.
    assert table_bytes(120_000, rules, dim=256, share=0)[0] == pytest.approx(446e6, rel=0.2)
    few = table_bytes(20_000, rules, dim=256, share=0)[0]
    assert few == table_bytes(20_000, rules.model_copy(update={"index": "exact"}), dim=256, share=0)[0] < 60e6
    # Measured at 10^6 with a quarter as many pairs as rows (``bench_dedup.py predict --only vectors``).
    assert table_bytes(1_000_000, rules, dim=256, share=0.25)[0] == pytest.approx(1180e6, rel=0.2)
