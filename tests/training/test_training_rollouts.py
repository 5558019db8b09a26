"""Rollouts of trainers in an environment of ours, in this process and over HTTP: the reward is what was done."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import pickle
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import yaml
from lending import Call, desk, lend_ferns, sessions, tasks, truth

import synth.training.verl
from synth.annotate.rewards.reward import Reward
from synth.episodes.http import EpisodeServer
from synth.errors import InputError
from synth.export.rl import tool_config
from synth.schemas.trajectories import Verdict
from synth.training import TrlEnvironments, combined, environment_reward
from synth.training.episodes import SPENT, Episodes, LocalEpisodes, RemoteEpisodes, open_episodes
from synth.training.verl import EnvironmentTool, compute_score

LEND, ASK = (task.id for task in tasks())
OTHER: Call = ("lend", {**lend_ferns()[1], "book": "Moss"})
DONE = [{"role": "assistant", "content": "Done."}]


@pytest.fixture(scope="module")
def server() -> Iterator[EpisodeServer]:
    running = EpisodeServer("127.0.0.1", 0, sessions(max_calls=4))
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    yield running
    running.stop()
    thread.join()


@pytest.fixture(params=["here", "http"])
def episodes(request: pytest.FixtureRequest, server: EpisodeServer) -> Episodes:
    return LocalEpisodes(sessions(max_calls=4)) if request.param == "here" else open_episodes(server.url)


# --- TRL ------------------------------------------------------------------------------------------------------------


def rollout(environment: Any, task: str, *calls: Call) -> list[str]:
    """As GRPOTrainer does: reset with the columns of the row, then methods by name with the model's arguments."""
    environment.reset(prompt=[{"role": "user", "content": "?"}], task_id=task, id="rl", licence=None)
    methods = dict(inspect.getmembers(environment, predicate=inspect.ismethod))
    return [methods[name](**arguments) for name, arguments in calls]


def test_the_reward_of_a_state_is_what_was_done_and_not_what_was_said(episodes: Episodes) -> None:
    make = TrlEnvironments(episodes)
    right, wrong, idle, more = (make() for _ in range(4))
    (told,) = rollout(right, LEND, lend_ferns())
    assert "has Ferns as loan" in told
    rollout(wrong, LEND, OTHER)
    rollout(idle, LEND)
    rollout(more, LEND, lend_ferns(), OTHER)
    given: dict[str, Any] = {
        "prompts": ["?"] * 4,
        "completions": [DONE] * 4,
        "environments": [right, wrong, idle, more],
        "reward_model": [truth(0)] * 4,
        "extra_info": [{"id": "rl-0"}] * 4,
        "trainer_state": None,
    }
    assert environment_reward(**given) == [1.0, 0.0, 0.0, 0.0]
    assert environment_reward(**given) == [1.0, 0.0, 0.0, 0.0], "an episode is scored once and remembered"
    assert environment_reward(completions=[DONE], environments=[right]) == [1.0]


def test_of_a_task_that_asks_the_answer_counts_and_that_nothing_was_changed(episodes: Episodes) -> None:
    make = TrlEnvironments(episodes)
    made = [make() for _ in range(3)]
    (told,) = rollout(made[0], ASK, ("list_books", {}))
    assert "Moss: 2 copies" in told
    rollout(made[1], ASK)
    rollout(made[2], ASK, OTHER)
    texts = ["Answer: 2", "Answer: 3", "Answer: 2"]
    assert environment_reward(completions=texts, environments=made, reward_model=[truth(1)] * 3) == [1.0, 0.0, 0.0]


def test_environments_are_used_again_and_leave_no_session_behind() -> None:
    held = sessions()
    environment = TrlEnvironments(LocalEpisodes(held))()
    rollout(environment, LEND, lend_ferns())
    rollout(environment, LEND)  # what the first rollout did is gone
    assert len(held) == 1
    assert environment_reward(completions=[DONE], environments=[environment]) == [0.0]
    assert len(held) == 0


def test_wrong_calls_and_too_many_are_answered_in_words(episodes: Episodes) -> None:
    environment = TrlEnvironments(episodes)()
    said = rollout(environment, LEND, ("lend", {"books": 3}), *[("list_books", {})] * 4)
    assert "reader_id" in said[0] or "books" in said[0]
    assert said[4] == SPENT
    assert environment_reward(completions=[DONE], environments=[environment]) == [0.0]


def test_methods_say_what_the_tools_say() -> None:
    environment = TrlEnvironments(LocalEpisodes(sessions()))()
    public = {
        name for name, _ in inspect.getmembers(environment, predicate=inspect.ismethod) if not name.startswith("_")
    }
    assert public == {"reset", *(tool.name for tool in desk().tools())}
    # TRL 1.9 looks at the object, 1.16 at its class.
    assert public == {
        name for name, _ in inspect.getmembers(type(environment), inspect.isfunction) if not name.startswith("_")
    }
    prolong = environment.prolong  # type: ignore[attr-defined]
    signature = inspect.signature(prolong)
    assert {name: one.annotation for name, one in signature.parameters.items()} == {"loan_id": str, "days": int}
    assert all(one.default is inspect.Parameter.empty for one in signature.parameters.values())
    assert prolong.__doc__ == "Make a loan longer.\n\nArgs:\n    loan_id: The loan.\n    days: By how many days."
    assert inspect.signature(environment.lend).parameters["note"].default is None  # type: ignore[attr-defined]


class Odd:
    """Episodes with one tool."""

    def __init__(self, name: str, **properties: Any) -> None:
        self.function = {"name": name, "parameters": {"type": "object", "properties": properties}}

    def tools(self) -> list[dict[str, Any]]:
        return [{"type": "function", "function": self.function}]


@pytest.mark.parametrize("name", ["reset", "get_reward", "_hidden", "two words"])
def test_names_that_trl_keeps_for_itself_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="can't offer a tool of this name"):
        TrlEnvironments(Odd(name))()  # type: ignore[arg-type]


def test_types_of_parameters_become_hints() -> None:
    schemas: dict[str, Any] = {
        "choice": {"enum": ["a", "b"]},
        "many": {"type": "array", "items": {"type": "integer"}},
        "maybe": {"type": ["string", "null"]},
        "either": {"anyOf": [{"type": "number"}, {"type": "boolean"}]},
        "free": {},
        "thing": {"type": "object"},
        "people": {"type": "array", "items": {"type": "object", "properties": {"born": {"type": "string"}}}},
    }
    method = TrlEnvironments(Odd("act", **schemas))().act  # type: ignore[arg-type, attr-defined]
    hints = {name: str(one.annotation) for name, one in inspect.signature(method).parameters.items()}
    assert hints == {
        "choice": "typing.Literal['a', 'b']",
        "many": "list[int]",
        "maybe": "typing.Optional[str]",
        "either": "typing.Union[float, bool]",
        "free": "typing.Any",
        "thing": "<class 'dict'>",
        "people": "list[dict]",
    }
    assert '"born"' in method.__doc__.splitlines()[-1], "what no hint can say"


def test_a_factory_goes_to_another_process(server: EpisodeServer) -> None:
    make = TrlEnvironments(server.url)
    environment = make()
    again = pickle.loads(pickle.dumps(make))()
    rollout(again, LEND, lend_ferns())
    rollout(environment, LEND)
    assert environment_reward(completions=[DONE] * 2, environments=[again, environment]) == [1.0, 0.0]


def test_mistakes_are_one_line(server: EpisodeServer) -> None:
    environment = TrlEnvironments(server.url)()
    with pytest.raises(InputError, match="remove_unused_columns=False"):
        environment.reset(prompt=[])
    with pytest.raises(InputError, match="there is no task 'task-9'"):
        environment.reset(task_id="task-9")
    with pytest.raises(InputError, match="environment_factory=TrlEnvironments"):
        environment_reward(completions=[DONE])
    with pytest.raises(InputError, match="does not answer"):
        TrlEnvironments("http://127.0.0.1:9")()
    with pytest.raises(InputError, match="not an address"):
        open_episodes("http://")
    with pytest.raises(InputError, match=r"no such session.*idle"):
        LocalEpisodes(sessions()).call("gone", "list_books", {})


def test_what_a_reward_is_made_of() -> None:
    def verdict(correct: bool | None) -> Verdict:
        return Verdict(correct=correct, rule="state", evidence="-")

    def text(value: float | None) -> Reward:
        return Reward(value=value, correct=None, rubric=0, best=0, named=(), answer=None, rule="exact", evidence="-")

    assert combined(verdict(None), text(1.0)) is None
    assert combined(verdict(False), text(1.0)) == 0.0
    assert combined(verdict(True), text(0.85)) == 0.85
    assert combined(verdict(True), text(None)) == combined(verdict(True)) == 1.0


# --- verl -----------------------------------------------------------------------------------------------------------


class AgentData:
    """What verl's tool agent loop keeps of a rollout, as far as tools see it."""

    def __init__(self, task: str | None) -> None:
        self.tools_kwargs = {} if task is None else {"environment": {"task": task}}
        self.extra_fields: dict[str, Any] = {}


def verl_tools(url: str) -> dict[str, EnvironmentTool]:
    config = yaml.safe_load(tool_config([tool.function() for tool in desk().tools()]))
    made = [EnvironmentTool({**entry["config"], "url": url}) for entry in config["tools"]]
    return {tool.name: tool for tool in made}


async def turn(tools: dict[str, EnvironmentTool], data: AgentData, *calls: Call) -> list[str]:
    """One turn of verl's loop: every call gets an instance of its own, and all run at once."""

    async def one(name: str, arguments: dict[str, Any]) -> str:
        instance, _ = await tools[name].create(create_kwargs={})
        response, reward, metrics = await tools[name].execute(instance, arguments, agent_data=data)
        assert (reward, metrics) == (0.0, {})
        await tools[name].release(instance)
        return str(response.text)

    return list(await asyncio.gather(*(one(*call) for call in calls)))


def scored(server: EpisodeServer, number: int, text: str, *turns: Sequence[Call]) -> dict[str, Any]:
    """A whole rollout, and its reward as verl's reward manager asks for it."""
    tools, data = verl_tools(server.url), AgentData(tasks()[number].id)

    async def run() -> None:
        for calls in turns:
            await turn(tools, data, *calls)

    asyncio.run(run())
    info = {"task_id": tasks()[number].id, "id": "rl-0", **data.extra_fields}
    ground = json.dumps(truth(number)["ground_truth"])
    return compute_score("library", text, ground, info, url=server.url, reward_router_address=None)


def test_verl_is_rewarded_for_the_state(server: EpisodeServer) -> None:
    full = {"score": 1.0, "acc": 1.0, "rubric": 0.0, "abstained": 0.0}
    assert scored(server, 0, "Done.", [("list_books", {})], [lend_ferns()]) == full
    assert scored(server, 0, "Done.", [OTHER])["score"] == 0.0
    assert scored(server, 0, "Done.")["score"] == 0.0, "no call, no session: nothing was done"
    assert scored(server, 1, "Answer: 2", [("list_books", {})]) == full
    assert scored(server, 1, "Answer: 2", [OTHER])["score"] == 0.0
    assert len(server.sessions) == 0


def test_verl_loads_the_file_by_its_path(server: EpisodeServer) -> None:
    # As verl does with custom_reward_function.path: the module is not among those that Python knows.
    spec = importlib.util.spec_from_file_location("custom_module", synth.training.verl.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    ground = json.dumps(truth(1)["ground_truth"])
    told = module.compute_score("library", "Answer: 2", ground, {"task_id": tasks()[1].id}, url=server.url)
    assert told["score"] == 1.0


def test_calls_of_one_turn_are_made_in_their_order(server: EpisodeServer) -> None:
    tools, data = verl_tools(server.url), AgentData(LEND)
    first, second, third = asyncio.run(turn(tools, data, lend_ferns(), ("list_books", {}), lend_ferns()))
    assert "has Ferns as loan" in first
    assert "Ferns: 0 copies" in second
    assert "has Ferns as loan" not in third
    server.sessions.close(data.extra_fields["synth_session"])


def test_verl_mistakes_are_one_line(server: EpisodeServer) -> None:
    tools = verl_tools(server.url)
    with pytest.raises(InputError, match=r"names no task.*verl-env"):
        asyncio.run(turn(tools, AgentData(None), ("list_books", {})))
    with pytest.raises(InputError, match=r"tools\.yaml"):
        EnvironmentTool({"type": "native"})
    with pytest.raises(InputError, match="names no task"):
        compute_score("s", "Done.", truth(0)["ground_truth"], {}, url=server.url)
    gone = {"synth_session": "gone"}
    with pytest.raises(InputError, match="no such session"):
        compute_score("s", "Done.", truth(0)["ground_truth"], gone, url=server.url)


def test_the_file_of_tools_holds_each_schema_whole() -> None:
    tools = [tool.function() for tool in desk().tools()]
    hard = {
        "name": "act",
        "description": "Costs ${x}, or \\${x}.",
        "parameters": {"properties": {"a": {"type": ["null", "integer"]}, "b": {"enum": ["${oc.env:HOME}"]}}},
    }
    config = yaml.safe_load(tool_config([*tools, {"type": "function", "function": hard}]))
    for entry, tool in zip(config["tools"], tools, strict=False):
        assert entry["class_name"] == "synth.training.verl.EnvironmentTool"
        assert EnvironmentTool(entry["config"]).tool_schema.model_dump(exclude_none=True) == tool
        assert entry["tool_schema"]["function"]["name"] == tool["function"]["name"]
    narrow = config["tools"][-1]["tool_schema"]["function"]
    assert narrow["description"] == "Costs \\${x}, or \\\\\\${x}.", "OmegaConf reads it"
    choices = {"type": "string", "enum": ["\\${oc.env:HOME}"]}
    assert narrow["parameters"]["properties"] == {"a": {"type": "integer"}, "b": choices}


def test_a_remote_environment_that_is_none(server: EpisodeServer) -> None:
    with pytest.raises(InputError, match="there is no /elsewhere/tools"):
        RemoteEpisodes(server.url + "/elsewhere").tools()
