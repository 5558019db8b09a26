"""From a recipe to a plan: its steps in order, each a few stage runs, and who reads what from whom.

A stage declares what it reads and writes, and so do the collaborators that it is given. The planner connects each name
that is read to the nearest earlier run that writes it. What a run of one role writes (rollouts, trajectories, steps) is
read by that role's runs, and by whoever asks for it as ``table@role``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from synth.engine import Plan, StageNode
from synth.errors import InputError
from synth.identity import canonical_json
from synth.pipelines.collaborators import accepting_of, task_filters
from synth.pipelines.stage_runs import Run
from synth.pipelines.steps import STEPS
from synth.prompting import load_prompt, overlaid
from synth.recipe.model import Recipe
from synth.recipe.parts import StageItem
from synth.registry import STAGES, choices, find
from synth.schemas.tasks import Task
from synth.stages.contract import CandidateStage, Stage, StageConfig

__all__ = ["plan", "source_name"]


def plan(recipe: Recipe) -> Plan:
    """What the engine runs for ``recipe``. The source is not read yet: fingerprinting does that.

    Raises:
        InputError: the recipe names a stage that does not exist, or one that reads what none before it writes.
    """
    with overlaid(recipe.prompts):
        nodes = tuple(_with_prompts(recipe, node) for node in _connected(recipe, _runs(recipe)))
    if recipe.has_tasks and not any(node.label == "tasks" for node in nodes):
        raise InputError("no run labelled tasks makes the tasks", where="stages", mend="add the step tasks")
    return Plan(dataset=recipe.name, seed=recipe.seed, source=source_name(recipe), nodes=nodes, wanted=recipe.tasks)


def _with_prompts(recipe: Recipe, node: StageNode) -> StageNode:
    """``node`` with the recipe's own prompts: a stage uses those whose hash its config holds or that it names."""
    if not recipe.prompts:
        return node
    config = canonical_json(node.config.model_dump(mode="json"))
    used = {
        name: text if name in node.stage.prompts or _hash_of(name) in config else None
        for name, text in recipe.prompts.items()
    }
    return replace(node, prompts=used)


def _hash_of(name: str) -> str:
    prompt_id, _, version = name.rpartition("/v")
    return load_prompt(prompt_id, int(version)).ref.sha256


def source_name(recipe: Recipe) -> str:
    """What rows call the source: a name that the recipe gives it, or its kind."""
    return str(getattr(recipe.source, "name", recipe.source.kind))


def _runs(recipe: Recipe) -> Iterator[Run]:
    if recipe.stages is None:
        for step in STEPS.values():
            yield from step(recipe)
        return
    for item in recipe.stages:
        if isinstance(item, StageItem):
            yield from _own(recipe, item)
        elif item in STEPS:
            yield from STEPS[item](recipe)
        elif item in choices("stages"):
            yield from _own(recipe, StageItem(stage=item))
        else:
            raise InputError(
                f"there is no step or stage {item!r}",
                where="stages",
                mend=f"steps are {', '.join(STEPS)}; `synth list` shows the stages",
            )


def _own(recipe: Recipe, item: StageItem) -> Iterator[Run]:
    """A stage that the recipe names itself: once, or once for each role whose tables it reads."""
    kind: type[Stage[Any]] = find("stages", item.stage)
    roles: Iterable[Any] = (item.role,)
    if item.role is None and _OF_ROLES & {*kind.reads}:
        roles = recipe.acting
    for role in roles:
        label = item.label or (item.stage if role is None else f"{role}-{item.stage}").replace("_", "-")
        yield Run(label, item.stage, item.config, role=role, reads=item.reads, own=True)


_OF_ROLES = frozenset({"rollouts", "trajectories", "steps"})
"""Tables that each role has of its own."""


def _connected(recipe: Recipe, runs: Iterable[Run]) -> Iterator[StageNode]:
    written: dict[str, tuple[str, str | None]] = {}
    writers: dict[str, list[str]] = {}
    for run in runs:
        kind: type[Stage[Any]] = find("stages", run.stage)
        config = _config(run, kind)
        inputs = dict(_inputs(run, kind, config, written)) | dict(_gathered(run, kind, writers))
        makes_tasks = issubclass(kind, CandidateStage) and Task in list(kind.writes.values())[:1]
        yield StageNode(
            run.label,
            kind,
            config,
            inputs,
            accepting=accepting_of(recipe) if makes_tasks else None,
            filters=task_filters(recipe) if makes_tasks and not recipe.source_spec.is_recorded else (),
            role=run.role,
        )
        of = "" if run.role is None else f"@{run.role}"
        written |= {f"{table}{of}": (run.label, table) for table in kind.writes if table not in kind.sealed}
        for table in kind.writes:
            again = inputs.get(table, "").partition(":")[0]
            writers[table] = [*(label for label in writers.get(table, ()) if label != again), run.label]
        if kind.arrays is not None:
            written[f"{kind.arrays}{of}"] = (run.label, None)


def _config(run: Run, kind: type[Stage[Any]]) -> StageConfig:
    """
    Raises:
        InputError: the recipe itself says what the stage does not take, or what a stage of an installed package does
            not.
    """
    try:
        return kind.config_type.model_validate(run.values)
    except ValidationError as error:
        if not run.own and run.stage in STAGES:
            raise  # the recipe was checked: our mistake
        first = error.errors()[0]
        key = ".".join(str(part) for part in ("config", *first["loc"]))
        raise InputError(f"{key}: {first['msg']}", where=f"stage {run.stage}", mend="look at its keys") from None


def _inputs(
    run: Run, kind: type[Stage[Any]], config: StageConfig, written: Mapping[str, tuple[str, str | None]]
) -> Iterator[tuple[str, str]]:
    required = kind.reads_of(config)
    for name in dict.fromkeys([*required, *kind.optional]):
        given = (run.reads or {}).get(name)
        if given is not None:
            yield name, given
            continue
        table = kind.known_as.get(name, name)
        found = written.get(f"{table}@{run.role}") or written.get(table)
        if found is not None:
            label, wrote = found
            yield name, label if wrote in (name, None) else f"{label}:{wrote}"
        elif name in required:
            raise _unwritten(run, table)


def _gathered(run: Run, kind: type[Stage[Any]], writers: Mapping[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Of what a stage gathers, the tables of all runs before it whose rows none of them writes again."""
    if kind.gathers and not any(table in writers or table in kind.writes for table in kind.gathers):
        raise _unwritten(run, kind.gathers[0])
    for table in kind.gathers:
        for number, label in enumerate(writers.get(table, ())):
            yield f"{table}@{number}", f"{label}:{table}"


def _unwritten(run: Run, table: str) -> InputError:
    return InputError(
        f"{run.label} reads {table.replace('@', ' of ')}, which no stage before it writes",
        where="stages",
        mend=f"put one before it that does: {', '.join(_writers(table)) or 'none of those installed'}",
    )


def _writers(table: str) -> list[str]:
    name = table.partition("@")[0]
    return [stage for stage in choices("stages") if name in find("stages", stage).writes]
