"""Decontamination: what is found of planted overlaps, and what is taken for one where there is none.

    python tests/benchmarks/bench_decontaminate.py               two worlds, 300 questions each
    python tests/benchmarks/bench_decontaminate.py --tasks 1000

The benchmark are the questions of one fictional world. Looked at are the same questions, changed in one way each
(recall), and the questions of a second world of another seed (false positives). Both worlds word their questions by one
grammar and share no entity: texts of other authors are less alike than these, so the rate is an upper bound for them.
Last, the time to look at one question among 10^4 and 10^6 known ones.

Found with 200 questions of each world (13 words, numbers masked): verbatim, other case, other numbers and within a
prompt 1.0, other punctuation 0.99, a word gone 0.72, other order 0, false positives 0.010 (8 words: 0.165). With
vectors of the hashed encoder from 0.9 on: other punctuation 1.0, a word gone 0.985, other order 1.0, false positives
0.010.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import synth
from synth.filtering.decontamination.benchmarks import Benchmarks, Item
from synth.filtering.decontamination.config import Rules
from synth.identity import derive_generator

LEAN = {
    "critical": None,
    "preferences": None,
    "distractors": None,
    "contexts": None,
    "difficulty": None,
    "rl": False,
    "roles": {"policy": {"rollouts": 1}},
    "limits.max_turns": 1,
}


def questions(folder: Path, seed: int, tasks: int) -> list[str]:
    settings = {**LEAN, "seed": seed, "source.seed": seed}
    built = synth.build("world-search", tasks=tasks, out=folder / str(seed), store=folder / "store", settings=settings)
    return [task.question for task in synth.load(built.path).rows("tasks")]


def one_word_gone(text: str, draw: np.random.Generator) -> str:
    words = text.split()
    del words[int(draw.integers(len(words)))]
    return " ".join(words)


def other_order(text: str, draw: np.random.Generator) -> str:
    return " ".join(draw.permutation(text.split()).tolist())


CHANGES: dict[str, Callable[[str, np.random.Generator], str]] = {
    "verbatim": lambda text, draw: text,
    "other case": lambda text, draw: text.upper(),
    "other punctuation": lambda text, draw: ", ".join(re.findall(r"\w+", text)) + "...",
    "other numbers": lambda text, draw: re.sub(r"\d", lambda _: str(draw.integers(1, 10)), text),
    "within a prompt": lambda text, draw: f"You are a helpful agent. Answer in one word. {text} Think first.",
    "a word gone": one_word_gone,
    "other order": other_order,
}


def rates(known: list[str], others: list[str], rules: Rules) -> dict[str, float]:
    screen = Benchmarks([Item("known", number, (text,)) for number, text in enumerate(known, 1)], rules)
    draw = derive_generator(0, "decontaminate")

    def hit(text: str) -> bool:
        found = screen.overlap(text)
        return found is not None or screen.alike(text) is not None

    found = {name: float(np.mean([hit(change(text, draw)) for text in known])) for name, change in CHANGES.items()}
    return {**found, "FALSE POSITIVES": float(np.mean([hit(text) for text in others]))}


def microseconds(count: int) -> float:
    draw = derive_generator(1, "words")
    # No digits: numbers are masked, and all words would be one.
    vocabulary = np.array(["".join(chr(97 + int(digit)) for digit in f"{number:05}") for number in range(30_000)])
    texts = [" ".join(row) for row in vocabulary[draw.integers(0, 30_000, (count, 20))]]
    screen = Benchmarks([Item("known", number, (text,)) for number, text in enumerate(texts, 1)], Rules())
    asked = [" ".join(row) for row in vocabulary[draw.integers(0, 30_000, (1_000, 20))]]
    cpu = time.process_time()
    for text in asked:
        screen.overlap(text)
    return (time.process_time() - cpu) / len(asked) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=300)
    parser.add_argument("--largest", type=int, default=1_000_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        known, others = (questions(Path(folder), seed, given.tasks) for seed in (7, 8))
    long = [text for text in known if len(text.split()) >= Rules().shortest]
    print(json.dumps({"questions": len(known), "of 8 words or more": len(long), "others": len(others)}))
    variants = {
        "13 words, numbers masked": Rules(),
        "13 words, numbers told apart": Rules(mask_numbers=False),
        "8 words": Rules(ngram=8),
        "13 words or vectors (hashed, 0.9)": Rules(similarity=0.9),
        "13 words or vectors (hashed, 0.8)": Rules(similarity=0.8),
    }
    for name, rules in variants.items():
        print(
            json.dumps({name: {what: round(rate, 3) for what, rate in rates(long, others, rules).items()}}), flush=True
        )
    for count in (10_000, given.largest):
        print(json.dumps({"known": count, "us_per_question": round(microseconds(count), 1)}), flush=True)


if __name__ == "__main__":
    main()
