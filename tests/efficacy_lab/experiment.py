"""One seed of a plan: base, collection, arms. Each finished step is a file: the same command goes on after a kill."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from statistics import fmean
from time import monotonic
from typing import Any

from efficacy_lab.checkpoints import Trained, load_trained, save_trained
from efficacy_lab.collected import Collected, Learned, collected, compose
from efficacy_lab.lazy import torch
from efficacy_lab.listing import ONE_PAGE
from efficacy_lab.model import Weights, count, fresh
from efficacy_lab.plan import Arm, Place, Plan
from efficacy_lab.rows import Action, Encoded, Step, encoded, texts_of
from efficacy_lab.runs import Live, Model, Run, follow, play
from efficacy_lab.search import Correction, Searched, deviations, search
from efficacy_lab.sizes import DecoderConfig
from efficacy_lab.training import PairBatch, train_pairs, train_rows, turn_scores
from efficacy_lab.words import SlotsUsedUp, Tables, Vocabulary
from efficacy_lab.world import Swaps, World, open_world, swapped_relations
from synth.errors import InputError
from synth.identity import derive_generator, digest
from synth.store.files import read_sealed_json, write_file, write_sealed_json

__all__ = ["SeedRun", "run_seed"]

Told = Callable[[str], None]


def run_seed(plan: Plan, seed: int, out: Path, store: Path, told: Told) -> Path:
    """Run a seed of ``plan`` to its end; gives ``OUT/seed-N.json``. One that is finished is not run again.

    Raises:
        InputError: an untouched seed was begun with another plan.
    """
    file = out / f"seed-{seed}.json"
    begun = out / f"seed-{seed}" / "plan.json"
    held = read_sealed_json(begun)
    if held is not None and held["plan"] != plan.key and seed not in plan.seeds.development:
        what = f"seed {seed} was begun with another plan; what is run again after a look is not a test"
        raise InputError(what, where=str(begun), mend="go on with that plan, or name new untouched seeds in a new one")
    if file.is_file() and json.loads(file.read_text())["plan"] == plan.key:
        told(f"seed {seed} is finished: {file}")
        return file
    begun.parent.mkdir(parents=True, exist_ok=True)
    write_sealed_json(begun, {"plan": plan.key})
    write_file(file, (json.dumps(SeedRun(plan, seed, begun.parent, store, told).results(), indent=1) + "\n").encode())
    return file


class SeedRun:
    """One thread, so that sums come out the same everywhere."""

    def __init__(self, plan: Plan, seed: int, folder: Path, store: Path, told: Told) -> None:
        torch.set_num_threads(1)
        self.plan, self.seed, self._folder, self._store, self._told = plan, seed, folder, store, told

    def results(self) -> dict[str, Any]:
        """Everything that the seed shows: of each arm which tasks it solved, at each temperature."""
        # What arms rest on; each of them is told apart by its own key.
        common = self.plan.model_dump(
            mode="json", include={"decoder", "words", "reading", "acting", "recipe", "swapped", "page_size"}
        )
        common |= {"teach": self.plan.places.teach.model_dump(mode="json")}
        base = self._done("base", common, self._base)
        parts = self.plan.model_dump(mode="json", include={"turns", "rollouts", "k"})
        wrong = sorted({arm.wrong for arm in self.plan.arms.values()})
        common |= {**parts, "wrong": wrong, "collect": self.plan.places.collect.model_dump(mode="json")}
        self._done("collected", common, self._collect)
        test = self.plan.places.test.model_dump(mode="json")
        common |= {"test": test, "temperatures": self.plan.temperatures}
        arms = {}
        for name, arm in self.plan.arms.items():
            own = arm.model_dump(mode="json", exclude={"says"})
            config = self.plan.pairs if arm.pairs else self.plan.update
            key = {**common, "arm": own, "train": config.model_dump(mode="json")}
            arms[name] = self._done(f"arm-{name}", key, partial(self._arm, arm))
        routes = [self._test.route(number, self._swaps) for number in range(len(self._test.tasks))]
        gold = [None if route is None else route.answer for route in self._test.gold]
        affected = _bits(
            route is None or route.answer != right or any(leg.page > 1 for leg in route.legs)
            for route, right in zip(routes, gold, strict=True)
        )
        return {"plan": self.plan.key, "seed": self.seed, "affected": affected, "base": base, "arms": arms}

    # -- steps

    def _base(self) -> dict[str, Any]:
        """Learn to read runs that swap relations, then to act as they do."""
        plan, world = self.plan, self._taught
        routes = [world.route(number, self._swaps) for number in range(len(world.tasks))]
        runs = [run for run in self._played(world, follow(routes), "teach") if run.answer is not None]
        vocabulary = Vocabulary.learn([texts_of(*_parts(world, run)) for run in runs], plan.words)
        rows = self._rows(world, runs, vocabulary.tables())
        if 2 * len(rows) < len(world.tasks):
            what = f"{len(rows)} of {len(world.tasks)} taught runs fit into {plan.decoder.context} tokens"
            raise InputError(what, where="decoder.context", mend="give more (decoder.context; words.slots)")
        weights = fresh(plan.decoder, vocabulary.size, self.seed)
        losses: list[float] = []
        for number, config in enumerate((plan.reading, plan.acting)):
            weights = train_rows(
                weights, plan.decoder, rows, vocabulary.slot_ids, config, seed=self.seed + number,
                checkpoint=self._folder / "training.pt", told=lambda step, loss: losses.append(loss),
            )  # fmt: skip
        save_trained(self._folder / "base", Trained(plan.decoder, vocabulary, weights))
        swapped = sum(route is not None and route.swapped for route in routes) / len(routes)
        return {"rows": len(rows), "swapped": swapped, "parameters": count(weights), "loss": fmean(losses[-50:])}

    def _collect(self) -> dict[str, Any]:
        """Let the base act, search half of its failures, ask the expert about the other half."""
        plan, world = self.plan, self._acted
        tasks = range(len(world.tasks))
        searched = len(tasks) // 2 if any(arm.adds == "proposals" for arm in plan.arms.values()) else len(tasks)
        halves = {"searched": tasks[:searched], "other": tasks[searched:]}
        actor = Model(self._trained, 1.0)

        def round_(half: str, number: int) -> list[Run]:
            return list(play([Live(world, task, f"run/{number}") for task in halves[half]], actor, plan.turns))

        runs = {half: [run for number in range(plan.rollouts) for run in round_(half, number)] for half in halves}
        failed = {half: [run for run in some if not run.success] for half, some in runs.items()}
        order = derive_generator(self.seed, "order")
        asked = [failed["other"][place] for place in order.permutation(len(failed["other"]))]
        shown = order.permutation(len(halves["searched"])).tolist()
        searches: dict[float, list[Searched]] = {}
        demonstrations: dict[float, list[Run]] = {}
        proposals: dict[float, list[tuple[Correction | None, int]]] = {}
        for wrong in {0.0, *(arm.wrong for arm in plan.arms.values())}:
            expert = self._expert(wrong)
            searches[wrong] = search(
                world, failed["searched"], expert, actor, k=plan.k, turns=plan.turns, name=f"search/{wrong}",
                answers=plan.page_size is not None,
            )  # fmt: skip
            routes = [world.route(number, expert) for number in tasks]
            demonstrations[wrong] = list(play([Live(world, task, "") for task in shown], follow(routes), plan.turns))
            proposals[wrong] = [
                next(deviations(world, run, expert, answers=plan.page_size is not None)) for run in asked
            ]
            self._told(
                f"  expert wrong in {wrong}: {sum(one.verified is not None for one in searches[wrong])} verified"
            )
        found = Collected(runs, {"searched": [], "other": []}, searches, demonstrations, proposals)
        for half, further in found.further.items():
            some = (arm for arm in plan.arms.values() if (arm.adds == "proposals") is (half == "other"))
            most = max(map(found.budget, some), default=0)
            number = plan.rollouts
            while sum(run.calls for run in [*runs[half], *further]) < most:
                further += round_(half, number)
                number += 1
        return asdict(found)

    def _arm(self, arm: Arm) -> dict[str, Any]:
        """Train an arm from the base and test it."""
        begun, plan, trained = monotonic(), self.plan, self._trained
        figures: dict[str, Any] = {}
        if arm.own:
            learned = compose(arm, self._collected)
            figures = {"policy": learned.policy, "expert": learned.expert}
            weights = self._learn(arm, learned, figures)
            trained = Trained(trained.decoder, trained.vocabulary, weights)
        figures |= {"trained_s": round(monotonic() - begun, 1), "won": {}, "turns": {}, "paged": {}}
        for temperature in plan.temperatures:
            runs = list(self._played(self._test, Model(trained, temperature), "test"))
            figures["won"][str(temperature)] = _bits(run.success for run in runs)
            figures["turns"][str(temperature)] = fmean(run.calls for run in runs)
            figures["paged"][str(temperature)] = _bits(run.turned for run in runs)
        figures["seconds"] = round(monotonic() - begun, 1)
        said = ", ".join(f"{bits.count('1') / len(bits):.3f} at {heat}" for heat, bits in figures["won"].items())
        self._told(f"  {said}; dose {figures.get('dose')}; {figures['seconds']:.0f} s")
        return figures

    def _learn(self, arm: Arm, learned: Learned, figures: dict[str, Any]) -> Weights:
        """Weights after training on rows or pairs; ``figures`` get their numbers, and the dose before and after."""
        plan, trained = self.plan, self._trained
        tables, slots, file = trained.vocabulary.tables(), trained.vocabulary.slot_ids, self._folder / "training.pt"
        own = self._rows(self._acted, learned.own, tables)
        shown = self._rows(self._acted, learned.demonstrations, tables)
        sides = [self._sides(one, tables) for one in learned.added]
        both = [pair for pair in sides if pair is not None]
        added = [*(right for right, _ in both), *shown]
        figures |= {"own": len(own), "added": len(added)}
        old = weights = trained.weights
        if arm.pairs is not None:
            pairs = [pair if arm.pairs == "right" else pair[::-1] for pair in both]
            if pairs:
                batch = PairBatch(tuple(good for good, _ in pairs), tuple(bad for _, bad in pairs))
                weights = train_pairs(
                    old, plan.decoder, batch, own, slots, plan.pairs, seed=self.seed, checkpoint=file
                )  # fmt: skip
            figures["dose"] = [_preferred(plan.decoder, some, pairs) for some in (old, weights)]
            return weights
        if rows := [*own, *added]:
            weights = train_rows(old, plan.decoder, rows, slots, plan.update, seed=self.seed, checkpoint=file)
        figures["dose"] = [_loss(plan.decoder, some, added or own) for some in (old, weights)]
        return weights

    # -- what they are made of

    def _world(self, name: str, place: Place) -> World:
        page_size = self.plan.page_size and (ONE_PAGE if name == "teach" else self.plan.page_size)
        return open_world(self.plan.recipe_for(self.seed, place), self._folder / name, self._store, page_size)

    @cached_property
    def _taught(self) -> World:
        return self._world("teach", self.plan.places.teach)

    @cached_property
    def _acted(self) -> World:
        return self._world("collect", self.plan.places.collect)

    @cached_property
    def _test(self) -> World:
        return self._world("test", self.plan.places.test)

    @cached_property
    def _relations(self) -> list[tuple[str, str, str]]:
        return [self._taught.relation(leg) for route in self._taught.gold if route is not None for leg in route.legs]

    @cached_property
    def _swaps(self) -> Swaps:
        return swapped_relations(self._relations, self.plan.swapped, "base", self.seed)

    def _expert(self, wrong: float) -> Swaps:
        return swapped_relations(self._relations, wrong, "expert", self.seed)

    @cached_property
    def _trained(self) -> Trained:
        return load_trained(self._folder / "base")

    @cached_property
    def _collected(self) -> Collected:
        held = read_sealed_json(self._folder / "collected.json")
        assert held is not None
        return collected(held["made"])

    def _played(self, world: World, actor: Any, name: str) -> Iterable[Run]:
        return play([Live(world, task, name) for task in range(len(world.tasks))], actor, self.plan.turns)

    def _rows(self, world: World, runs: Iterable[Run], tables: Tables) -> list[Encoded]:
        """Those that fit into the context."""
        found = (self._fitting(tables, (*_parts(world, run), 0)) for run in runs)
        return [one for one in found if one is not None]

    def _sides(self, one: Correction, tables: Tables) -> tuple[Encoded, Encoded] | None:
        """(chosen, rejected); None where one of them does not fit into the context."""
        question, first = self._acted.tasks[one.task].question, len(one.before)
        sides = (one.chosen, one.rejected)
        right, wrong = (self._fitting(tables, (question, one.before, side, first)) for side in sides)
        return None if right is None or wrong is None else (right, wrong)

    def _fitting(self, tables: Tables, row: tuple[str, Sequence[Step], Action | None, int]) -> Encoded | None:
        try:
            one = encoded(tables, *row)
        except SlotsUsedUp:
            return None
        return one if len(one.ids) <= self.plan.decoder.context else None

    def _done(self, step: str, key: Any, act: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What ``act`` gave, now or in an earlier run."""
        file = self._folder / f"{step}.json"
        wanted = digest("step", key)
        held = read_sealed_json(file)
        if held is None or held["key"] != wanted:
            self._told(f"seed {self.seed}: {step}")
            made = json.loads(json.dumps(act()))
            write_sealed_json(file, {"key": wanted, "made": made})
            return dict(made)
        return dict(held["made"])


def _parts(world: World, run: Run) -> tuple[str, Sequence[Step], Action | None]:
    return world.tasks[run.task].question, run.steps, run.answer


def _bits(values: Iterable[bool]) -> str:
    return "".join("1" if value else "0" for value in values)


def _loss(decoder: DecoderConfig, weights: Weights, rows: Sequence[Encoded]) -> float | None:
    """Mean over the target tokens."""
    if not rows:
        return None
    return -sum(turn_scores(weights, decoder, rows)) / sum(int(row.targets.sum()) for row in rows)


def _preferred(decoder: DecoderConfig, weights: Weights, pairs: Sequence[tuple[Encoded, Encoded]]) -> float | None:
    """Share of the pairs whose first side is the likelier one."""
    if not pairs:
        return None
    sides = (turn_scores(weights, decoder, rows) for rows in zip(*pairs, strict=True))
    return fmean(float(good > bad) for good, bad in zip(*sides, strict=True))
