"""The reward of a single turn: does it do what is known to lead on (PivotRL, arXiv 2603.21383)?

Two turns are functionally equivalent when they make the same calls, in any order, with arguments that say the same:
texts by their words (of queries, in any order), numbers by their value, keys in any order. Two answers are equivalent
when their words are equal. That is less than the paper's verifiers know of each domain, and never more: what another
action would have come to is not asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from synth.annotate.rewards.response import read_response
from synth.environments.contract import WORD_ARGUMENTS
from synth.errors import InputError
from synth.text.words import words_of

__all__ = ["equivalent", "pivot_reward"]

_AROUND = ".,;:!?\"'()"
_CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.S)


def pivot_reward(
    prompts: Sequence[Any] | None = None,
    completions: Sequence[Any] = (),
    calls: Sequence[Any] | None = None,
    answer: Sequence[str | None] | None = None,
    **columns: Any,
) -> list[float]:
    """A reward function for TRL's ``GRPOTrainer`` over the rows of ``trl-pivots``: 1.0 for a turn that does the same as
    the one that was taken, 0.0 for any other.

    Raises:
        InputError: the columns ``calls`` and ``answer`` are not there, or something is of another form.
    """
    if calls is None or answer is None or len(calls) != len(completions):
        mend = "keep the columns of the rows: GRPOConfig(remove_unused_columns=False) does"
        raise InputError("the reward function got no actions", where="calls", mend=mend)
    return [
        float(equivalent(_made(said, f"completions[{place}]"), wanted))
        if wanted
        else float(_says(said, right, f"completions[{place}]"))
        for place, (said, wanted, right) in enumerate(zip(completions, calls, answer, strict=True))
    ]


def equivalent(made: Sequence[Mapping[str, Any]], wanted: Sequence[Mapping[str, Any]]) -> bool:
    """Whether two lists of calls (``name``, ``arguments``) do the same."""
    return sorted(map(_key, made)) == sorted(map(_key, wanted))


def _key(call: Mapping[str, Any]) -> str:
    return json.dumps([call.get("name"), _plain(call.get("arguments") or {})], sort_keys=True)


def _plain(value: Any, name: str = "") -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item, key) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        words = [word.strip(_AROUND) or word for word in value.casefold().split()]
        return sorted(set(words)) if name in WORD_ARGUMENTS else " ".join(words)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _made(response: Any, where: str) -> list[Mapping[str, Any]]:
    """The calls of a response: of a list of messages those of its first turn, of a text those that it writes out."""
    found: list[Mapping[str, Any]] = []
    if isinstance(response, str):
        return [call for text in _CALL.findall(response) if (call := _object(text)) is not None]
    read_response(response, where=where)
    for message in response:
        if message["role"] == "assistant":
            for call in message.get("tool_calls") or ():
                function = call.get("function", {})
                arguments = function.get("arguments")
                arguments = _object(arguments) if isinstance(arguments, str) else arguments
                found.append({"name": function.get("name"), "arguments": arguments})
            return found or _made(str(message.get("content") or ""), where)
    return found


def _object(text: str) -> Mapping[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _says(response: Any, right: str | None, where: str) -> bool:
    said = read_response(response, where=where).answer
    return said is not None and not _made(response, where) and words_of(said) == words_of(right or "")
