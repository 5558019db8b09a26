"""A run in parts: what processes do apart on one machine, and results of several machines as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import ValidationError

from efficacy_lab.experiment import Results
from efficacy_lab.plan import Plan, Purpose
from synth.errors import InputError
from synth.identity import digest
from synth.inputs import read_input

__all__ = ["chosen_seeds", "groups", "joined", "read_results"]


def groups(plan: Plan, arms: Iterable[str]) -> list[tuple[str, ...]]:
    """Arms that go on from one base, the largest group first: what different processes can do without waiting."""
    found: dict[str, list[str]] = {}
    for name in arms:
        found.setdefault(digest(plan.arms[name].teach.model_dump(mode="json")), []).append(name)
    return sorted((tuple(names) for names in found.values()), key=len, reverse=True)


def chosen_seeds(numbers: str | None, known: Sequence[int], held: Iterable[int]) -> tuple[int, ...]:
    """Which of the ``known`` seeds are to be run here: those of ``numbers`` (with commas), or all that are not held.

    Raises:
        InputError: that is not a list of numbers, or names a seed that does not exist, or one that is held.
    """
    elsewhere = set(held)
    if numbers is None:
        return tuple(seed for seed in known if seed not in elsewhere)
    mend = f"choose among {', '.join(map(str, known))}, with commas"
    try:
        wanted = tuple(dict.fromkeys(int(one) for one in numbers.split(",")))
    except ValueError:
        raise InputError(f"{numbers!r} is not a list of seeds", where="--only", mend=mend) from None
    for seed in wanted:
        if seed not in known:
            raise InputError(f"there is no seed {seed}", where="--only", mend=mend)
        if seed in elsewhere:
            mend = "leave it out here or there: a seed is run once"
            raise InputError(f"seed {seed} was run elsewhere already", where="--with", mend=mend)
    return wanted


def read_results(
    files: Sequence[Path], plan: Plan, purpose: Purpose, arms: Sequence[str], places: Sequence[str]
) -> Results:
    """What several machines found, each in a ``results.json`` of its own.

    Raises:
        InputError: one can't be read, is of another plan or other seeds, lacks an arm at a place, or holds a seed that
            another holds, too.
    """
    whole = Results(plan=plan.key, purpose=purpose, measured={}, trained={})
    holders: dict[int, Path] = {}
    for file in files:
        one = _read(file)
        if one.plan != plan.key:
            mend = f"run all parts with one version and one plan; this one is {plan.key[:12]}"
            raise InputError(f"is of plan {one.plan[:12]}", where=str(file), mend=mend)
        if one.purpose != purpose:
            mend = "leave it out, or run with --final" if one.purpose == "final" else "leave it out"
            raise InputError(f"is of {one.purpose} seeds", where=str(file), mend=mend)
        for seed in one.seeds:
            if seed in holders:
                raise InputError(f"seed {seed} is in {holders[seed]}, too", where=str(file), mend="leave one out")
            holders[seed] = file
            lacking = _lacking(one, plan, seed, arms, places)
            if lacking:
                mend = "finish it there, with the same --arms and --places"
                raise InputError(f"{lacking} of seed {seed} is not there", where=str(file), mend=mend)
        whole = joined(whole, one)
    return whole


def joined(first: Results, second: Results) -> Results:
    """Both as one, seed by seed in order; they share no seed."""
    body = first.model_dump()
    for place, arms in second.measured.items():
        for arm, seeds in arms.items():
            held = body["measured"].setdefault(place, {}).setdefault(arm, {})
            body["measured"][place][arm] = dict(sorted({**held, **seeds}.items()))
    for part in ("trained", "missing"):
        for arm, seeds in getattr(second, part).items():
            body[part][arm] = dict(sorted({**body[part].get(arm, {}), **seeds}.items()))
    return Results.model_validate(body)


def _read(file: Path) -> Results:
    mend = "name a results.json that efficacy_lab wrote"
    try:
        return Results.model_validate_json(read_input(file, mend=mend))
    except ValidationError:
        raise InputError("holds no results", where=str(file), mend=mend) from None


def _lacking(results: Results, plan: Plan, seed: int, arms: Sequence[str], places: Sequence[str]) -> str | None:
    for arm in arms:
        if seed in results.missing.get(arm, {}):
            continue
        for place in plan.tested(arm, places):
            if seed not in results.measured.get(place, {}).get(arm, {}):
                return f"{arm!r} at {place}"
    return None
