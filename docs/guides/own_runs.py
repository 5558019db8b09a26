"""Failed runs of your own become verified pairs: an environment, a policy, 90 logs, one call (python own_runs.py)."""

import json
from pathlib import Path

import synth
from synth.agents.contract import Decision, Turn
from synth.environments.answers import judge
from synth.environments.contract import Environment, Episode, ToolCall, ToolSchema

SHELVES = ("north", "south", "east")
ASKED = "What does the parcel of order {} weigh, in grams?"


def shown(question, shelf):  # the parcel of the order lies on one shelf, others lie on the others
    order, place = int(question.split()[6]), SHELVES.index(shelf)
    parcel = order if place == order % 3 else order + 1 + place
    return f"Shelf {shelf}: parcel {parcel}, {100 + 7 * parcel} grams."


class Store(Environment):
    name, version = "store", "1"  # raise the version when an observation or a verdict changes

    def tools(self):
        return (ToolSchema.of("open_shelf", "Shows the parcel on a shelf.", {"shelf": {"enum": list(SHELVES)}}),)

    def instructions(self):
        return "Look at shelves, then say what the parcel weighs."

    def reset(self, task):
        return Visit(self, task)


class Visit(Episode):
    def __init__(self, store, task):
        super().__init__(task)
        self.store, self.opened = store, []  # all that calls change

    def step(self, call):  # a wrong call is answered in words: it never raises
        if call.name != "open_shelf" or call.arguments.get("shelf") not in SHELVES:
            return call.answered("There is no such shelf.", "bad_arguments")
        self.opened.append(call.arguments["shelf"])
        return call.answered(shown(self.task.question, self.opened[-1]))

    def snapshot(self):
        return self.store.pack(self.task, self.opened)

    def restore(self, snapshot):
        self.opened = self.store.unpack(self.task, snapshot)

    def check(self, answer):
        return judge(answer, gold=self.task.answer, aliases=(), kind=self.task.answer_kind)


class Clerk:  # your agent: looks at one shelf, and believes it
    privileged = False

    def act(self, prompt, history, generator):
        if history:
            return Decision(Turn(answer=history[-1].results[0].content.split()[-2]))
        shelf = SHELVES[generator.integers(3)]
        return Decision(Turn(calls=(ToolCall(id="c0", name="open_shelf", arguments={"shelf": shelf}),)))


def log(order):  # a failed run as your system keeps it: chat messages
    asked, shelf = ASKED.format(order), SHELVES[(order + 1 + order % 2) % 3]
    call = {"id": "c0", "function": {"name": "open_shelf", "arguments": json.dumps({"shelf": shelf})}}
    turns = [{"role": "user", "content": asked}, {"role": "assistant", "tool_calls": [call]}]
    turns += [{"role": "tool", "tool_call_id": "c0", "content": shown(asked, shelf)}]
    return {"messages": [*turns, {"role": "assistant", "content": turns[-1]["content"].split()[-2]}]}


if __name__ == "__main__":
    asked = [{"question": ASKED.format(order), "answer": str(100 + 7 * order)} for order in range(90)]
    Path("questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked), "utf-8")
    runs = [log(order) for order in range(90)]  # or a file of them
    made = synth.annotate(runs, "questions.jsonl", "out", environment=Store(), policy=lambda task: Clerk())
    pairs = [pair for pair in synth.load(made.path).rows("preferences") if pair.kind == "verified_step"]
    print(f"{len(pairs)} verified pairs, {sum(pair.step == 0 for pair in pairs)} of them before the last step")
