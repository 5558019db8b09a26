"""How hard pages of tier 1 are for the scripted policy, beside random ones and tier 2: success side by side.

    python tests/benchmarks/bench_tiers.py --tasks 700 --folder FOLDER [--parts swapped promoted placed closed]

Tier 1 is what runs opened and did not need, tier 2 what searches returned and no run opened (``distractors``). Both are
collected from runs of their own over the whole collection and never from those that are measured. Pages of the walk
belong to neither.

``swapped``   Where a page of the tier stands among the results of a search, a random page stands in its place; the
              ranks of all others stay. Every page of tier 1; then as many pages of either tier, so that a page is
              compared with a page.
``promoted``  Up to three pages of the tier that the query ranks among its best 60 come to ranks 2 to 4; or random ones
              come there, and the pages of the tier are taken out.
``placed``    Two pages of the tier stand at ranks 2 and 3 of every search, whatever it is for; or two random ones.
``closed``    A collection per task: the pages of its walk and n of the tier, or n random ones.

Every condition uses the same tasks and the same random numbers, so differences are paired: intervals are bootstrapped
over tasks. ``--skill 1`` leaves the policy no error that is drawn: misreadings are left, and taking the first date.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from bench_distractors import Pages, built, difference, environment, rate, run, successes, with_density

from synth.annotate.contexts.admit import Admission, PageWords
from synth.annotate.distractors.retrieved import retrieved_pages, walk_pages
from synth.environments.search import SearchEnvironment
from synth.identity import derive_generator
from synth.retrieval.bm25 import Hit
from synth.retrieval.retrievers import FoundDocument
from synth.schemas.tasks import Task

COLLECT = 3
"""Runs of the policy that the tiers are collected from, beside one of the teacher."""
DEPTH, PROMOTED, PLACED, CLOSED = 60, 3, 2, 4

Values = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """A task and its pages, as row numbers; those that most runs met come first."""

    task: Task
    one: tuple[int, ...]
    two: tuple[int, ...]
    random: tuple[int, ...]
    """Of no tier, as many as both tiers have."""
    fitting: tuple[int, ...]
    """Those of tier 1 that a closed collection may hold."""


@dataclass(frozen=True)
class Ranking:
    """A search index for one task: the results of another one, rearranged."""

    index: Any
    arrange: Callable[[Sequence[FoundDocument]], Sequence[FoundDocument]]

    def search(self, query: str, k: int) -> Sequence[FoundDocument]:
        return self.arrange(self.index.search(query, DEPTH))[:k]

    def weight(self, word: str) -> float:
        return float(self.index.weight(word))


class Bench:
    def __init__(self, table: pa.Table, tasks: Sequence[Task], samples: int, options: Mapping[str, Any]) -> None:
        self.table, self.samples, self.options = table, samples, options
        self.whole = environment(table)
        self.ids: list[str] = table["id"].to_pylist()
        self.rows = {name: row for row, name in enumerate(self.ids)}
        self.pages = Pages(table)
        self.cases = [case for case in map(self._case, tasks) if case is not None]

    def _case(self, task: Task) -> Case | None:
        roles = [("policy", number) for number in range(COLLECT)] + [("teacher", 0)]
        runs = [
            run(task, self.whole, role, number, names="collect", options=self.options)  # type: ignore[arg-type]
            for role, number in roles
        ]
        needed = walk_pages(task)
        met = sorted(retrieved_pages(runs, needed), key=lambda page: -page.runs)
        one, two = ([self.rows[page.document_id] for page in met if page.tier == tier] for tier in (1, 2))
        if not one:
            return None
        taken = {*one, *two, *(self.rows[name] for name in needed)}
        order = derive_generator(1, "random pages", task.id).permutation(len(self.ids)).tolist()
        fits = self._fits(task)
        random = [row for row in order[: 3 * len(taken) + 50] if row not in taken and fits(row)]
        fitting = [row for row in one if fits(row)]
        return Case(task, tuple(one), tuple(two), tuple(random[: len(one) + len(two)]), tuple(fitting))

    def _fits(self, task: Task) -> Callable[[int], bool]:
        admission = Admission(task)
        return lambda row: admission.refusal(self.ids[row], PageWords(self.pages.row(row))) is None

    def measure(self, cases: Sequence[Case], arrange: Callable[[Case], Any] | None) -> Values:
        """(tasks, samples) of 0 and 1; ``arrange`` gives what rearranges results, None leaves them."""
        by_id = {case.task.id: case for case in cases}

        def where(task: Task) -> SearchEnvironment:
            if arrange is None:
                return self.whole
            return SearchEnvironment(Ranking(self.whole.index, arrange(by_id[task.id])), self.pages)

        return successes([case.task for case in cases], where, "policy", self.samples, options=self.options)

    # The parts.

    def swapped(self) -> dict[str, Any]:
        equal = [min(len(case.one), len(case.two)) for case in self.cases]
        some = dict(zip((case.task.id for case in self.cases), equal, strict=True))
        return self._table(
            self.cases,
            {
                "all as found": None,
                "random for tier 1": lambda case: swap(case.one, case.random),
                "random for n of tier 1": lambda case: swap(case.one[: some[case.task.id]], case.random),
                "random for n of tier 2": lambda case: swap(case.two[: some[case.task.id]], case.random),
            },
            [
                ("all as found", "random for tier 1"),
                ("all as found", "random for n of tier 1"),
                ("all as found", "random for n of tier 2"),
                ("random for n of tier 2", "random for n of tier 1"),
            ],
            {
                "pages of tier 1": mean(len(case.one) for case in self.cases),
                "pages of tier 2": mean(len(case.two) for case in self.cases),
                "n": mean(equal),
            },
        )

    def promoted(self) -> dict[str, Any]:
        return self._table(
            self.cases,
            {
                "all as found": None,
                "tier 1": lambda case: promote(case.one, None),
                "random for tier 1": lambda case: promote(case.one, case.random),
                "tier 2": lambda case: promote(case.two, None),
                "random for tier 2": lambda case: promote(case.two, case.random),
            },
            [("tier 1", "random for tier 1"), ("tier 2", "random for tier 2"), ("tier 1", "tier 2")],
            {},
        )

    def placed(self) -> dict[str, Any]:
        cases = [case for case in self.cases if case.fitting]
        return self._table(
            cases,
            {
                "all as found": None,
                "random": lambda case: place(case.random[: len(case.fitting[:PLACED])]),
                "tier 2": lambda case: place(case.two[: len(case.fitting[:PLACED])]),
                "tier 1": lambda case: place(case.fitting[:PLACED]),
            },
            [("tier 1", "random"), ("tier 1", "tier 2"), ("random", "all as found")],
            {"pages": mean(len(case.fitting[:PLACED]) for case in cases)},
        )

    def closed(self) -> dict[str, Any]:
        cases = [case for case in self.cases if case.fitting]
        found = {}
        for name in ("none", "random", "tier 1"):
            where: dict[str, SearchEnvironment] = {}
            for case in cases:
                first = case.fitting[:CLOSED]
                more = {"none": (), "random": case.random[: len(first)], "tier 1": first}[name]
                rows = {*more, *(self.rows[page] for page in walk_pages(case.task))}
                where[case.task.id] = environment(self.table.take(sorted(rows)))
            tasks = [case.task for case in cases]
            found[name] = successes(tasks, partial(_of_task, where), "policy", self.samples, options=self.options)
            print(f"# {name}: {rate(found[name])}", flush=True)
        about = {"pages": mean(len(case.fitting[:CLOSED]) for case in cases)}
        return summary(cases, found, [("tier 1", "random"), ("random", "none")], about)

    def _table(
        self,
        cases: Sequence[Case],
        conditions: Mapping[str, Callable[[Case], Any] | None],
        pairs: Sequence[tuple[str, str]],
        about: Mapping[str, float],
    ) -> dict[str, Any]:
        found = {}
        for name, arrange in conditions.items():
            found[name] = self.measure(cases, arrange)
            print(f"# {name}: {rate(found[name])}", flush=True)
        return summary(cases, found, pairs, about)


def _of_task(where: Mapping[str, SearchEnvironment], task: Task) -> SearchEnvironment:
    return where[task.id]


def mean(values: Any) -> float:
    return round(float(np.mean(list(values))), 2)


def summary(
    cases: Sequence[Case], found: Mapping[str, Values], pairs: Sequence[tuple[str, str]], about: Mapping[str, float]
) -> dict[str, Any]:
    return {
        "tasks": len(cases),
        **about,
        **{name: rate(values) for name, values in found.items()},
        **{f"{one} - {other}": difference(found[one], found[other]) for one, other in pairs},
    }


def swap(pages: Sequence[int], others: Sequence[int]) -> Callable[[Sequence[FoundDocument]], list[Hit]]:
    """Each of ``pages`` gives its place to one of ``others``."""
    instead = dict(zip(pages, others, strict=False))
    return lambda hits: [Hit(instead.get(int(hit.document), int(hit.document)), hit.score) for hit in hits]


def promote(
    pages: Sequence[int], others: Sequence[int] | None
) -> Callable[[Sequence[FoundDocument]], list[FoundDocument]]:
    """The first of ``pages`` that are among the results come behind the best one, or ``others`` in their stead."""

    def arrange(hits: Sequence[FoundDocument]) -> list[FoundDocument]:
        first = [hit for hit in hits if int(hit.document) in pages][:PROMOTED]
        rest = [hit for hit in hits if hit not in first]
        shown: list[FoundDocument] = list(first)
        if others is not None:
            shown = [Hit(row, hit.score) for row, hit in zip(others, first, strict=False)]
        return [*rest[:1], *shown, *rest[1:]]

    return arrange


def place(pages: Sequence[int]) -> Callable[[Sequence[FoundDocument]], list[FoundDocument]]:
    """``pages`` stand behind the best result, each once."""

    def arrange(hits: Sequence[FoundDocument]) -> list[FoundDocument]:
        rest = [hit for hit in hits if int(hit.document) not in pages]
        return [*rest[:1], *(Hit(row, 0.0) for row in pages), *rest[1:]]

    return arrange


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ("swapped", "promoted", "placed", "closed")
    parser.add_argument("--tasks", type=int, default=700)
    parser.add_argument("--samples", type=int, default=2, help="runs of the policy per task and condition")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--skill", type=float, default=0.5, help="of the policy, also where the tiers are collected")
    parser.add_argument("--set", nargs="*", default=[], help="settings of the recipe, key=JSON")
    parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--folder", type=Path, required=True, help="for the store")
    options = parser.parse_args()
    settings = {key: json.loads(value) for key, value in (item.split("=", 1) for item in options.set)}
    engine = built(options.folder, options.tasks, options.seed, settings)
    tasks = list(engine.table("tasks", "tasks").rows())
    bench = Bench(with_density(engine, 1.0), tasks, options.samples, {"skill": options.skill})
    for part in options.parts:
        print(json.dumps({part: getattr(bench, part)()}, indent=1), flush=True)


if __name__ == "__main__":
    main()
