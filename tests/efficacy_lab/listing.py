"""The graph environment with one call to a fact: what relations its entity has, and then the fact, in pages of lines.

Where an entity has many relations the fact stands behind a page turn. It is the fact itself, which can't be guessed.
"""

from __future__ import annotations

from synth.environments.contract import ToolCall, ToolResult, number_argument, refusal
from synth.environments.graph import GraphEnvironment, GraphEpisode
from synth.environments.triples import GRAPH_TOOLS
from synth.schemas.tasks import Task

__all__ = ["ONE_PAGE", "ListingEnvironment"]

ONE_PAGE = 400
"""Lines of a page where none has to be turned."""
_FIND, _, _TRIPLES = GRAPH_TOOLS
_TOOLS = {
    "find_entity": _FIND,
    "get_triples": _TRIPLES,
    # A word that stands in every heading: a decoder of this kind can't write one that it never saw.
    "page": _TRIPLES.model_copy(update={"name": "page"}).taking("page", number_argument("Which one.", default=2)),
}


class ListingEnvironment(GraphEnvironment):
    def __init__(self, over: GraphEnvironment, lines: int) -> None:
        """``over``: the environment whose graph it shows, ``lines`` a page."""
        vars(self).update(vars(over))
        self.page_size, self.lines = ONE_PAGE, lines

    def page(self, node: int) -> int:
        """The page on which the facts of one relation of a node begin."""
        return len(self.fans(node)) // self.lines + 1

    def reset(self, task: Task) -> GraphEpisode:
        return _Episode(self, task, self.lines)


class _Episode(GraphEpisode):
    def __init__(self, environment: GraphEnvironment, task: Task, lines: int) -> None:
        super().__init__(environment, task)
        self._lines = lines

    def step(self, call: ToolCall) -> ToolResult:
        refused = refusal(call, _TOOLS, 400)
        if refused is not None or call.name == "find_entity":
            return refused or super().step(call)
        page = int(call.arguments.get("page", 2)) if call.name == "page" else 1
        asked = call.model_copy(update={"arguments": {**call.arguments, "page": 1}})
        listed, facts = self._relations(asked), self._triples(asked)
        if facts.error is not None:
            return facts
        lines = [line for one in (listed, facts) for line in one.content.split("\n") if line.startswith("- ")]
        pages = -(-len(lines) // self._lines)
        if page > pages:
            return call.answered(f"There is no page {page}: there are {pages}.", "not_found")
        heading = facts.content.split("\n", 1)[0].removesuffix("1 of 1")
        some = lines[(page - 1) * self._lines : page * self._lines]
        return call.answered("\n".join([f"{heading}{page} of {pages}", "", *some]))
