"""Tools of an application: compiled from their definition, checked at load, carried out in one transaction."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from synth.environments.app.arguments import bound, page_argument, parameters, problem_with
from synth.environments.app.database import Database, TooMuchWork
from synth.environments.app.definition import Argument, Definition, Listing, Rule, Step, Tool
from synth.environments.app.words import PageNote, fill, one_line
from synth.environments.contract import ToolError, ToolSchema
from synth.errors import InputError
from synth.identity import derive_generator
from synth.schemas.row import Row

__all__ = ["CompiledTool", "Failures", "Observation", "Refused", "Rules", "carry_out", "compile_tool", "rules_of"]

_MOST_ROWS = 500
"""Rows of a list that is short by nature; a bound on an observation."""
_LONGEST = 60_000
"""Code points of an observation."""


_FAILED = (
    "The service did not answer in time. Nothing was changed; try again.",
    "The service is unavailable for the moment (error 503). Nothing was changed; try again.",
    "The connection was lost before the request was handled. Nothing was changed; try again.",
)


class Failures(Row):
    """Calls that fail through no fault of the agent: nothing is carried out, and the error is ``failure``, which labels
    treat as 0."""

    rate: float = Field(ge=0, le=1)
    """Share of calls."""
    seed: int = 0
    tools: tuple[str, ...] = ()
    """Tools that fail; empty = all."""
    in_a_row: int = Field(default=2, ge=1)
    """No more failures than that follow one another."""

    def drawn(self, task_id: str, call: int) -> str | None:
        """The words of a failure, drawn by the number of the call: a call that is repeated may go through."""
        generator = derive_generator(self.seed, "failure", task_id, call)
        return None if generator.random() >= self.rate else _FAILED[int(generator.integers(len(_FAILED)))]


class Refused(Exception):
    """The call changes nothing; ``words`` is the observation."""

    def __init__(self, error: ToolError, words: str, rule: str | None = None) -> None:
        super().__init__(words)
        self.error: ToolError = error
        self.words = words
        self.rule = rule


@dataclass(frozen=True)
class Observation:
    words: str
    error: ToolError | None = None
    rule: str | None = None
    """Of a call that a rule of the policy stopped, the rule's name."""


@dataclass(frozen=True)
class Rules:
    """Rules that are enforced, and which of them the agent was told."""

    all: tuple[Rule, ...]
    hidden: frozenset[str]

    def named(self, name: str) -> Rule | None:
        return next((rule for rule in self.all if rule.name == name), None)

    def refusal(self, name: str, values: Mapping[str, Any]) -> str:
        """What the agent sees when rule ``name`` stops it."""
        rule = self.named(name)
        if rule is None or rule.refusal is None:
            return "The application does not allow this."
        return fill(rule.refusal, values) if rule.require is not None else rule.refusal


def rules_of(definition: Definition, variant: str | None, where: str) -> Rules:
    """The rules of the application as it is written, or of one of its variants.

    Raises:
        InputError: there is no such variant.
    """
    if variant is None:
        return Rules(definition.rules, frozenset())
    if variant not in definition.variants:
        known = ", ".join(sorted(definition.variants)) or "none"
        raise InputError(f"there is no variant {variant!r}", where=where, mend=f"the variants are: {known}")
    chosen = definition.variants[variant]
    hidden = frozenset(chosen.hide) | {rule.name for rule in chosen.rules}
    return Rules((*definition.rules, *chosen.rules), hidden)


@dataclass(frozen=True)
class CompiledTool:
    name: str
    tool: Tool
    arguments: Mapping[str, Argument]
    """With ``page``, where a list may be long."""
    steps: tuple[Step | Rule, ...]
    """A rule stands where it is checked: before the first step that writes."""
    schema: ToolSchema


def compile_tool(name: str, tool: Tool, rules: Rules) -> CompiledTool:
    """The tool with the preconditions that the rules put before it."""
    arguments = dict(tool.arguments)
    if any(listing.paged for listing in tool.lists):
        arguments["page"] = page_argument()
    guards = [rule for rule in rules.all if name in rule.before]
    first = next((n for n, step in enumerate(tool.steps) if step.run or step.new), len(tool.steps))
    return CompiledTool(
        name=name,
        tool=tool,
        arguments=arguments,
        steps=(*tool.steps[:first], *guards, *tool.steps[first:]),
        schema=ToolSchema(name=name, description=one_line(tool.about), parameters=parameters(arguments)),
    )


def carry_out(
    compiled: CompiledTool,
    given: Mapping[str, Any],
    database: Database,
    rules: Rules,
    moment: Mapping[str, str],
    new_key: Callable[[str], str],
) -> Observation:
    """Carry out one call: all of it, or none and words that say why.

    Args:
        moment: ``now`` and ``today``, bound beside the arguments.
        new_key: Hands out the next key of a table. Whoever gave it takes back what a refused call was handed.
    """
    problem = problem_with(compiled.arguments, given)
    if problem is not None:
        return Observation(f"Wrong arguments for {compiled.name}: {problem}.", "bad_arguments")
    values: dict[str, Any] = {**moment, **bound(compiled.arguments, given)}
    database.new_budget()
    try:
        if not compiled.tool.writes:
            _take_steps(compiled, values, database, rules, new_key)
            return Observation(_words(compiled, values, database))
        with database.transaction():
            _take_steps(compiled, values, database, rules, new_key)
            words = _words(compiled, values, database)
        return Observation(words)
    except Refused as refused:
        return Observation(refused.words, refused.error, refused.rule)
    except TooMuchWork:
        return Observation("The application gave up: this takes too long. Ask for less at once.", "failure")
    except sqlite3.IntegrityError as error:
        return _broken(str(error), rules, values)
    except (sqlite3.Error, OverflowError) as error:
        return Observation(
            f"The application could not do this ({type(error).__name__}). Nothing was changed.", "failure"
        )


def _take_steps(
    compiled: CompiledTool,
    values: dict[str, Any],
    database: Database,
    rules: Rules,
    new_key: Callable[[str], str],
) -> None:
    for step in compiled.steps:
        if isinstance(step, Rule):
            if not _holds(database, str(step.require), values):
                raise Refused("refused", rules.refusal(step.name, values), step.name)
        elif step.find is not None:
            names, rows = database.run(str(step.source), values, mode="read", limit=1)
            if not rows:
                raise Refused(step.error or "not_found", fill(str(step.refusal), values))
            values |= {f"{step.find}_{name}": value for name, value in zip(names, rows[0], strict=True)}
        elif step.let is not None:
            values[step.let] = database.run(f"SELECT ({step.be})", values, mode="read")[1][0][0]
        elif step.new is not None:
            values[step.new] = new_key(str(step.of))
        elif step.require is not None:
            if not _holds(database, step.require, values):
                raise Refused(step.error or "refused", fill(str(step.refusal), values))
        else:
            database.run(str(step.run), values, mode="write")


def _holds(database: Database, expression: str, values: Mapping[str, Any]) -> bool:
    """Fail-closed: what is not known to be true does not hold."""
    return bool(database.run(f"SELECT ({expression})", values, mode="read")[1][0][0])


def _words(compiled: CompiledTool, values: dict[str, Any], database: Database) -> str:
    tool = compiled.tool
    blocks = [_list(listing, values, database) for listing in tool.lists]
    if tool.says is None:
        return _bounded("\n".join(words for words, _, _ in blocks))
    if len(tool.lists) == 1:
        words, total, shown = blocks[0]
        if total == 0 and "{total" in tool.says:
            return words
        values |= {"total": total, "count": shown}
    return _bounded("\n".join([fill(tool.says, values).rstrip(), *(words for words, _, _ in blocks)]))


def _list(listing: Listing, values: Mapping[str, Any], database: Database) -> tuple[str, int, int]:
    """Its words, how many rows there are and how many are shown."""
    if not listing.paged:
        names, rows = database.run(listing.source, values, mode="read", limit=_MOST_ROWS)
        lines = [
            fill(listing.row, dict(zip(names, row, strict=True)) | {"n": n}, row=True) for n, row in _counted(rows)
        ]
        return "\n".join(lines) if lines else fill(listing.none, values), len(rows), len(rows)
    _, ((total,),) = database.run(f"SELECT count(*) FROM ({listing.source})", values, mode="read")
    if not total:
        return fill(listing.none, values), 0, 0
    page, pages = int(values.get("page") or 1), -(-total // listing.page)
    if page > pages:
        raise Refused("not_found", f"There is no page {page}: the list has {pages} page{'s' if pages > 1 else ''}.")
    first = (page - 1) * listing.page
    names, rows = database.run(
        f"{listing.source} LIMIT :_limit OFFSET :_offset",
        {**values, "_limit": listing.page, "_offset": first},
        mode="read",
    )
    lines = [
        fill(listing.row, dict(zip(names, row, strict=True)) | {"n": n}, row=True) for n, row in _counted(rows, first)
    ]
    if pages > 1:
        lines.append(PageNote(page, pages, total).line())
    return "\n".join(lines), total, len(rows)


def _counted(rows: list[tuple[Any, ...]], first: int = 0) -> Iterable[tuple[int, tuple[Any, ...]]]:
    return enumerate(rows, start=first + 1)


def _bounded(words: str) -> str:
    if len(words) > _LONGEST:
        raise Refused("failure", "The application has more to show than fits into an answer. Ask for less at once.")
    return words


def _broken(message: str, rules: Rules, values: Mapping[str, Any]) -> Observation:
    """A constraint's refusal in words. SQLite names the constraint, and constraints carry the names of rules."""
    found = re.search(r"rule:([a-z0-9_]+)", message)
    if found:
        return Observation(rules.refusal(found.group(1), values), "refused", found.group(1))
    found = re.search(r"column:([a-z0-9_]+)", message)
    if found:
        column = found.group(1).replace("_", " ")
        why = f"{column} would have a value that it can't have."
    elif message.startswith("UNIQUE"):
        what = message.rpartition(".")[2].replace("_", " ")
        why = f"there is one with the same {what} already."
    elif message.startswith("FOREIGN KEY"):
        why = "something that it needs does not exist or is still in use."
    else:
        why = "something that it needs is missing."
    return Observation(f"The application does not allow this: {why}", "refused")
