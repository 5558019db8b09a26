from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from synth.agents.contract import History, Prompt, Step, Turn
from synth.agents.grounding.check import plain_words, ungrounded
from synth.agents.loop import Rollout
from synth.agents.scripted.phrases import PHRASES
from synth.agents.scripted.players import ScriptedTeacher
from synth.environments.contract import ToolCall, ToolResult
from synth.testing.corpus import small_documents, small_tasks

Run = Callable[..., Rollout]

QUESTION = "In which town was the head office of the company that Arvel Torrin founded?"
PAGE = (
    "[Arvel Torrin](arvel-torrin), page 1 of 2\n\nArvel Torrin was born on 14 March 1871. In 1899 Arvel Torrin "
    "founded the [Korvan Works](korvan-works) in Mosk. Lake Brandt has os.path.join and 12,450 boats. Ilse Holm came."
)


def history(turn: Turn) -> tuple[Prompt, History]:
    first = Turn(thought=None, calls=(ToolCall(id="a", name="search", arguments={"query": "Arvel Torrin"}),))
    seen = Step(turn=first, results=(ToolResult(call_id="a", name="open", content=PAGE),))
    own = Step(turn=turn, results=(ToolResult(call_id="b", name="open", content="Velden is a city."),))
    return Prompt(system="You look things up.", question=QUESTION, tools=()), (seen, own)


def problems(**turn: object) -> list[str]:
    return [found.text for found in ungrounded(*history(Turn(**turn)))]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "thought",
    [
        "So the company is Korvan Works. I follow the link.",
        'The page says: "In 1899 Arvel Torrin founded the Korvan Works in Mosk." That gives me Korvan Works.',
        "Arvel Torrin's page names Mosk, Korvan Works and Arvel Torrin.",
        "She was born on 14 March 1871.",
        "I read page 2 next.",
        "It is 12450.",
        "I look at os.path.join again.",
        "I double-check this.",
    ],
)
def test_what_was_seen_may_be_said(thought: str) -> None:
    assert problems(thought=thought) == []


@pytest.mark.parametrize(
    "thought",
    [
        "So the company is Velden.",  # only in this turn's own result
        "So it must be Paris.",
        "Paris it is.",
        "I take Arvel Brandt.",  # both words were seen, never together
        "I take Ilse Torrin.",
        "It is the Korvan Mosk.",
        "She was born on 15 March 1871.",
        "She was born on 14 April 1871.",
        "It was in 1900.",
        "It has 412 rooms.",
        "I read page 3 next.",
        "I look at os.join.path.",
        "I look at sys.exit now.",
        'The page says "Torrin founded nothing".',
        "The page says “Arvel Torrin was in Mosk”.",
        "It was a zeppelin.",
        "There are seven of them.",
        "The id is mosk-works.",
        "The Korvan-Mosk line.",
    ],
)
def test_what_was_not_seen_may_not(thought: str) -> None:
    assert problems(thought=thought)
    assert problems(said=thought)
    assert problems(answer=thought)


@pytest.mark.parametrize(
    ("arguments", "fine"),
    [
        ({"query": "Korvan Works head office"}, True),
        ({"query": "Korvan Works Mosk"}, True),  # two whole names side by side
        ({"query": "Arvel Brandt"}, False),
        ({"query": "Velden"}, False),
        ({"query": "offices of the Korvan Works"}, False),
        ({"document": "korvan-works"}, True),
        ({"document": "korvan"}, False),
        ({"document": "Korvan Works"}, False),
        ({"document": "arvel-torrin", "page": 2}, True),
        ({"document": "arvel-torrin", "page": 3}, False),
        ({"query": "Mosk", "k": 10}, True),
        ({"query": "Mosk", "k": 1000}, False),
        ({"pattern": "1899"}, True),
        ({"pattern": "1898"}, False),
        ({"query": ["Mosk", {"Velden": 1}]}, False),
    ],
)
def test_arguments(arguments: dict[str, object], fine: bool) -> None:
    found = problems(calls=(ToolCall(id="b", name="tool", arguments=arguments),))
    assert (found == []) is fine, found


def test_answers_are_not_made_of_plain_words() -> None:
    assert problems(answer="Mosk") == []
    assert problems(answer="14 March 1871") == []
    assert problems(answer="nothing")
    assert problems(answer="may")


def test_plain_words_are_the_agents_own_and_hold_no_name_of_a_number() -> None:
    words = plain_words()
    assert not words & {"three", "four", "seven", "ten", "hundred", "million"}
    used = {
        re.sub(r"['’]s?$", "", word).casefold()
        for phrases in PHRASES.values()
        for phrase in phrases
        for word in re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)*", re.sub(r"\{\w+\}", " ", phrase))
    }
    assert used <= words


@pytest.fixture(scope="module")
def teachers(run: Run) -> list[Rollout]:
    return [run(ScriptedTeacher(task), task, "grounding", sample) for task in small_tasks() for sample in range(12)]


def test_no_teacher_turn_is_ungrounded(teachers: list[Rollout]) -> None:
    count = 0
    for made in teachers:
        assert ungrounded(made.prompt, made.history) == []
        count += len(made.history)
    assert count > 250


def _names() -> list[str]:
    names = [document.title for document in small_documents()]
    return [*names, "Nora Quist", "3 May 1777", "9,999", "1666", "Quist Works"]


def _swap(text: str, others: list[str], chooser: random.Random) -> tuple[str, str] | None:
    present = [name for name in others if name in text]
    if not present:
        return None
    old = chooser.choice(present)
    new = chooser.choice([name for name in others if name not in text and old not in name and name not in old])
    return text.replace(old, new), new


def _seen_before(made: Rollout, turn: int) -> str:
    parts = [made.prompt.system, made.prompt.question]
    parts += [result.content for step in made.history[:turn] for result in step.results]
    return "\n".join(parts).casefold()


def test_every_swap_of_a_name_for_an_unseen_one_is_caught(teachers: list[Rollout]) -> None:
    chooser = random.Random(0)
    names = _names()
    caught = 0
    for made in teachers:
        for number, step in enumerate(made.history):
            seen = _seen_before(made, number)
            for field in ("thought", "answer", "argument"):
                turn = step.turn
                if field == "argument":
                    if not turn.calls or "query" not in turn.calls[0].arguments:
                        continue
                    swapped = _swap(turn.calls[0].arguments["query"], names, chooser)
                else:
                    swapped = _swap(getattr(turn, field) or "", names, chooser)
                if swapped is None or swapped[1].casefold() in seen:
                    continue
                text, _ = swapped
                if field == "argument":
                    call = turn.calls[0].model_copy(update={"arguments": {"query": text}})
                    changed = turn.model_copy(update={"calls": (call, *turn.calls[1:])})
                else:
                    changed = turn.model_copy(update={field: text})
                mutated = (*made.history[:number], step.model_copy(update={"turn": changed}))
                assert ungrounded(made.prompt, mutated, start=number), (text, field)
                caught += 1
    assert caught > 100


@pytest.mark.parametrize(
    "extra", ["Nora Quist", "1777", "3 May 1777", "zeppelin", "Quist-7", '"no such words"', "9.99"]
)
def test_every_insertion_of_something_unseen_is_caught(extra: str, teachers: list[Rollout]) -> None:
    chooser = random.Random(1)
    for made in teachers[::4]:
        for number, step in enumerate(made.history):
            words = (step.turn.thought or "").split(" ")
            words.insert(chooser.randrange(len(words) + 1), extra)
            turns = [step.turn.model_copy(update={"thought": " ".join(words)})]
            if step.turn.answer is not None:
                turns.append(step.turn.model_copy(update={"answer": f"{step.turn.answer} {extra}"}))
            for call in step.turn.calls:
                if "query" in call.arguments:
                    longer = call.model_copy(update={"arguments": {"query": f"{call.arguments['query']} {extra}"}})
                    turns.append(step.turn.model_copy(update={"calls": (longer,)}))
            for turn in turns:
                mutated = (*made.history[:number], step.model_copy(update={"turn": turn}))
                assert ungrounded(made.prompt, mutated, start=number), turn
