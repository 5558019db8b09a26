"""From finished stages to a dataset folder: tables in their order, the report, the card, the move into place."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from synth.dataset.configs import CONFIGS
from synth.dataset.files import REPORT_FILE
from synth.dataset.growth import Growth
from synth.dataset.key_hashes import carry
from synth.dataset.layout import write_dataset
from synth.dataset.reader import Dataset, load
from synth.distribution import version
from synth.engine import Engine, Plan, StageNode
from synth.engine.usage import is_model_bound
from synth.errors import BuildError
from synth.models.contract import public_name
from synth.pipelines.collaborators import benchmark_names
from synth.pipelines.explored import published_source
from synth.pipelines.published import (
    duplicate_notes,
    graph_tables,
    inverses_in,
    marked,
    pairs_left_out,
    runs_marked,
    without,
)
from synth.pipelines.recorded import recorded_notes, recorded_role, tasks_without_runs
from synth.pipelines.remembered import remember_recipe
from synth.pipelines.words import lexicon_of
from synth.recipe.model import Recipe
from synth.recipe.questions import DatasetQuestions, ReverseQuestions
from synth.recipe.roles import PRIVATE, RoleName
from synth.recipe.sources import WebSource
from synth.schemas.reports import BuildReport, RoleReport, SourceReport
from synth.schemas.row import JsonObject, Split
from synth.stages.contract import Implementation, implementations
from synth.store import StoredTable, publish
from synth.store.publish import DATASET_MARKER
from synth.tasks.docs.hubs import hub_documents
from synth.tasks.world.words import words_of

__all__ = ["check_teacher", "final_writers", "finish", "published_recipe", "successes"]

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
"""``owner/model`` or ``model``, as the Hub names models."""


def check_teacher(recipe: Recipe, engine: Engine) -> None:
    """Stop before more is paid when no run of the teacher succeeded. Where no later stage calls a model, or the recipe
    says so, it is a note.

    Raises:
        BuildError: no run succeeded, and stages that call models are to come.
    """
    table = engine.table("teacher", "trajectories")
    if successes(table):
        return
    reports = [engine.run_stage(label) for label in ("teacher-rollouts", "teacher")]
    lost = [f"{count:,} {reason}" for report in reports for reason, count in sorted(report.rejected.items())]
    runs = reports[0].rows_in * recipe.roles["teacher"].rollouts
    what = f"no run of the teacher succeeded ({runs:,} runs" + (f"; rejected: {', '.join(lost)}" if lost else "") + ")"
    labels = [node.label for node in engine.plan.nodes]
    unpaid = [n.label for n in engine.plan.nodes[labels.index("teacher") + 1 :] if is_model_bound(n.config)]
    if recipe.allow_empty_sft or not unpaid:
        engine.progress.note(f"warning: {what}: the SFT table will be empty")
        return
    raise BuildError(
        f"{what}, so the SFT table would be empty; stopped before {', '.join(unpaid)} "
        f"{'is' if len(unpaid) == 1 else 'are'} paid for",
        where="roles.teacher",
        mend="change the teacher (model, sampling, limits) and run the same command: what was paid stays in the store; "
        "or go on without SFT rows: --set allow_empty_sft=true",
    )


def successes(table: StoredTable) -> int:
    """How many runs of a table of trajectories are right."""
    return int(pc.sum(table.arrow.column("success")).as_py() or 0)


def finish(recipe: Recipe, engine: Engine, out: Path, *, grows: Dataset | None = None) -> BuildReport:
    """Write the dataset of ``recipe`` and move it to ``out``.

    Args:
        grows: A finished dataset of the same recipe, with fewer tasks, whose rows and files stay.

    Raises:
        StoreError: the output folder can't be written; nothing in it was touched.
        LookupError: a stage has not run.
        BuildError: a row of ``grows`` would not stay as it is.
    """
    report = _report(recipe, engine)
    growth = None if grows is None else Growth(grows)
    if growth is None:
        tables = _tables(recipe, engine)
    else:
        report = report.model_copy(update={"editions": growth.editions()})
        tables = growth.ordered(lambda: _tables(recipe, engine))
    with engine.store.scratch("dataset") as scratch:
        staging = scratch / "dataset"
        done = write_dataset(staging, tables, report, file_bytes=recipe.file_bytes, growth=growth)
        stated = hashlib.sha256((staging / REPORT_FILE).read_bytes()).hexdigest()
        remember_recipe(engine.store.root, stated, recipe)
        carry([engine.store.root], staging)
        publish(staging, out)
    return done


def _tables(recipe: Recipe, engine: Engine) -> dict[str, Iterator[pa.RecordBatch]]:
    found: dict[str, Iterator[pa.RecordBatch]] = {}
    for config in CONFIGS:
        nodes = final_writers(engine.plan, config.name)
        if config.name == "question_rewrites":
            nodes = [node for node in nodes if getattr(node.config, "writing", None) is not None]
        if nodes:
            found[config.name] = _batches(*(engine.table(node.label, config.name) for node in nodes))
    if "trajectories" in found:
        found["trajectories"] = marked(found["trajectories"], runs_marked(engine))
    for name, column in (("preferences", "id"), ("judgments", "pair_id")):
        if name in found:
            found[name] = without(found[name], column, pairs_left_out(engine))
    if recipe.source_spec.is_recorded and "tasks" in found:
        found["tasks"] = without(found["tasks"], "id", tasks_without_runs(engine))
    return {**found, **graph_tables(engine), "rejected": _batches(engine.rejected())}


def final_writers(plan: Plan, table: str, role: str | None = None) -> list[StageNode]:
    """The stage runs whose rows a dataset's ``table`` holds, in order: all that write it (of ``role``, where one is
    named), but those whose rows a later one writes again."""
    nodes = [node for node in plan.nodes if table in node.stage.writes and role in (None, node.role)]
    again = {node.source_of(name)[0] for node in nodes for name in node.reads if node.source_of(name)[1] == table}
    return [node for node in nodes if node.label not in again]


def _batches(*tables: StoredTable) -> Iterator[pa.RecordBatch]:
    for table in tables:
        yield from table.arrow.to_batches()


def _report(recipe: Recipe, engine: Engine) -> BuildReport:
    roles = [role for role in recipe.acting if final_writers(engine.plan, "trajectories", role)]
    return BuildReport(
        dataset=recipe.name,
        title=recipe.name.replace("-", " ").capitalize(),
        synth_version=version(),
        seed=recipe.seed,
        wanted=recipe.tasks,
        recipe=published_recipe(recipe),
        benchmarks=_benchmarks(engine),
        source=_source(recipe, engine),
        roles=tuple(found for role in roles if (found := _role(recipe, engine, role)) is not None),
        stages=tuple(engine.run_stage(node.label) for node in engine.plan.nodes),
        inverses=inverses_in(engine),
        split_fractions=fractions(recipe),
        exempt_entities=_exempt(recipe, engine),
        command=_command(recipe),
        notes=(*_notes(recipe, engine), *_filtered(engine), *duplicate_notes(engine)),
    )


def published_recipe(recipe: Recipe) -> JsonObject:
    """The recipe as far as it may leave this machine: locations and the names of key variables stay here."""
    plain: dict[str, Any] = recipe.model_dump(mode="json")
    if recipe.source_spec.is_explored:
        plain["source"] = published_source(recipe)
    for part in ("source", "questions"):
        for key in ("path", "labels", "words"):
            plain[part].pop(key, None)
    if (plain.get("distractors") or {}).get("model", None) and not _HUB_NAME.fullmatch(plain["distractors"]["model"]):
        plain["distractors"].pop("model")  # a folder of this machine
    (plain.get("contexts") or {}).pop("tokenizer", None)
    for rules in (plain.get("dedup") or {}).values():
        if rules is not None and not _HUB_NAME.fullmatch(rules["model"] or "-"):
            rules.pop("model")
    if recipe.decontaminate is not None:
        plain["decontaminate"]["benchmarks"] = list(benchmark_names(recipe.decontaminate))
        if not _HUB_NAME.fullmatch(recipe.decontaminate.model or "-"):
            plain["decontaminate"].pop("model")
    if recipe.difficulty is not None and recipe.difficulty.aim is not None:
        plain["difficulty"]["aim"]["after"] = PurePath(recipe.difficulty.aim.after).name
    for role in plain["roles"].values():
        for key in PRIVATE:
            role.pop(key)
        if role["model"] is not None:
            role["model"] = public_name(role["model"])
    return plain


def fractions(recipe: Recipe) -> dict[Split, float]:
    """Share of the source that each split owns as gold."""
    source = recipe.source
    if isinstance(recipe.questions, ReverseQuestions):
        return {name: recipe.questions.fractions.get(name, 0.0) for name in ("train", "validation", "test")}
    if source.kind == "world":
        return {"train": source.train, "validation": source.validation, "test": source.test}
    return dict(getattr(source, "fractions", {}))


def _source(recipe: Recipe, engine: Engine) -> SourceReport:
    source = recipe.source
    spec = recipe.source_spec
    return SourceReport(
        name=engine.plan.source,
        kind=source.kind,
        sha256=engine.fingerprint("runs" if spec.is_recorded else "tasks").provenance(engine.plan).source_sha256,
        description=spec.description,
        fictional=spec.fictional or (isinstance(source, WebSource) and source.site == "library"),
    )


def _role(recipe: Recipe, engine: Engine, role: RoleName) -> RoleReport | None:
    """Who acted; None if the source has no run of the role."""
    (node,) = final_writers(engine.plan, "trajectories", role)
    runs = engine.table(node.label, "trajectories")
    if recipe.source_spec.is_recorded:
        return recorded_role(role, runs)
    who = recipe.roles[role]
    return RoleReport(
        role=role,
        backend=who.backend,
        model=None if who.model is None else public_name(who.model),
        model_revision=_revision(runs),
        privileged=_first(runs, "privileged"),
        rollouts_per_task=who.rollouts,
    )


def _first(table: StoredTable, column: str) -> bool:
    """The value that a column has in its first row: it is the same in all rows of a role."""
    return bool(len(table)) and bool(table.arrow.column(column)[0].as_py())


def _revision(table: StoredTable) -> str | None:
    """The revision that the server of a model named, where it was the same for all rows."""
    told = pc.unique(pc.struct_field(table.arrow.column("provenance"), "model_revision")).to_pylist()
    return str(told[0]) if len(told) == 1 and told[0] is not None else None


def _exempt(recipe: Recipe, engine: Engine) -> tuple[str, ...]:
    """Entities that every split may share as bridges: declared hubs, not gold of any split (METHODS 9)."""
    if isinstance(recipe.questions, DatasetQuestions):
        whole = (Path(recipe.questions.path) / DATASET_MARKER).is_file()
        return load(recipe.questions.path).report.exempt_entities if whole else ()
    if not recipe.has_tasks:
        return ()
    node = engine.plan.node("tasks")
    if "entities" not in node.inputs or recipe.questions.kind == "proposed":
        return ()
    entities = engine.table(*node.source_of("entities")).arrow.select(["id", "kind", "document"])
    if recipe.questions.kind == "docs":
        edges = engine.table(*node.source_of("edges")).arrow.select(["relation", "object", "document"])
        hubs = hub_documents(
            engine.table(*node.source_of("documents")).arrow["kind"].to_pylist(),
            entities["document"].to_pylist(),
            zip(*(column.to_pylist() for column in edges.columns), strict=True),
            recipe.questions.hub_share,
        )
        # A hub and all that stands on it: the walk rule exempts pages.
        chosen = pc.is_in(entities["document"], pa.array(sorted(hubs), pa.int64()))
    else:
        chosen = pc.is_in(entities["kind"], pa.array(sorted(words_of(lexicon_of(recipe)).hubs), pa.string()))
    return tuple(entities.filter(chosen)["id"].to_pylist())


def _command(recipe: Recipe) -> str:
    words = ["synth", "build", "--recipe", "recipe.yaml"]
    if recipe.source_spec.is_recorded:
        words += ["--set", "source.path=runs.jsonl"]
        return " ".join([*words, "--set", "questions.path=questions.jsonl"] if recipe.has_tasks else words)
    if recipe.source.kind != "world" and not recipe.source_spec.is_explored:
        words += ["--source", "<your facts>" if recipe.source_spec.is_graph else "<your documents>"]
    if recipe.questions.kind == "given":
        words += ["--tasks-file", "<your questions>"]
    return " ".join(words)


def _benchmarks(engine: Engine) -> dict[str, str]:
    """Name -> sha256 of the files that tasks were compared with."""
    return {name: str(value) for one in _filters(engine) for name, value in one.options.get("sha256", {}).items()}


def _filters(engine: Engine) -> Iterator[Implementation]:
    """What compares with benchmarks."""
    for node in engine.plan.nodes:
        yield from node.filters
        yield from (one for name, one in implementations(node.config) if name == "benchmarks")


def _filtered(engine: Engine) -> Iterator[str]:
    """Which benchmarks the tasks were compared with, so that others can do it again."""
    for one in _filters(engine):
        named = ", ".join(f"{name} (sha256 {value})" for name, value in one.options.get("sha256", {}).items())
        if named:
            ngram, shortest = one.options["ngram"], one.options["shortest"]
            yield (
                f"No {', '.join(one.options['parts'])} of a task shares {ngram} words in a row (or, where one of "
                f"both is shorter, all of its words, {shortest} at least) with {named}."
            )


def _who(recipe: Recipe, role: RoleName) -> str:
    who = recipe.roles[role]
    return who.backend if who.model is None else f"the model {public_name(who.model)}"


def _judge(recipe: Recipe) -> str:
    return recipe.roles["judge"].backend if "judge" in recipe.roles else ""


def _notes(recipe: Recipe, engine: Engine) -> tuple[str, ...]:
    if recipe.source_spec.is_recorded:
        return tuple(recorded_notes(engine))
    notes = []
    if all(who.backend == "scripted" for who in recipe.roles.values()):
        notes.append("Agents are scripted: no language model wrote a thought or an answer.")
    if recipe.questions.kind not in ("given", "dataset"):
        by = "a grammar, not by a person"
        if recipe.questions.kind == "proposed":
            by = f"{_who(recipe, 'proposer')} after exploring the documents (`proposals`), and rest on exact quotes"
        if "writer" in recipe.roles and recipe.writing.share:
            who = _who(recipe, "writer")
            by = f"a grammar, and anew by {who} where its words passed every check (`question_rewrites`)"
        notes.append(f"Questions were worded by {by}.")
    if getattr(recipe.source, "draft_words", False):
        who = _who(recipe, "writer")
        notes.append(f"Relations were worded by {who}, where a reader could tell them by the words.")
    if getattr(recipe.source, "extract", "none") == "model":
        notes.append(f"What pages state was read by {_who(recipe, 'writer')}, as far as their words show it.")
    if recipe.prompts:
        notes.append(f"Prompts of the recipe's own, whose texts stand in `report.json`: {', '.join(recipe.prompts)}.")
    own = [place for place in (recipe.reward if recipe.rl else "", _judge(recipe)) if ":" in place]
    if own:
        notes.append(f"Code of the recipe's own, which is no part of the dataset: {', '.join(own)}.")
    if "checker" in recipe.roles or recipe.questions.kind == "proposed":
        who = _who(recipe, "checker" if "checker" in recipe.roles else "proposer")
        notes.append(f"Tasks and wordings were checked by {who} (`task_reviews`, `question_rewrites`).")
    return tuple(notes)
