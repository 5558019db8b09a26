"""The reward in the shapes that trainers call.

TRL (``GRPOTrainer(reward_funcs=trl_reward)``) calls with keyword arguments: ``prompts``, ``completions`` and every
other column of the dataset, one entry per completion; it takes a list of floats and leaves out a None. verl
(``custom_reward_function.path`` = this file) calls ``compute_score`` for one response, or, with its batch reward
manager, ``compute_scores`` for a batch (``custom_reward_function.name=compute_scores``); it takes floats, or dicts
with ``score``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from synth.annotate.rewards.response import OBSERVATIONS
from synth.annotate.rewards.reward import Reward, Rule, group_rewards, reward
from synth.annotate.rewards.truth import read_truth
from synth.errors import InputError
from synth.identity import digest
from synth.schemas.rl import GroundTruth

__all__ = ["batch_rewards", "compute_score", "compute_scores", "trl_reward"]


def batch_rewards(
    responses: Sequence[Any],
    truths: Sequence[Any],
    groups: Sequence[Hashable] | None = None,
    *,
    observations: str | None = None,
    rule: Rule | str = "grounded",
) -> list[Reward]:
    """The rewards of responses to several prompts, in order.

    ``groups[i]`` says to which group response ``i`` belongs; None = responses with equal ground truths are one group.

    Raises:
        InputError: the lists differ in length, an entry is of another form, or a group has several ground truths.
    """
    if len(truths) != len(responses) or (groups is not None and len(groups) != len(responses)):
        what = f"{len(responses)} responses, {len(truths)} ground truths"
        raise InputError(what if groups is None else f"{what}, {len(groups)} groups", mend="hand over one per response")
    truths = list(truths)  # a column of `datasets` would make a new object with every look
    read = _read_all(truths)
    keys = [digest(truth.model_dump(mode="json")) for truth in read.values()]
    by_object = dict(zip(read, keys, strict=True))
    own = [by_object[id(truth)] for truth in truths]
    places: dict[Hashable, list[int]] = {}
    for place in range(len(responses)):
        places.setdefault(own[place] if groups is None else groups[place], []).append(place)
    rewards: list[Reward | None] = [None] * len(responses)
    for group, members in places.items():
        if len({own[place] for place in members}) > 1:
            raise InputError(f"group {group!r} has several ground truths", mend="a group answers one prompt")
        truth = read[id(truths[members[0]])]
        try:
            found = group_rewards([responses[place] for place in members], truth, observations=observations, rule=rule)
        except InputError as error:
            raise InputError(error.what, where=_renumbered(error.where, members), mend=error.mend) from None
        for place, one in zip(members, found, strict=True):
            rewards[place] = one
    return [one for one in rewards if one is not None]


def _read_all(truths: Sequence[Any]) -> dict[int, GroundTruth]:
    """By the identity of the object: a batch holds each ground truth as often as it has samples."""
    read: dict[int, GroundTruth] = {}
    for place, truth in enumerate(truths):
        if id(truth) not in read:
            read[id(truth)] = read_truth(truth, f"ground_truths[{place}]")
    return read


def _renumbered(where: str | None, members: Sequence[int]) -> str | None:
    """``responses[1]`` of a group, as its place in the batch."""
    if where is None or not where.startswith("responses["):
        return where
    number, _, rest = where.removeprefix("responses[").partition("]")
    return f"responses[{members[int(number)]}]{rest}"


def trl_reward(
    prompts: Sequence[Any] | None = None,
    completions: Sequence[Any] = (),
    reward_model: Sequence[Any] | None = None,
    *,
    rule: Rule | str = "grounded",
    **columns: Any,
) -> list[float | None]:
    """A reward function for TRL's ``GRPOTrainer`` over the tables ``rl`` and ``contexts``.

    ``completions`` are texts or lists of messages; ``reward_model`` is that column of the rows. Completions of rows
    with the same ``extra_info.id`` (or, where that column was dropped, the same ground truth) are one group. In
    distributed training TRL hands over what one process generated: see to it that a group stays on one
    (``per_device_train_batch_size`` a multiple of ``num_generations``), else the best rubric is that of a part.
    ``rule``: another reward than the default, as ``functools.partial(trl_reward, rule="cited")``, one of the user's
    (``rule="mine:reward"``) among them.

    Returns:
        One float in [0, 1] per completion; None where no rule can judge the answer, which TRL leaves out.

    Raises:
        InputError: the column ``reward_model`` is not there, or something is of another form.
    """
    if reward_model is None:
        mend = "keep the column reward_model of the rows: GRPOConfig(remove_unused_columns=False) does"
        raise InputError("the reward function got no ground truths", where="reward_model", mend=mend)
    infos = columns.get("extra_info")
    groups = None
    if infos is not None and all(isinstance(info, Mapping) and info.get("id") for info in infos):
        groups = [str(info["id"]) for info in infos]
    return [one.value for one in batch_rewards(completions, reward_model, groups, rule=rule)]


def compute_score(
    data_source: str | None = None,
    solution_str: str = "",
    ground_truth: Any = None,
    extra_info: Mapping[str, Any] | None = None,
    *,
    observations: str | None = OBSERVATIONS,
    rule: Rule | str = "grounded",
    **others: Any,
) -> dict[str, Any]:
    """A reward function for verl, one response at a time, so without a group: the rubric counts in full only when all
    of it is named.

    ``solution_str`` is the decoded response; of an agent, all its turns with what tools said in between, which
    ``observations`` (a regular expression) cuts out: set it for your chat template through
    ``custom_reward_function.reward_kwargs``; ``rule`` likewise, for another reward than the default.

    Returns:
        ``score`` in [0, 1]; ``acc`` 1.0 for a right answer; ``rubric``; ``abstained`` 1.0 where no rule can judge the
        answer (the score is 0 then, since verl takes numbers only: leave such rows out).

    Raises:
        InputError: something is of another form.
    """
    return _scored(reward(solution_str, ground_truth, observations=observations, rule=rule))


def compute_scores(
    data_sources: Sequence[str] | None = None,
    solution_strs: Sequence[str] = (),
    ground_truths: Sequence[Any] = (),
    extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
    *,
    observations: str | None = OBSERVATIONS,
    rule: Rule | str = "grounded",
    **others: Any,
) -> list[dict[str, Any]]:
    """As :func:`compute_score`, for a batch and so with groups: for verl's batch reward manager. Responses to the same
    row (``extra_info.id``) are one group.

    Raises:
        InputError: the lists differ in length, or something is of another form.
    """
    groups = None
    if extra_infos is not None and all(isinstance(info, Mapping) and info.get("id") for info in extra_infos):
        groups = [str(info["id"]) for info in extra_infos if info is not None]
    found = batch_rewards(list(solution_strs), list(ground_truths), groups, observations=observations, rule=rule)
    return [_scored(one) for one in found]


def _scored(one: Reward) -> dict[str, Any]:
    return {
        "score": 0.0 if one.value is None else one.value,
        "acc": float(one.correct is True),
        "rubric": one.rubric,
        "abstained": float(one.value is None),
    }
