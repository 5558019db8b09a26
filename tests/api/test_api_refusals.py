"""Settings that do not go together: one line each, before anything is made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import synth
from synth.errors import InputError

REFUSED: dict[str, list[tuple[dict[str, Any], str]]] = {
    "world-search simulated": [
        ({"environment.simulated": {}}, "bind roles.simulator"),
        ({"environment.simulated": {}, "roles.simulator": {}}, "bind roles.simulator"),
        ({"roles.simulator": {"backend": "openai", "model": "m", "base_url": "http://a/v1"}}, "and is missing"),
        ({"environment.simulated": {}, "roles.simulator": {"backend": "json:dumps"}}, "choose openai or vllm"),
        ({"environment.simulated": {"pages": 3}}, "pages"),
    ],
    "world-search retries": [
        ({"roles.reflector": {}}, "only a model reflects"),
        (
            {"roles": {"policy": {}, "reflector": {"backend": "openai", "model": "m", "base_url": "http://a/v1"}}},
            "there is no teacher",
        ),
    ],
    "world-search edits": [
        ({"roles.perturber": {}}, "only a model edits turns"),
        (
            {"roles.perturber": {"backend": "openai", "model": "m", "base_url": "http://a/v1"}, "preferences": None},
            "has no effect",
        ),
    ],
    "world-search summaries": [
        ({"roles.summarizer": {}}, "summaries says what it shortens"),
        ({"summaries": {"over": 0}}, "over"),
        ({"summaries": {}, "roles.summarizer": {"rollouts": 2}}, "answers single questions"),
    ],
    "world-search critical": [
        ({"critical.scorer": "model"}, "say which model it is under roles.prm"),
        ({"critical.expert": "model"}, "say which model it is under roles.expert"),
        ({"critical": None, "preferences": None, "roles.prm": {}}, "only the search for critical steps asks it"),
        ({"roles.prm.mode": "structured"}, "only for teacher and policy and expert"),
        ({"roles.expert.rollouts": 2}, "answers single questions"),
        ({"roles.expert.options": {"skil": 0.5}}, "there are tries, patience, skill"),
        (
            {
                "roles.prm.options": {"samples": 0},
                **{
                    f"roles.prm.{k}": v
                    for k, v in {"backend": "openai", "model": "m", "base_url": "http://a/v1"}.items()
                },
            },
            "samples",
        ),
    ],
    "world-search judge": [
        ({"preferences.selection": {"judge": "require"}}, "require needs a judge; name a model under roles.judge"),
        ({"roles.judge": {}}, "a model judges"),
        (
            {"preferences": None, "roles.judge": {"backend": "openai", "model": "m", "base_url": "http://a/v1"}},
            "neither pairs nor ratings to judge",
        ),
    ],
    "world-search writing": [
        ({"writing.share": 0.5}, "writing has no effect without roles.writer"),
        ({"task_reviews.closed_book": 2}, "task_reviews has no effect without roles.checker"),
        ({"roles.writer": {}}, "no script plays a writer"),
        (
            {
                "roles.checker": {"backend": "openai", "model": "m", "base_url": "http://a/v1"},
                "task_reviews": {"closed_book": 0, "alternatives": 0, "answerable": 0},
            },
            "has no effect: all of task_reviews are 0",
        ),
        (
            {
                "roles.checker": {"backend": "openai", "model": "m", "base_url": "http://a/v1"},
                "task_reviews": {"closed_book": 0, "reject": ["closed_book"]},
            },
            "closed_book is asked 0 times",
        ),
        (
            {"roles.writer": {"backend": "openai", "model": "m", "base_url": "http://a/v1", "options": {"sound": 1}}},
            "there are response_format, strict, correct",
        ),
    ],
    "app-desk writing": [
        ({"task_reviews.closed_book": 2}, "task_reviews: these ask about pages"),
        (
            {"roles.checker": {"backend": "openai", "model": "m", "base_url": "http://a/v1"}},
            "roles.checker has no effect: it reads what roles.writer wrote",
        ),
        ({"writing.share": 0.5}, "writing has no effect without roles.writer"),
        (
            {
                "roles.writer": {"backend": "openai", "model": "m", "base_url": "http://a/v1"},
                "writing.described": 0.5,
            },
            "writing.described: only questions about the world",
        ),
    ],
}
"""Dataset and subject -> settings, and words of the line that refuses them."""


@pytest.mark.parametrize(
    ("dataset", "settings", "line"),
    [(name.split()[0], settings, line) for name, cases in REFUSED.items() for settings, line in cases],
)
def test_what_does_not_go_together_is_said_in_one_line(
    dataset: str, settings: dict[str, Any], line: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        synth.build(dataset, tasks=2, out=tmp_path / "out", store=tmp_path / "store", settings=settings)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
