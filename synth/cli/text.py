"""What commands print for a person."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from synth.cli.account import account_json, account_text, overruns_text, pilot_json, pilot_text
from synth.cli.columns import filled, table
from synth.cli.own_text import own_parts_text
from synth.environments.search_spec import Search
from synth.filtering.dedup.estimate import filter_bytes, table_bytes
from synth.inputs import read_input
from synth.pipelines.collaborators import vectors_of
from synth.pipelines.words import lexicon_of
from synth.places import is_remote
from synth.recipe.questions import GivenQuestions
from synth.recipe.roles import ACTORS
from synth.schemas.rejections import Rejection
from synth.sources.records.source import RecordsConfig, RecordsSource
from synth.sources.world.config import WorldConfig
from synth.store.calls_format import from_nano
from synth.store.remote import url_of
from synth.tasks.given import COLUMNS, read_given, unread_columns

if TYPE_CHECKING:
    from synth.api import BuildResult, Outlook
    from synth.recipe.model import Recipe
    from synth.schemas.reports import BuildReport
    from synth.store import StoreEntry
    from synth.store.calls_summary import CallsSummary

__all__ = [
    "build_summary",
    "calls_text",
    "empty_sft_text",
    "outlook_json",
    "outlook_text",
    "store_text",
]


def build_summary(result: BuildResult) -> str:
    """What there is now, and how to look at it."""
    report = result.report
    lines = []
    for config, splits in report.tables.items():
        if splits:
            parts = ", ".join(f"{split} {rows:,}" for split, rows in splits.items())
            lines.append(f"  {config:<13} {sum(splits.values()):>8,}  ({parts})")
        else:
            lines.append(f"  {config:<13} {0:>8}")
    for role in dict.fromkeys(outcome.role for outcome in report.outcomes):
        mine = [outcome for outcome in report.outcomes if outcome.role == role]
        total, good = sum(o.trajectories for o in mine), sum(o.successes for o in mine)
        lines.append(f"  {role} success {100 * good / total:.1f} % of {total:,} trajectories")
    lines += [f"  {line}" for line in [empty_sft_text(report)] if line]
    if result.account is not None:
        lines.append(f"  {account_text(result.account)}")
        lines += [f"  {overruns_text(result.account)}"] if result.account.overruns else []
    if result.words is not None:
        lines.append(f"  its words: {result.words} (edit them; --set source.words={_quoted(result.words)} uses them)")
    state = "is up to date" if result.reused else "is finished"
    config = _quote("tasks" if report.tables.get("tasks") else "trajectories")
    path = _quoted(url_of(result.path))
    opened = f"import datasets; print(datasets.load_dataset({str(result.path)!r}, {config}))"
    if is_remote(result.path):
        opened = f"import synth; print(synth.load({url_of(result.path)!r}))"
    return "\n".join(
        [
            f"{report.dataset} {state}: {url_of(result.path)}",
            *lines,
            "look at it:",
            f"  synth show {path}          one trajectory, readable",
            f"  synth stats {path}         yields, success, lengths",
            f"  synth validate {path}      prove every row again",
            f'  python -c "{opened}"',
        ]
    )


def empty_sft_text(report: BuildReport) -> str:
    """One line where no run of the teacher succeeded; empty otherwise."""
    taught = [outcome for outcome in report.outcomes if outcome.role == "teacher"]
    if any(outcome.successes for outcome in taught) or not any(role.role == "teacher" for role in report.roles):
        return ""
    return (
        f"warning: the SFT table is empty: no run of the teacher succeeded ({sum(o.trajectories for o in taught):,} "
        "were kept). Change roles.teacher and build again"
    )


def _quoted(path: Path | str) -> str:
    return shlex.quote(str(path))


def _quote(word: str) -> str:
    return f"'{word}'"


def outlook_json(outlook: Outlook) -> dict[str, Any]:
    """``synth plan --json``."""

    return {
        "dataset": outlook.recipe.name,
        "tasks": outlook.recipe.tasks,
        "stages": [
            {
                "label": status.label,
                "stage": status.stage,
                "version": status.version,
                "fingerprint": status.fingerprint,
                "state": status.state,
                "shards": status.shards,
                "shards_total": status.shards_total,
                "rows": dict(status.rows),
                "bytes": status.bytes,
                "models": list(status.models),
            }
            for status in outlook.stages
        ],
        # None = some stage calls a model, and only a pilot can say how often.
        "model_calls": _model_calls(outlook),
        "pilot": None if outlook.pilot is None else pilot_json(outlook.pilot),
        "supply": None if outlook.supply is None else asdict(outlook.supply),
        "prompts": {name: list(labels) for name, labels in outlook.prompts.items()},
        "account": account_json(outlook.account),
    }


def _model_calls(outlook: Outlook) -> float | None:
    if not any(status.models for status in outlook.stages):
        return 0
    if outlook.pilot is None or outlook.pilot.unknown:
        return None
    return sum(stage.calls.expected for stage in outlook.pilot.stages)


def outlook_text(outlook: Outlook) -> str:
    """``synth plan``: a table of the stage runs."""
    recipe = outlook.recipe
    rows = [("stage run", "kind", "state", "shards", "in the store", "rows")]
    for status in outlook.stages:
        total = "?" if status.shards_total is None else str(status.shards_total)
        rows.append(
            (
                status.label,
                f"{status.stage} v{status.version}",
                status.state,
                f"{status.shards}/{total}",
                f"{status.bytes / 1e6:.1f} MB",
                ", ".join(f"{name} {count:,}" for name, count in status.rows.items()),
            )
        )

    wanted = "all given tasks" if recipe.tasks is None else f"exactly {recipe.tasks:,} tasks"
    roles = ", ".join(
        f"{role}: {who.backend}" + (f" x {who.rollouts}" if role in ACTORS else "")
        for role, who in recipe.roles.items()
    )
    head = f"{recipe.name}: {wanted}; {roles}{_search_text(recipe)}"
    return "\n".join(
        [
            *filled(head),
            "",
            *table(rows, wrapped=True),
            "",
            *_relations_text(recipe),
            *own_parts_text(outlook),
            *_questions_text(recipe),
            *_triples_text(recipe),
            *_calls_text(outlook),
            *_duplicates_text(recipe, [one.label for one in outlook.stages]),
            *_supply_text(outlook),
        ]
    )


def _supply_text(outlook: Outlook) -> list[str]:
    """How many candidates it takes, or what to change where the source runs dry."""
    supply = outlook.supply
    if supply is None:
        return []
    if not supply.short:
        return ["", *filled(supply.line)]
    source = outlook.recipe.source
    mend = "give a larger source"
    if isinstance(source, WorldConfig):
        enough = 1.5 * source.entities * supply.wanted / max(1, supply.rows)
        mend = f"give --set source.entities={math.ceil(enough / 1000) * 1000}"
    return ["", *filled(f"warning: {supply.line}: {mend}, or ask for fewer")]


def _search_text(recipe: Recipe) -> str:
    """Who finds pages, where it isn't BM25."""
    place = recipe.environment
    if not isinstance(place, Search) or place.retriever == "bm25":
        return ""
    encoded = vectors_of(place.model_dump())
    return f"; search: {place.retriever}" + (f" ({encoded[0].kind} vectors)" if encoded is not None else "")


def _relations_text(recipe: Recipe) -> list[str]:
    """What was derived of the relations of the user's facts: how questions and pages will speak of them."""

    lexicon = lexicon_of(recipe)
    if lexicon is None:
        return []
    rows = [("relation", "from", "to", "properties", "said as")]
    for name, entry in lexicon.relations.items():
        ends = entry.object or ((f"{entry.value} in {entry.unit}" if entry.unit else entry.value),)
        is_so = {"one object": entry.functional, "one subject": entry.inverse_functional, "symmetric": entry.symmetric}
        properties = ", ".join(words for words, true in is_so.items() if true) or "several objects"
        rows.append((name, _first(entry.subject), _first(ends), properties, entry.page[0]))
    return [*table(rows, wrapped=True), "", *filled("Say it better in a file: --set source.words=words.yaml."), ""]


def _questions_text(recipe: Recipe) -> list[str]:
    """What was read of the user's questions: how many, the first that can't be used, columns that nothing reads."""

    if not isinstance(recipe.questions, GivenQuestions):
        return []
    path = PurePath(recipe.questions.path)
    data = read_input(recipe.questions.path, mend="give a JSONL or CSV file of questions with --tasks-file")
    items = read_given(data, path.name)
    bad = [item for item in items if isinstance(item, Rejection)]
    said = f"{path.name}: {len(items) - len(bad):,} of {len(items):,} lines are questions"
    if bad:
        said += f" (the first that is none: {bad[0].detail})"
    unread = unread_columns(data, path.name)
    if unread:
        said += f"; columns that nothing reads: {', '.join(unread)} (read are {', '.join(COLUMNS)})"
    return [*filled(f"{said}."), ""]


def _triples_text(recipe: Recipe) -> list[str]:
    """What asks about the triples that records bring, where the questions are to be about their text."""
    source = recipe.source
    if recipe.questions.kind != "docs" or not isinstance(source, RecordsConfig):
        return []
    if not RecordsSource(source).brings_triples():
        return []
    said = f"The records bring triples: synth build graph-search --source {source.path} asks about those."
    return [*filled(said), ""]


def _first(kinds: Sequence[str]) -> str:
    return kinds[0] if len(kinds) == 1 else f"{kinds[0]} and {len(kinds) - 1} more"


_LOOKED_AT = {
    "documents": ("document-sketches",),
    "trajectories": ("teacher-duplicates", "policy-duplicates"),
    "pairs": ("pair-duplicates",),
}
"""Stage runs that are there when a level is looked at."""


def _duplicates_text(recipe: Recipe, labels: Sequence[str]) -> list[str]:
    """What looking for duplicates takes at each level at which the plan does so, and would take with 10^7 rows."""

    if recipe.dedup is None:
        return []
    large = 10**7
    rows = [("duplicates among", "by", "rows", "memory", "disk", f"at {large:,} rows")]
    for level in type(recipe.dedup).model_fields:
        rules = getattr(recipe.dedup, level)
        if rules is None or not (level == "tasks" or any(label in labels for label in _LOOKED_AT[level])):
            continue
        kinds = [name for name in ("exact", "structural") if getattr(rules, name)]
        kinds += [f"{name} {least:g}" for name in ("near", "semantic") if (least := getattr(rules, name)) is not None]
        if level == "tasks":
            sizes = [filter_bytes(count, rules) for count in (recipe.tasks or 0, large)]
        else:
            sizes = [table_bytes(count, rules) for count in (_rows_of(recipe, level) or 0, large)]
        known = recipe.tasks if level == "tasks" else _rows_of(recipe, level)
        here = ("?", "?", "?") if known is None else (f"{known:,}", _size(sizes[0][0]), _size(sizes[0][1]))
        there = f"{_size(sizes[1][0])}, {_size(sizes[1][1])} of disk"
        rows.append((level, ", ".join(kinds), *here, there))
    return ["", *table(rows)] if len(rows) > 1 else []


def _rows_of(recipe: Recipe, level: str) -> int | None:
    """Rows of a level's largest table, as far as the recipe says: runs of one role are compared with each other."""

    if level != "trajectories" or recipe.tasks is None:
        return None
    return recipe.tasks * max((who.rollouts for role, who in recipe.roles.items() if role in ACTORS), default=1)


def _size(size: int) -> str:
    return "none" if not size else f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{max(1.0, size / 1e6):,.0f} MB"


def _calls_text(outlook: Outlook) -> list[str]:
    """What is known of model calls."""

    bound = [status for status in outlook.stages if status.models]
    if not bound:
        return ["No model is called: a build costs nothing but time."]
    lines = [f"so far: {account_text(outlook.account)}"] if outlook.account is not None else []
    if outlook.pilot is not None:
        return [*lines, pilot_text(outlook.pilot)]
    open_ = [f"{status.label} ({', '.join(status.models)})" for status in bound if status.state != "cached"]
    if not open_:
        return [*lines, "All model calls are done: what is left costs nothing but time."]
    return [
        *lines,
        *filled(
            f"Models are called by {', '.join(open_)}: how many calls, tokens and how much money that takes is unknown."
        ),
        "`synth plan --pilot 5` runs the first 5 tasks and estimates it; the build goes on from them.",
    ]


def store_text(root: Path, entries: Sequence[StoreEntry]) -> str:
    """``synth store list``."""
    if not entries:
        return f"{root}: empty"
    rows = [("stage", "fingerprint", "shards", "size", "last used", "datasets")]
    for entry in entries:
        used = "never finished" if entry.last_used is None else _ago(time.time() - entry.last_used)
        rows.append(
            (
                entry.stage,
                entry.fingerprint,
                f"{entry.shards}{'' if entry.complete else '+'}",
                f"{entry.bytes / 1e6:.1f} MB",
                used + (", in use" if entry.in_use else ""),
                ", ".join(entry.datasets),
            )
        )
    lines = table(rows)
    total = sum(entry.bytes for entry in entries)
    return "\n".join([f"{root}: {len(entries)} stage runs, {total / 1e6:.1f} MB", *lines])


def calls_text(calls: CallsSummary) -> list[str]:
    """The store of calls in ``synth store list``: a line for the file, and one per account."""

    lines = [
        f"{calls.path.name}: {calls.replies:,} replies ({calls.served:,} served again), {calls.bytes / 1e6:.1f} MB"
    ]
    for account in calls.accounts:
        exact, most = from_nano(account.cost_exact), from_nano(account.cost_bound)
        cost = f"{exact:.4f}" if exact == most else f"{exact:.4f} for certain, {most:.4f} at most"
        lines.append(f"  {account.account}: {account.calls:,} calls, {account.tokens_spent:,} tokens, cost {cost}")
        lines += [f"    {overruns_text(account)}"] if account.overruns else []
    return lines


def _ago(seconds: float) -> str:
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"
