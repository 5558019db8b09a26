"""The steps of a dataset, in their order: what stage runs each is, with the configs that the recipe gives them.

Nothing here depends on which environment or source it is: what these need and write is asked of their entries in the
registry, and who reads what from whom is the planner's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from synth.annotate.critical.config import CriticalConfig
from synth.annotate.labels.model_judge import STEPS_PROMPT
from synth.annotate.refinement.rewording import REWORD_PROMPT
from synth.annotate.rewards.model_judge import ANSWER_PROMPT, RATE_PROMPT, prompt_named
from synth.environments.search_spec import Search
from synth.models.asking import AskConfig
from synth.pipelines.collaborators import (
    assistant,
    drafting,
    environment_of,
    expert_of,
    extraction,
    installed,
    named,
    own_limits,
    policy,
    prompt_values,
    proposing,
    reflector_of,
    scorer_of,
    spec_of,
    summaries_of,
    task_filters,
    task_stage,
    vectors_of,
    with_options,
    without_mistakes,
)
from synth.pipelines.duplicate_steps import deduplicated, duplicate_documents, duplicates, is_read
from synth.pipelines.explored import task_values
from synth.pipelines.own_parts import own_rater, reward_of
from synth.pipelines.pair_steps import (
    judged_pairs,
    perturbed_pairs,
    preferences,
    refined_pairs,
    repaired_pairs,
    sibling_pairs,
    trajectory_pairs,
    verified_pairs,
)
from synth.pipelines.stage_runs import Run
from synth.pipelines.words import lexicon_of, worded_by_file
from synth.prompting import load_prompt
from synth.recipe.keys import HELD
from synth.recipe.model import Recipe
from synth.recipe.questions import GivenQuestions
from synth.recipe.roles import assistant_of, believer_of
from synth.recipe.sources import OwnSource, RunsSource
from synth.registry import SHAPES, factory_of, find
from synth.sources.docs.distract import DocumentDistractors
from synth.tasks.world.words import words_of

__all__ = ["STEPS"]


def _extract(recipe: Recipe) -> str:
    return str(getattr(recipe.source, "extract", "none"))


def _source(recipe: Recipe) -> Iterator[Run]:
    stage = recipe.source_spec.stage
    if stage is None or recipe.source_spec.is_recorded:
        return  # recorded runs are read where others are made
    values = recipe.source.model_dump(include=set(find("stages", stage).config_type.model_fields))
    yield Run("documents" if deduplicated(recipe) is None else "read", stage, values)


def _extraction(recipe: Recipe) -> Iterator[Run]:
    if is_read(recipe) and _extract(recipe) == "model":
        yield Run("extracted", "read_text", extraction(recipe))
    if is_read(recipe) and _extract(recipe) != "none":
        yield Run("triples", "extract_triples", {})


def _graph(recipe: Recipe) -> Iterator[Run]:
    if is_read(recipe):
        yield Run("edges", "link_documents", {})
    elif recipe.source_spec.is_graph and recipe.source_spec.arrays is None:
        yield Run("graph", "graph", {"inverses": dict(words_of(lexicon_of(recipe)).inverses)})
    if getattr(recipe.source, "draft_words", False):
        lexicon = lexicon_of(recipe)
        yield Run("relation-facts", "pick_relation_facts", {"lexicon": lexicon, "worded": worded_by_file(recipe)})
        yield Run("drafted-words", "draft_words", {"lexicon": lexicon, **drafting(recipe)})


def _misleading(recipe: Recipe) -> Iterator[Run]:
    """Pages that were written to mislead; where facts are the source, it writes them itself."""
    wanted = getattr(recipe.source, "distractors", None)
    if is_read(recipe) and isinstance(wanted, DocumentDistractors) and any(wanted.model_dump().values()):
        yield Run("misleading", "mislead_documents", wanted.model_dump())


def _index(recipe: Recipe) -> Iterator[Run]:
    if "documents" in recipe.source_spec.writes:
        yield Run("index", "index", {})
        if (vectors := vectors_of(recipe.environment.model_dump())) is not None:
            encoder, wanted = vectors
            yield Run("passages", "embed_passages", {"encoder": encoder, "passage": wanted.passage})
    if "names" in spec_of(recipe).needs:
        yield Run("names", "names", {})


def _tasks(recipe: Recipe) -> Iterator[Run]:
    if not recipe.has_tasks:
        return
    if isinstance(recipe.questions, GivenQuestions) and isinstance(recipe.source, RunsSource | OwnSource):
        own = environment_of(recipe) if isinstance(recipe.source, OwnSource) else None
        asked = {"path": recipe.questions.path, "licence": recipe.source.licence, "environment": own}
        yield Run("tasks", "bare_tasks", asked)
        return
    values = recipe.questions.model_dump(exclude={"kind", "wording"})
    if recipe.questions.kind == "reverse":
        values = task_values(recipe)
    if isinstance(recipe.environment, Search) and recipe.questions.kind in HELD:
        values["collections"] = recipe.environment.collections
    if recipe.questions.kind == "proposed":
        values |= proposing(recipe)
    if recipe.questions.kind == "code":
        values |= {"environment": environment_of(recipe), "licence": getattr(recipe.source, "licence", None)}
    if recipe.questions.kind == "docs":
        values["extract"] = _extract(recipe)
    if recipe.questions.kind == "world":
        values |= {
            "environment": recipe.environment.kind,
            "lexicon": lexicon_of(recipe),
            "further": {name: named("shapes", name, {}) for name in recipe.questions.shapes if name not in SHAPES},
        }
    yield Run("tasks", *task_stage(recipe, values))


def _rollouts(recipe: Recipe) -> Iterator[Run]:
    if isinstance(recipe.source, RunsSource):
        yield from _recorded(recipe, recipe.source)
        return
    for role in recipe.acting:
        who = recipe.roles[role]
        values = {
            "role": role,
            "rollouts": who.rollouts,
            "limits": recipe.limits.model_copy(update=own_limits(who)),
            "policy": policy(recipe, role, who),
            "environment": environment_of(recipe),
            "management": recipe.management,
            "summaries": summaries_of(recipe, role),
            "reflector": reflector_of(recipe) if role == "teacher" else None,
            **prompt_values(spec_of(recipe).prompt),
        }
        yield Run(f"{role}-rollouts", "rollouts", values, role)
        yield Run(role, "verify", {}, role)
        if who.behaviours:
            yield Run(f"{role}-behaviours", "required_behaviours", {"behaviours": who.behaviours}, role)


def _recorded(recipe: Recipe, source: RunsSource) -> Iterator[Run]:
    """Runs that are there, in the place of rollouts."""
    values = {
        "path": source.path,
        "importer": named("importers", source.format, {}),
        "all_correct": source.all_correct,
        "licence": source.licence,
        "benchmarks": next(iter(task_filters(recipe)), None),
        "environment": environment_of(recipe) if recipe.is_open else None,
    }
    yield Run("runs", "read_runs", values)
    for role in recipe.acting:
        yield Run(role, "recorded_runs", {"role": role}, role)


def _difficulty(recipe: Recipe) -> Iterator[Run]:
    """Predicted and measured success, with and without tools."""
    wanted, who = recipe.difficulty, recipe.roles.get("policy")
    if wanted is None or who is None or recipe.source_spec.is_recorded:
        return
    values = {"policy": policy(recipe, "policy", who), "rollouts": wanted.closed_book}
    yield Run("closed-book", "closed_book", {**values, **prompt_values(spec_of(recipe).prompt)})
    yield Run("difficulty", "difficulty", wanted.model_dump(exclude={"closed_book", "aim"}))


def _refine(recipe: Recipe) -> Iterator[Run]:
    """Good runs made of the policy's failed ones."""
    wanted = recipe.refine
    if wanted is None:
        return
    who = recipe.roles["policy"]
    acting = policy(recipe, "policy", who)
    values = {
        **wanted.model_dump(exclude={"samples"}),
        "policy": acting,
        "hinted": without_mistakes(recipe, acting),
        "environment": environment_of(recipe),
        "management": recipe.management,
        "reflector": reflector_of(recipe),
        "limits": recipe.limits.model_copy(update=own_limits(who)),
        "rollouts": who.rollouts,
        "search": CriticalConfig(max_pairs=wanted.samples, error=0.1, **own_limits(who)),
    }
    yield Run("policy-refined", "refine", values, "policy")


def _trees(recipe: Recipe) -> Iterator[Run]:
    wanted = recipe.trees
    if wanted is None:
        return
    who = recipe.roles["policy"]
    values = {
        "policy": policy(recipe, "policy", who),
        "environment": environment_of(recipe),
        "management": recipe.management,
        "limits": recipe.limits.model_copy(update=own_limits(who)),
        "number": who.rollouts * (1 + (0 if recipe.refine is None else len(recipe.refine.how))),
        "tree": wanted.model_dump(exclude={"gap"}),
    }
    yield Run("policy-trees", "trees", values, "policy")


def _helper_runs(recipe: Recipe) -> Iterator[Run]:
    if recipe.management is not None and recipe.management.delegate:
        for role in recipe.acting:
            yield Run(f"{role}-helpers", "helper_runs", {}, role)


def _rework(recipe: Recipe) -> Iterator[Run]:
    """Runs made of finished ones."""
    if recipe.rework is None:
        return
    told, rewriter = prompt_values("agents/team"), None
    if recipe.rework.reword:
        student = with_options(recipe.roles["policy"], AskConfig)
        rewriter = assistant_of("policy", student, assistant("rewriter"), load_prompt(*REWORD_PROMPT).ref)
    for role in recipe.acting:
        values = {
            **recipe.rework.model_dump(exclude={"reword"}),
            "rewriter": rewriter if role == "teacher" else None,
            "environment": environment_of(recipe),
            "management": recipe.management,
            "prompt_version": told["prompt_version"],
            "prompt_sha256": told["prompt_sha256"],
        }
        yield Run(f"{role}-reworked", "rework", values, role)


def _critical_steps(recipe: Recipe) -> Iterator[Run]:
    critical = recipe.critical
    if critical is None or "policy" not in recipe.roles:
        return
    who = recipe.roles["policy"]
    values = {
        "policy": policy(recipe, "policy", who),
        "expert": expert_of(recipe, critical),
        "scorer": scorer_of(recipe, critical),
        "management": recipe.management,
        "environment": environment_of(recipe),
        "search": critical.search.model_copy(update=own_limits(who, critical.search)),
        "successes": critical.successes,
        "share": critical.share,
    }
    yield Run("critical-steps", "critical_steps", values, "policy")


def _labels(recipe: Recipe) -> Iterator[Run]:
    who, judge = recipe.roles.get("judge"), None
    if who is not None and ":" not in who.backend and recipe.ratings is not None and recipe.ratings.steps:
        judge = assistant_of("judge", who, assistant("step_judge"), prompt_named(STEPS_PROMPT).ref)
    for role in recipe.acting if recipe.has_tasks else ():
        values: dict[str, Any] = {"rules": [named("label_rules", name, {}) for name in recipe.label_rules]}
        if judge is not None:
            values["judge"] = judge
        if role == "policy" and recipe.ratings is not None:
            asked = {"believer": recipe.ratings.answer_probability, "outcomes": recipe.ratings.outcome_potential}
            values |= {name: believer_of(recipe.roles["policy"]) for name, wanted in asked.items() if wanted}
        yield Run(f"{role}-steps", "label_steps", values, role)


def _ratings(recipe: Recipe) -> Iterator[Run]:
    """What a judge, or a formula over the evidence, says of whole runs."""
    who, wanted = recipe.roles.get("judge"), recipe.ratings
    if wanted is None:
        return
    rater, answers = named("raters", "evidence", {}), None
    if who is not None:
        voices = {"voices": wanted.judges} if wanted.judges > 1 else {}
        rating = prompt_named(RATE_PROMPT).ref
        rater = assistant_of("judge", who, factory_of("raters", "model"), rating, options=voices)
        if ":" in who.backend:
            rater = own_rater(who.backend)
        elif wanted.answers:
            answers = assistant_of(
                "judge", who, assistant("answer_judge"), prompt_named(ANSWER_PROMPT).ref, options=voices
            )
    for role in recipe.acting if recipe.has_tasks else ():
        values = {"rater": rater, "answers": answers, "graded": wanted.graded, "checklist": wanted.checklist}
        yield Run(f"{role}-ratings", "judge_runs", values, role)


def _attribution(recipe: Recipe) -> Iterator[Run]:
    """Who failed each recorded run, and where."""
    if recipe.source_spec.is_recorded:
        for role in recipe.acting:
            yield Run(f"{role}-failures", "attribute_failures", {}, role)


def _safety(recipe: Recipe) -> Iterator[Run]:
    """Whether each run was safe, where runs change something."""
    kind = recipe.environment.kind
    if recipe.safety and recipe.has_tasks and recipe.is_open and kind in ("app", "code", "mcp"):
        desk = {"environment": environment_of(recipe)} if kind == "app" and recipe.management is None else {}
        for role in recipe.acting:
            yield Run(f"{role}-safety", "assess_safety", desk, role)


def _distractors(recipe: Recipe) -> Iterator[Run]:
    """Pages that runs met, and neighbours of the evidence."""
    wanted = recipe.distractors
    if wanted is None or not spec_of(recipe).pages:
        return
    options = {"model": wanted.model, "revision": wanted.revision} if wanted.model is not None else {}
    # The library's version stands for what a model makes of a text; our own encoder is named with its version.
    libraries = {"library": installed("sentence-transformers")} if wanted.model is not None else {}
    encoder = named("encoders", wanted.encoder, options, **libraries)
    yield Run("vectors", "embed_documents", {"encoder": encoder})
    values = {"encoder": encoder, "index": wanted.index, "bm25": wanted.bm25, "embedding": wanted.embedding}
    yield Run("distractors", "distractors", values)


def _rl(recipe: Recipe) -> Iterator[Run]:
    """Rows that a reward function judges: tasks to be solved by acting."""
    if recipe.rl and not recipe.source_spec.is_recorded:
        # Tools and their description are the same; whoever trains says what stands behind them.
        environment = environment_of(recipe, simulated=False)
        reward = None if recipe.reward == "grounded" else reward_of(recipe.reward)
        cite = load_prompt("rl/cite").ref if recipe.reward == "cited" else None
        values = {"environment": environment, "reward": reward, "citations": cite}
        yield Run("rl", "rl", {**values, **prompt_values(spec_of(recipe).rl_prompt)})


def _contexts(recipe: Recipe) -> Iterator[Run]:
    """The same, to be solved by reading."""
    wanted = recipe.contexts
    if wanted is None or recipe.distractors is None or not spec_of(recipe).pages:
        return
    for budget in wanted.budgets:
        values = {
            "budget": budget,
            "tasks": wanted.tasks,
            "tokenizer": wanted.tokenizer,
            "max_random": wanted.max_random,
        }
        yield Run(f"contexts-{budget}", "contexts", {**values, **prompt_values("contexts/read")})


STEPS: Mapping[str, Callable[[Recipe], Iterator[Run]]] = {
    "source": _source,
    "duplicate_documents": duplicate_documents,
    "extraction": _extraction,
    "graph": _graph,
    "misleading": _misleading,
    "index": _index,
    "tasks": _tasks,
    "rollouts": _rollouts,
    "difficulty": _difficulty,
    "refine": _refine,
    "trees": _trees,
    "helper_runs": _helper_runs,
    "rework": _rework,
    "critical_steps": _critical_steps,
    "label_steps": _labels,
    "attribution": _attribution,
    "safety": _safety,
    "verified_pairs": verified_pairs,
    "refined_pairs": refined_pairs,
    "sibling_pairs": sibling_pairs,
    "trajectory_pairs": trajectory_pairs,
    "perturbed_pairs": perturbed_pairs,
    "repaired_pairs": repaired_pairs,
    "preferences": preferences,
    "ratings": _ratings,
    "judge_pairs": judged_pairs,
    "distractors": _distractors,
    "rl": _rl,
    "contexts": _contexts,
    "duplicates": duplicates,
}
"""A recipe that lists no ``stages`` has all of them, in this order."""
