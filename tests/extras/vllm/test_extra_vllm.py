"""A real vLLM in the loop: started, held to schemas, and driven through a whole build."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from real_server import ENVIRONMENT, CannotBeHad, build_environment, make_model

import synth
from synth.agents.contract import Prompt
from synth.agents.model.reading import Unreadable, read_reply
from synth.agents.model.wire import Mode, function_tools, messages_of, response_format
from synth.dataset.rules.validate import validate
from synth.environments.pages import SEARCH_TOOLS
from synth.models import bridge
from synth.models.client import ModelHub
from synth.models.contract import CallFailed, Finish, Runtime, Sampling, ServeOptions
from synth.schemas.rejections import Reason
from synth.store.calls_format import CALLS_FILE
from synth.store.calls_summary import summarize

pytestmark = pytest.mark.extras

_CALLS = 30
_TASKS = 8
_LIKING = 4.0
ENDINGS = ("answer", "give_up")


@dataclass(frozen=True)
class Tiny:
    """A random model, and how it is served."""

    serve: ServeOptions
    sampling: Sampling
    """Left alone it goes on with every string for ever: here it likes to end them."""


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """How the tiny model is served; the test is skipped with one line where no vLLM can be had."""
    try:
        environment = build_environment()
        folder = tmp_path_factory.mktemp("weights") / "tiny"
        words = [path.read_text("utf-8") for path in sorted(Path(__file__).parents[3].glob("prompts/**/*.md"))]
        quotes = make_model(environment, folder, [line for text in words for line in text.splitlines()] * 5)
    except CannotBeHad as error:
        pytest.skip(str(error))
    serve = ServeOptions(
        model=str(folder),
        executable=str(environment / "bin" / "vllm"),
        arguments=("--dtype", "bfloat16", "--max-model-len", "16384", "--enforce-eager"),
        environment=ENVIRONMENT,
        ready_seconds=600,
    )
    liking = {"logit_bias": {str(number): _LIKING for number in quotes}}
    return Tiny(serve, Sampling(max_tokens=600, temperature=0.8, extra=liking))


@pytest.fixture(scope="session")
def hub() -> Iterator[ModelHub]:
    with ModelHub() as hub:
        yield hub


@pytest.fixture(scope="session")
def runtime(tiny: Tiny) -> Runtime:
    return Runtime(serve=tiny.serve, role="policy", timeout=300)


def test_the_server_starts_and_says_what_it_does(hub: ModelHub, runtime: Runtime) -> None:
    began = time.monotonic()
    model = hub.bind("tiny", Sampling(max_tokens=8, temperature=0.7, logprobs=True), runtime)
    reply = model.chat([{"role": "user", "content": "Which city was he born in?"}], sample="0")
    print(f"\nvllm: first reply after {time.monotonic() - began:.1f} s")
    assert reply.usage is not None
    assert reply.usage.completion_tokens <= 8
    assert reply.token_ids is not None
    assert reply.logprobs is not None
    assert len(reply.token_ids) == len(reply.logprobs) == reply.usage.completion_tokens
    again = model.chat([{"role": "user", "content": "Which city was he born in?"}], sample="0")
    assert again == reply or reply.finish is Finish.LENGTH  # cut off: said, booked, and asked for anew


@pytest.mark.parametrize("mode", ["structured", "native"])
def test_actions_are_held_to_their_schema(hub: ModelHub, runtime: Runtime, tiny: Tiny, mode: Mode) -> None:
    tools = SEARCH_TOOLS
    prompt = Prompt(system="You answer questions by looking things up.", question="Where was he born?", tools=tools)
    model = hub.bind("tiny", tiny.sampling, runtime)

    def one(number: int) -> str:
        try:
            reply = model.chat(
                messages_of(prompt, (), mode=mode),
                sample=f"{mode}{number}",
                tools=function_tools(tools, strict=True) if mode == "native" else (),
                tool_choice="required" if mode == "native" else None,
                response_format=response_format(tools) if mode == "structured" else None,
            )
            reading = read_reply(reply, tools, mode)
        except Unreadable as error:
            return error.reason.value
        except CallFailed as error:
            return error.kind.value
        return "repaired" if reading.repaired else "valid"

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(bridge.run(one, number) for number in range(_CALLS)))

    before = hub.account().completion_tokens
    began = time.monotonic()
    found = Counter(asyncio.run(all_of_them()))
    seconds = time.monotonic() - began
    tokens = hub.account().completion_tokens - before
    pace = f"{tokens:,} tokens in {seconds:.1f} s, {tokens / seconds:,.0f} a second"
    print(f"\nvllm: {mode}: {dict(found)} of {_CALLS}; {pace}")
    # What a random model finishes within its tokens must be an action.
    assert found["valid"] + found["repaired"] >= _CALLS // 2
    # (An empty string is a valid one: an answer of it is told apart, as it must be.)
    assert set(found) <= {"valid", "repaired", "truncated", "malformed_call", "narrated_call", "empty_reply"}


def test_a_whole_build_runs_on_it(tiny: Tiny, tmp_path: Path) -> None:
    settings = {
        "source.entities": 400,
        "limits.max_turns": 8,
        "roles.teacher.options": {"detour": 0, "verify": 0},  # the teacher must be done within them
        "roles.policy.backend": "vllm",
        "roles.policy.model": "tiny",
        "roles.policy.mode": "structured",
        "roles.policy.sampling": tiny.sampling.model_dump(mode="json"),
        "roles.policy.serve": tiny.serve.model_dump(mode="json"),
        "difficulty.closed_book": 1,
        "ratings": {"answer_probability": True},
        "critical": None,  # hundreds of continuations
        "contexts": None,
    }
    began = time.monotonic()
    done = synth.build("world-search", tasks=_TASKS, out=tmp_path / "out", store=tmp_path / "store", settings=settings)
    seconds = time.monotonic() - began
    assert validate(done.path) == []
    dataset = synth.load(done.path)
    runs = [row for row in dataset.rows("trajectories") if row.role == "policy"]
    lost = [row for row in dataset.rows("rejected") if row.stage == "rollouts"]
    assert len({row.task_id for row in runs} | {row.row_id for row in lost}) == _TASKS  # nothing vanishes
    assert {(row.provenance.backend, row.model) for row in runs} == {("vllm", "tiny")}
    # What a random model does is an action that can be carried out, or is rejected for what it is.
    honest = {Reason.TRUNCATED, Reason.MALFORMED_CALL, Reason.EMPTY_REPLY}
    assert {row.reason for row in lost} <= honest
    assert not any(row.success for row in runs)
    # Of the right answer, after each turn that called tools.
    turns = [row for row in dataset.rows("steps") if row.role == "policy" and row.action_kind not in ENDINGS]
    held = [row.answer_probability for row in turns if row.answer_probability is not None]
    print(f"\nvllm: the right answer is at {min(held):.1e} to {max(held):.1e}, after {len(held)} of {len(turns)} turns")
    assert len(held) == len(turns)
    assert any(row.answer_gain for row in turns)
    calls = sum(row.tool_calls for row in runs)
    stored = summarize(tmp_path / "store" / CALLS_FILE)
    assert stored is not None
    (account,) = stored.accounts
    print(f"\nvllm: build of {_TASKS} tasks in {seconds:.0f} s: {len(runs)} trajectories with {calls} tool calls,")
    print(f"vllm: {dict(Counter(row.reason.value for row in lost))} rejected; {account}")
    assert calls > 0
    assert account.delivered > 0
    assert account.open == 0
