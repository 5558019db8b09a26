"""Verdicts against those of people: ``python tests/benchmarks/bench_verdicts.py NQ.json TQ.json [--numbers odd]``.

The files are EVOUNA's (arXiv 2305.12421): questions, gold answers parted by "/", and answers of five systems that
people judged. FiD answers in a few words, the four chat models in sentences. What a rule leaves open counts in neither
precision. The rules were mended on the questions of even numbers; those of odd numbers had no part in it.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path

from synth.environments.answers import check_task
from synth.testing.corpus import small_tasks

SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")


def told(file: Path, numbers: str) -> dict[str, Counter[tuple[bool | None, bool]]]:
    """System -> how often (ours, people's)."""
    found: dict[str, Counter[tuple[bool | None, bool]]] = defaultdict(Counter)
    for number, value in enumerate(json.loads(file.read_text("utf-8"))):
        golds = [gold.strip() for gold in (value["golden_answer"] or "").split("/") if gold.strip()]
        if value["improper"] or not golds or (numbers != "all" and (number % 2 == 1) != (numbers == "odd")):
            continue
        more = {"answer": golds[0], "answer_aliases": tuple(golds[1:]), "answer_kind": "text", "answer_parts": ()}
        task = small_tasks()[0].model_copy(update={"question": f"{value['question']}?", **more})
        for system in SYSTEMS:
            answer, people = value.get(f"answer_{system}"), value.get(f"judge_{system}")
            if answer is not None and people is not None:
                found[system][check_task(task, answer).correct, people] += 1
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--numbers", choices=("all", "odd", "even"), default="all")
    given = parser.parse_args()
    for file in given.files:
        systems = told(file, given.numbers)
        for name, counts in {**systems, "all": sum(systems.values(), Counter())}.items():
            right, wrong = (counts[ours, True] + counts[ours, False] for ours in (True, False))
            shares = f"right {counts[True, True] / right:.3f} of {right:>5}  wrong {counts[False, False] / wrong:.3f}"
            print(f"{file.stem:<4}{name:<9}{counts.total():>6} answers  {shares} of {wrong:>5}")


if __name__ == "__main__":
    main()
