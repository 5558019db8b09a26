"""Datasets of agents in an environment: source -> graph and index -> tasks -> rollouts -> trajectories -> pairs.

Nothing here depends on which environment it is, but for one table: what a stage of it is called and reads, by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import metadata
from typing import Any

from synth.agents.reflection import REFLECT_PROMPT, RETRY_PROMPT
from synth.agents.summaries import SUMMARIZE_PROMPT
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.model_expert import expert_prompts
from synth.annotate.critical.model_scorer import score_prompt
from synth.annotate.preferences.judge import compare_prompt
from synth.annotate.preferences.perturb.minimal_edit import EDIT_PROMPT
from synth.annotate.rewards.model_judge import ANSWER_PROMPT, RATE_PROMPT, prompt_named
from synth.engine.plan import StageNode
from synth.environments.contract import EnvironmentSpec
from synth.environments.explored import EXPLORED
from synth.environments.simulated import SIMULATE_PROMPT
from synth.pipelines.duplicates import accepting_of, document_nodes, row_nodes
from synth.pipelines.explored import made_of, task_values
from synth.pipelines.modelled_tasks import extraction, modelled
from synth.pipelines.screens import task_screens
from synth.pipelines.words import language_of, lexicon_of
from synth.prompting import load_prompt
from synth.recipe.model import Critical, Recipe, Role
from synth.recipe.roles import RoleName, assistant_of, policy_of
from synth.recipe.sources import GRAPHS
from synth.registry import factory_of, find
from synth.stages.contract import Implementation, Stage
from synth.tasks.world.words import words_of

__all__ = ["search_nodes"]


def search_nodes(recipe: Recipe) -> tuple[StageNode, ...]:
    """The stage runs of a dataset of agents in an environment, in topological order."""
    if recipe.source.kind in EXPLORED:
        tasks = _node("tasks", *modelled(recipe, task_values(recipe)))
        nodes = [replace(tasks, accepting=accepting_of(recipe))]
    else:
        nodes = [*_source_nodes(recipe), *_task_nodes(recipe)]
    nodes[-1] = replace(nodes[-1], screens=task_screens(recipe))
    for role in ("teacher", "policy"):
        if role in recipe.roles:
            nodes += _role_nodes(recipe, role, recipe.roles[role])
    nodes += _difficulty_nodes(recipe)
    nodes += _step_nodes(recipe)
    nodes += _judging_nodes(recipe)
    nodes += _distractor_nodes(recipe)
    nodes += _reward_nodes(recipe)
    nodes += row_nodes(recipe, {node.label for node in nodes})
    return tuple(nodes)


def _source_nodes(recipe: Recipe) -> Iterator[StageNode]:
    source = recipe.source
    config = source.model_dump(exclude={"kind"})
    if source.kind in GRAPHS:
        yield _node("documents", "world_pages" if source.kind == "world" else "read_triples", config)
        inverses = dict(words_of(lexicon_of(recipe)).inverses)
        yield _node("graph", "graph", {"inverses": inverses}, entities="documents", edges="documents")
    elif source.kind == "docs":
        extract = config.pop("extract")
        yield from document_nodes(recipe, _node("documents", "read_docs", config))
        if extract == "rules":
            yield _node("triples", "extract_triples", {}, documents="documents")
        elif extract == "model":
            yield _node("extracted", "extract_written", extraction(recipe), documents="documents")
            yield _node("triples", "gather_triples", {}, documents="documents", written="extracted:triples")
        if extract == "none":
            yield _node("edges", "link_documents", {}, documents="documents")
        else:
            yield _node("edges", "link_records", {}, documents="documents", triples="triples")
    else:
        extract = config.pop("extract")
        yield from document_nodes(recipe, _node("documents", "read_records", config))
        if extract == "rules":
            yield _node("triples", "add_triples", {}, documents="documents", given="documents:triples")
        elif extract == "model":
            yield _node("extracted", "extract_written", extraction(recipe), documents="documents")
            written = {"documents": "documents", "written": "extracted:triples", "given": "documents:triples"}
            yield _node("triples", "add_written_triples", {}, **written)
        triples = "triples" if extract != "none" else "documents"
        yield _node("edges", "link_records", {}, documents="documents", triples=triples)
    yield _node("index", "index", {}, documents="documents")
    if recipe.environment.kind == "graph":
        yield _node("names", "names", {}, entities="documents" if source.kind in GRAPHS else "edges")


def _task_nodes(recipe: Recipe) -> Iterator[StageNode]:
    config = recipe.questions.model_dump(exclude={"kind"})
    entities = "documents" if recipe.source.kind in GRAPHS else "edges"
    reads = {"documents": "documents", "index": "index"}
    if recipe.questions.kind != "given":
        reads |= {"entities": entities, "edges": entities}
    if recipe.questions.kind == "docs":
        config["extract"] = getattr(recipe.source, "extract", "none")
    if recipe.questions.kind == "world":
        reads |= {"graph": "graph"}
        config["environment"] = recipe.environment.kind
        config["lexicon"] = lexicon_of(recipe)
    stage, values = modelled(recipe, config)
    yield replace(_node("tasks", stage, values, **reads), accepting=accepting_of(recipe))


def _role_nodes(recipe: Recipe, role: RoleName, who: Role) -> Iterator[StageNode]:
    prompt, environment = load_prompt(_spec(recipe).prompt), _environment(recipe)
    yield _node(
        f"{role}-rollouts",
        "rollouts",
        {
            "role": role,
            "rollouts": who.rollouts,
            "limits": recipe.limits.model_copy(update=_own_limits(who)),
            "policy": _policy(recipe, role, who),
            "environment": environment,
            "management": recipe.management,
            "summaries": _summaries(recipe, role),
            "reflector": _reflector(recipe, role),
            "prompt": prompt.ref.id,
            "prompt_version": prompt.ref.version,
            "prompt_sha256": prompt.ref.sha256,
        },
        tasks="tasks",
        **_world(recipe, environment),
    )
    yield _node(role, "verify", {}, rollouts=f"{role}-rollouts", tasks="tasks")


def _difficulty_nodes(recipe: Recipe) -> Iterator[StageNode]:
    """Predicted and measured success, with and without tools."""
    wanted, who = recipe.difficulty, recipe.roles.get("policy")
    if wanted is None or who is None:
        return
    policy = _policy(recipe, "policy", who)
    yield _node(
        "closed-book",
        "closed_book",
        {"policy": policy, "rollouts": wanted.closed_book, **_prompt(_spec(recipe).prompt)},
        tasks="tasks",
    )
    values = wanted.model_dump(exclude={"closed_book"})
    yield _node(
        "difficulty", "difficulty", values, tasks="tasks", policy_runs="policy:trajectories", closed_book="closed-book"
    )


def _step_nodes(recipe: Recipe) -> Iterator[StageNode]:
    """Critical steps, labels and pairs."""
    searched = recipe.critical is not None and "policy" in recipe.roles
    if searched:
        yield _critical_node(recipe)
    for role in ("teacher", "policy"):
        if role not in recipe.roles:
            continue
        if role == "policy" and searched:
            yield _node(
                f"{role}-steps", "label_searched_steps", {}, trajectories=role, tasks="tasks", searched="critical-steps"
            )
        else:
            yield _node(f"{role}-steps", "label_steps", {}, trajectories=role, tasks="tasks")
    if searched and recipe.preferences is not None and "teacher" in recipe.roles:
        environment = _environment(recipe)
        yield _node(
            "preferences",
            "preferences",
            {
                "environment": environment,
                "management": recipe.management,
                "editor": _editor(recipe),
                "modelled_expert": _expert_is_model(recipe),
                "repairer": _repairer(recipe),
                **recipe.preferences.model_dump(),
            },
            tasks="tasks",
            teacher_runs="teacher:trajectories",
            policy_runs="policy:trajectories",
            steps="policy-steps",
            continuations="critical-steps",
            **_world(recipe, environment),
        )


def _judging_nodes(recipe: Recipe) -> Iterator[StageNode]:
    """What a judge says of runs and pairs."""
    who = recipe.roles.get("judge")
    if recipe.ratings is not None:
        rater = _named("raters", "evidence", {})
        answers = None
        if who is not None:
            rater = assistant_of("judge", who, factory_of("raters", "model"), prompt_named(RATE_PROMPT).ref)
            if recipe.ratings.answers:
                answers = assistant_of("judge", who, _assistant("answer_judge"), prompt_named(ANSWER_PROMPT).ref)
        for role in ("teacher", "policy"):
            if role in recipe.roles:
                values = {"rater": rater, "answers": answers, "graded": recipe.ratings.graded}
                yield _node(f"{role}-ratings", "judge_runs", values, trajectories=role, tasks="tasks")
    searched = recipe.critical is not None and "policy" in recipe.roles
    if who is not None and searched and recipe.preferences is not None and "teacher" in recipe.roles:
        judge = assistant_of("judge", who, _assistant("pair_judge"), compare_prompt().ref)
        yield _node(
            "judged-pairs",
            "judge_pairs",
            {"judge": judge, "required": recipe.preferences.selection.judge},
            preferences="preferences",
            teacher_runs="teacher:trajectories",
            policy_runs="policy:trajectories",
        )


def _critical_node(recipe: Recipe) -> StageNode:
    critical = recipe.critical
    assert critical is not None
    who, environment = recipe.roles["policy"], _environment(recipe)
    return _node(
        "critical-steps",
        "critical_steps",
        {
            "policy": _policy(recipe, "policy", who),
            "expert": _expert(recipe, critical),
            "scorer": _scorer(recipe, critical),
            "management": recipe.management,
            "environment": environment,
            "search": critical.search.model_copy(update=_own_limits(who, critical.search)),
            "successes": critical.successes,
            "share": critical.share,
        },
        trajectories="policy",
        tasks="tasks",
        **_world(recipe, environment),
    )


def _repairer(recipe: Recipe) -> Implementation | None:
    """Who proposes repairs of failed runs on safety twins, which only applications have: the policy itself."""
    if recipe.environment.kind != "app" or recipe.preferences is None or not recipe.preferences.repairs:
        return None
    return _policy(recipe, "policy", recipe.roles["policy"])


def _editor(recipe: Recipe) -> Implementation | None:
    who = recipe.roles.get("editor")
    return None if who is None else assistant_of("editor", who, _assistant("editor"), load_prompt(*EDIT_PROMPT).ref)


def _expert(recipe: Recipe, critical: Critical) -> Implementation:
    who = recipe.roles.get("expert")
    if who is None or not _expert_is_model(recipe):
        return _named("experts", critical.expert, {**language_of(recipe)} | ({} if who is None else who.options))
    prompts = [prompt.ref for prompt in expert_prompts(who.mode)]
    return assistant_of("expert", who, factory_of("experts", "model"), *prompts, options={"mode": who.mode})


def _expert_is_model(recipe: Recipe) -> bool:
    who = recipe.roles.get("expert")
    return who is not None and who.backend != "scripted"


def _scorer(recipe: Recipe, critical: Critical) -> Implementation:
    who = recipe.roles.get("prm")
    if who is None or who.backend == "scripted":
        return _named("scorers", critical.scorer, {})
    return assistant_of("prm", who, factory_of("scorers", "model"), score_prompt().ref)


def _distractor_nodes(recipe: Recipe) -> Iterator[StageNode]:
    """Pages that runs met, and neighbours of the evidence."""
    wanted = recipe.distractors
    if wanted is None or not _spec(recipe).pages:
        return
    options = {"model": wanted.model, "revision": wanted.revision} if wanted.model is not None else {}
    # The library's version stands for what a model makes of a text; our own encoder is named with its version.
    libraries = {"library": _installed("sentence-transformers")} if wanted.model is not None else {}
    encoder = _named("encoders", wanted.encoder, options, **libraries)
    yield _node("vectors", "embed_documents", {"encoder": encoder}, documents="documents")
    runs = [role for role in ("teacher", "policy") if role in recipe.roles]
    reads = {
        "tasks": "tasks",
        # Where one role is missing, the other's runs are read twice and counted once.
        "teacher_runs": f"{runs[0]}:trajectories",
        "policy_runs": f"{runs[-1]}:trajectories",
        "documents": "documents",
        "index": "index",
        "vectors": "vectors",
    }
    stage = "search_distractors"
    if recipe.source.kind == "world":
        stage, reads = "world_distractors", reads | {"planted_misinformation": "documents"}
    values = {"encoder": encoder, "index": wanted.index, "bm25": wanted.bm25, "embedding": wanted.embedding}
    yield _node("distractors", stage, values, **reads)


def _reward_nodes(recipe: Recipe) -> Iterator[StageNode]:
    """Rows that a reward function judges: tasks to be solved by searching, and by reading."""
    if recipe.rl:
        # Tools and their description are the same; whoever trains says what stands behind them.
        environment = _environment(recipe, simulated=False)
        values = {"environment": environment, **_prompt(_spec(recipe).rl_prompt)}
        yield _node("rl", "rl", values, tasks="tasks", **_world(recipe, environment))
    wanted = recipe.contexts
    if wanted is None or recipe.distractors is None or not _spec(recipe).pages:
        return
    for budget in wanted.budgets:
        values = {"budget": budget, "tasks": wanted.tasks, "tokenizer": wanted.tokenizer, **_prompt("contexts/read")}
        reads = {name: name for name in ("tasks", "documents", "index", "distractors")}
        yield _node(f"contexts-{budget}", "contexts", values, **reads)


def _world(recipe: Recipe, environment: Implementation) -> dict[str, str]:
    """What the environment is opened over: table or arrays -> the node that writes it."""
    made = {"documents": "documents", "index": "index", "graph": "graph", "names": "names"}
    made["entities"] = "documents" if recipe.source.kind in GRAPHS else "edges"
    return {name: made[name] for name in environment.needs}


def _spec(recipe: Recipe) -> EnvironmentSpec:
    spec: EnvironmentSpec = find("environments", recipe.environment.kind)
    return spec


def _prompt(name: str) -> dict[str, Any]:
    ref = load_prompt(name).ref
    return {"prompt": ref.id, "prompt_version": ref.version, "prompt_sha256": ref.sha256}


def _installed(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _policy(recipe: Recipe, role: RoleName, who: Role) -> Implementation:
    return policy_of(role, who, language_of(recipe))


def _summaries(recipe: Recipe, role: RoleName) -> dict[str, Any] | None:
    """Who shortens what ``role`` reads; a policy reads all in full."""
    if recipe.summaries is None or role != "teacher":
        return None
    who = recipe.roles.get("summarizer")
    if who is None or who.backend == "scripted":
        summarizer = Implementation(kind="extractive", factory=_assistant("extractive_summarizer"))
    else:
        summarizer = assistant_of("summarizer", who, _assistant("summarizer"), load_prompt(*SUMMARIZE_PROMPT).ref)
    return {"shown": recipe.summaries, "summarizer": summarizer}


def _reflector(recipe: Recipe, role: RoleName) -> Implementation | None:
    """Who reflects on failed runs of ``role``; a policy's runs are tried once."""
    who = recipe.roles.get("reflector")
    if who is None or role != "teacher":
        return None
    refs = [load_prompt(*prompt).ref for prompt in (REFLECT_PROMPT, RETRY_PROMPT)]
    return assistant_of("reflector", who, _assistant("reflector"), *refs)


def _own_limits(who: Role, given: CriticalConfig | None = None) -> dict[str, Any]:
    """Tokens and seconds that a run of ``who`` may use, where nothing else is ``given``."""
    limits = who.limits.model_dump(exclude_none=True)
    return {name: value for name, value in limits.items() if given is None or getattr(given, name) is None}


def _environment(recipe: Recipe, *, simulated: bool = True) -> Implementation:
    """Where agents act. ``simulated`` False: over the collection, also where a model writes what they find."""
    kind = recipe.environment.kind
    if recipe.source.kind in EXPLORED:
        explored, shown = made_of(recipe)
        return _named("environments", kind, explored, shown=shown)
    options = recipe.environment.model_dump(exclude={"kind", "simulated"})
    if recipe.simulation is None or not simulated:
        return _named("environments", kind, options)
    options["simulated"] = recipe.simulation.model_dump()
    prompt = load_prompt(*SIMULATE_PROMPT).ref
    factory = _assistant("simulated_search")
    made = assistant_of("simulator", recipe.roles["simulator"], factory, prompt, options=options)
    return made.model_copy(update={"kind": kind})


def _assistant(name: str) -> str:
    return factory_of("assistants", name)


def _named(table: str, kind: str, options: dict[str, Any], **versions: Any) -> Implementation:
    """A collaborator by name; an unknown name is the user's mistake: one line, before anything runs."""
    return Implementation(kind=kind, factory=factory_of(table, kind), options=options, versions=versions)


def _node(label: str, stage: str, values: dict[str, Any], **inputs: str) -> StageNode:
    kind: type[Stage[Any]] = find("stages", stage)
    return StageNode(label, kind, kind.config_type.model_validate(values), inputs)
