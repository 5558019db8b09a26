"""Noisy search: the share follows the schedule, the same question gives the same results, snapshots are exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from synth.agents.contract import Prompt, Step, Turn
from synth.agents.loop import Rollout
from synth.agents.trajectory import history_of, to_row
from synth.environments.contract import ToolCall
from synth.environments.search import SearchEnvironment
from synth.retrieval.noise import Noise, noisy
from synth.schemas.tasks import Task
from synth.schemas.trajectories import StopReason
from synth.testing.corpus import PROVENANCE, ListTable, WordIndex, small_documents, small_tasks
from synth.testing.environments import EnvironmentContract

_FILLER = [
    document.model_copy(update={"id": f"filler-{number}", "links": (), "title": f"Filler {number}"})
    for number in range(60)
    for document in small_documents()[:1]
]


def make(noise: Noise | None) -> SearchEnvironment:
    documents = [*small_documents(), *_FILLER]
    return SearchEnvironment(WordIndex(documents), ListTable(documents), page_size=120, noise=noise)


class TestNoisySearchEnvironment(EnvironmentContract):
    """Whatever holds for a search environment holds for a noisy one."""

    def environment(self) -> SearchEnvironment:
        return make(Noise(start=0.5, end=0.5))

    def tasks(self) -> Sequence[Task]:
        return small_tasks()

    def examples(self) -> dict[str, Sequence[Any]]:
        return {"query": ["Arvel Torrin", "engineer", "founded"], "document": ["arvel-torrin", "nowhere"]}


@dataclass(frozen=True)
class _Hit:
    document: int


def _search(query: str, k: int) -> list[_Hit]:
    return [_Hit(row) for row in range(min(k, 80))]


@given(share=st.floats(0, 1), k=st.integers(1, 20), query=st.text(max_size=8), gold=st.frozensets(st.integers(0, 79)))
def test_results_are_replaced_from_behind_and_never_by_gold(
    share: float, k: int, query: str, gold: frozenset[int]
) -> None:
    def ask(count: int) -> list[int]:
        hits = noisy(_search, query, count, share=share, seed=1, task="t", without=gold)
        return [hit.document for hit in hits]

    found = ask(k)
    assert found == ask(k)
    assert found == ask(20)[:k]  # asking for more keeps what was shown
    assert len(set(found)) == len(found) == k
    for place, row in enumerate(found):
        assert row == place or (20 <= row < 60 and row not in gold)


def test_the_share_of_noise_is_the_share_that_was_asked_for() -> None:
    for share in (0.0, 0.25, 0.75, 1.0):
        replaced = [
            hit.document != place
            for number in range(400)
            for place, hit in enumerate(noisy(_search, str(number), 5, share=share, seed=3, task="t", without=()))
        ]
        spread = 3 * (share * (1 - share) / len(replaced)) ** 0.5
        assert abs(sum(replaced) / len(replaced) - share) <= spread


def test_without_pages_behind_results_stay() -> None:
    few = [_Hit(row) for row in range(7)]
    assert noisy(lambda query, k: few[:k], "q", 5, share=1.0, seed=0, task="t", without=()) == few[:5]


def test_the_schedule_is_that_of_zerosearch() -> None:
    noise = Noise(start=0.1, end=0.7, over=100, base=4)
    assert noise.share(index=0, hops=9) == pytest.approx(0.1)
    assert noise.share(index=50, hops=0) == pytest.approx(0.1 + (4**0.5 - 1) / 3 * 0.6)
    assert noise.share(index=100, hops=0) == noise.share(index=10_000, hops=0) == pytest.approx(0.7)
    even = Noise(start=0.0, end=0.8, by="hops", over=8, base=1)
    assert [even.share(index=99, hops=hops) for hops in (0, 2, 8)] == pytest.approx([0.0, 0.2, 0.8])
    shares = [noise.share(index=index, hops=0) for index in range(120)]
    assert shares == sorted(shares)
    with pytest.raises(ValidationError, match=r"noise\.end is less than noise\.start"):
        Noise(start=0.5, end=0.1)


def test_snapshots_of_another_noise_are_refused() -> None:
    task = small_tasks()[0]
    loud, quiet = make(Noise(start=0.5, end=0.5)), make(None)
    saved = loud.reset(task).snapshot()
    with pytest.raises(ValueError, match="noise"):
        quiet.reset(task).restore(saved)
    with pytest.raises(ValueError, match="noise"):
        loud.reset(task).restore(quiet.reset(task).snapshot())


def test_a_run_records_how_noisy_its_searches_were() -> None:
    task = small_tasks()[0]
    for noise, wanted in ((Noise(start=0.25, end=0.25), {"environment": {"noise_share": 0.25}}), (None, {})):
        environment = make(noise)
        episode = environment.reset(task)
        call = ToolCall(id="call_0_0", name="search", arguments={"query": "Arvel Torrin"})
        steps = (
            Step(turn=Turn(thought="Look.", calls=(call,)), results=(episode.step(call),)),
            Step(turn=Turn(answer="Mosk")),
        )
        prompt = Prompt(system="s", question=task.question, tools=environment.tools())
        done = Rollout(task, prompt, steps, StopReason.ANSWERED, episode.check("Mosk"))
        row = to_row(done, environment, role="policy", number=0, privileged=False, provenance=PROVENANCE)
        assert row.details == wanted
        assert history_of(row) == (prompt, steps)
