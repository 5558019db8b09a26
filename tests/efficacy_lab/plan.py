"""What is compared: arms, seeds and endpoints, fixed in a file before any run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from efficacy_lab.pair_rules import Rule
from efficacy_lab.sizes import DecoderConfig, TrainConfig
from efficacy_lab.words import WordsConfig
from synth.errors import InputError
from synth.identity import digest
from synth.inputs import parse_yaml, read_text
from synth.schemas.described import Described

__all__ = ["Arm", "Data", "Endpoint", "Place", "Plan", "Purpose", "Seeds", "Teach", "Tested", "load_plan"]

Purpose = Literal["development", "final"]


class Seeds(Described):
    development: tuple[int, ...] = Field(min_length=1)
    """For every change of data or method."""
    untouched: tuple[int, ...] = Field(min_length=1)
    """Run once, when nothing is changed any more."""

    @model_validator(mode="after")
    def _apart(self) -> Seeds:
        if set(self.development) & set(self.untouched):
            raise ValueError("a seed is either for development or untouched")
        return self


class Place(Described):
    world: int = Field(ge=0)
    """The world's seed, to which the seed of the run is added."""
    tasks: int = Field(ge=1)
    """How many tasks."""
    settings: dict[str, Any] = {}
    """Keys of the recipe, dotted."""


class Tested(Place):
    arms: Literal["all", "core"] = "all"
    """Which arms are tested here: the core ones alone where it is not about what is worth what."""
    rollouts: int = Field(default=1, ge=1)
    """Runs of each task. A draw at temperature 1 says little; further runs of a task cost less than further tasks."""


class Data(Described):
    teach: Place
    """Where the teacher's runs come from."""
    collect: Place
    """Where the base acts and its failures are searched."""
    places: dict[str, Tested] = Field(min_length=1)
    """Where arms are tested."""


class Teach(Described):
    rows: int | None = Field(default=None, ge=1)
    """Of the teacher's runs, the first so many; None = all."""
    runs: Literal["whole", "masked", "unlabelled", "every"] = "whole"
    """``whole``: runs whose every turn is a target by the labels of steps (export ``trl-sft``). ``masked``: all that
    succeeded, turns that are not targets in the prompt only (``trl-rft``). ``unlabelled``: all that succeeded, every
    turn a target, as if there were no labels. ``every``: those that failed, too, as if nothing had been checked. Runs
    that another one stands for are in none."""
    growing: float = Field(default=0.0, ge=0, le=1)
    """A curriculum while it learns to act (``TrainConfig.growing``), by hops."""
    settings: dict[str, Any] = {}
    """Keys of the recipe that are otherwise than for the base."""


class Arm(Described):
    """One way to go on from the base: not at all, on rows, on pairs; or another base."""

    says: str
    """In words."""
    rows: (
        Literal["teacher", "own", "own_unlabelled", "own_copies", "own_unchecked", "corrected", "random_corrected"]
        | None
    ) = None
    """Further supervised training on these: the teacher's runs; the policy's own successes (export ``trl-rft``); these
    with every turn a target, the same with runs that another one stands for, the same with runs that failed; or the
    policy's own successes and with them the chosen sides of the pairs of ``same_kind`` (of ``random_same``)."""
    pairs: Rule | Literal["trajectory"] | None = None
    """DPO on these pairs, anchored on the policy's own successes."""
    teach: Teach = Teach()
    """What its base learned from."""
    start: str | None = None
    """The arm whose model it goes on from, and which collects anew: a second round. None = the base."""
    train: TrainConfig | None = None
    """How; None = as the plan's ``pairs`` says."""
    repeat: int = Field(default=0, ge=0)
    """Another number, another order of rows: two arms that differ in it alone show what order is worth."""

    @model_validator(mode="after")
    def _one_way(self) -> Arm:
        if self.rows is not None and self.pairs is not None:
            raise ValueError("an arm trains on rows or on pairs")
        if self.rows is not None and self.train is None:
            raise ValueError("an arm that trains on rows says how (train)")
        if self.rows is None and self.pairs is None and self.train is not None:
            raise ValueError("an arm that trains on nothing has no train")
        if self.start is not None and ((self.rows or self.pairs) in (None, "teacher") or self.teach != Teach()):
            raise ValueError("a second round (start) trains on what the first round's model collects")
        return self


class Endpoint(Described):
    arm: str
    against: str


class Plan(Described):
    seeds: Seeds
    decoder: DecoderConfig
    words: WordsConfig
    reading: TrainConfig
    """First training of the base: every token is a target."""
    acting: TrainConfig
    """Second training of the base."""
    pairs: TrainConfig
    """Of arms with pairs."""
    data: Data
    first_place: str
    """The place that the endpoints are about."""
    recipe: dict[str, Any]
    """What all builds have in common."""
    teacher: dict[str, Any]
    """The role ``teacher``."""
    arms: dict[str, Arm] = Field(min_length=1)
    core: tuple[str, ...]
    """Arms of a short run."""
    endpoints: tuple[Endpoint, ...]
    """What is said of the result, whatever else is seen."""

    @model_validator(mode="after")
    def _known(self) -> Plan:
        named = {*self.core, *(name for end in self.endpoints for name in (end.arm, end.against))}
        strange = sorted(named - self.arms.keys())
        if strange:
            raise ValueError(f"there is no arm {strange[0]!r}")
        for name, arm in self.arms.items():
            if arm.start is not None and (arm.start not in self.arms or self.arms[arm.start].start is not None):
                raise ValueError(f"arm {name!r} starts from {arm.start!r}, which is not an arm of a first round")
        if self.first_place not in self.data.places:
            raise ValueError(f"there is no place {self.first_place!r}")
        return self

    def recipe_for(
        self, seed: int, place: Place, settings: Mapping[str, Any], policy: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The recipe of one build: what all have in common, the seed's own world, who acts, and ``settings`` (dotted
        key -> value) over those of the place."""
        whole: dict[str, Any] = {**self.recipe, "name": "efficacy", "tasks": place.tasks}
        whole["roles"] = {**self.recipe.get("roles", {}), **({} if policy is None else {"policy": dict(policy)})}
        whole["source"] = {**self.recipe["source"], "seed": place.world + seed}
        whole["seed"] = seed
        for key, value in {**place.settings, **settings}.items():
            *path, last = key.split(".")
            at = whole
            for part in path:
                at[part] = dict(at.get(part) or {})  # a copy: the plan's own stays as it is
                at = at[part]
            at[last] = value
        _without_idle(whole)
        return whole

    def tested(self, arm: str, places: Sequence[str]) -> list[str]:
        """Those of ``places`` where ``arm`` is tested."""
        return [place for place in places if self.data.places[place].arms == "all" or arm in self.core]

    @property
    def key(self) -> str:
        """Names the plan by its content."""
        return digest("efficacy", self.model_dump(mode="json"))

    def seeds_for(self, purpose: Purpose, number: int | None = None) -> tuple[int, ...]:
        """The first ``number`` seeds of that purpose; None = all. The untouched ones are only ever run all together.

        Raises:
            InputError: there are not so many.
        """
        if purpose == "final":
            if number is not None and number != len(self.seeds.untouched):
                raise InputError("the untouched seeds are run once, all of them", mend="leave out --seeds")
            return self.seeds.untouched
        if number is not None and number > len(self.seeds.development):
            raise InputError(f"there are {len(self.seeds.development)} development seeds, not {number}")
        return self.seeds.development[:number]


def _without_idle(recipe: dict[str, Any]) -> None:
    """Leave out roles that nobody asks in this build: a recipe that names one is refused."""
    roles = recipe["roles"]
    searched = recipe.get("critical", {}) is not None and "policy" in roles
    paired = searched and recipe.get("preferences", {}) is not None and "teacher" in roles
    idle = ([] if searched else ["expert", "prm"]) + (
        [] if paired or recipe.get("ratings", {}) is not None else ["judge"]
    )
    for role in idle:
        roles.pop(role, None)


_SHIPPED = {None: "arms.yaml", Path("large"): "large.yaml", Path("faults"): "faults.yaml"}


def load_plan(path: Path | None = None) -> Plan:
    """The plan in a YAML file; None = the one that ships.

    A plan that says ``extends: arms.yaml`` says only what is otherwise than in the one that ships; with ``keeps`` it
    has those of its arms alone, and its own. Two of them ship, too: ``Path("large")``, a larger decoder and more tasks,
    for a GPU; ``Path("faults")``, a teacher that fails and runs that repeat, so that checks and dedup have something
    to take out.

    Raises:
        InputError: it can't be read, or is not a plan.
    """
    shipped = files("efficacy_lab")
    try:
        if path is None or path in _SHIPPED:
            given = _parsed((shipped / _SHIPPED[path]).read_text(encoding="utf-8"), path)
        else:
            mend = f"name a YAML file, or one that ships: {', '.join(str(name) for name in _SHIPPED if name)}"
            given = _parsed(read_text(path, mend=mend), path)
        if isinstance(given, dict) and given.get("extends") == _SHIPPED[None]:
            base = _parsed((shipped / _SHIPPED[None]).read_text(encoding="utf-8"), None)
            keeps = given.pop("keeps", list(base["arms"]))
            if not isinstance(keeps, list) or any(name not in list(base["arms"]) for name in keeps):
                mend = f"a list of some of {', '.join(base['arms'])}"
                raise InputError("keeps: names no arms of the plan that it extends", where=str(path), mend=mend)
            base["arms"] = {name: arm for name, arm in base["arms"].items() if name in keeps}
            given = _merged(base, {key: value for key, value in given.items() if key != "extends"})
        return Plan.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{first['msg']}", where=": ".join(filter(None, (str(path or "arms.yaml"), where)))) from None


def _parsed(text: str, path: Path | None) -> Any:
    return parse_yaml(text, str(path or _SHIPPED[None]), mend="mend the line")


def _merged(base: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """``given`` over ``base``, mapping by mapping."""
    found = dict(base)
    for key, value in given.items():
        below = found.get(key)
        found[key] = _merged(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return found
