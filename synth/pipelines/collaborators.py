"""Who works in the stages of a recipe: environments, policies, experts, judges, writers, encoders, filters."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from pathlib import PurePath
from typing import Any

from pydantic import BaseModel

from synth.agents.model.policy import ModelConfig
from synth.agents.reflection import REFLECT_PROMPT, RETRY_PROMPT
from synth.agents.summaries import SUMMARIZE_PROMPT
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.model_expert import expert_prompts
from synth.annotate.critical.model_scorer import score_prompt
from synth.annotate.preferences.perturb.minimal_edit import EDIT_PROMPT
from synth.engine.accepting import Accepting
from synth.environments.contract import EnvironmentSpec
from synth.environments.own import OwnPlace
from synth.environments.own_tools import OwnTool
from synth.environments.search_spec import Search
from synth.environments.simulated import SIMULATE_PROMPT
from synth.errors import InputError
from synth.filtering.decontamination.benchmarks import file_digest
from synth.filtering.decontamination.config import Decontaminate
from synth.filtering.decontamination.config import Rules as Overlap
from synth.filtering.dedup import Rules
from synth.models.asking import AskConfig
from synth.own_code import source_of
from synth.pipelines.aimed import aimed
from synth.pipelines.explored import made_of
from synth.pipelines.words import language_of
from synth.prompting import load_prompt
from synth.recipe.dedup import encoder_options
from synth.recipe.model import Recipe
from synth.recipe.parts import Critical
from synth.recipe.roles import Role, RoleName, assistant_of, job_of, policy_of
from synth.registry import factory_of, find
from synth.retrieval.rerank import Reranking
from synth.retrieval.retrievers import Vectors
from synth.stages.contract import Implementation
from synth.tasks.writing.asked import CONFIRM, CONFIRM_REQUEST, CONFIRM_WORDS, DRAFT_WORDS, WRITE, WRITE_REQUEST
from synth.tasks.writing.checker import CHECKS
from synth.tasks.writing.extraction import EXTRACT
from synth.tasks.writing.proposing import EXPLORE, HARDEN, PROPOSE

__all__ = [
    "accepting_of",
    "assistant",
    "benchmark_names",
    "drafting",
    "encoder_of",
    "environment_of",
    "expert_is_model",
    "expert_of",
    "extraction",
    "installed",
    "named",
    "own_limits",
    "parts_of",
    "perturber_of",
    "policy",
    "prompt_values",
    "proposing",
    "reflector_of",
    "scorer_of",
    "spec_of",
    "summaries_of",
    "task_filters",
    "task_stage",
    "vectors_of",
    "with_options",
    "without_mistakes",
]

_ASKER = factory_of("assistants", "task_asker")


def named(table: str, kind: str, options: dict[str, Any], **versions: Any) -> Implementation:
    """A collaborator by name; an unknown name is the user's mistake: one line, before anything runs."""
    return Implementation(kind=kind, factory=factory_of(table, kind), options=options, versions=versions)


def _library(model: str | None) -> dict[str, Any]:
    """The library's version stands for what a model makes of a text; what needs none is named with its own version."""
    return {} if model is None else {"library": installed("sentence-transformers")}


def assistant(name: str) -> str:
    return factory_of("assistants", name)


def installed(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def prompt_values(name: str) -> dict[str, Any]:
    ref = load_prompt(name).ref
    return {"prompt": ref.id, "prompt_version": ref.version, "prompt_sha256": ref.sha256}


def spec_of(recipe: Recipe) -> EnvironmentSpec:
    spec: EnvironmentSpec = find("environments", recipe.environment.kind)
    return spec


def environment_of(recipe: Recipe, *, simulated: bool = True) -> Implementation:
    """Where agents act. ``simulated`` False: over the collection, also where a model writes what they find."""
    kind = recipe.environment.kind
    if recipe.source_spec.is_explored:
        explored, shown = made_of(recipe)
        return named("environments", kind, explored, shown=shown)
    options = recipe.environment.model_dump(exclude={"kind", "simulated", "retriever", "vectors", "reranker"})
    if isinstance(recipe.environment, OwnPlace):
        source = source_of(recipe.environment.made_by, "environment.made_by")
        return named("environments", kind, options, source=source)
    parts = parts_of(recipe.environment.model_dump())
    own = {}
    if isinstance(recipe.environment, Search):
        own = {name: OwnTool(name).source for name in recipe.environment.tools if ":" in name}
    if recipe.simulation is None or not simulated:
        return named("environments", kind, options, **own).model_copy(update={"parts": parts})
    options["simulated"] = recipe.simulation.model_dump()
    prompt = load_prompt(*SIMULATE_PROMPT).ref
    factory = assistant("simulated_search")
    made = assistant_of("simulator", recipe.roles["simulator"], factory, prompt, options=options)
    return made.model_copy(update={"kind": kind, "parts": parts, "versions": {**made.versions, **own}})


def vectors_of(place: Mapping[str, Any]) -> tuple[Implementation, Vectors] | None:
    """Who encodes passages for an environment of these keys, and how; None where its searches go by words alone.

    Raises:
        InputError: an unknown retriever or encoder.
    """
    if not find("retrievers", place.get("retriever") or "bm25").vectors:
        return None
    wanted = Vectors.model_validate(place.get("vectors") or {})
    return named("encoders", wanted.encoder, wanted.encoder_options, **_library(wanted.model)), wanted


def parts_of(place: Mapping[str, Any]) -> dict[str, Implementation]:
    """The collaborators of an environment with these keys: ``retriever``, ``reranker``, and facts as ``tables``.

    Raises:
        InputError: an unknown retriever, reranker or encoder.
    """
    asked = "query" in (place.get("tools") or ())
    tables = {"tables": Implementation(kind="facts", factory=assistant("fact_tables"))} if asked else {}
    if place.get("reranker") is not None:
        wanted = Reranking.model_validate(place["reranker"])
        tables["reranker"] = named("rerankers", wanted.kind, wanted.options, **_library(wanted.model))
    kind = place.get("retriever")
    if kind is None:
        return tables
    made = named("retrievers", kind, {})
    if (vectors := vectors_of(place)) is not None:
        encoder, compared = vectors
        made = made.model_copy(update={"options": {"index": compared.index}, "parts": {"encoder": encoder}})
    return {"retriever": made, **tables}


def policy(recipe: Recipe, role: RoleName, who: Role) -> Implementation:
    return policy_of(role, who, language_of(recipe))


def without_mistakes(recipe: Recipe, acting: Implementation) -> Implementation | None:
    """The policy on hinted turns. A script reads no hint: one that is told where it went wrong makes no mistake on
    purpose there. None = the policy is a model and reads it."""
    scripted = recipe.roles["policy"].backend == "scripted"
    return acting.model_copy(update={"options": {**acting.options, "skill": 1.0}}) if scripted else None


def own_limits(who: Role, given: CriticalConfig | None = None) -> dict[str, Any]:
    """Tokens and seconds that a run of ``who`` may use, where nothing else is ``given``."""
    limits = who.limits.model_dump(exclude_none=True)
    return {name: value for name, value in limits.items() if given is None or getattr(given, name) is None}


def summaries_of(recipe: Recipe, role: RoleName) -> dict[str, Any] | None:
    """Who shortens what ``role`` reads; a policy reads all in full."""
    if recipe.summaries is None or role != "teacher":
        return None
    who = recipe.roles.get("summarizer")
    if who is None or who.backend == "scripted":
        summarizer = Implementation(kind="extractive", factory=assistant("extractive_summarizer"))
    else:
        summarizer = assistant_of("summarizer", who, assistant("summarizer"), load_prompt(*SUMMARIZE_PROMPT).ref)
    return {"shown": recipe.summaries, "summarizer": summarizer}


def reflector_of(recipe: Recipe) -> Implementation | None:
    """Who reflects on failed runs."""
    who = recipe.roles.get("reflector")
    if who is None:
        return None
    refs = [load_prompt(*prompt).ref for prompt in (REFLECT_PROMPT, RETRY_PROMPT)]
    return assistant_of("reflector", who, assistant("reflector"), *refs)


def expert_of(recipe: Recipe, critical: Critical) -> Implementation:
    who = recipe.roles.get("expert")
    if who is None or not expert_is_model(recipe):
        return named("experts", critical.expert, {**language_of(recipe)} | ({} if who is None else who.options))
    prompts = [prompt.ref for prompt in expert_prompts(who.mode)]
    return assistant_of("expert", who, factory_of("experts", "model"), *prompts, options={"mode": who.mode})


def expert_is_model(recipe: Recipe) -> bool:
    who = recipe.roles.get("expert")
    return who is not None and who.backend != "scripted"


def scorer_of(recipe: Recipe, critical: Critical) -> Implementation:
    who = recipe.roles.get("prm")
    if who is None or who.backend == "scripted":
        return named("scorers", critical.scorer, {})
    return assistant_of("prm", who, factory_of("scorers", "model"), score_prompt().ref)


def perturber_of(recipe: Recipe) -> Implementation | None:
    who = recipe.roles.get("perturber")
    return (
        None if who is None else assistant_of("perturber", who, assistant("perturber"), load_prompt(*EDIT_PROMPT).ref)
    )


def extraction(recipe: Recipe) -> dict[str, Any]:
    """Config of the stage that reads documents for triples.

    Raises:
        InputError: a user's function can't be imported.
    """
    prompt = load_prompt(EXTRACT).ref
    reader = job_of("writer", recipe.roles["writer"], factory_of("assistants", "triple_asker"), prompt)
    return {"reader": reader, "prompt": str(prompt)}


def drafting(recipe: Recipe) -> dict[str, Any]:
    """Who words relations, and who reads the words back."""
    role: RoleName = "checker" if "checker" in recipe.roles else "writer"
    draft, confirm = load_prompt(DRAFT_WORDS).ref, load_prompt(CONFIRM_WORDS).ref
    return {
        "writer": job_of("writer", recipe.roles["writer"], _ASKER, draft),
        "reader": job_of(role, recipe.roles[role], _ASKER, confirm),
        "prompts": (str(draft), str(confirm)),
    }


def task_stage(recipe: Recipe, config: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Name and config of the stage of tasks; ``config`` is that of the embedded one.

    Raises:
        InputError: a user's function can't be imported.
    """
    if recipe.questions.kind == "reverse":
        return "explored_tasks", {**config, "writing": _writing(recipe)}
    name = f"{recipe.questions.kind}_tasks"
    if recipe.questions.kind == "proposed":
        return name, {**config, "checks": _checks(recipe)}
    writing, checks = _writing(recipe), _checks(recipe)
    if writing is None and checks is None:
        return name, config
    stage = find("stages", name)
    tasks = Implementation(kind=name, factory=factory_of("stages", name))
    values = stage.config_type.model_validate(config).model_dump(mode="json")
    return "model_assisted_tasks", {
        "tasks": tasks,
        "path": values.pop("path", None),
        "questions": values,
        "writing": writing,
        "checks": checks,
    }


def proposing(recipe: Recipe) -> dict[str, Any]:
    """Who explores, who asks, and where."""
    who, solver = recipe.roles["proposer"], recipe.roles.get("policy", Role())
    explore, propose, harden = (load_prompt(name).ref for name in (EXPLORE, PROPOSE, HARDEN))
    # As an agent it takes the options of agents, as an assistant those of assistants.
    acting, asking = (with_options(who, known) for known in (ModelConfig, AskConfig))
    return {
        "environment": environment_of(recipe),
        "explorer": policy_of("proposer", acting, {}),
        "proposer": job_of("proposer", asking, _ASKER, propose),
        "hardener": job_of("proposer", asking, _ASKER, harden),
        "prompts": tuple(str(ref) for ref in (explore, propose, harden)),
        "solver": None if getattr(recipe.questions, "solved", None) is None else policy(recipe, "policy", solver),
        "limits": recipe.limits.model_copy(update=own_limits(solver)),
        **prompt_values(spec_of(recipe).prompt),
    }


def with_options(who: Role, known: type[BaseModel]) -> Role:
    """``who`` with those of its options that ``known`` has."""
    options = {name: value for name, value in who.options.items() if name in known.model_fields}
    return who.model_copy(update={"options": options})


def _writing(recipe: Recipe) -> dict[str, Any] | None:
    who = recipe.roles.get("writer")
    if who is None or not recipe.writing.share or recipe.questions.kind in ("given", "dataset", "code"):
        return None
    jobs = (WRITE_REQUEST, CONFIRM_REQUEST) if recipe.questions.kind == "reverse" else (WRITE, CONFIRM)
    prompt, compare = (load_prompt(job).ref for job in jobs)
    found: dict[str, Any] = recipe.writing.model_dump()
    found |= {"writer": job_of("writer", who, _ASKER, prompt), "prompt": str(prompt)}
    if recipe.writing.described and recipe.questions.kind == "world":
        describe = load_prompt("tasks/describe").ref
        found |= {"describer": job_of("writer", who, _ASKER, describe), "describer_prompt": str(describe)}
    if recipe.writing.confirm:
        role: RoleName = "checker" if "checker" in recipe.roles else "writer"
        reader = job_of(role, recipe.roles[role], _ASKER, compare)
        found |= {"reader": reader, "reader_prompt": str(compare)}
    return found


def _checks(recipe: Recipe) -> dict[str, Any] | None:
    role: RoleName
    who, wanted, role = recipe.roles.get("checker"), recipe.task_reviews, "checker"
    if recipe.questions.kind == "proposed":
        # Fail-closed: whatever is checked must be passed, and without a checker the proposer reads its own questions.
        needed = wanted.needed if "needed" in wanted.model_fields_set else 1
        wanted = wanted.model_copy(update={"needed": needed})
        wanted = wanted.model_copy(update={"reject": tuple(name for name in CHECKS if getattr(wanted, name))})
        if who is None:
            who, role = with_options(recipe.roles["proposer"], AskConfig), "proposer"
    prompts = {name: load_prompt(job).ref for name, (job, _) in CHECKS.items() if getattr(wanted, name)}
    if who is None or not prompts:
        return None
    return {
        **wanted.model_dump(),
        "checkers": {name: job_of(role, who, _ASKER, prompt) for name, prompt in prompts.items()},
        "prompts": {name: str(prompt) for name, prompt in prompts.items()},
    }


def task_filters(recipe: Recipe) -> tuple[Implementation, ...]:
    """The filters, in the order in which they look.

    Raises:
        InputError: a file of the recipe can't be read or used.
    """
    found = [] if recipe.decontaminate is None else [_benchmarks(recipe.decontaminate)]
    if recipe.difficulty is not None and recipe.difficulty.aim is not None:
        found.append(aimed(recipe.difficulty.aim))
    return tuple(found)


def benchmark_names(wanted: Decontaminate) -> dict[str, str]:
    """What a benchmark is called in rows and reports -> its path: the file's name, no place on this machine.

    Raises:
        InputError: two files have one name.
    """
    found: dict[str, str] = {}
    for path in wanted.benchmarks:
        name = PurePath(path).name
        if name in found:
            what = f"two benchmarks are named {name}"
            raise InputError(what, where="decontaminate.benchmarks", mend="give one another name")
        found[name] = path
    return found


def _benchmarks(wanted: Decontaminate) -> Implementation:
    files = benchmark_names(wanted)
    rules = Overlap.model_validate(wanted.model_dump(exclude={"benchmarks"}))
    if wanted.similarity is not None:
        factory_of("encoders", wanted.encoder)  # an unknown name is said before anything runs
    sha256 = {name: file_digest(path, rules) for name, path in files.items()}
    options = {**rules.model_dump(mode="json"), "sha256": sha256}
    made = named("task_filters", "benchmarks", options, **_library(wanted.model))
    return made.model_copy(update={"files": files})


def accepting_of(recipe: Recipe) -> Accepting | None:
    """What accepted tasks must not be alike in; None where the recipe asks for nothing.

    Raises:
        InputError: an unknown encoder.
    """
    rules = recipe.dedup.tasks if recipe.dedup is not None else None
    return None if rules is None else Accepting(rules=rules, encoder=encoder_of(rules))


def encoder_of(rules: Rules) -> Implementation | None:
    """Who makes vectors; None where no vectors are compared.

    Raises:
        InputError: an unknown encoder.
    """
    if rules.semantic is None:
        return None
    return named("encoders", rules.encoder, encoder_options(rules), **_library(rules.model))
