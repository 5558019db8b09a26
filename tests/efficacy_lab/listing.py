"""The graph environment with one way to a fact: the list of what an entity has one of, page by page.

Which relations an entity has is nowhere told apart from its facts, and a relation's name opens nothing: what stands
behind a page turn is the fact itself, which can't be guessed.
"""

from __future__ import annotations

from synth.environments.contract import ToolCall, ToolResult, ToolSchema, number_argument, refusal, text_argument
from synth.environments.graph import Fan, GraphEnvironment, GraphEpisode
from synth.environments.triples import GRAPH_TOOLS
from synth.schemas.tasks import Task

__all__ = ["ONE_PAGE", "ListingEnvironment"]

ONE_PAGE = 400
"""Facts on a page where none has to be turned."""
_TOOLS = {
    "find_entity": GRAPH_TOOLS[0],
    "get_facts": ToolSchema.of(
        "get_facts",
        "List what an entity has one of, each as: subject, relation: object.",
        {"entity": text_argument("Id of an entity."), "page": number_argument("Which page; the first if not given.")},
        optional=("page",),
    ),
}


class ListingEnvironment(GraphEnvironment):
    def __init__(self, over: GraphEnvironment, page_size: int) -> None:
        """``over``: the environment whose graph it shows."""
        vars(self).update(vars(over))
        self.page_size = page_size

    def fans(self, node: int) -> list[Fan]:
        return [fan for fan in super().fans(node) if len(fan) == 1]

    def page(self, node: int, fan: Fan) -> int:
        """The page on which a fact stands."""
        return self.fans(node).index(fan) // self.page_size + 1

    def reset(self, task: Task) -> GraphEpisode:
        return _Episode(self, task)


class _Episode(GraphEpisode):
    def step(self, call: ToolCall) -> ToolResult:
        refused = refusal(call, _TOOLS, 400)
        if refused is not None:
            return refused
        if call.name == "find_entity":
            return self._find(call)
        node = self._node(call)
        if isinstance(node, ToolResult):
            return node
        environment = self.environment
        fans, page = environment.fans(node), int(call.arguments.get("page", 1))
        pages, shown = self._pages(len(fans)), environment.end(node).markdown()
        if page > pages:
            return call.answered(f"There is no page {page}: the facts of {shown} have {pages}.", "not_found")
        some = fans[(page - 1) * environment.page_size : page * environment.page_size]
        facts = (self._fact(node, fan, fan.start).line() for fan in some)
        return call.answered("\n".join([f"{shown}, facts, page {page} of {pages}", "", *facts]))
