"""The environment `starter`, a shop's till: replace it. The guide "Your environment" says what must hold."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from synth.agents.contract import Decision, History, Prompt, Turn
from synth.environments.answers import judge
from synth.environments.contract import (
    Environment,
    EnvironmentSpec,
    Episode,
    Snapshot,
    ToolCall,
    ToolResult,
    ToolSchema,
    refusal,
    text_argument,
)
from synth.identity import versioned
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Verdict

__all__ = ["SPEC", "Starter", "StarterEpisode", "policy"]

PRICES = {"lamp": 18, "kettle": 31, "rope": 7, "ladder": 64, "teapot": 23, "broom": 12}
TOOLS = {
    "price": ToolSchema.of("price", "What an article costs.", {"article": text_argument("Its name.")}),
    "add": ToolSchema.of("add", "Puts an article on the bill.", {"article": text_argument("Its name.")}),
}


class Starter(Environment):
    name: ClassVar[str] = "starter"
    version: ClassVar[str] = "1"  # raise it when an observation or a verdict changes

    def tools(self) -> tuple[ToolSchema, ...]:
        return tuple(TOOLS.values())

    def instructions(self) -> str:
        return "You are at the till of a shop. Prices are whole euros."

    def reset(self, task: Task) -> StarterEpisode:
        return StarterEpisode(self, task)


class StarterEpisode(Episode):
    def __init__(self, starter: Starter, task: Task) -> None:
        super().__init__(task)
        self.starter = starter
        self.bill: list[str] = []  # all that calls change

    def step(self, call: ToolCall) -> ToolResult:
        if (wrong := refusal(call, TOOLS)) is not None:
            return wrong
        article = str(call.arguments["article"])
        if article not in PRICES:
            return call.answered(f"There is no {article} here.", "not_found")
        if call.name == "price":
            return call.answered(f"The {article} costs {PRICES[article]} euros.")
        self.bill.append(article)
        return call.answered(f"The bill comes to {sum(PRICES[each] for each in self.bill)} euros.")

    def snapshot(self) -> Snapshot:
        return self.starter.pack(self.task, self.bill)

    def restore(self, snapshot: Snapshot) -> None:
        self.bill = self.starter.unpack(self.task, snapshot)

    def check(self, answer: str | None) -> Verdict:
        return judge(answer, gold=self.task.answer, aliases=self.task.answer_aliases, kind=self.task.answer_kind)


@versioned(1)
def open_starter(**options: Any) -> Starter:
    return Starter()


SPEC = EnvironmentSpec("starter", open_starter, prompt="agents/tools", rl_prompt="rl/tools")


class Cashier:
    """A stand-in for your model: it puts what it is asked for on the bill, and now and then forgets an article."""

    privileged = False

    def __init__(self, slips: float) -> None:
        self.slips = slips

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        wanted = [article for article in PRICES if article in prompt.question]
        if len(history) == len(wanted) or (history and generator.random() < self.slips):
            return Decision(Turn(thought="That is all of it.", answer=history[-1].results[0].content.split()[-2]))
        article = wanted[len(history)]
        call = ToolCall(id=f"c{len(history)}", name="add", arguments={"article": article})
        return Decision(Turn(thought=f"The {article} goes on the bill.", calls=(call,)))


@versioned(1)
def policy(*, task: Task, slips: float = 0.3, **about: Any) -> Cashier:
    return Cashier(slips)
