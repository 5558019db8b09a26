"""``python serving_search.py stdio|http``: the search environment over the small collection, as an MCP server."""

from __future__ import annotations

import sys

from synth.environments.search import SearchEnvironment
from synth.episodes.mcp import McpServer
from synth.episodes.sessions import Sessions
from synth.schemas.tasks import Task
from synth.testing.corpus import ListTable, WordIndex, small_documents, small_tasks


class Tasks:
    def __len__(self) -> int:
        return len(small_tasks())

    def by_id(self, task_id: str) -> Task | None:
        return None

    def by_number(self, number: int) -> Task:
        return small_tasks()[number]


def environment() -> SearchEnvironment:
    documents = small_documents()
    return SearchEnvironment(WordIndex(documents), ListTable(documents), page_size=150)


if __name__ == "__main__":
    _most = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    _server = McpServer(Sessions(environment(), Tasks(), most=_most, max_calls=50), small_tasks()[0], tell=True)
    if sys.argv[1] == "stdio":
        print("this line is not a message")  # on a real stdout it would be junk to the client
        _server.run_stdio()
    else:
        _server.run_http("127.0.0.1", 0, say=lambda url: print(url, flush=True))
