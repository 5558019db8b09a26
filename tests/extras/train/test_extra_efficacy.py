"""The tiny decoder learns, draws the same with and without its cache, and resumes after a kill."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra train is not installed")

import torch
from efficacy_lab.checkpoints import Trained, load_trained, save_trained
from efficacy_lab.model import Weights, fresh, hidden_states, logits
from efficacy_lab.optimizer import orthogonal
from efficacy_lab.rows import Action, Encoded, Step, call, encoded
from efficacy_lab.sampling import Prefixes, Wanted, draw, draw_uncached
from efficacy_lab.sizes import DecoderConfig, TrainConfig
from efficacy_lab.training import PairBatch, log_probabilities, train_pairs, train_rows, turn_scores
from efficacy_lab.words import AGENT, Conversation, Vocabulary, WordsConfig

from synth.errors import InputError

pytestmark = pytest.mark.extras

DECODER = DecoderConfig(layers=2, dim=32, heads=2, context=96)
TOWNS = ("Mirova", "Chirdestan", "Fennmore", "Dzidovo")


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def question(number: int) -> str:
    return f"Where was Person{number} born, please?"


def steps(number: int) -> tuple[Step, ...]:
    town, name = TOWNS[number % 4], f"Person{number}"
    return (Step(call("look", name=name), f"- {name}, born_in: {town}\n- {name}, died_in: {TOWNS[number % 3]}"),)


def answered(number: int, town: int, first: int = 0) -> Encoded:
    return encoded(TABLES, question(number), steps(number), Action(None, TOWNS[town % 4]), first)


VOCABULARY = Vocabulary.learn(
    [[question(number), *(one.observation for one in steps(number)), 'look{"name":"x"}'] for number in range(20)],
    WordsConfig(share=0.2, merges=30, merge_count=5, slots=16),
)
TABLES = VOCABULARY.tables()
ENCODED = [answered(number, number) for number in range(20)]
START = fresh(DECODER, VOCABULARY.size, 3)
QUICK = TrainConfig(steps=120, batch=10, rate=5e-3)


@pytest.fixture(scope="module")
def trained() -> Weights:
    return train_rows(START, DECODER, ENCODED, VOCABULARY.slot_ids, QUICK, seed=5)


def same(a: Weights, b: Weights) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


def tensors(encoded: Encoded) -> tuple[Any, Any]:
    return torch.from_numpy(encoded.ids.astype(np.int64))[None], torch.from_numpy(encoded.targets)[None]


def wanted(number: int, sample: str, heat: float) -> Wanted:
    conversation = Conversation(TABLES, question(number))
    ids = conversation.ids(question(number))
    return Wanted((1, *ids, 5, AGENT), conversation.used, sample, most=12, temperature=heat)


def right(weights: Weights, decoder: DecoderConfig) -> float:
    """Share of the targets that come first."""
    hits = []
    for one in ENCODED:
        ids, targets = tensors(one)
        hidden, _ = hidden_states(weights, decoder, ids[:, :-1])
        found = logits(weights, hidden).argmax(-1)
        hits += (found[targets[:, 1:]] == ids[:, 1:][targets[:, 1:]]).tolist()
    return sum(hits) / len(hits)


def test_two_layers_learn_twenty_rows_by_heart(trained: Weights) -> None:
    assert right(trained, DECODER) == 1.0


@pytest.mark.parametrize("weights", ["trained", "fresh"])
def test_the_cache_changes_no_draw(trained: Weights, weights: str) -> None:
    """Fresh weights draw long turns of nonsense; trained ones the turns that were learned."""
    model = trained if weights == "trained" else START
    # (Of "sample 5" a draw falls within 3e-9 of a border, and the last digit of a sum decides.)
    asked = [wanted(number, f"draw {number}", heat) for number in range(12) for heat in (0.0, 1.0)]
    together = draw(model, DECODER, VOCABULARY.first_slot, asked, chunk=8)
    assert together == [draw_uncached(model, DECODER, VOCABULARY.first_slot, one) for one in asked]
    assert together == [draw(model, DECODER, VOCABULARY.first_slot, [one])[0] for one in asked]
    used = {one for drawn, ask in zip(together, asked, strict=True) for one in drawn.ids if one not in ask.slots}
    assert not used & set(VOCABULARY.slot_ids)


def test_what_is_known_of_a_prompt_changes_no_draw(trained: Weights) -> None:
    """Prompts that go on from known ones, that are known whole, and a new one that is longer than what they add."""
    first = [wanted(number, f"draw {number}", 1.0) for number in range(6)]
    longer = [
        Wanted((*one.prompt, *range(7, 10 + number), AGENT), one.slots, f"next {number}", most=12)
        for number, one in enumerate(first)
    ]
    new = Wanted((1, *range(7, 29), *range(7, 29), 5, AGENT), frozenset(), "new", most=12)
    rounds = [first, [*longer[:3], new], [*first, *longer, new]]
    for most in (64, 3, 0):
        prefixes = Prefixes(most, room=0)
        for asked in rounds:
            drawn = draw(trained, DECODER, VOCABULARY.first_slot, asked, prefixes=prefixes)
            assert drawn == [draw_uncached(trained, DECODER, VOCABULARY.first_slot, one) for one in asked]
        whole = [one for one in rounds[-1] if prefixes.longest(one.prompt)[0] == len(one.prompt) - 1]
        assert len(whole) == min(most, len(rounds[-1]))
    prefixes = Prefixes(3)
    draw(trained, DECODER, VOCABULARY.first_slot, rounds[-1], prefixes=prefixes)
    assert prefixes.longest(new.prompt)[0] == len(new.prompt) - 1, "there is room for more than three"


def test_other_samples_are_other_draws() -> None:
    asked = [wanted(0, f"sample {number}", 1.0) for number in range(8)]
    assert len({one.ids for one in draw(START, DECODER, VOCABULARY.first_slot, asked)}) > 4


def test_a_prompt_that_fills_the_context_is_refused() -> None:
    long = Wanted(tuple([AGENT] * DECODER.context), frozenset(), "s")
    with pytest.raises(ValueError, match="context"):
        draw(START, DECODER, VOCABULARY.first_slot, [long])


def test_dpo_raises_the_margin_and_the_anchor_holds_the_rest(trained: Weights) -> None:
    right = [answered(number, number, 1) for number in range(20)]
    wrong = [answered(number, 3 - number % 4, 1) for number in range(20)]

    def margin(weights: Weights) -> float:
        gaps = [
            log_probabilities(weights, DECODER, *tensors(good)) - log_probabilities(weights, DECODER, *tensors(bad))
            for good, bad in zip(right, wrong, strict=True)
        ]
        assert turn_scores(weights, DECODER, right) == pytest.approx(
            [float(log_probabilities(weights, DECODER, *tensors(one))) for one in right], abs=1e-4
        )
        return float(torch.cat(gaps).mean())

    half = train_rows(START, DECODER, ENCODED, VOCABULARY.slot_ids, QUICK.model_copy(update={"steps": 40}), seed=5)
    config = TrainConfig(steps=15, batch=10, rate=5e-4, shape="constant")
    pairs = PairBatch(tuple(right), tuple(wrong))
    after = train_pairs(half, DECODER, pairs, ENCODED, VOCABULARY.slot_ids, config, seed=5)
    assert margin(after) > margin(half) + 0.5
    alone = train_pairs(half, DECODER, pairs, (), VOCABULARY.slot_ids, config, seed=5)
    assert margin(alone) > margin(half) + 0.5
    assert not same(alone, after)


@pytest.mark.parametrize("shape", [(24, 96), (96, 24), (32, 32)])
def test_muon_moves_all_directions_alike(shape: tuple[int, int]) -> None:
    matrix = torch.from_numpy(np.random.default_rng(3).normal(size=shape)).float()
    found = orthogonal(matrix)
    before, after = (torch.linalg.svdvals(one) for one in (matrix, found))
    assert before.max() / before.min() > 2.5
    assert after.min() > 0.6
    assert after.max() < 1.3
    left, _, right = torch.linalg.svd(matrix, full_matrices=False)
    turned = left.T @ found @ right.T
    assert torch.allclose(turned, torch.diag(turned.diag()), atol=1e-3), "the directions are those of the matrix"


_SCRIPT = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = sys.argv[1], str(Path(sys.argv[1]).parents[1])
import torch
torch.set_num_threads(1)
import test_extra_efficacy as t
def told(step, loss):
    if step == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
config = t.QUICK.model_copy(update={"steps": 20, "every": 4, "matrix_rate": 0.02})
file = Path(sys.argv[2]) / "state.pt"
slots = t.VOCABULARY.slot_ids
weights = t.train_rows(t.START, t.DECODER, t.ENCODED, slots, config, seed=5, checkpoint=file, told=told)
t.save_trained(Path(sys.argv[2]) / "done", t.Trained(t.DECODER, t.VOCABULARY, weights))
"""


def test_a_killed_training_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    for step in (6, 13, 10_000):
        done = subprocess.run([sys.executable, "-c", _SCRIPT, str(Path(__file__).parent), str(tmp_path), str(step)])
        assert done.returncode == (-9 if step < 10_000 else 0)
    config = QUICK.model_copy(update={"steps": 20, "matrix_rate": 0.02})
    undisturbed = train_rows(START, DECODER, ENCODED, VOCABULARY.slot_ids, config, seed=5)
    assert same(load_trained(tmp_path / "done").weights, undisturbed)


def test_a_checkpoint_of_another_training_is_not_used(tmp_path: Path) -> None:
    config = QUICK.model_copy(update={"steps": 6, "every": 2})
    file = tmp_path / "state.pt"
    train_rows(START, DECODER, ENCODED, VOCABULARY.slot_ids, config, seed=1, checkpoint=file)
    assert file.is_file()
    other = train_rows(START, DECODER, ENCODED, VOCABULARY.slot_ids, config, seed=2, checkpoint=file)
    assert same(other, train_rows(START, DECODER, ENCODED, VOCABULARY.slot_ids, config, seed=2))


def test_a_damaged_model_is_no_model(tmp_path: Path) -> None:
    save_trained(tmp_path / "one", Trained(DECODER, VOCABULARY, START))
    assert same(load_trained(tmp_path / "one").weights, START)
    save_trained(tmp_path / "two", Trained(DECODER, VOCABULARY, fresh(DECODER, VOCABULARY.size, 4)))
    (tmp_path / "one" / "weights.pt").write_bytes((tmp_path / "two" / "weights.pt").read_bytes())
    with pytest.raises(InputError, match="not those"):
        load_trained(tmp_path / "one")
    with pytest.raises(InputError, match="no trained model"):
        load_trained(tmp_path / "none")
