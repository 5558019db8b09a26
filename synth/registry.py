"""Explicit tables of what there is to choose from. A new implementation is one module and one line here.

Tables hold ``"module:attribute"`` so that naming the choices imports nothing heavy. Packages outside this one add to
any table through entry points (group ``synth.<table>``), and a recipe names what they add as it names ours; a name that
is taken raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module, metadata
from typing import Any

from synth.errors import InputError

__all__ = [
    "ASSISTANTS",
    "BACKENDS",
    "COLLABORATORS",
    "ENCODERS",
    "ENVIRONMENTS",
    "EXPERTS",
    "EXPLORERS",
    "FORMATS",
    "IMPORTERS",
    "LABEL_RULES",
    "QUESTIONS",
    "RATERS",
    "RERANKERS",
    "RETRIEVERS",
    "REWARDS",
    "SCORERS",
    "SHAPES",
    "SOURCES",
    "STAGES",
    "TABLES",
    "TASK_FILTERS",
    "choices",
    "factory_of",
    "find",
    "names",
]

STAGES: Mapping[str, str] = {
    "world_pages": "synth.stages.world:WorldPages",
    "read_docs": "synth.stages.read_docs:ReadDocs",
    "read_triples": "synth.stages.read_facts:ReadTriples",
    "read_tables": "synth.stages.read_facts:ReadTables",
    "read_records": "synth.stages.read_records:ReadRecords",
    "read_hub": "synth.stages.read_records:ReadHub",
    "read_dataset": "synth.stages.read_dataset:ReadDataset",
    "read_runs": "synth.stages.read_runs:ReadRuns",
    "read_code": "synth.stages.read_code:ReadCode",
    "recorded_runs": "synth.stages.recorded_runs:RecordedRuns",
    "sketch": "synth.stages.duplicates:ComputeSketches",
    "unique_documents": "synth.stages.duplicates:UniqueDocuments",
    "mark_duplicates": "synth.stages.duplicates:MarkDuplicates",
    "read_text": "synth.stages.extract:ReadText",
    "pick_relation_facts": "synth.stages.draft_words:PickRelationFacts",
    "draft_words": "synth.stages.draft_words:DraftWords",
    "extract_triples": "synth.stages.extract:ExtractTriples",
    "link_documents": "synth.stages.link_documents:LinkDocuments",
    "mislead_documents": "synth.stages.mislead:MisleadDocuments",
    "graph": "synth.stages.graph:BuildGraph",
    "index": "synth.stages.index:BuildIndex",
    "names": "synth.stages.index:BuildNames",
    "world_tasks": "synth.stages.world_tasks:WorldTasks",
    "docs_tasks": "synth.stages.docs_tasks:DocsTasks",
    "code_tasks": "synth.stages.code_tasks:CodeTasks",
    "explored_tasks": "synth.stages.explored_tasks:ExploredTasks",
    "proposed_tasks": "synth.stages.proposed_tasks:ProposedTasks",
    "given_tasks": "synth.stages.given_tasks:GivenTasksStage",
    "bare_tasks": "synth.stages.given_tasks:BareTasks",
    "dataset_tasks": "synth.stages.read_dataset:DatasetTasks",
    "model_assisted_tasks": "synth.stages.model_assisted_tasks:ModelAssistedTasks",
    "rollouts": "synth.stages.rollouts:Rollouts",
    "verify": "synth.stages.verify:Verify",
    "required_behaviours": "synth.stages.required_behaviours:RequiredBehaviours",
    "refine": "synth.stages.refine:Refine",
    "trees": "synth.stages.trees:Trees",
    "rework": "synth.stages.rework:ReworkRuns",
    "helper_runs": "synth.stages.helper_runs:HelperRuns",
    "closed_book": "synth.stages.difficulty:ClosedBook",
    "difficulty": "synth.stages.difficulty:Difficulties",
    "critical_steps": "synth.stages.critical_steps:CriticalSteps",
    "label_steps": "synth.stages.label_steps:LabelSteps",
    "verified_pairs": "synth.stages.pair_makers:VerifiedPairs",
    "trajectory_pairs": "synth.stages.pair_makers:TrajectoryPairs",
    "perturbed_pairs": "synth.stages.pair_makers:PerturbedPairs",
    "repaired_pairs": "synth.stages.pair_makers:RepairedPairs",
    "refined_pairs": "synth.stages.pair_makers:RefinedPairs",
    "sibling_pairs": "synth.stages.pair_makers:SiblingPairs",
    "preferences": "synth.stages.preferences:Preferences",
    "judge_pairs": "synth.stages.judge_pairs:JudgePairs",
    "judge_runs": "synth.stages.judge_runs:JudgeRuns",
    "assess_safety": "synth.stages.assess_safety:AssessSafety",
    "attribute_failures": "synth.stages.attribute_failures:AttributeFailures",
    "embed_documents": "synth.stages.distractors:EmbedDocuments",
    "embed_passages": "synth.stages.index:EmbedPassages",
    "distractors": "synth.stages.distractors:Distractors",
    "rl": "synth.stages.rl:RlRows",
    "contexts": "synth.stages.contexts:Contexts",
}
SOURCES: Mapping[str, str] = {
    "world": "synth.recipe.sources:WORLD",
    "triples": "synth.recipe.sources:TRIPLES",
    "tables": "synth.recipe.sources:TABLES",
    "docs": "synth.recipe.sources:DOCS",
    "records": "synth.recipe.sources:RECORDS",
    "hub": "synth.recipe.sources:HUB",
    "dataset": "synth.recipe.sources:DATASET",
    "runs": "synth.recipe.sources:RUNS",
    "own": "synth.recipe.sources:OWN",
    "app": "synth.recipe.sources:APP",
    "mcp": "synth.recipe.sources:MCP",
    "web": "synth.recipe.sources:WEB",
    "code": "synth.recipe.sources:CODE",
}
QUESTIONS: Mapping[str, str] = {
    "world": "synth.recipe.questions:WorldQuestions",
    "docs": "synth.recipe.questions:DocsQuestions",
    "proposed": "synth.recipe.questions:ProposedQuestions",
    "given": "synth.recipe.questions:GivenQuestions",
    "dataset": "synth.recipe.questions:DatasetQuestions",
    "reverse": "synth.recipe.questions:ReverseQuestions",
    "code": "synth.recipe.questions:CodeQuestions",
    "recorded": "synth.recipe.questions:RecordedQuestions",
}
SHAPES: Mapping[str, str] = {
    "composition": "synth.tasks.world.compose:word_chain",
    "conjunction": "synth.tasks.world.conjoin:word_conjunction",
    "comparison": "synth.tasks.world.shapes:propose_comparison",
    "computation": "synth.tasks.world.shapes:propose_computation",
    "count": "synth.tasks.world.shapes:propose_count",
    "cycle": "synth.tasks.world.shapes:propose_cycle",
    "intersection": "synth.tasks.world.shapes:propose_intersection",
    "parallel": "synth.tasks.world.shapes:propose_parallel",
    "superlative": "synth.tasks.world.shapes:propose_superlative",
    "temporal": "synth.tasks.world.shapes:propose_temporal",
    "total": "synth.tasks.world.shapes:propose_total",
}
"""Shapes of questions over a graph. Ours are part of the stage ``world_tasks``; others are given to it."""
LABEL_RULES: Mapping[str, str] = {}
"""What looks at a run's labels after our own rules, where a recipe names it."""
REWARDS: Mapping[str, str] = {
    "checklist": "synth.annotate.rewards:checklist_rewards",
    "cited": "synth.annotate.rewards:cited_rewards",
    "grounded": "synth.annotate.rewards:group_rewards",
    "stages": "synth.annotate.rewards:stage_rewards",
}
"""Reward functions that rows for reinforcement learning name."""
ENVIRONMENTS: Mapping[str, str] = {
    "graph": "synth.environments.graph:GRAPH",
    "search": "synth.environments.search_spec:SEARCH",
    "mcp": "synth.environments.mcp.spec:MCP",
    "app": "synth.environments.app.environment:APP",
    "web": "synth.environments.web.environment:WEB",
    "code": "synth.environments.code.environment:CODE",
    "own": "synth.environments.own:OWN_ENVIRONMENT",
    "recorded": "synth.environments.own:RECORDED_ENVIRONMENT",
}
EXPLORERS: Mapping[str, str] = {
    "app": "synth.exploration.app.explorer:app_explorer",
    "mcp": "synth.exploration.mcp.explorer:mcp_explorer",
    "web": "synth.exploration.web.explorer:web_explorer",
}
"""How an environment of that name is explored, so that tasks can be derived from it."""
ENCODERS: Mapping[str, str] = {
    "hashed": "synth.retrieval.encoder:hashed_encoder",
    "sentence-transformers": "synth.retrieval.encoder:sentence_encoder",
}
RETRIEVERS: Mapping[str, str] = {
    "bm25": "synth.retrieval.retrievers:BM25",
    "dense": "synth.retrieval.retrievers:DENSE",
    "hybrid": "synth.retrieval.retrievers:HYBRID",
}
"""Who finds pages for a search environment."""
RERANKERS: Mapping[str, str] = {
    "proximity": "synth.retrieval.rerank:proximity",
    "cross-encoder": "synth.retrieval.rerank:cross_encoder",
}
"""Who looks at its first results again."""
EXPERTS: Mapping[str, str] = {
    "scripted": "synth.annotate.critical.scripted_expert:scripted_expert",
    "model": "synth.annotate.critical.model_expert:model_expert",
}
RATERS: Mapping[str, str] = {
    "evidence": "synth.annotate.rewards.rating:EvidenceRater",
    "model": "synth.annotate.rewards.model_judge:model_rater",
    "own": "synth.annotate.rewards.own:own_rater",
}
SCORERS: Mapping[str, str] = {
    "evidence": "synth.annotate.critical.scoring:EvidenceScorer",
    "model": "synth.annotate.critical.model_scorer:model_scorer",
}
TASK_FILTERS: Mapping[str, str] = {
    "aim": "synth.tasks.aimed:AimFilter",
    "benchmarks": "synth.filtering.decontamination.benchmarks:BenchmarkFilter",
}
BACKENDS: Mapping[str, str] = {
    "scripted": "synth.agents.scripted.players:scripted_policy",
    "openai": "synth.agents.model.policy:model_policy",
    "vllm": "synth.agents.model.policy:model_policy",
}
ASSISTANTS: Mapping[str, str] = {
    "answer_probability": "synth.annotate.labels.answer_probability:answer_probability",
    "answer_judge": "synth.annotate.rewards.model_judge:model_answer_judge",
    "perturber": "synth.annotate.preferences.perturb.minimal_edit:model_perturber",
    "rewriter": "synth.annotate.refinement.rewording:model_rewriter",
    "fact_tables": "synth.environments.fact_tables:fact_tables",
    "extractive_summarizer": "synth.agents.summaries:extractive_summarizer",
    "pair_judge": "synth.annotate.preferences.judge:model_pair_judge",
    "reflector": "synth.agents.reflection:model_reflector",
    "simulated_search": "synth.environments.search_spec:SIMULATED_SEARCH",
    "step_judge": "synth.annotate.labels.model_judge:model_step_judge",
    "summarizer": "synth.agents.summaries:model_summarizer",
    "task_asker": "synth.tasks.writing.asked:task_asker",
    "triple_asker": "synth.tasks.writing.extraction:triple_asker",
}
"""What does one job of a role, where a recipe's key of another name chooses it."""
FORMATS: Mapping[str, str] = {
    "adp-1": "synth.export.adp:ADP_1",
    "adp-2": "synth.export.adp:ADP_2",
    "atif-1.7": "synth.export.atif:ATIF_17",
    "atif-1.8": "synth.export.atif:ATIF_18",
    "kto": "synth.export.trl:KTO",
    "llamafactory-dpo": "synth.export.llamafactory:LLAMAFACTORY_DPO",
    "llamafactory-sft": "synth.export.llamafactory:LLAMAFACTORY_SFT",
    "llamafactory-sft-vision": "synth.export.screens:LLAMAFACTORY_SFT_VISION",
    "openai": "synth.export.chat:OPENAI",
    "prm": "synth.export.prm:PRM",
    "ranker": "synth.export.pages:RANKER",
    "sts": "synth.export.chat:STS",
    "trl-arguments": "synth.export.decoupled:TRL_ARGUMENTS",
    "trl-dpo": "synth.export.trl:TRL_DPO",
    "trl-grpo": "synth.export.rl:TRL_GRPO",
    "trl-grpo-env": "synth.export.rl:TRL_GRPO_ENV",
    "trl-pivots": "synth.export.pivots:TRL_PIVOTS",
    "trl-plans": "synth.export.plans:TRL_PLANS",
    "trl-corrections": "synth.export.trl:TRL_CORRECTIONS",
    "trl-rft": "synth.export.trl:TRL_RFT",
    "trl-sft": "synth.export.trl:TRL_SFT",
    "trl-sft-vision": "synth.export.screens:TRL_SFT_VISION",
    "trl-tools": "synth.export.decoupled:TRL_TOOLS",
    "verifier": "synth.export.claims:VERIFIER",
    "vision": "synth.export.pictures:VISION",
    "vision-charts": "synth.export.pictures:CHARTS",
    "verl": "synth.export.rl:VERL",
    "verl-env": "synth.export.rl:VERL_ENV",
}
IMPORTERS: Mapping[str, str] = {
    "adp": "synth.export.importing.adp:ADP",
    "atif": "synth.export.importing.atif:ATIF",
    "auto": "synth.export.importing.anything:AUTO",
    "frameworks": "synth.export.importing.frameworks:FRAMEWORKS",
    "group-chat": "synth.export.importing.groups:GROUP_CHAT",
    "openai": "synth.export.importing.chat:OPENAI",
    "openhands": "synth.export.importing.logs:OPENHANDS",
    "rows": "synth.export.importing.rows:ROWS",
    "sessions": "synth.export.importing.sessions:SESSIONS",
    "sharegpt": "synth.export.importing.chat:SHAREGPT",
    "swe-agent": "synth.export.importing.logs:SWE_AGENT",
}

_TABLES = {
    "stages": STAGES,
    "sources": SOURCES,
    "questions": QUESTIONS,
    "shapes": SHAPES,
    "label_rules": LABEL_RULES,
    "rewards": REWARDS,
    "assistants": ASSISTANTS,
    "environments": ENVIRONMENTS,
    "backends": BACKENDS,
    "encoders": ENCODERS,
    "retrievers": RETRIEVERS,
    "rerankers": RERANKERS,
    "experts": EXPERTS,
    "explorers": EXPLORERS,
    "raters": RATERS,
    "scorers": SCORERS,
    "task_filters": TASK_FILTERS,
    "formats": FORMATS,
    "importers": IMPORTERS,
}
_NOT_GIVEN = frozenset({"stages", "sources", "questions", "shapes", "label_rules", "rewards", "formats"})
COLLABORATORS: Mapping[str, Mapping[str, str]] = {
    name: table for name, table in _TABLES.items() if name not in _NOT_GIVEN
}
"""The tables of what stages are given: each entry states its version (:func:`synth.identity.versioned`)."""
TABLES = frozenset(_TABLES)
"""Names of all tables. An installed package adds to any of them."""


@cache
def _table(name: str) -> Mapping[str, str]:
    table = dict(_TABLES[name])
    added = metadata.entry_points(group=f"synth.{name}")
    for entry in sorted(added, key=lambda entry: (entry.name, entry.value)):
        if entry.name in table:
            raise InputError(
                f"an installed package adds {entry.name!r} to {name}, which is taken by {table[entry.name]}",
                mend=f"uninstall or rename {entry.value}",
            )
        table[entry.name] = entry.value
    return table


def choices(table: str) -> tuple[str, ...]:
    """Names in a table, sorted."""
    return tuple(sorted(_table(table)))


def names(table: str) -> tuple[str, ...]:
    """Names in a table in its own order: ours, then what installed packages add."""
    return tuple(_table(table))


def factory_of(table: str, name: str) -> str:
    """``module:attribute`` behind ``name`` in ``table`` (``stages``, ``formats``, ...).

    Raises:
        InputError: the table has no such name; the line lists those that it has.
    """
    entries = _table(table)
    if name not in entries:
        raise InputError(f"{table} has no {name!r}", mend=f"choose one of {', '.join(sorted(entries))}")
    return entries[name]


def find(table: str, name: str) -> Any:
    """The implementation of ``name`` in ``table``.

    Raises:
        InputError: as :func:`factory_of`, or what an installed package adds can't be imported.
    """
    factory = factory_of(table, name)
    module, _, attribute = factory.partition(":")
    if name in _TABLES[table]:
        return getattr(import_module(module), attribute)
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"an installed package adds {name!r} to {table}, which can't be used: {error}",
            mend=f"mend or uninstall {factory}",
        ) from None
