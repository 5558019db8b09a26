"""Rules of where rows come from: provenance, and ids that are the hash of what a row is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from synth.dataset.configs import CONFIGS
from synth.dataset.rules.rules import Known, Rule, rule
from synth.identity import digest
from synth.prompting import list_prompts, load_prompt
from synth.schemas.judgments import JudgmentKind, JudgmentRow
from synth.schemas.model_turns import ModelTurns
from synth.schemas.preferences import PairKind, PreferenceRow
from synth.schemas.steps import LabelReason, StepRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import RECORDED, TrajectoryRow

__all__ = ["ORIGIN_RULES"]

_MADE = " ".join(config.name for config in CONFIGS if "provenance" in config.row_type.model_fields)
_ACTOR = ("backend", "model", "prompt", "sampling")


def _provenance(*names: str) -> str:
    return " ".join(f"provenance.{name}" for name in names)


@rule(_MADE, _provenance("dataset", "stage", "stage_version", "fingerprint", "seed", "source", "source_sha256"))
def origin(row: Any, known: Known) -> Iterator[str]:
    """Dataset, stage, seed and source are those of the report, alike in all rows of a stage run."""
    made = row.provenance
    if known.origins:
        about = known.origins.get(made.dataset)
        if about is None:
            yield f"provenance.dataset: the report is of {', '.join(known.origins)}, not of {made.dataset}"
            return
        if (made.fingerprint, made.stage, made.stage_version) not in about.stages:
            yield (
                f"provenance: no stage of the report is {made.stage} {made.stage_version} with fingerprint "
                f"{made.fingerprint[:16]}"
            )
        for name in ("seed", "source"):
            if getattr(made, name) != getattr(about, name):
                yield f"provenance.{name}: {getattr(made, name)}, but the report says {getattr(about, name)}"
    if isinstance(row, StepRow) and not known.same(("labels", made.dataset, row.role), made.fingerprint):
        yield f"provenance.fingerprint: steps of {row.role} are labelled by one stage run, and this is another"
    if not known.same(("source", made.fingerprint), made.source_sha256):
        yield "provenance.source_sha256: another row of the same stage run has another"


@rule(_MADE, _provenance(*_ACTOR, "model_revision"))
def actor(row: Any, known: Known) -> Iterator[str]:
    """All rows of a stage run were made by the same backend, model, prompt and sampling."""
    made, kinds = row.provenance, tuple(str(getattr(row, name, "")) for name in ("kind", "check"))
    if isinstance(row, Task):
        kinds = (made.prompt or "",)  # one is written anew, described, or keeps the grammar's words
        if made.prompt is not None and made.backend is None:
            yield "provenance.prompt: set, but no backend was called"
    if isinstance(row, StepRow):
        kinds = (str(row.label_reason is LabelReason.JUDGED),)
    if isinstance(row, PreferenceRow) and row.kind is PairKind.PERTURBATION and made.backend is not None:
        return  # a perturber proposed it
    for name in _ACTOR:
        if not known.same((name, row.table, made.fingerprint, kinds), getattr(made, name)):
            yield f"provenance.{name}: another row of the same stage run has another"
    turns = isinstance(row, TrajectoryRow) and ModelTurns.stand_in(row.details)
    if made.model is None and made.model_revision is not None and not turns:
        yield "provenance.model_revision: set, but no model was called"


@rule(_MADE, _provenance("prompt"))
def prompt_file(row: Any, known: Known) -> Iterator[str]:
    """The prompt is one that ships or one of the recipe's own, and its text has that hash."""
    made = row.provenance.prompt
    if made is None or known.report is None:
        return
    name, _, value = made.partition("@")
    wanted = known.of(_Prompts).hash_of(name, known.recipe.get("prompts") or {})
    if value != wanted:
        yield f"provenance.prompt: the text of {name} has {f'the hash {wanted[:16]}' if wanted else 'no place here'}"


class _Prompts:
    """Hashes of prompts, as they are asked for."""

    def __init__(self) -> None:
        self._known: dict[str, str | None] = {}

    def hash_of(self, name: str, own: Mapping[str, str]) -> str | None:
        """Of the recipe's own text, else of ours; None = there is no such prompt."""
        if name not in self._known:
            prompt, _, version = name.rpartition("/v")
            there = version.isdecimal() and (prompt, int(version)) in list_prompts()
            shipped = load_prompt(prompt, int(version)).ref.sha256 if there else None
            self._known[name] = hashlib.sha256(own[name].encode()).hexdigest() if name in own else shipped
        return self._known[name]


def _hashed(table: str, columns: str, parts: Callable[[Any], tuple[Any, ...] | None], *, text: bool = True) -> Rule:
    """A rule that ids of a table end with the hash of ``parts``; None = this row's id is not a hash."""

    @rule(table, f"id {columns}", text=text)
    def id_hash(row: Any, known: Known) -> Iterator[str]:
        """The id is the hash of what the row is."""
        of = parts(row)
        kind, _, own = row.id.rpartition("-")
        if of is not None and len(own) == 16 and own != (wanted := digest(*of)[:16]):
            yield f"id: does not match the row's content: {kind}-{wanted}"

    return id_hash


def _json(items: Sequence[Any]) -> list[Any]:
    return [item.model_dump(mode="json") for item in items]


def _run(row: TrajectoryRow) -> tuple[Any, ...] | None:
    if row.environment == RECORDED or row.provenance.backend in (None, RECORDED):  # an import keeps the ids of its file
        return None
    return "trajectory", row.task_id, row.role, row.model, row.rollout, _json(row.content)


def _judgment(row: JudgmentRow) -> tuple[Any, ...]:
    if row.kind is JudgmentKind.ACTION:
        return "verdict", row.kind, row.trajectory_id, row.step, row.alternative
    return "verdict", row.kind, row.pair_id if row.kind is JudgmentKind.PAIR else row.trajectory_id


ORIGIN_RULES = (
    _hashed("trajectories", "content[] rollout model", _run),
    _hashed(
        "proposals",
        "content[] read hardened refused model",
        lambda row: ("proposal", row.task_id, row.model, row.read, row.hardened, row.refused, _json(row.content)),
    ),
    _hashed(
        "continuations",
        "content[]",
        lambda row: (
            *("branch", row.trajectory_id, row.step, row.side, row.alternative, row.sample),
            _json(row.content),
        ),
    ),
    _hashed(
        "preferences",
        "prompt[] chosen[] rejected[] kind family step",
        lambda row: (
            *("preference", row.kind, row.family, row.trajectory_id, row.step),
            [_json(side) for side in (row.prompt, row.chosen, row.rejected)],
        ),
    ),
    _hashed(
        "rl",
        "prompt[] tools",
        lambda row: (
            *("rl", row.task_id, row.prompt[0].content, row.tools),
            row.reward_model.ground_truth.model_dump(mode="json"),
        ),
    ),
    _hashed(
        "contexts",
        "prompt[] budget tokenizer documents[].start documents[].end",
        lambda row: (
            *("context", row.task_id, row.budget, row.tokenizer),
            [[item.document_id, item.start, item.end] for item in row.documents],
            row.prompt[-1].content,
        ),
    ),
    _hashed("duplicates", "level kind one other", lambda row: (row.level, row.kind, row.one, row.other)),
    _hashed("judgments", "", _judgment),
    _hashed("distractors", "kind", lambda row: ("distractor", row.task_id, row.document_id, row.kind), text=False),
    origin,
    actor,
    prompt_file,
)
