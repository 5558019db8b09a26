"""Run by the tests: the reward server and an environment's, until stdin ends. Prints their ports."""

from __future__ import annotations

import sys
import threading

from synth.annotate.rewards import ground_truth
from synth.annotate.rewards.server import RewardServer
from synth.environments.search import SearchEnvironment
from synth.episodes.http import EpisodeServer
from synth.episodes.sessions import Sessions
from synth.schemas.tasks import Task
from synth.testing.corpus import ListTable, WordIndex, small_documents, small_tasks


class Tasks:
    def __len__(self) -> int:
        return len(small_tasks())

    def by_id(self, task_id: str) -> Task | None:
        return next((task for task in small_tasks() if task.id == task_id), None)

    def by_number(self, number: int) -> Task:
        return small_tasks()[number]


def main() -> None:
    documents = small_documents()
    environment = SearchEnvironment(WordIndex(documents), ListTable(documents))
    rewards = RewardServer("127.0.0.1", 0, {"rl-1": ground_truth(small_tasks()[0])})
    servers = [rewards, EpisodeServer("127.0.0.1", 0, Sessions(environment, Tasks()))]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        server.wait_until_ready()
    print(*(server.server_address[1] for server in servers), flush=True)
    sys.stdin.read()
    for server in servers:
        server.stop()


if __name__ == "__main__":
    main()
