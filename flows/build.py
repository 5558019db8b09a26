"""``synth build --flow``: the plan of ``synth build``, one Prefect task run per stage.

Prefect adds a record of the run, artifacts and schedules. It decides nothing: what is done already, what a stage reads
and what it writes is the engine's, so the bytes are those of a build without Prefect. Result persistence, caching and
retries of Prefect stay off for the same reason: the store knows better, and after any end the same build goes on.
"""

# Annotations stay objects here: Prefect makes a model of the parameters in whatever process runs the flow.
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeVar

from prefect import flow, task
from prefect.artifacts import create_table_artifact
from prefect.cache_policies import NO_CACHE
from pydantic import Field

from synth import api
from synth.flows.artifacts import artifact_key, cost_table, rows_table, yield_table
from synth.flows.progress import shown_in_flow
from synth.flows.secrets import secret_variables
from synth.places import is_remote
from synth.schemas.reports import StageReport
from synth.store.remote import url_of

__all__ = ["Stages", "build", "build_in_flow", "parameters_of", "run_stages"]

T = TypeVar("T", covariant=True)


class Stages(Protocol[T]):
    """A prepared build: what a flow needs of it."""

    @property
    def labels(self) -> Sequence[str]:
        """Labels of the stage runs, each after those whose tables it reads."""

    def run_stage(self, label: str) -> StageReport:
        """Run one stage, or find its complete shards in the store."""

    def run_stages(self, run_stage: Callable[[str], StageReport]) -> None:
        """Run all of them by ``run_stage``, some beside others in threads that share the caller's context."""

    def finish(self) -> T:
        """Move the finished dataset to its place."""


@flow(
    name="synth-build",
    flow_run_name="{dataset}",
    description="Build a dataset: one task run per stage, a bar, and tables of yield, rows and cost.",
    retries=0,
    persist_result=False,
    log_prints=False,
)
def build(
    dataset: str | None = None,
    recipe: str | None = None,
    source: str | None = None,
    tasks: Annotated[int | None, Field(ge=1)] = None,
    tasks_file: str | None = None,
    seed: int | None = None,
    prompts: str | None = None,
    out: str | None = None,
    store: str | None = None,
    workers: Annotated[int, Field(ge=1)] = 1,
    executor: Literal["local", "processes", "ray", "slurm"] = "local",
    slurm: dict[str, str] | None = None,
    in_flight: Annotated[int, Field(ge=1)] = 512,
    calls: str | None = None,
    max_cost: Annotated[float | None, Field(ge=0)] = None,
    max_tokens: Annotated[int | None, Field(ge=0)] = None,
    settings: dict[str, Any] | None = None,
    secrets: dict[str, str] | None = None,
) -> Any:
    """The parameters are the options of ``synth build``. Returns what ``Prepared.run()`` returns.

    Args:
        dataset: A dataset that `synth list` names; with a recipe, the name to give it.
        recipe: A recipe file, by its absolute path where the worker runs.
        source: A folder or file of documents, triples, tables or runs, or hf://datasets/OWNER/NAME.
        tasks: Exactly how many tasks; empty = as the recipe says.
        tasks_file: A file of your own questions and answers.
        seed: Of everything random; empty = as the recipe says.
        prompts: A folder of your own prompts, by its absolute path where the worker runs; empty = as the recipe says.
        out: The dataset's folder, an absolute path; empty = out/DATASET below the worker's folder.
        store: Where finished work is kept, an absolute path; empty = SYNTH_STORE or the worker's cache folder.
        workers: How many processes; needs an executor other than local.
        executor: local = the flow run's own process; processes = several of them; ray = a Ray cluster;
            slurm = job arrays.
        slurm: What a job of slurm asks for, for example {"partition": "cpu", "time": "02:00:00"}.
        in_flight: How many rows wait for a model at once.
        calls: Where model calls are kept for all workers of the recipe: a file, or postgresql://HOST/DATABASE.
        max_cost: What all model calls of this dataset in this store may cost at most, over all runs.
        max_tokens: The same for their tokens, prompt and completion together.
        settings: Dotted keys of the recipe and their values, for example {"walks.hops": [2, 3]}.
        secrets: Variables that hold keys, and the Secret blocks that they come from, for example {"API_KEY": "vllm"}.

    Raises:
        SynthError: as ``synth build``; the flow run is then failed, and a new run goes on where this one ended.
    """
    request = api.BuildRequest(
        dataset=dataset,
        recipe=_path(recipe),
        source=_path(source),
        tasks=tasks,
        tasks_file=_path(tasks_file),
        seed=seed,
        prompts=_path(prompts),
        out=_path(out),
        store=_path(store),
        workers=workers,
        executor=executor,
        slurm=slurm or {},
        in_flight=in_flight,
        calls=calls,
        max_cost=max_cost,
        max_tokens=max_tokens,
        settings=settings or {},
    )
    with secret_variables(secrets):
        prepared = api.prepare(request)
        name, engine = prepared.recipe.name, prepared.engine
        with engine, shown_in_flow(engine.progress, prepared.labels, name) as engine.progress:
            return run_stages(prepared, name)


def build_in_flow(request: api.BuildRequest) -> Any:
    """Build through Prefect, in this process: same plan, same bytes, one task run per stage.

    Uses the server that ``PREFECT_API_URL`` names, else a temporary one.

    Raises:
        SynthError: as without Prefect.
    """
    return build(**parameters_of(request))


def parameters_of(request: api.BuildRequest) -> dict[str, Any]:
    """The flow parameters that say the same as ``request``, as JSON values. Paths are absolute, since a served run may
    start in another folder."""
    plain = ("dataset", "tasks", "seed", "workers", "executor", "in_flight", "max_cost", "max_tokens")
    values: dict[str, Any] = {name: getattr(request, name) for name in plain}
    for name in ("recipe", "source", "tasks_file", "prompts", "out", "store"):
        path = getattr(request, name)
        values[name] = None if path is None else url_of(path) if is_remote(path) else str(Path(path).absolute())
    calls = None if request.calls is None else str(request.calls)
    values["calls"] = calls if calls is None or "://" in calls else str(Path(calls).absolute())
    settings = dict(request.settings)
    if isinstance(folder := settings.get("prompts"), str) and not is_remote(folder):
        settings["prompts"] = str(Path(folder).absolute())
    values |= {"slurm": dict(request.slurm), "settings": settings}
    return values


def run_stages(stages: Stages[T], dataset: str) -> T:
    """Run every stage as a task run of the current flow run, then finish. Artifacts are published in any case, so that
    a build that failed shows how far it came."""
    reports: dict[str, StageReport] = {}

    def run_stage(label: str) -> StageReport:
        reports[label] = _stage.with_options(name=label, task_run_name=label)(stages, label)
        return reports[label]

    try:
        stages.run_stages(run_stage)
        return stages.finish()
    finally:
        if reports:
            _publish(dataset, [reports[label] for label in stages.labels if label in reports])


@task(name="stage", retries=0, persist_result=False, cache_policy=NO_CACHE, log_prints=False)
def _stage(stages: Stages[Any], label: str) -> StageReport:
    return stages.run_stage(label)


def _publish(dataset: str, reports: Sequence[StageReport]) -> None:
    tables: Mapping[str, tuple[str, list[dict[str, Any]]]] = {
        "yield": ("What each stage read, kept and rejected.", yield_table(reports)),
        "rows": ("Rows written, by stage and table.", rows_table(reports)),
        "cost": ("What this run took, by stage.", cost_table(reports)),
    }
    for kind, (description, table) in tables.items():
        create_table_artifact(key=artifact_key(dataset, kind), table=table, description=description)


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)
