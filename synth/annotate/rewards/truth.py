"""What responses to a task are judged by: the answer with all its forms, and the rubric."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ValidationError

from synth.annotate.rewards.criteria import criteria_of
from synth.errors import InputError
from synth.schemas.plans import AnyGoal, Wanted
from synth.schemas.rl import GroundTruth, RubricFact, RubricItem
from synth.schemas.tasks import Node, Task
from synth.tasks.text import mentions, value_forms

__all__ = ["ground_truth", "read_truth"]


def ground_truth(task: Task) -> GroundTruth:
    """What responses to ``task`` are judged by.

    The rubric has one item for everything that the walk finds (LongTraceRL, arXiv 2605.31584: the gold entities) with
    the single hops that find it (CaRR, arXiv 2601.06021). What the question itself names is not a finding,
    nor is a result that was computed and that no document states.
    """
    found: dict[str, RubricItem] = {}
    asked = [number for number, hop in enumerate(task.walk.hops) if _is_finding(task, hop.target)]
    for number in asked:
        hop = task.walk.hops[number]
        node, names = hop.target, _names(hop.target)
        fact = RubricFact(
            hop=number,
            statement=hop.evidence.quote,
            document_id=hop.evidence.document_id,
            needs=_rubric_needs(task, number, frozenset(asked)),
        )
        known = found.get(node.id)
        if known is None:
            found[node.id] = RubricItem(entity=node.id, kind=node.kind, names=names, facts=(fact,))
        else:
            both = tuple(dict.fromkeys((*known.names, *names)))
            found[node.id] = known.model_copy(update={"names": both, "facts": (*known.facts, fact)})
    parts, rubric = task.answer_parts, tuple(found.values())
    return GroundTruth(
        question=task.question,
        answer=task.answer,
        answer_aliases=task.answer_aliases,
        answer_kind=task.answer_kind,
        answer_parts=parts,
        answer_ordered=task.answer_ordered,
        judged_by=_judged_by(task),
        rubric=rubric,
        checklist=criteria_of(task, rubric),
    )


def _is_finding(task: Task, node: Node) -> bool:
    """Whether a response that shows its way names it: neither a range nor something that the question names."""
    if node.document_id is not None or node.id in task.gold_entities:
        return node.id in task.gold_entities and node.kind != "range"
    return node.kind != "range" and mentions(task.question, _names(node)) is None


def _rubric_needs(task: Task, number: int, asked: frozenset[int]) -> tuple[int, ...]:
    """What a hop needs, past hops that are not asked for."""
    found: set[int] = set()
    for need in task.walk.hops[number].needs:
        found |= {need} if need in asked else set(_rubric_needs(task, need, asked))
    return tuple(sorted(found))


def _judged_by(task: Task) -> Literal["answer", "state"]:
    """By its state where the goal of an application, a server or a site asks for no answer. A task that states no goal
    only asks."""
    goal = Wanted.of(task.details).goal
    return "state" if goal is not None and AnyGoal.of(goal).answer != "required" else "answer"


def _names(node: Node) -> tuple[str, ...]:
    """The name first. A value may be written in several ways; an entity's id is not a name."""
    forms: tuple[str, ...] = ()
    if node.kind == "date":
        forms = value_forms(node.id, "date", node.name)
    elif node.kind in ("year", "number", "quantity", "text"):
        forms = (node.id,)
    return tuple(dict.fromkeys((node.name, *node.aliases, *forms)))


def read_truth(value: Any, where: str = "ground_truth") -> GroundTruth:
    """The ground truth as a trainer hands it over: the object, a mapping (its lists may be arrays), or its JSON.

    Raises:
        InputError: it is none of these, or a field is missing or wrong; the line says which.
    """
    if isinstance(value, GroundTruth):
        return value
    if isinstance(value, str | bytes):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            mend = "hand over the column reward_model.ground_truth of the rows"
            raise InputError("is not the JSON of a ground truth", where=where, mend=mend) from None
    if not isinstance(value, Mapping):
        what = f"is a {type(value).__name__}, not an object"
        raise InputError(what, where=where, mend="hand over the column reward_model.ground_truth of the rows")
    if "ground_truth" in value and "answer" not in value:
        return read_truth(value["ground_truth"], f"{where}.ground_truth")
    try:
        return GroundTruth.model_validate(_decoded(_plain(value)))
    except json.JSONDecodeError:
        raise InputError("its details are not JSON", where=f"{where}.checklist") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join([where, *(str(part) for part in first["loc"])])
        raise InputError(first["msg"], where=place) from None


def _decoded(value: dict[str, Any]) -> dict[str, Any]:
    """Tables hold the details of a checklist's items as JSON."""
    items = value.get("checklist")
    if isinstance(items, list):
        read = [
            {**item, "details": json.loads(item["details"])}
            if isinstance(item, dict) and isinstance(item.get("details"), str)
            else item
            for item in items
        ]
        return {**value, "checklist": read}
    return value


def _plain(value: Any) -> Any:
    """Lists where a data loader made arrays of them."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
