"""Rules of tasks, and of the tables that say more about tasks: difficulty, rewrites and reviews."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from synth.annotate.rewards.truth import ground_truth
from synth.dataset.card.calibration import targets_of
from synth.dataset.rules.rules import Known, Place, Rule, TaskFacts, rule
from synth.identity import digest
from synth.schemas.adp import ApiAction, TextObservation
from synth.schemas.difficulty import DifficultyRow
from synth.schemas.documents import Evidence
from synth.schemas.proposals import ProposalRow
from synth.schemas.rl import GroundTruth
from synth.schemas.tasks import Task
from synth.schemas.trajectories import RECORDED, TrajectoryRow
from synth.schemas.turns import turn_ranges
from synth.schemas.writing import QuestionRewriteRow, TaskReviewRow
from synth.tasks.difficulty import fold_of

__all__ = ["TASK_RULES", "Quotes", "hashed_truth", "of_task"]


@dataclass
class Quotes:
    """What rows quote of documents, until the documents are read."""

    open: dict[str, list[tuple[Place, str, Evidence]]] = field(default_factory=lambda: defaultdict(list))
    """Document -> where it is quoted, in which column, and the quote."""


@dataclass
class _Gold:
    splits: dict[str, tuple[str, Place]] = field(default_factory=dict)


def hashed_truth(truth: GroundTruth, known: Known) -> str:
    """What two equal ones share. Statements of a rubric stand as references or as words where text is redacted."""
    said = truth.model_dump(mode="json")
    for item in said["rubric"] if known.redacted else ():
        for fact in item["facts"]:
            fact["statement"] = ""
    return digest(said)


@rule(
    "tasks",
    "candidate_index shape walk.shape difficulty.hops question answer answer_aliases answer_kind answer_parts[] "
    "answer_ordered environment obfuscation licence walk.hops[].target.id walk.hops[].target.name "
    "walk.hops[].target.aliases walk.hops[].target.kind",
)
def task_facts(row: Task, known: Known) -> Iterator[str]:
    """A candidate gives one task, its difficulty counts its own walk, and rows made of it repeat what it says."""
    truth = ""
    if {"rl", "contexts"} & set(known.there):
        try:
            truth = hashed_truth(ground_truth(row), known)
        except ValueError as error:
            yield str(error)
    known.tasks[row.id] = TaskFacts(
        row.candidate_index,
        row.shape,
        row.obfuscation,
        row.licence,
        row.environment,
        row.answer,
        row.question,
        row.split,
        len(row.walk.hops),
        row.gold_documents,
        truth,
    )
    if not known.same(("candidate", row.provenance.dataset, row.candidate_index), row.id):
        yield f"candidate_index: another task is candidate {row.candidate_index} too"
    if row.shape != row.walk.shape:
        yield f"shape: {row.shape}, but the walk is a {row.walk.shape}"
    hops, about = row.walk.hops, row.difficulty
    if hops and about.hops != len(hops):
        yield f"difficulty.hops: {about.hops}, but the walk has {len(hops)}"
    if hops and about.documents != len(set(row.gold_documents)):
        yield f"difficulty.documents: {about.documents}, but {len(set(row.gold_documents))} are gold"


@rule("tasks", "checks[].check checks[].outcome")
def task_checks(row: Task, known: Known) -> Iterator[str]:
    """Every check was recorded once, and passed."""
    if not row.checks and row.walk.hops:
        yield "checks: none recorded"
    for check in row.checks:
        if check.outcome != "passed":
            yield f"checks: {check.check} {check.outcome}"
    names = tuple(check.check for check in row.checks)
    if len(set(names)) < len(names):
        yield "checks: one is recorded twice"


@rule(
    "tasks",
    "walk.hops[].cue walk.hops[].needs walk.hops[].evidence.start walk.hops[].evidence.end walk.hops[].evidence.quote",
)
def walk(row: Task, known: Known) -> Iterator[str]:
    """No entity is gold in two splits, cues stand in the question, and evidence in its document."""
    gold, exempt = known.of(_Gold).splits, known.exempt
    for name in row.gold_entities:
        split, where = (row.split, known.place) if name in exempt else gold.setdefault(name, (row.split, known.place))
        if split != row.split:
            yield f"gold_entities: {name} is gold in {split} too ({where[0]}, row {where[1]})"
    for number, hop in enumerate(row.walk.hops):
        evidence = (known.place, f"walk.hops[{number}].evidence", hop.evidence)
        known.of(Quotes).open[hop.evidence.document_id].append(evidence)
        if hop.cue not in row.question and not known.unread(row.question):
            yield f"walk.hops[{number}].cue: not in the question"
        if any(not 0 <= need < number for need in hop.needs):
            yield f"walk.hops[{number}].needs: names a hop that does not precede it"


def of_task(tables: str, *names: str) -> Rule:
    """A rule that columns repeat what the task says."""
    paths = {name: "extra_info.index" if name == "candidate_index" else name for name in names}

    @rule(tables, " ".join(paths.values()))
    def of_its_task(row: Any, known: Known) -> Iterator[str]:
        """What is repeated of the task is the task's; a task that runs were recorded on knows no environment."""
        of = known.tasks.get(row.task_id)
        for name, path in paths.items() if of is not None else ():
            held = row.extra_info.index if name == "candidate_index" else getattr(row, name)
            if held != (wanted := getattr(of, name)) and not (name == "environment" and wanted == RECORDED):
                yield f"{path}: {held}; its task says {wanted}"

    return of_its_task


# -- difficulty -------------------------------------------------------------------------------------------------------


@dataclass
class _Difficulty:
    tried: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)
    orders: set[int] = field(default_factory=set)
    place: Place | None = None


@rule("trajectories")
def policy_runs(row: TrajectoryRow, known: Known) -> Iterator[str]:
    """The policy's judged runs are counted, and those that succeeded."""
    if row.role == "policy" and row.verdict.correct is not None and row.retry_of is None:
        known.of(_Difficulty).tried[row.task_id] += 1
        known.of(_Difficulty).right[row.task_id] += row.success
    yield from ()


def _curriculum(known: Known) -> Iterator[tuple[Place, str]]:
    state = known.of(_Difficulty)
    if state.place is None:
        return
    if missing := len(known.tasks.keys() - state.seen):
        yield state.place, f"task_id: {missing} tasks have no row"
    if state.orders != set(range(len(state.seen))):
        yield state.place, "order: not every place from 0 on is taken once"


@rule(
    "difficulty",
    "predicted bin successes rollouts closed_book_successes closed_book_rollouts search_needed order fold",
    close=_curriculum,
)
def measured_difficulty(row: DifficultyRow, known: Known) -> Iterator[str]:
    """What was measured is counted again from the runs; the fold follows from the id; every place of the curriculum's
    order is taken once."""
    state, about = known.of(_Difficulty), known.recipe.get("difficulty") or {}
    state.place = state.place or known.place
    state.seen.add(row.task_id)
    state.orders.add(row.order)
    right, tried = state.right[row.task_id], state.tried[row.task_id]
    if (row.successes, row.rollouts) != (right, tried):
        yield f"successes: {row.successes} of {row.rollouts}; the trajectories say {right} of {tried}"
    if not 0 <= row.predicted <= 1:
        yield f"predicted: {row.predicted} is not between 0 and 1"
    elif row.bin != min(9, int(row.predicted * 10)):
        yield f"bin: {row.bin}, and {row.predicted} is predicted"
    asked = row.closed_book_rollouts > 0
    if row.search_needed != (row.closed_book_successes < row.closed_book_rollouts if asked else None):
        yield "search_needed: does not follow from the answers without tools"
    if "folds" in about and row.fold != fold_of(row.task_id, about["folds"]):
        yield f"fold: {row.fold}, but the task's is {fold_of(row.task_id, about['folds'])}"
    if not 0 <= row.closed_book_successes <= row.closed_book_rollouts <= about.get("closed_book", 100):
        yield f"closed_book_rollouts: {row.closed_book_successes} of {row.closed_book_rollouts} were right"


@rule("difficulty", "target chosen")
def target(row: DifficultyRow, known: Known) -> Iterator[str]:
    """What was chosen for a target of the recipe lies in it."""
    if row.target is None:
        return
    targets = targets_of(known.report) if known.report else ()
    rate = row.successes / row.rollouts if row.rollouts else row.predicted
    if not row.chosen:
        yield "target: the task is not part of the curriculum"
    elif not 0 <= row.target < len(targets):
        yield f"target: the recipe has no target {row.target}"
    elif not targets[row.target].takes(rate):
        yield f"target: {row.target}, and the task's rate of success is {rate:g}"


# -- what models wrote and reviewed -----------------------------------------------------------------------------------


@dataclass
class _Attempts:
    last: dict[tuple[str, str], int] = field(default_factory=dict)
    accepted: set[tuple[str, str]] = field(default_factory=set)


@rule("question_rewrites", "attempt accepted parts[].after confirmed")
def rewrite(row: QuestionRewriteRow, known: Known) -> Iterator[str]:
    """An accepted wording is the task's question, says every part, and is the last attempt; a refused one says why."""
    state, key = known.of(_Attempts), (row.task_id, row.kind)
    if row.attempt != state.last.get(key, -1) + 1:
        yield f"attempt: {row.attempt} does not follow the previous attempt"
    if key in state.accepted:
        yield f"attempt: an earlier wording of {row.task_id} was accepted"
    state.last[key] = row.attempt
    if row.accepted:
        state.accepted.add(key)
    # What was described may have been reworded afterwards.
    task = known.tasks.get(row.task_id) if row.kind == "reworded" else None
    if row.accepted == (row.reason is not None):
        yield "accepted: an accepted rewrite has no reason, a rejected one has one"
    if not row.accepted:
        return
    if task is not None and task.question != row.question:
        yield "question: was accepted, but the task asks something else"
    if row.question is not None:
        for part in row.parts:
            if part.after not in row.question or (row.kind == "reworded" and part.before not in row.before):
                yield f"parts: {part.before!r} or {part.after!r} is not in its question"
        if row.confirmed_by is not None and row.confirmed != "same":
            yield "confirmed: it was accepted, but the second reader did not confirm it"


@rule("proposals", "instruction turns seed_document")
def exploration(row: ProposalRow, known: Known) -> Iterator[str]:
    """The exploration begins with its instruction, opened the pages that are listed as read, and read all gold pages;
    each question that was made harder is another one than the task asks."""
    first = row.content[0] if row.content else None
    if not isinstance(first, TextObservation) or first.content != row.instruction:
        yield "instruction: the exploration does not begin with it"
    if row.seed_document not in row.instruction:
        yield "seed_document: is not the page of the instruction"
    turns = len(turn_ranges(row.content))
    if row.turns != turns:
        yield f"turns: {row.turns}, but the content holds {turns}"
    opened = {
        str(item.kwargs.get("document", "")).partition("#")[0]
        for item in row.content
        if isinstance(item, ApiAction) and item.function == "open"
    }
    if strange := [name for name in row.read if name not in opened]:
        yield f"read: {strange[0]!r} was not opened"
    if len(set(row.read)) < len(row.read):
        yield "read: a page stands there twice"
    task = known.tasks.get(row.task_id)
    if task is None:
        return
    if unread := [name for name in task.gold_documents if name not in row.read]:
        yield f"read: {unread[0]!r} is gold, and was not read"
    if task.question in row.hardened:
        yield "hardened: the task asks a question that was made harder"
    if len(row.hardened) != task.obfuscation:
        yield f"hardened: {len(row.hardened)} questions; the task was made harder {task.obfuscation} times"
    if any(": " not in told for told in row.refused):
        yield "refused: a proposal has no reason"


@rule("task_reviews", "outcome samples replies answered claims[].verdict")
def review(row: TaskReviewRow, known: Known) -> Iterator[str]:
    """Numbers agree with each other, and the outcome with them."""
    if not 0 <= row.right <= row.answered <= row.replies <= row.samples:
        yield f"samples: {row.right} right, {row.answered} answered, {row.replies} replies, {row.samples} samples"
    if len(row.missing) != row.samples - row.replies:
        yield f"missing: {len(row.missing)} listed, but {row.samples - row.replies} samples had no reply"
    if (row.outcome == "abstained") != (row.replies == 0):
        yield f"outcome: {row.outcome} with {row.replies} replies"
    if row.check == "alternatives":
        if row.replies and (row.outcome == "failed") != any(claim.verdict == "open" for claim in row.claims):
            yield "outcome: does not follow from the claims"
    elif len(row.answers) != row.answered or row.claims:
        yield f"answers: {len(row.answers)}, and {row.answered} answered"


TASK_RULES = (
    task_facts,
    task_checks,
    walk,
    policy_runs,
    of_task("difficulty", "shape", "obfuscation"),
    measured_difficulty,
    target,
    rewrite,
    exploration,
    review,
    of_task("trajectories", "licence", "environment"),
)
