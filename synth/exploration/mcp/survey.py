"""Finds out what a server's tools do by calling them on fresh instances.

A tool reads when, after calls of it, equal probes answer as they did before. Where a server says nothing
(``readOnlyHint``), the names of tools say which may be a probe, and the probes are tried against each other first: a
set of calls that answers twice alike changes nothing that it can see itself. A tool that is not shown to read counts
as one that writes: the safe side.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from synth.environments.contract import ToolCall
from synth.environments.mcp.environment import McpEnvironment, McpEpisode
from synth.environments.mcp.goals import canonical, open_parts
from synth.exploration.black_box import SeenProposer
from synth.exploration.mcp.listings import verb_of, words_of
from synth.exploration.mcp.trials import Call, look
from synth.exploration.pipeline import blank_task
from synth.exploration.walks import Explorer, ExplorerConfig
from synth.identity import canonical_json
from synth.lexicon.reading import phrases
from synth.text.inflection import singular

__all__ = ["SAMPLES", "Survey", "seems_to_read", "survey", "told", "tried"]

_READS = re.compile(
    r"(?:^|[_-])(?:get|list|read|search|find|show|describe|query|count|titles?|status|filter|view|open|look|fetch|check|tree|info"
    r"|convert|current|extract|lookup)(?:[_-]|$)|(?:^|[_-])(?:log|diff)(?:[_-]|$)"
)
_CHANGES = frozenset(phrases("word_lists")["changing_verbs"])
SAMPLES = 4
"""Different calls of a tool that are kept."""


@dataclass(frozen=True)
class Survey:
    """What was found out."""

    reads: Mapping[str, tuple[tuple[Call, str], ...]]
    """Tool that only reads -> calls of it that were answered, and the answers."""
    writes: tuple[str, ...]
    """The other tools."""
    said: frozenset[str]
    """Tools of which the server itself says whether they read."""


def survey(environment: McpEnvironment, *, hints: Iterable[str] = (), seed: int = 0, calls: int = 60) -> Survey:
    """Try a server's tools.

    Args:
        hints: Words to begin with, where tools take words that no answer has shown.
        calls: Calls of the exploration. All are made on servers of their own, which end with it.
    """
    names = [tool.name for tool in environment.tools()]
    said = [name for name in names if _claim(environment, name) is not None]
    words = tuple(hints)
    explorer = Explorer(
        environment,
        lambda: SeenProposer(environment, words),
        seed=seed,
        config=ExplorerConfig(calls=calls, idle=0.5),
        state=lambda episode: "",  # nothing is known of the state yet: what shows something new counts
    )
    walk = explorer.walk(blank_task("survey", "mcp", {}))
    made: dict[str, list[Call]] = {}
    for step in walk.steps:
        if step.result.error is None:
            known = made.setdefault(step.call.name, [])
            call = (step.call.name, step.call.arguments)
            if len(known) < SAMPLES and call not in known:
                known.append(call)
    may_read = [name for name in made if seems_to_read(environment, name)]
    context = [(s.call.name, s.call.arguments) for s in walk.effective if s.call.name not in may_read]
    reads = _proved(environment, may_read, made, context)
    answers = _answers(environment, context, [call for name in reads for call in made[name]])
    found = {name: tuple((call, answers[canonical_json(call)]) for call in made[name]) for name in reads}
    return Survey(found, tuple(name for name in names if name not in found), frozenset(said))


def tried(environment: McpEnvironment, found: Survey, calls: Mapping[str, Sequence[Call]]) -> Survey:
    """The survey plus those tools whose calls are all answered, twice with the same result: they read."""
    reads = dict(found.reads)
    for name, some in calls.items():
        answers = told(environment, some)
        if len(answers) == len(some) > 0 and _steady(environment, (), some):
            reads[name] = tuple(answers)
    return Survey(reads, tuple(name for name in found.writes if name not in reads), found.said)


def seems_to_read(environment: McpEnvironment, name: str) -> bool:
    """Whether a tool reads according to its server's annotation or, without one, its name."""
    claim = _claim(environment, name)
    if claim is not None:
        return claim
    if verb_of(name) in _CHANGES:  # update_task_status
        return False
    words = words_of(name)
    bare = len(words) <= 2 and singular(words[-1]) != words[-1]
    return bool(_READS.search(name)) or bare  # accounts, ledger_accounts


def _claim(environment: McpEnvironment, name: str) -> bool | None:
    tool = environment.tool(name)
    claim = tool.hints.get("readOnlyHint") if tool is not None else None
    return claim if isinstance(claim, bool) else None


def _proved(
    environment: McpEnvironment, may_read: Sequence[str], made: Mapping[str, Sequence[Call]], context: Sequence[Call]
) -> list[str]:
    """The tools of ``may_read`` whose calls, all of them together, answer twice alike."""
    left = list(may_read)
    while left and not _steady(environment, context, [call for name in left for call in made[name]]):
        culprit = next(
            (
                name
                for name in left
                if _steady(environment, context, [call for other in left if other != name for call in made[other]])
            ),
            left[-1],
        )
        left.remove(culprit)
    return left


def _steady(environment: McpEnvironment, context: Sequence[Call], calls: Sequence[Call]) -> bool:
    episode = _behind(environment, context)
    try:
        first, second = ([_plain(episode, call) for call in calls] for _ in range(2))
        return first == second
    finally:
        episode.close()


def _answers(environment: McpEnvironment, context: Sequence[Call], calls: Sequence[Call]) -> dict[str, str]:
    episode = _behind(environment, context)
    try:
        return {canonical_json(call): look(episode, *call).content for call in calls}
    finally:
        episode.close()


def told(environment: McpEnvironment, calls: Sequence[Call]) -> list[tuple[Call, str]]:
    """What fresh servers answer to calls, where they do."""
    episode = _behind(environment, ())
    try:
        results = [(call, look(episode, *call)) for call in calls]
        return [(call, result.content) for call, result in results if result.error is None]
    finally:
        episode.close()


def _behind(environment: McpEnvironment, calls: Sequence[Call]) -> McpEpisode:
    """A fresh episode in which ``calls`` were made."""
    episode = environment.reset(blank_task("survey", "mcp", {}))
    for number, (tool, arguments) in enumerate(calls):
        episode.step(ToolCall(id=f"context_{number}", name=tool, arguments=arguments))
    return episode


def _plain(episode: McpEpisode, call: Call) -> tuple[tuple[str, ...], str | None]:
    result = look(episode, *call)
    return open_parts(canonical(result.content)), result.error
