"""Episodes in sessions, and over real HTTP on loopback: what a trainer sees is what an agent here would see."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from stand_ins.planted import PlantedEnvironment, planted_task

from synth.environments.contract import Environment, ToolCall, ToolResult, ToolSchema
from synth.environments.search import SearchEnvironment
from synth.episodes.http import EpisodeServer
from synth.episodes.sessions import NoSession, Sessions, Trouble
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Verdict
from synth.testing.corpus import ListTable, WordIndex, small_documents, small_tasks

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "Arvel Torrin"}),
    ("open", {"document": "arvel-torrin"}),
    ("find", {"pattern": "Torrin"}),
    ("find", {}),
    ("fly", {}),
]


class Tasks:
    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = list(tasks)

    def __len__(self) -> int:
        return len(self._tasks)

    def by_id(self, task_id: str) -> Task | None:
        return next((task for task in self._tasks if task.id == task_id), None)

    def by_number(self, number: int) -> Task:
        return self._tasks[number]


def search() -> SearchEnvironment:
    documents = small_documents()
    return SearchEnvironment(WordIndex(documents), ListTable(documents), page_size=150)


def direct(environment: Environment, task: Task, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[ToolResult]:
    episode = environment.reset(task)
    made = [ToolCall(id=f"call_{n}", name=name, arguments=given) for n, (name, given) in enumerate(calls)]
    return [episode.step(call) for call in made]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Touchy(PlantedEnvironment):
    """Knows the one thread that made an episode, as a database's connection may."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = 0

    def reset(self, task: Task) -> Any:
        episode = super().reset(task)
        owner, step, check = threading.get_ident(), episode.step, episode.check

        def stepped(call: ToolCall) -> ToolResult:
            assert threading.get_ident() == owner
            return step(call)

        def checked(answer: str | None) -> Verdict:
            assert threading.get_ident() == owner
            return check(answer)

        def closed() -> None:
            assert threading.get_ident() == owner
            self.closed += 1

        episode.step, episode.check, episode.close = stepped, checked, closed  # type: ignore[method-assign]
        return episode


# --- sessions ---------------------------------------------------------------------------------------------------------


def test_sessions_are_limited_and_those_that_nobody_uses_end() -> None:
    clock, environment = Clock(), Touchy()
    sessions = Sessions(environment, Tasks([planted_task(0)]), most=2, idle_seconds=10, clock=clock)
    first, second = sessions.reset(0), sessions.reset(0)
    with pytest.raises(NoSession) as full:
        sessions.reset(0)
    assert full.value.kind is Trouble.FULL
    clock.now = 8
    sessions.step(second.key, [("go", {"way": 1})])
    clock.now = 15  # the first was used 15 seconds ago, the second 7
    third = sessions.reset(0)
    assert environment.closed == 1
    with pytest.raises(NoSession) as gone:
        sessions.step(first.key, [("go", {"way": 1})])
    assert gone.value.kind is Trouble.UNKNOWN_SESSION
    sessions.step(second.key, [("go", {"way": 1})])
    assert sessions.close(third.key) is True
    assert sessions.close(third.key) is False
    sessions.close_all()
    assert (environment.closed, len(sessions)) == (3, 0)


def test_a_session_has_so_many_calls_and_ends_with_its_score() -> None:
    environment = Touchy()
    sessions = Sessions(environment, Tasks([planted_task(0)]), max_calls=3)
    key = sessions.reset(0).key
    assert [result.call_id for result in sessions.step(key, [("go", {"way": 1})] * 2)] == ["call_0", "call_1"]
    with pytest.raises(NoSession) as spent:
        sessions.step(key, [("go", {"way": 1})] * 2)
    assert (spent.value.kind, "of which 1 are left" in str(spent.value)) == (Trouble.SPENT, True)
    session, verdict = sessions.score(key, None)
    assert (session.calls, verdict.correct, environment.closed) == (2, False, 1)
    with pytest.raises(NoSession):
        sessions.score(key, None)


def test_a_session_does_not_end_while_a_call_is_at_work() -> None:
    clock, swept = Clock(), []

    class Slow(PlantedEnvironment):
        def reset(self, task: Task) -> Any:
            clock.now += 1000
            swept.append(sessions.sweep())
            return super().reset(task)

    class Waiting(list[tuple[str, Any]]):
        """Calls that take longer than a session may be idle."""

        def __len__(self) -> int:
            clock.now += 1000
            swept.append(sessions.sweep())
            return super().__len__()

    sessions = Sessions(Slow(), Tasks([planted_task(0)]), idle_seconds=10, clock=clock)
    key = sessions.begin(planted_task(0)).key
    assert len(sessions.step(key, Waiting([("go", {"way": 1})]))) == 1
    assert set(swept) == {0}
    clock.now += 11
    assert sessions.sweep() == 1


def test_an_environment_that_fails_to_begin_takes_no_place() -> None:
    class Broken(PlantedEnvironment):
        def reset(self, task: Task) -> Any:
            raise RuntimeError("no database")

    sessions = Sessions(Broken(), Tasks([planted_task(0)]), most=1)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="no database"):
            sessions.reset(0)
    assert len(sessions) == 0


def test_what_can_not_stand_in_a_history_is_no_call() -> None:
    sessions = Sessions(search(), Tasks(small_tasks()))
    key = sessions.reset(0).key
    for name, given in (("search", []), ("", {}), ("search", {"query": "\ud800"}), ("search", {"k": float("nan")})):
        with pytest.raises(NoSession) as wrong:
            sessions.step(key, [(name, given)])
        assert wrong.value.kind is Trouble.WRONG_CALL
    assert sessions.step(key, [("search", {"query": "Orl"})])[0].call_id == "call_0"
    sessions.close_all()


# --- over HTTP --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[EpisodeServer]:
    running = EpisodeServer("127.0.0.1", 0, Sessions(search(), Tasks(small_tasks()), most=40, max_calls=12))
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    yield running
    running.stop()
    thread.join()
    assert len(running.sessions) == 0


def ask(server: EpisodeServer, path: str, body: Any = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(*server.server_address, timeout=30)
    try:
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection.request("GET" if body is None else "POST", path, data, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_it_says_what_there_is(server: EpisodeServer) -> None:
    status, health = ask(server, "/health")
    assert status == 200
    assert (health["environment"], health["tasks"]) == ("search", len(small_tasks()))
    assert [tool["function"]["name"] for tool in ask(server, "/tools")[1]["tools"]] == ["search", "open", "find"]


def test_an_episode_from_reset_to_score(server: EpisodeServer) -> None:
    task = small_tasks()[0]
    status, begun = ask(server, "/reset", {"task": task.id})
    assert status == 200
    assert (begun["question"], begun["task"], begun["calls_left"]) == (task.question, task.id, 12)
    assert begun["tools"] == [tool.function() for tool in search().tools()]
    assert not {"answer", "walk", "answer_aliases", "gold_documents"} & set(begun)
    calls = [{"name": name, "arguments": given} for name, given in CALLS]
    status, first = ask(server, "/step", {"session": begun["session"], "calls": calls[:2]})
    assert (status, first["calls_left"]) == (200, 10)
    status, second = ask(server, "/step", {"session": begun["session"], "calls": calls[2:]})
    expected = [result.model_dump() for result in direct(search(), task, CALLS)]
    assert first["results"] + second["results"] == expected
    assert [result["error"] for result in second["results"]] == [None, "bad_arguments", "unknown_tool"]
    status, scored = ask(server, "/score", {"session": begun["session"], "answer": task.answer})
    assert (status, scored["reward"], scored["verdict"]["correct"], scored["calls"]) == (200, 1.0, True, 5)
    assert (scored["checklist"], scored["credit"]) == ([], None), "only a plan has a checklist"
    assert ask(server, "/step", {"session": begun["session"], "calls": calls})[0] == 404


def test_wrong_answers_and_none(server: EpisodeServer) -> None:
    for answer in ({"answer": "Atlantis"}, {"answer": None}, {}):
        key = ask(server, "/reset", {"task": 0})[1]["session"]
        assert ask(server, "/score", {"session": key, **answer})[1]["reward"] == 0.0
    key = ask(server, "/reset", {"task": 1})[1]["session"]
    assert ask(server, "/close", {"session": key}) == (200, {"closed": True})
    assert ask(server, "/close", {"session": key}) == (200, {"closed": False})


def test_many_at_once_each_in_its_own_episode(server: EpisodeServer) -> None:
    tasks = small_tasks()

    def play(number: int) -> list[Any]:
        task = tasks[number % len(tasks)]
        key = ask(server, "/reset", {"task": task.id})[1]["session"]
        results = []
        for name, given in CALLS:
            call = {"name": name, "arguments": given}
            results += ask(server, "/step", {"session": key, "calls": [call]})[1]["results"]
        return [results, ask(server, "/score", {"session": key, "answer": task.answer})[1]["reward"]]

    expected = [result.model_dump() for result in direct(search(), tasks[0], CALLS)]
    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(play, range(24))) == [[expected, 1.0]] * 24


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/reset", {}, 400, "is missing"),
        ("/reset", {"task": True}, 400, "neither an id nor a number"),
        ("/reset", {"task": "no-such"}, 404, "there is no task 'no-such'"),
        ("/reset", {"task": 99}, 404, "numbered 0 to"),
        ("/reset", {"task": -1}, 404, "numbered 0 to"),
        ("/reset", {"task": 0, "seed": 1}, 400, "there is no 'seed'"),
        ("/reset", b"{", 400, "is not JSON"),
        ("/step", {"calls": [{"name": "search"}]}, 400, "is missing"),
        ("/step", {"session": "x", "calls": []}, 400, "not a list of calls"),
        ("/step", {"session": "x", "calls": ["search"]}, 400, "is a str, not an object"),
        ("/step", {"session": "x", "calls": [{"arguments": {}}]}, 400, "is missing"),
        ("/step", {"session": "x", "calls": [{"name": "search"}] * 65}, 400, "has 65 calls"),
        ("/step", {"session": "x", "calls": [{"name": "search"}]}, 404, "no such session"),
        ("/score", {"session": "x", "answer": 3}, 400, "is a int, not a text"),
        ("/score", {"session": "x"}, 404, "no such session"),
        ("/close", {}, 400, "is missing"),
        ("/nowhere", {}, 404, "there are /close, /health"),
        ("/health", {}, 405, "takes GET"),
    ],
)
def test_a_mistake_is_answered_with_one_clear_line(
    server: EpisodeServer, path: str, body: Any, status: int, words: str
) -> None:
    got, answer = ask(server, path, body)
    assert got == status
    assert words in answer["error"]["what"]
    assert "Traceback" not in json.dumps(answer)


def test_mistakes_in_a_session_cost_it_nothing(server: EpisodeServer) -> None:
    key = ask(server, "/reset", {"task": 0})[1]["session"]
    wrong = {
        "session": key,
        "calls": [{"name": "search", "arguments": {"query": "Orl"}}, {"name": "search", "arguments": 3}],
    }
    status, answer = ask(server, "/step", wrong)
    assert (status, answer["error"]["where"]) == (400, "calls")
    right = {"session": key, "calls": [{"name": "search", "arguments": {"query": "Orl"}}]}
    assert ask(server, "/step", right)[1]["calls_left"] == 11
    status, answer = ask(server, "/step", {"session": key, "calls": right["calls"] * 12})
    assert (status, "of which 11 are left" in answer["error"]["what"]) == (409, True)
    ask(server, "/close", {"session": key})


def test_a_full_server_says_so() -> None:
    running = EpisodeServer("127.0.0.1", 0, Sessions(search(), Tasks(small_tasks()), most=1))
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    try:
        key = ask(running, "/reset", {"task": 0})[1]["session"]
        status, answer = ask(running, "/reset", {"task": 0})
        assert (status, answer["error"]["what"]) == (503, "1 sessions are open, and no more may be: score or close one")
        ask(running, "/close", {"session": key})
        assert ask(running, "/reset", {"task": 0})[0] == 200
    finally:
        running.stop()
        thread.join()


def test_tools_of_any_environment() -> None:
    tools: tuple[ToolSchema, ...] = PlantedEnvironment().tools()
    running = EpisodeServer("127.0.0.1", 0, Sessions(PlantedEnvironment(), Tasks([planted_task(2)])))
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    try:
        begun = ask(running, "/reset", {"task": 0})[1]
        assert begun["tools"] == [tool.function() for tool in tools]
        stepped = ask(
            running, "/step", {"session": begun["session"], "calls": [{"name": "go", "arguments": {"way": 1}}]}
        )
        assert (
            stepped[1]["results"][0]["content"]
            == direct(PlantedEnvironment(), planted_task(2), [("go", {"way": 1})])[0].content
        )
    finally:
        running.stop()
        thread.join()
