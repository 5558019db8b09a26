"""Models that see: which pictures they are sent, where, and what a picture counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError
from stand_ins.model_server import FixedPlayer, ModelServer, Reply
from stand_ins.png import data_url

from synth.agents.contract import History, Prompt, Step, Turn
from synth.agents.model.pictures import PICTURED, with_pictures
from synth.agents.model.policy import ModelConfig, ModelPolicy
from synth.agents.model.wire import Message, Mode, messages_of, said_to
from synth.environments.contract import ToolCall, ToolResult, ToolSchema, WebPage
from synth.errors import InputError
from synth.mocks.model.protocol import ProtocolError, check_request, prompt_tokens
from synth.models.client import ModelHub
from synth.models.contract import ChatRequest, Price, Runtime, Sampling
from synth.models.prices import PriceTable, worst_case
from synth.recipe.load import parse_recipe
from synth.registry import FORMATS

TOOLS = (ToolSchema.of("open", "Opens a page.", {"url": {"type": "string"}}),)
PROMPT = Prompt(system="Use the browser.", question="What does it cost?", tools=TOOLS)


def step(number: int, *pictures: int | None) -> Step:
    """A turn with a call for each picture; None = that page has none."""
    calls = tuple(
        ToolCall(id=f"c{number}_{at}", name="open", arguments={"url": f"/{number}/{at}"}) for at in range(len(pictures))
    )
    results = tuple(
        ToolResult(
            call_id=call.id,
            name="open",
            content=f"Page {number}",
            page=WebPage(url="/", viewport=(56, 30), screenshot=None if shade is None else data_url(shade)),
        )
        for call, shade in zip(calls, pictures, strict=True)
    )
    return Step(turn=Turn(calls=calls), results=results)


HISTORY: History = (step(0, 10), step(1, None), step(2, 20, 30), step(3, 40))


def seen_by(most: int, mode: Mode = "native", further: str = "") -> list[Message]:
    messages = messages_of(PROMPT, HISTORY, mode=mode)
    return with_pictures(said_to(messages, further) if further else messages, HISTORY, most)


def pictures(messages: Any) -> list[str]:
    contents = [message["content"] for message in messages if isinstance(message["content"], list)]
    return [part["image_url"]["url"] for parts in contents for part in parts if part["type"] == "image_url"]


@pytest.mark.parametrize("mode", ["native", "structured"])
@pytest.mark.parametrize(
    ("most", "shades"), [(0, []), (1, [40]), (2, [30, 40]), (3, [20, 30, 40]), (9, [10, 20, 30, 40])]
)
def test_the_last_pictures_go_along(mode: Mode, most: int, shades: list[int]) -> None:
    messages = seen_by(most, mode)
    assert pictures(messages) == [data_url(shade) for shade in shades]
    check_request({"model": "any", "messages": messages}, strict_alternation=mode == "structured")
    plain = messages_of(PROMPT, HISTORY, mode=mode)
    texts = [message for message in messages if not isinstance(message["content"], list)]
    assert [one for one in plain if one["role"] != "user"] == [one for one in texts if one["role"] != "user"]


def test_pictures_stand_behind_what_they_show() -> None:
    messages = seen_by(3)
    places = [at for at, message in enumerate(messages) if isinstance(message["content"], list)]
    assert [messages[at]["role"] for at in places] == ["user", "user"]
    assert [messages[at]["content"][0]["text"] for at in places] == [PICTURED, PICTURED]
    assert [messages[at - 1]["role"] for at in places] == ["tool", "tool"]
    assert [messages[at - 1]["tool_call_id"] for at in places] == ["c2_1", "c3_0"]
    told = seen_by(3, further="Go on.")
    assert told[-1]["content"] == [{"type": "text", "text": "Go on."}, *messages[-1]["content"][1:]]
    assert told[:-1] == messages[:-1]
    structured = seen_by(1, "structured")[-1]["content"]
    assert [part["type"] for part in structured] == ["text", "image_url"]
    assert structured[0]["text"] == "Page 3"


def asked_over_http(config: ModelConfig) -> tuple[list[Mapping[str, Any]], int]:
    """The messages that a server gets, and the tokens that it counts."""
    seen: list[Mapping[str, Any]] = []

    def reply(request: Mapping[str, Any], sample: str | None) -> Reply:
        seen.append(request)
        return Reply(content="4 pounds")

    with ModelServer({"toy": FixedPlayer(reply)}) as server, ModelHub() as hub:
        model = hub.bind("toy", Sampling(max_tokens=50), Runtime(endpoints=(server.url,), price=Price(prompt=1.0)))
        decision = ModelPolicy(model, config).turn(PROMPT, HISTORY, "0")
        assert decision.turn.answer == "4 pounds"
        used = hub.account()
    assert used.prompt_tokens > 0
    return seen, used.prompt_tokens


def test_a_server_gets_the_pictures_and_what_they_count_is_booked() -> None:
    (blind,), without = asked_over_http(ModelConfig())
    assert pictures(blind["messages"]) == []
    (request,), used = asked_over_http(ModelConfig(vision=True, pictures=2))
    assert pictures(request["messages"]) == [data_url(30), data_url(40)]
    assert used - without > 2 * 2 * 2, "56 by 30 pixels are 2 by 2 tokens; the rest are the words beside them"
    with pytest.raises(ValidationError):
        ModelConfig(vision=True, pictures=0)


def test_a_picture_counts_by_its_pixels_and_not_by_its_bytes() -> None:
    messages = tuple(seen_by(1))
    request = ChatRequest("m", messages, sampling=Sampling(max_tokens=10))
    size = len(request.body.encode())
    url = data_url(40)
    assert prompt_tokens(size, messages) == -(-(size - len(url)) // 4) + 4
    bound = worst_case(request, size, PriceTable(Price(prompt=1)))
    assert bound.tokens == size - len(url) + 48_169 + 512 + 10


@pytest.mark.parametrize("url", ["http://a.test/a.png", "data:image/png;base64,AAAA", "data:image/png;base64,?", 7])
def test_a_server_takes_no_picture_that_is_none(url: Any) -> None:
    part = {"type": "image_url", "image_url": {"url": url}}
    with pytest.raises(ProtocolError, match="PNG"):
        check_request({"model": "any", "messages": [{"role": "user", "content": [part]}]})
    right = {"type": "image_url", "image_url": {"url": data_url(1)}}
    check_request({"model": "any", "messages": [{"role": "user", "content": [right]}]})
    with pytest.raises(ProtocolError, match="in a message of the user"):
        check_request({"model": "any", "messages": [{"role": "system", "content": [right]}]})


SEEING = {"backend": "openai", "model": "m", "base_url": "http://127.0.0.1:1/v1", "options": {"vision": True}}
RECIPE: dict[str, Any] = {
    "name": "seen",
    "tasks": 2,
    "source": {"kind": "web"},
    "questions": {"kind": "reverse", "kinds": {"done": 1.0}},
    "environment": {"kind": "web", "screenshots": True},
    "roles": {"teacher": SEEING},
}


def test_a_recipe_says_who_sees_and_there_must_be_something_to_see() -> None:
    recipe = parse_recipe(RECIPE, "recipe")
    assert recipe.roles["teacher"].options == {"vision": True}
    with pytest.raises(InputError, match=r"roles\.teacher\.options\.vision: nothing is shown as a picture here"):
        parse_recipe({**RECIPE, "environment": {"kind": "web"}}, "recipe")
    blind = {**SEEING, "options": {"pictures": 2}}
    with pytest.raises(InputError, match=r"roles\.teacher\.options\.pictures: say vision: true"):
        parse_recipe({**RECIPE, "roles": {"teacher": blind}}, "recipe")
    assert {"trl-sft-vision", "llamafactory-sft-vision"} <= set(FORMATS)
