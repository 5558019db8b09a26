"""The reward over HTTP: for trainers that run elsewhere, in another language or another environment.

    GET  /health   {"status": "ok", "version": 1, "truths": N}
    POST /score    {"items": [{"response", "ground_truth" or "id", "group"?}, ...]} -> {"rewards": [{...}, ...]}
    POST /trl      {"completions", "reward_model", "extra_info"?, ...}              -> {"rewards": [0.9, null, ...]}
    POST /verl     {"solution_strs", "ground_truths", "extra_infos"?, ...}          -> {"scores": [{"score"}, ...]}

``/trl`` and ``/verl`` take the keyword arguments of the functions in ``synth.annotate.rewards.adapters`` as one object.
An item of ``/score`` names its ground truth by the id of a row or of a task where the server holds a dataset. ``rule``
beside ``items``, ``completions`` or ``solution_strs`` asks for another reward than the server's (``grounded``, or the
user's own that it was started with).
Items with the same ``group`` (without one: with the same ground truth) are weighed against each other, so send a
group in one request.

Mistakes are answered as ``synth.serving.json_http`` says: one line, status 400 and its like.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from synth.annotate.rewards.adapters import batch_rewards, compute_scores, trl_reward
from synth.annotate.rewards.reward import RULES, Rule
from synth.errors import InputError
from synth.schemas.rl import GroundTruth, Verifier
from synth.serving.json_http import JsonServer

__all__ = ["RewardServer"]


class RewardServer(JsonServer):
    """The reward function, and the ground truths that it knows by id."""

    title = "synth serve-reward"

    rule: str
    """The reward where a request names none."""

    def __init__(
        self,
        host: str,
        port: int,
        truths: Mapping[str, GroundTruth] | None = None,
        *,
        rule: Rule | str = RULES[0],
        allow_hosts: Collection[str] = (),
    ) -> None:
        """As :class:`JsonServer`. ``truths``: ground truths by id of row or task. ``rule``: the reward where a request
        names none.

        Raises:
            InputError: the address can't be listened on.
        """
        self.truths = dict(truths or {})
        self.rule = rule
        super().__init__(host, port, allow_hosts=allow_hosts)


def _health(server: RewardServer, body: Mapping[str, Any]) -> dict[str, Any]:
    return {"status": "ok", "version": Verifier().version, "truths": len(server.truths)}


def _score(server: RewardServer, body: Mapping[str, Any]) -> dict[str, Any]:
    items = _list(body, "items")
    truths, groups = [], []
    for place, item in enumerate(items):
        where = f"items[{place}]"
        if not isinstance(item, dict):
            raise InputError(f"is a {type(item).__name__}, not an object", where=where)
        if "response" not in item:
            raise InputError("has no response", where=where)
        truths.append(_truth(server, item, where))
        group = item.get("group")
        if group is not None and not isinstance(group, str | int):
            raise InputError("is neither a text nor a number", where=f"{where}.group")
        groups.append(group)
    given = [group for group in groups if group is not None]
    if given and len(given) < len(groups):
        raise InputError("some items name a group and others do not", where="items", mend="name it for all or for none")
    found = batch_rewards(
        [item["response"] for item in items], truths, groups if given else None, rule=_rule(server, body)
    )
    return {"rewards": [one.to_dict() for one in found]}


def _truth(server: RewardServer, item: Mapping[str, Any], where: str) -> Any:
    if "ground_truth" in item:
        return item["ground_truth"]
    name = item.get("id")
    if not isinstance(name, str):
        raise InputError("has neither a ground_truth nor an id", where=where)
    if name not in server.truths:
        mend = "give the ground_truth, or start the server with the dataset's folder"
        raise InputError(f"the server knows no ground truth {name[:100]!r}", where=f"{where}.id", mend=mend)
    return server.truths[name]


def _trl(server: RewardServer, body: Mapping[str, Any]) -> dict[str, Any]:
    completions, models = _list(body, "completions"), _list(body, "reward_model")
    infos = _list(body, "extra_info") if "extra_info" in body else None
    return {
        "rewards": trl_reward(completions=completions, reward_model=models, rule=_rule(server, body), extra_info=infos)
    }


def _verl(server: RewardServer, body: Mapping[str, Any]) -> dict[str, Any]:
    solutions, truths = _list(body, "solution_strs"), _list(body, "ground_truths")
    infos = _list(body, "extra_infos") if "extra_infos" in body else None
    found = compute_scores(solution_strs=solutions, ground_truths=truths, extra_infos=infos, rule=_rule(server, body))
    return {"scores": found}


def _rule(server: RewardServer, body: Mapping[str, Any]) -> Rule | str:
    """What a request asks for: one of ours, or the server's. It imports nothing that a client names."""
    known = tuple(dict.fromkeys((*RULES, server.rule)))
    wanted = body.get("rule", server.rule)
    found = next((rule for rule in known if rule == wanted), None)
    if found is None:
        raise InputError(f"there is no reward {str(wanted)[:60]!r}", where="rule", mend=f"use {', '.join(known)}")
    return found


def _list(body: Mapping[str, Any], key: str) -> list[Any]:
    value = body.get(key)
    if not isinstance(value, list):
        raise InputError("is missing" if value is None else f"is a {type(value).__name__}, not a list", where=key)
    return value


RewardServer.routes = {
    "/health": ("GET", _health),
    "/score": ("POST", _score),
    "/trl": ("POST", _trl),
    "/verl": ("POST", _verl),
}
