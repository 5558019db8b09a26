"""What a language model may think in words of its own, and what it may not name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from synth.agents.contract import History, Prompt, Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.grounding.own_words import prose_of
from synth.agents.loop import Rollout
from synth.agents.scripted.players import ScriptedTeacher
from synth.environments.contract import ToolCall, ToolResult
from synth.testing.corpus import small_tasks

Run = Callable[..., Rollout]

QUESTION = "In which town was the head office of the company that Arvel Torrin founded?"
PAGE = (
    "[Arvel Torrin](arvel-torrin), page 1 of 2\n\nArvel Torrin was born on 14 March 1871. In 1899 Arvel Torrin "
    "founded the [Korvan Works](korvan-works) in Mosk. Lake Brandt has os.path.join and 12,450 boats. Ilse Holm came."
)
LATER = "Later on Velden became a city. Zeppelins of the kind Zarkon flew there, and Zarkon was loud."


def history(turn: Turn) -> tuple[Prompt, History]:
    first = Turn(thought=None, calls=(ToolCall(id="a", name="search", arguments={"query": "Arvel Torrin"}),))
    seen = Step(turn=first, results=(ToolResult(call_id="a", name="open", content=PAGE),))
    own = Step(turn=turn, results=(ToolResult(call_id="b", name="open", content=LATER),))
    return Prompt(system="You look things up.", question=QUESTION, tools=()), (seen, own)


def problems(**turn: object) -> list[str]:
    return [found.text for found in ungrounded(*history(Turn(**turn)), own_words=True)]  # type: ignore[arg-type]


NATURAL = [
    "Okay, the biography tells us he established the Korvan Works. Next, I'll locate its headquarters.",
    "The question involves two hops: first identify the firm, then determine where it was headquartered.",
    "Plan:\n1. Identify the company\n2. Find its head office\n\nLet me start with step 2.",
    "- Arvel Torrin → founder\n- Korvan Works → company (founded in 1899)\n\nHence I examine the linked article.",
    "**Korvan Works** is presumably an engineering enterprise; I'm going to verify that, e.g. by opening its page.",
    "Hmm, 3 clues are still unresolved. However, the snippet is ambiguous and/or truncated.",
    "Interesting! Apparently the enterprise was founded in Mosk, which isn't necessarily where its office was.",
    "I'll try \"Korvan Works headquarters\" as the query since the article doesn't mention an office.",
    "Headquarters aren't mentioned, so searching again seems sensible. Headquarters may be listed elsewhere.",
    "A well-known, step-by-step approach: narrow down candidates, cross-check, conclude.",
]


@pytest.mark.parametrize("thought", NATURAL)
def test_a_model_thinks_in_its_own_words(thought: str) -> None:
    call = ToolCall(id="b", name="search", arguments={"query": "Korvan Works headquarters"})
    assert problems(thought=thought, calls=(call,)) == []
    assert problems(said=thought, calls=(call,)) == []


def test_the_closed_list_of_scripted_agents_would_refuse_nearly_all_of_it() -> None:
    refused = [thought for thought in NATURAL if ungrounded(*history(Turn(thought=thought, answer="Mosk")))]
    assert len(refused) >= 9


@pytest.mark.parametrize(
    "thought",
    [
        "So the company is Velden.",  # only in this turn's own result
        "So it must be Paris.",
        "Paris it is.",
        "Paris",
        "I recall that the headquarters stood in Vienna, but I should verify it.",
        "The founder, Arvel Brandt, is obviously relevant.",  # both words were seen, never together
        "Presumably Ilse Torrin succeeded him.",
        "He was born on 15 March 1871.",
        "He was born on 3 March 1871.",
        "It was established in 1900.",
        "It has 412 rooms.",
        "Its module is os.join.path, apparently.",
        'The article states "Torrin founded nothing at all".',
        "The identifier is mosk-works-7.",
        "I believe that zarkon built it.",  # the pages write it as a name only
        "1. Identify Quist\n2. Open the page",
        "It cost 9.99 crowns.",
    ],
)
def test_what_was_not_seen_is_refused_in_whatever_words(thought: str) -> None:
    assert problems(thought=thought, answer="Mosk")
    assert problems(said=thought, calls=(ToolCall(id="b", name="open", arguments={"document": "arvel-torrin"}),))


@pytest.mark.parametrize(
    ("arguments", "fine"),
    [
        ({"query": "headquarters of the Korvan Works"}, True),
        ({"query": "company headquarters town"}, True),
        ({"query": "Korvan Works headquarters history"}, True),
        ({"query": "Arvel Brandt"}, False),
        ({"query": "Velden"}, False),
        ({"query": "velden"}, False),  # a name, however it is written
        ({"query": "Siemens headquarters"}, False),
        ({"query": "company founded in 1901"}, False),
        ({"query": "three companies"}, False),
        ({"document": "korvan-works"}, True),
        ({"document": "korvan"}, False),
        ({"document": "arvel-torrin", "page": 3}, False),
    ],
)
def test_arguments(arguments: dict[str, object], fine: bool) -> None:
    found = problems(calls=(ToolCall(id="b", name="tool", arguments=arguments),))
    assert (found == []) is fine, found


def test_an_answer_is_judged_like_everybodys() -> None:
    assert problems(answer="Mosk") == []
    for answer in ("zeppelin", "headquarters", "Vienna", "three", "nothing", "the biography"):
        assert problems(answer=answer), answer


def test_marks_of_lists_and_emphasis_are_no_part_of_what_is_said() -> None:
    assert prose_of("## Plan\n1. **Open** it\n- then *read*") == "Plan. Open it. then read"
    assert prose_of("in 1899 a_b and 2 * 3") == "in 1899 a_b and 2 * 3"


@pytest.mark.parametrize(
    "extra", ["Nora Quist", "1777", "3 May 1777", "Quist-7", "9.99", '"none of these words stands"']
)
def test_every_insertion_of_something_unseen_is_caught(extra: str, run: Run) -> None:
    """As in the check of scripted agents: in any place of any thought."""
    caught = 0
    for task in small_tasks():
        made = run(ScriptedTeacher(task), task, "own words", 0)
        for number, step in enumerate(made.history):
            words = (step.turn.thought or "").split(" ")
            for place in range(0, len(words) + 1, 5):
                text = " ".join([*words[:place], extra, *words[place:]])
                turn = step.turn.model_copy(update={"thought": text})
                mutated = (*made.history[:number], step.model_copy(update={"turn": turn}))
                assert ungrounded(made.prompt, mutated, start=number, own_words=True), text
                caught += 1
    assert caught > 100
