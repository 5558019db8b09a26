"""What is compared, fixed in a file before any run: worlds, sizes, arms, endpoints, seeds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import Field, ValidationError, model_validator

from efficacy_lab.sizes import DecoderConfig, TrainConfig
from efficacy_lab.words import WordsConfig
from synth.errors import InputError
from synth.identity import digest
from synth.inputs import parse_yaml, read_text
from synth.schemas.described import Described

__all__ = ["SHIPPED", "Arm", "Endpoint", "Part", "Place", "Plan", "load_plan"]

SHIPPED = Path(__file__).parent / "r1.yaml"
Part: TypeAlias = Literal["all", "affected", "unaffected"]


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
    entities: int = Field(ge=1)
    tasks: int = Field(ge=1)


class Places(Described):
    teach: Place
    """Where the base learns from runs that swap relations."""
    collect: Place
    """Where the base acts and its failures are searched: the first half of the tasks. The expert's unverified
    proposals are made on the other half."""
    test: Place
    """Where arms are tested."""


class Arm(Described):
    """What is learned beside the policy's own successes, at calls that are equal for all arms of one ``price``."""

    says: str
    own: bool = True
    """Whether anything is learned at all; without it the arm is the base."""
    adds: Literal["verified", "proposals", "demonstrations"] | None = None
    """Verified first deviations; as many of the expert's proposals, unscored and on other tasks; or whole runs of the
    expert."""
    pairs: Literal["right", "flipped"] | None = None
    """What is added is learned by DPO, anchored on the own successes, and not as rows."""
    wrong: float = Field(default=0.0, ge=0, le=1)
    """Share of the relations for which the expert takes another one."""
    price: int = Field(default=1, ge=1)
    """Calls of the policy that one of the expert costs."""
    calls: int | None = Field(default=None, ge=1)
    """The budget; None = what the runs and the search with an expert who is never wrong take."""

    @model_validator(mode="after")
    def _one_way(self) -> Arm:
        if (self.pairs is not None and self.adds != "verified") or (self.adds is not None and not self.own):
            raise ValueError("pairs are verified steps, and what is added is added to own successes")
        return self


class Endpoint(Described):
    name: str
    arm: str
    against: str
    tasks: Part
    least: float | None = None
    """The mean difference has to be at least this, and its interval above 0."""
    above: float | None = None
    """The lower end of the interval has to be above this."""
    margin: float | None = None
    """Told two-sided: higher, lower, or alike where the whole interval is within this of 0."""


class Plan(Described):
    seeds: Seeds
    decoder: DecoderConfig
    words: WordsConfig
    reading: TrainConfig
    """First training of the base: every token is a target."""
    acting: TrainConfig
    """Second training of the base."""
    update: TrainConfig
    """Of arms that learn rows."""
    pairs: TrainConfig
    """Of arms that learn pairs."""
    places: Places
    recipe: dict[str, Any]
    """What all builds have in common."""
    page_size: int | None = Field(default=None, ge=1)
    """Lines of a page where the base acts, in an environment that shows relations and fact in one call; while it is
    taught all stand on one. An answer, or an unreadable turn, is then corrected, too, if the expert would call on."""
    swapped: float = Field(ge=0, lt=1)
    """Share of the relations that the taught runs swap."""
    turns: int = Field(ge=1)
    """Calls of a run at most."""
    rollouts: int = Field(ge=1)
    """Runs of each task that is collected."""
    k: int = Field(ge=1)
    """Continuations of either side."""
    temperatures: tuple[float, ...] = Field(min_length=1)
    """At which arms are tested; endpoints are about the first."""
    arms: dict[str, Arm] = Field(min_length=1)
    endpoints: tuple[Endpoint, ...]

    @model_validator(mode="after")
    def _known(self) -> Plan:
        strange = {name for end in self.endpoints for name in (end.arm, end.against)} - self.arms.keys()
        if strange:
            raise ValueError(f"there is no arm {min(strange)!r}")
        return self

    @property
    def key(self) -> str:
        """Names the plan by its content, but for what is said of it. What R1 did not know and a plan does not use is
        not in it: R1's key stays."""
        apart: Any = {"seeds": True, "endpoints": True, "arms": {"__all__": {"says"}}}
        held = self.model_dump(mode="json", exclude=apart)
        for part in (held, *held["arms"].values()):
            for name in ("page_size", "calls"):
                if name in part and part[name] is None:
                    del part[name]
        return digest("efficacy", held)

    def recipe_for(self, seed: int, place: Place) -> Mapping[str, Any]:
        """The recipe of one build."""
        source = {"kind": "world", "seed": place.world + seed, "entities": place.entities}
        return {**self.recipe, "name": "efficacy", "seed": seed, "source": source, "tasks": place.tasks}


def load_plan(path: Path = SHIPPED) -> Plan:
    """The plan in a YAML file.

    Raises:
        InputError: it can't be read, or is not a plan.
    """
    try:
        return Plan.model_validate(
            parse_yaml(read_text(path, mend="name a YAML file"), str(path), mend="mend the line")
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(first["msg"], where=": ".join(filter(None, (str(path), where)))) from None
