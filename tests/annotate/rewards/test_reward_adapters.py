"""The reward in the shapes of TRL and verl, called as these call."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import pytest
from reward_samples import ANSWER, BARE, BIRTHDAY, FULL, GIVEN, HALF, WRONG

from synth.annotate.rewards import adapters, compute_score, compute_scores, group_rewards, trl_reward
from synth.errors import InputError
from synth.schemas.rl import GroundTruth

COLUMN = {"style": "rule", "ground_truth": BIRTHDAY.model_dump(mode="json")}
OTHER = {"style": "rule", "ground_truth": GIVEN.model_dump(mode="json")}


def info(name: str) -> dict[str, Any]:
    return {"index": 3, "split": "train", "id": name, "task_id": f"task-{name}"}


def test_trl_calls_with_columns_and_gets_a_float_for_each_completion() -> None:
    # As GRPOTrainer does: prompts and columns repeated for each generation, and arguments that nobody asked for.
    completions = [[{"role": "assistant", "content": text}] for text in (FULL, HALF, WRONG, "Answer: Ann Lee")]
    rewards = trl_reward(
        prompts=[[{"role": "user", "content": "When?"}]] * 4,
        completions=completions,
        completion_ids=[[1, 2]] * 4,
        trainer_state=object(),
        log_extra=print,
        reward_model=[COLUMN, COLUMN, COLUMN, OTHER],
        extra_info=[info("a"), info("a"), info("a"), info("b")],
        split=["train"] * 4,
    )
    assert rewards == [1.0, pytest.approx(0.9), 0.0, 1.0]
    assert trl_reward.__name__ == "trl_reward"  # TRL logs by it


def test_trl_texts_and_groups_by_equal_truths_where_the_ids_were_dropped() -> None:
    copies = [json.loads(json.dumps(COLUMN)) for _ in range(2)]
    assert trl_reward(completions=[HALF, BARE], reward_model=copies) == [1.0, pytest.approx(0.85)]


def test_trl_leaves_out_what_no_rule_can_judge() -> None:
    truth = GroundTruth(question="When?", answer="the third year of her reign", answer_kind="date").model_dump()
    assert trl_reward(completions=["Answer: 12 May 1820"], reward_model=[truth]) == [None]
    assert compute_score("s", "Answer: 12 May 1820", truth)["abstained"] == 1.0


def test_what_is_judged_by_its_state_is_left_out() -> None:
    truth = BIRTHDAY.model_copy(update={"judged_by": "state"}).model_dump(mode="json")
    assert trl_reward(completions=[FULL, FULL], reward_model=[truth, COLUMN]) == [None, 1.0]
    got = compute_score("s", FULL, truth)
    assert (got["score"], got["acc"], got["abstained"]) == (0.0, 0.0, 1.0)


def test_trl_without_the_column_says_what_to_do() -> None:
    with pytest.raises(InputError, match="remove_unused_columns=False"):
        trl_reward(prompts=["When?"], completions=[FULL])


def test_verl_calls_once_for_each_response() -> None:
    got = compute_score(
        data_source="world-search",
        solution_str=HALF,
        ground_truth=COLUMN["ground_truth"],
        extra_info={**info("a"), "num_turns": 4, "rollout_reward_scores": {}},
        reward_router_address=None,
    )
    assert got == {"score": pytest.approx(0.9), "acc": 1.0, "rubric": pytest.approx(2 / 3), "abstained": 0.0}
    assert compute_score("world-search", WRONG, COLUMN["ground_truth"], None)["score"] == 0.0


def test_verl_leaves_tools_in_the_text_and_they_earn_nothing() -> None:
    turns = f"Let me look.\nuser\n<tool_response>\nKorvan Works, Ilse Brandt\n</tool_response>\nassistant\n{ANSWER}"
    assert compute_score("s", turns, COLUMN["ground_truth"])["rubric"] == pytest.approx(1 / 3)
    marked = turns.replace("<tool_response>", "[TOOL]").replace("</tool_response>", "[/TOOL]")
    own = compute_score("s", marked, COLUMN["ground_truth"], observations=r"\[TOOL\].*?\[/TOOL\]")
    assert own["rubric"] == pytest.approx(1 / 3)


def test_verl_batches_are_weighed_by_row() -> None:
    got = compute_scores(
        data_sources=["s"] * 3,
        solution_strs=[HALF, BARE, HALF],
        ground_truths=[COLUMN["ground_truth"]] * 3,
        extra_infos=[info("a"), info("a"), info("b")],
    )
    assert [one["score"] for one in got] == [1.0, pytest.approx(0.85), 1.0]


def test_a_batch_gives_what_its_groups_give() -> None:
    texts = [FULL, BARE, WRONG, HALF]
    batch = trl_reward(completions=texts, reward_model=[COLUMN] * 4)
    assert batch == [one.value for one in group_rewards(texts, BIRTHDAY)]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"completions": [FULL, HALF], "reward_model": [COLUMN]}, "2 responses, 1 ground truths"),
        ({"completions": [FULL, 3], "reward_model": [COLUMN] * 2}, r"responses\[1\]: is a int"),
        ({"completions": [FULL], "reward_model": [{"style": "rule"}]}, r"ground_truths\[0\]"),
        (
            {"completions": [FULL] * 2, "reward_model": [COLUMN, OTHER], "extra_info": [info("a")] * 2},
            "group 'a' has several ground truths",
        ),
    ],
)
def test_wrong_input_is_one_clear_line(arguments: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError, match=line):
        trl_reward(**arguments)


def test_a_bad_pattern_is_one_clear_line() -> None:
    with pytest.raises(InputError, match="observations: is not a regular expression"):
        compute_score("s", FULL, COLUMN["ground_truth"], observations="(")


def test_verl_loads_the_file_by_its_path() -> None:
    # As verl does with custom_reward_function.path and .name.
    spec = importlib.util.spec_from_file_location("custom_module", adapters.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.compute_score("s", FULL, COLUMN["ground_truth"])["score"] == 1.0
    assert module.compute_scores(["s"], [FULL], [COLUMN["ground_truth"]])[0]["score"] == 1.0
