"""The work behind the arms: builds, exports, trainings. It sees what a user sees: datasets, exports, environments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, Literal

import yaml

from efficacy_lab.checkpoints import Trained, load_trained, save_trained
from efficacy_lab.experiment import BY_HOPS, Measured, TooFew
from efficacy_lab.lazy import torch, use_device
from efficacy_lab.model import count, fresh
from efficacy_lab.pair_rules import Rule, choose, disagreements, pair_of, unlabelled_rows
from efficacy_lab.plan import Arm, Place, Plan, Teach
from efficacy_lab.rows import Encoded, Pair, Row, encode_row, read_pairs, read_rows, texts_of
from efficacy_lab.serving import served
from efficacy_lab.training import PairBatch, train_pairs, train_rows
from efficacy_lab.words import SlotsUsedUp, Tables, Vocabulary
from synth import api
from synth.dataset.reader import Dataset
from synth.errors import InputError
from synth.identity import derive_generator
from synth.schemas.preferences import PairKind
from synth.store.files import write_file

__all__ = ["Trainer"]

_TOKENS = 48
"""Of one turn of the tiny policy at most, in our worlds: its longest calls have about twenty."""


class Trainer:
    """A worker (``efficacy_lab.experiment.Worker``): one thread, so that sums come out the same everywhere."""

    def __init__(self, plan: Plan, store: Path, *, every: int = 50, device: str = "cpu") -> None:
        """
        Args:
            store: The store of all builds: what two of them share is made once.
            every: Steps between two checkpoints.
            device: Where models are, as torch names it.

        Raises:
            InputError: there is no such device here.
        """
        self._device = device
        self.plan, self._store, self._every = plan, store, every
        self._known: dict[int, set[str]] = {}
        torch.set_num_threads(1)
        use_device(device)

    # -- the steps -----------------------------------------------------------------------------------------------------

    def base(self, seed: int, teach: Teach, folder: Path) -> dict[str, float]:
        """Learn to read the teacher's runs, then to act as it did.

        Raises:
            InputError: there is none, or fewer than half of them fit into the context.
        """
        plan = self.plan
        rows = self._taught(seed, teach, folder)
        vocabulary = Vocabulary.learn([texts_of(row.messages) for row in rows], plan.words)
        encoded = self._encoded(rows, vocabulary.tables())
        if not encoded or 2 * len(encoded) < len(rows):
            what = f"{len(encoded)} of {len(rows)} runs of the teacher fit into {plan.decoder.context} tokens"
            mend = (
                "give more of them in a plan of your own (decoder.context; words.slots, for rare words), or more tasks"
            )
            raise InputError(f"{what} with {plan.words.slots} rare words", where="decoder.context", mend=mend)
        weights = fresh(plan.decoder, vocabulary.size, seed)
        reading = plan.reading.model_copy(update={"every": self._every})
        acting = plan.acting.model_copy(update={"every": self._every, "growing": teach.growing})
        slots = vocabulary.slot_ids
        file = folder / "reading.pt"
        weights = train_rows(weights, plan.decoder, encoded, slots, reading, seed=seed, checkpoint=file)
        file = folder / "acting.pt"
        weights = train_rows(weights, plan.decoder, encoded, slots, acting, seed=seed + 1, checkpoint=file)
        save_trained(folder, Trained(plan.decoder, vocabulary, weights))
        left_out = len(rows) - len(encoded)
        return {"rows": len(encoded), "left_out": left_out, "parameters": count(weights), "vocabulary": vocabulary.size}

    def collect(self, seed: int, base: Path, folder: Path) -> dict[str, float]:
        """Build a dataset in which the base is the policy, and export its successes and its pairs."""
        settings = {**self.plan.data.collect.settings, "roles.teacher": self.plan.teacher}
        data = self._build(seed, self.plan.data.collect, folder / "data", settings, base)
        runs = [row for row in data.rows("trajectories") if row.role == "policy" and row.split == "train"]
        failed = [row for row in runs if not row.success]
        if len(failed) < len(runs):  # an export of nothing is a mistake to the exporter
            api.export(data.path, "trl-rft", folder / "rft", select=["split=train"], thoughts=False)
        if any(pair.kind is PairKind.TRAJECTORY for pair in data.rows("preferences")):
            kind = ["split=train", "kind=trajectory", "lengths=any"]
            api.export(data.path, "trl-dpo", folder / "dpo", select=kind, thoughts=False)
        return {"runs": len(runs), "failed": len(failed), "failed_steps": sum(row.turns for row in failed)}

    def update(self, seed: int, name: str, arm: Arm, base: Path, collected: Path, folder: Path) -> dict[str, float]:
        """Train the arm from the base.

        Raises:
            TooFew: there are fewer rows or pairs than the arm's ``least``.
        """
        trained = load_trained(base)
        tables, slots = trained.vocabulary.tables(), trained.vocabulary.slot_ids
        own = self._encoded(read_rows(collected / "rft") if (collected / "rft").is_dir() else [], tables)
        config = (arm.train or self.plan.pairs).model_copy(update={"every": self._every})
        file = folder / "training.pt"
        order = seed + 1_000_003 * arm.repeat  # far from every other seed
        figures: dict[str, float]
        if arm.rows is not None:
            rows, figures = own, {}
            if arm.rows == "teacher":
                rows = self._encoded(self._taught(seed, arm.teach, base), tables)
            elif arm.rows in ("own_unlabelled", "own_copies", "own_unchecked"):
                failed, copies = arm.rows == "own_unchecked", arm.rows == "own_copies"
                data = api.load(collected / "data")
                rows = self._encoded(unlabelled_rows(data, role="policy", failed=failed, copies=copies), tables)
            elif arm.rows != "own":
                rule: Rule = "same_kind" if arm.rows == "corrected" else "random_same"
                pairs, figures = self._pairs(seed, rule, collected)
                right = self._encoded([chosen for chosen, _ in pairs], tables)
                rows, figures["pairs"] = [*own, *right], len(right)
            _enough(len(rows), config.least, "row")
            weights = train_rows(trained.weights, trained.decoder, rows, slots, config, seed=order, checkpoint=file)
            figures["rows"] = len(rows)
        else:
            assert arm.pairs is not None
            pairs, figures = self._pairs(seed, arm.pairs, collected)
            sides = [(self._encoded([chosen], tables), self._encoded([rejected], tables)) for chosen, rejected in pairs]
            whole = [(good[0], bad[0]) for good, bad in sides if good and bad]
            _enough(len(whole), config.least, "pair")
            batch = PairBatch(tuple(good for good, _ in whole), tuple(bad for _, bad in whole))
            weights = train_pairs(
                trained.weights, trained.decoder, batch, own, slots, config, seed=order, checkpoint=file
            )
            figures["pairs"] = len(whole)
        save_trained(folder, Trained(trained.decoder, trained.vocabulary, weights))
        return figures

    def measure(self, seed: int, place: str, model: Path) -> Measured:
        """Success over all runs at the place; the share of entity names that the teacher's world has, too."""
        where = self.plan.data.places[place]
        data = self._build(seed, where, model / f"at-{place}", {"roles.policy.rollouts": where.rollouts}, model)
        asked_for = {row.id: row for row in data.rows("tasks")}
        runs = [row for row in data.rows("trajectories") if row.task_id in asked_for]
        hops = {id_: row.difficulty.hops for id_, row in asked_for.items()}
        won = Counter(hops[row.task_id] for row in runs if row.success)
        asked = Counter(hops.values())
        known, names = self._names(seed), {row.name for row in data.rows("entities")}
        facts: dict[str, float] = {
            "finished_runs": len(runs),
            "shared_names": len(names & known) / len(names) if names else 0.0,
        }
        return Measured(
            tasks=len(asked_for),
            runs=len(asked_for) * where.rollouts,
            successes=sum(row.success for row in runs),
            turns=fmean(row.turns for row in runs) if runs else 0.0,
            facts={
                **facts,
                **{
                    f"{BY_HOPS}{number}": won[number] / (asked[number] * where.rollouts)
                    for number in sorted(asked)
                    if number  # given questions and requests have none
                },
            },
        )

    # -- what they are made of -----------------------------------------------------------------------------------------

    def _taught(self, seed: int, teach: Teach, folder: Path) -> list[Row]:
        place = self.plan.data.teach
        data = self._build(seed, place, folder / "teach", {"roles.teacher": self.plan.teacher, **teach.settings}, None)
        if teach.runs in ("unlabelled", "every"):
            rows = unlabelled_rows(data, failed=teach.runs == "every")[: teach.rows]
        else:
            name, role = ("trl-sft", []) if teach.runs == "whole" else ("trl-rft", ["role=teacher"])
            api.export(data.path, name, folder / "sft", select=["split=train", *role], thoughts=False)
            rows = read_rows(folder / "sft")[: teach.rows]
        if teach.growing:
            hops = {row.id: row.difficulty.hops for row in data.rows("tasks")}
            rows.sort(key=lambda row: hops[row.task_id])
        return rows

    def _names(self, seed: int) -> set[str]:
        """Names of all entities of the world that the teacher acts in."""
        if seed not in self._known:
            place = self.plan.data.teach.model_copy(update={"tasks": 1})  # its world is the same however many there are
            with TemporaryDirectory() as folder:
                data = self._build(seed, place, Path(folder) / "world", {"roles.teacher": self.plan.teacher}, None)
                self._known[seed] = {row.name for row in data.rows("entities")}
        return self._known[seed]

    def _pairs(
        self, seed: int, rule: Rule | Literal["trajectory"], collected: Path
    ) -> tuple[list[tuple[Row, Row]], dict[str, float]]:
        if rule == "trajectory":
            return [pair.sides for pair in read_pairs(collected / "dpo")] if (collected / "dpo").is_dir() else [], {}
        data = api.load(collected / "data")
        all_of = [one for one in disagreements(data) if one.trajectory.split == "train"]
        found = choose(all_of, rule, derive_generator(seed, "efficacy", "pairs"))
        pairs: list[Pair] = [pair_of(one) for one in found]
        runs = [row for row in data.rows("trajectories") if row.role == "policy" and row.split == "train"]
        failed = sum(row.turns for row in runs if not row.success)
        steps = {(one.trajectory.id, one.step) for one in found}
        return [pair.sides for pair in pairs], {"share": len(steps) / failed if failed else 0.0}

    def _encoded(self, rows: Sequence[Row], tables: Tables) -> list[Encoded]:
        """Rows that fit into the context; what does not is left out."""
        found = []
        for row in rows:
            try:
                one = encode_row(row, tables, row.id)
            except SlotsUsedUp:
                continue
            if len(one.ids) <= self.plan.decoder.context and one.targets.any():
                found.append(one)
        return found

    def _build(self, seed: int, place: Place, out: Path, settings: Mapping[str, Any], model: Path | None) -> Dataset:
        plan = self.plan
        with ExitStack() as stack:
            policy: dict[str, Any] | None = None
            if model is not None:
                policy = {
                    "backend": "openai",
                    "model": load_trained(model).name,
                    "base_url": stack.enter_context(served(model, self._device)),
                    "concurrency": 64,
                    "patience": {"window": 64},
                    "sampling": {"temperature": 1.0, "max_tokens": _TOKENS},
                    "options": {"correct": False},
                }
            whole = plan.recipe_for(seed, place, settings, policy)
            out.parent.mkdir(parents=True, exist_ok=True)
            file = out.parent / f"{out.name}.yaml"
            write_file(file, yaml.safe_dump(whole, sort_keys=False).encode())
            made = api.build("efficacy", recipe=file, out=out, store=self._store)
        return api.load(made.path)


def _enough(number: int, least: int, what: str) -> None:
    if number < least:
        raise TooFew(f"{number} {what}{'' if number == 1 else 's'}")
