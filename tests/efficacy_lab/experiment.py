"""Run a plan: seed by seed, arm by arm, each finished step in a file of its own. The same command goes on after a kill.

What a step does is the business of a :class:`Worker`; this module knows the order, what is done already, and that the
untouched seeds are run with one plan only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Protocol

from pydantic import Field

from efficacy_lab.plan import Arm, Plan, Purpose, Teach
from synth.errors import InputError
from synth.identity import digest
from synth.schemas.described import Described
from synth.store.files import read_sealed_json, write_sealed_json

__all__ = ["BY_HOPS", "Measured", "Results", "TooFew", "Worker", "check_choice", "run_plan"]


class TooFew(Exception):
    """There is too little for an arm to train on; the message says how much of what. A result, not a mistake."""


_MISSING = "missing"
BY_HOPS = "hops "
"""Facts whose names begin so are success rates of the tasks of so many hops."""


class Measured(Described):
    """What an arm did at a place."""

    tasks: int = Field(ge=1)
    """Tasks that it was given."""
    runs: int = Field(ge=1)
    """Runs that were asked of it, of all tasks."""
    successes: int = Field(ge=0)
    """Runs with the right answer; one that was rejected is not success."""
    turns: float
    """Mean turns of its runs."""
    facts: dict[str, float] = {}
    """What else there is to know of the place."""

    @property
    def rate(self) -> float:
        return self.successes / self.runs


class Results(Described):
    """All that is finished."""

    plan: str
    """The plan's key."""
    purpose: Purpose
    measured: dict[str, dict[str, dict[int, Measured]]]
    """Place -> arm -> seed -> what was measured."""
    trained: dict[str, dict[int, dict[str, float]]]
    """Arm -> seed -> figures of its training: ``rows``, ``pairs``, ``share`` of the failed steps, ..."""
    missing: dict[str, dict[int, str]] = {}
    """Arm -> seed -> why there is no such model: "3 pairs"."""

    @property
    def seeds(self) -> list[int]:
        """Those of which anything is finished."""
        found = {seed for arms in self.measured.values() for seeds in arms.values() for seed in seeds}
        return sorted(found.union(*self.trained.values(), *self.missing.values()))

    def rates(self, place: str) -> dict[str, dict[int, float]]:
        """Arm -> seed -> success rate."""
        arms = self.measured.get(place, {})
        return {arm: {seed: one.rate for seed, one in seeds.items()} for arm, seeds in arms.items()}


class Worker(Protocol):
    """Does the work; every method may be called again for what it began before, and then goes on."""

    def base(self, seed: int, teach: Teach, folder: Path) -> dict[str, float]:
        """Train a base into ``folder``; figures of it."""

    def collect(self, seed: int, base: Path, folder: Path) -> dict[str, float]:
        """Let the base in ``base`` act, and search its failures; figures of it."""

    def update(self, seed: int, name: str, arm: Arm, base: Path, collected: Path, folder: Path) -> dict[str, float]:
        """Train ``arm`` from ``base`` into ``folder``; figures of it.

        Raises:
            TooFew: there is too little to train on.
        """

    def measure(self, seed: int, place: str, model: Path) -> Measured:
        """Let the model in ``model`` act at a place."""


def run_plan(
    plan: Plan,
    worker: Worker,
    out: Path,
    *,
    purpose: Purpose,
    arms: Sequence[str],
    seeds: int | None = None,
    places: Sequence[str] | None = None,
    only: Collection[int] | None = None,
    told: Callable[[str], None] = lambda line: None,
    shown: Callable[[Results], None] = lambda results: None,
) -> Results:
    """What ``arms`` do at ``places`` (None = the first), over the seeds of ``purpose``.

    Args:
        only: Of the seeds these alone: for processes and machines that work beside others on the same plan.
        told: Called with a line before each step.
        shown: Called with all that is finished after each arm of each seed.

    Raises:
        InputError: an arm or a place that does not exist, or an arm that is tested at none of them; or the untouched
            seeds were begun with another plan.
    """
    where = places or (plan.first_place,)
    check_choice(plan, arms, where)
    if purpose == "final":
        _claim(out / purpose / "plan.json", plan)
    state = _State(out / purpose, plan, told)
    results = Results(plan=plan.key, purpose=purpose, measured={}, trained={})
    for seed in plan.seeds_for(purpose, seeds):
        if only is not None and seed not in only:
            continue
        for name in arms:
            arm = plan.arms[name]
            model = _train(plan, worker, state, seed, name, arm, results)
            if model is None:
                shown(results)
                continue
            for place in plan.tested(name, where):
                key = [place, _about(plan, arm), *([_about(plan, plan.arms[arm.start])] if arm.start else [])]

                def measure(seed: int = seed, place: str = place, model: Path = model) -> dict[str, Any]:
                    return worker.measure(seed, place, model).model_dump(mode="json")

                body = state.done(seed, f"measured-{place}-{name}", key, measure)
                results.measured.setdefault(place, {}).setdefault(name, {})[seed] = Measured.model_validate(body)
            shown(results)
    return results


def check_choice(plan: Plan, arms: Sequence[str], places: Sequence[str]) -> None:
    """Whether the plan has all of them.

    Raises:
        InputError: an arm or a place that does not exist, or an arm that is tested at none of them.
    """
    for named, known in ((arms, plan.arms), (places, plan.data.places)):
        strange = [one for one in named if one not in known]
        if strange:
            raise InputError(f"there is no {strange[0]!r}", mend=f"choose among {', '.join(known)}")
    for name in arms:
        if not plan.tested(name, places):
            mend = "name another place, or let all arms be tested there, in the plan"
            raise InputError(f"{name!r} is tested at none of {', '.join(places)}", mend=mend)


def _train(plan: Plan, worker: Worker, state: _State, seed: int, name: str, arm: Arm, results: Results) -> Path | None:
    """The folder of the arm's model; None where there was too little to train on."""
    teach = digest(arm.teach.model_dump(mode="json"))[:12]
    base = state.folder(seed, f"base-{teach}")
    figures = state.done(
        seed, f"base-{teach}", arm.teach.model_dump(mode="json"), lambda: worker.base(seed, arm.teach, base)
    )
    if arm.rows is None and arm.pairs is None:
        results.trained.setdefault(name, {})[seed] = figures
        return base
    about: Any = _about(plan, arm)
    of, made_of = teach, None
    if arm.start is not None:
        first = plan.arms[arm.start]
        # Its own figures are told where it is an arm of the run itself.
        apart = results.model_copy(update={"trained": {}, "missing": {}})
        model = _train(plan, worker, state, seed, arm.start, first, apart)
        if model is None:
            results.missing.setdefault(name, {})[seed] = f"no {arm.start}"
            return None
        base, of, made_of = model, arm.start, _about(plan, first)
        about = [about, made_of]
    collected = state.folder(seed, f"collected-{of}")
    if arm.rows != "teacher":
        state.done(seed, f"collected-{of}", made_of, lambda: worker.collect(seed, base, collected))
    folder = state.folder(seed, f"arm-{name}")

    def update() -> dict[str, Any]:
        try:
            return worker.update(seed, name, arm, base, collected, folder)
        except TooFew as few:
            return {_MISSING: str(few)}

    figures = state.done(seed, f"arm-{name}", about, update)
    if _MISSING in figures:
        results.missing.setdefault(name, {})[seed] = figures[_MISSING]
        return None
    results.trained.setdefault(name, {})[seed] = figures
    return folder


def _about(plan: Plan, arm: Arm) -> Any:
    return [
        arm.model_dump(mode="json", exclude={"says"} if arm.start else {"says", "start"}),
        plan.pairs.model_dump(mode="json") if arm.pairs else None,
    ]


def _claim(file: Path, plan: Plan) -> None:
    held = read_sealed_json(file)
    if held is not None and held["plan"] != plan.key:
        raise InputError(
            "the untouched seeds were begun with another plan; what is run again after a look is not a test",
            where=str(file),
            mend="go on with that plan, or name new untouched seeds in a new one",
        )
    if held is None:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_sealed_json(file, {"plan": plan.key})


class _State:
    """Finished steps, each a sealed file that says what it was made of."""

    def __init__(self, where: Path, plan: Plan, told: Callable[[str], None]) -> None:
        self._where, self._told = where, told
        # What every step rests on; arms are told apart by the keys of their own steps.
        self._common = digest(plan.model_dump(mode="json", exclude={"seeds", "arms", "core", "endpoints", "pairs"}))

    def folder(self, seed: int, step: str) -> Path:
        return self._where / f"seed-{seed}" / step

    def done(self, seed: int, step: str, key: Any, act: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What ``act`` gave, now or in an earlier run."""
        file = self._where / f"seed-{seed}" / f"{step}.json"
        wanted = digest(self._common, key)
        held = read_sealed_json(file)
        if held is not None and held["key"] == wanted:
            return dict(held["made"])
        self._told(f"seed {seed}: {step}")
        self.folder(seed, step).mkdir(parents=True, exist_ok=True)
        made = act()
        write_sealed_json(file, {"key": wanted, "made": made})
        return made
