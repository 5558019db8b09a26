"""The rules of all tables, beside the checks that tie tables to each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from synth.annotate.contexts.rows import preview_of
from synth.dataset.rules.rules import Known, Rule, TaskFacts
from synth.identity import digest
from synth.schemas.contexts import ContextRow
from synth.schemas.difficulty import DifficultyRow
from synth.schemas.distractors import Distractor, PlantedMisinformation
from synth.schemas.documents import Document
from synth.schemas.duplicates import DuplicateRow
from synth.schemas.facts import EntityRow, FactRow
from synth.schemas.judgments import JudgmentKind, JudgmentRow
from synth.schemas.model_turns import ModelTurns
from synth.schemas.rl import RlRow, Verifier
from synth.schemas.row import Row
from synth.schemas.steps import ContinuationRow, PairKind, PreferenceRow, StepRow
from synth.schemas.summaries import Shown
from synth.schemas.tasks import Task
from synth.schemas.trajectories import RECORDED, TrajectoryRow
from synth.tasks.difficulty import fold_of

__all__ = ["RULES", "rules_of"]

_ORIGIN = ("dataset", "stage", "stage_version", "fingerprint", "seed", "source", "source_sha256")
_ACTOR = ("backend", "model", "prompt", "sampling")


def _origin(row: Any, known: Known) -> Iterator[str]:
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


def _actor(row: Any, known: Known) -> Iterator[str]:
    made, kinds = row.provenance, tuple(str(getattr(row, name, "")) for name in ("kind", "check"))
    if isinstance(row, Task):
        kinds = (made.prompt or "",)  # one is written anew, described, or keeps the grammar's words
        if made.prompt is not None and made.backend is None:
            yield "provenance.prompt: there is one, and no backend got it"
    if isinstance(row, PreferenceRow) and row.kind is PairKind.PERTURBATION and made.backend is not None:
        return  # a perturber proposed it
    for name in _ACTOR:
        if not known.same((name, row.table, made.fingerprint, kinds), getattr(made, name)):
            yield f"provenance.{name}: another row of the same stage run has another"
    turns = isinstance(row, TrajectoryRow) and ModelTurns.stand_in(row.details)
    if made.model is None and made.model_revision is not None and not turns:
        yield "provenance.model_revision: there is one, and no model was called"


def _tasks(row: Task, known: Known) -> Iterator[str]:
    known.tasks[row.id] = TaskFacts(
        row.candidate_index, row.shape, row.obfuscation, row.licence, row.environment, row.answer
    )
    if not known.same(("candidate", row.provenance.dataset, row.candidate_index), row.id):
        yield f"candidate_index: another task is candidate {row.candidate_index} too"
    if row.shape != row.walk.shape:
        yield f"shape: {row.shape}, but the walk is a {row.walk.shape}"
    hops = row.walk.hops
    about = row.difficulty
    if hops and about.hops != len(hops):
        yield f"difficulty.hops: {about.hops}, but the walk has {len(hops)}"
    if hops and about.documents != len(set(row.gold_documents)):
        yield f"difficulty.documents: {about.documents}, but {len(set(row.gold_documents))} are gold"
    names = tuple(check.check for check in row.checks)
    if len(set(names)) < len(names):
        yield "checks: one of them is recorded twice"


def _of_task(*names: str) -> Any:
    def find(row: Any, known: Known) -> Iterator[str]:
        task = known.tasks.get(row.task_id)
        for name in names if task is not None else ():
            held = row.extra_info.index if name == "candidate_index" else getattr(row, name)
            wanted = getattr(task, name)
            if held != wanted:
                yield f"{'extra_info.index' if name == 'candidate_index' else name}: {held}; its task says {wanted}"

    return find


def _trained(row: RlRow | ContextRow, known: Known) -> Iterator[str]:
    if row.data_source != row.provenance.dataset:
        yield f"data_source: {row.data_source}, but the row is of {row.provenance.dataset}"
    if row.verifier.function.startswith("synth.") and row.verifier != Verifier():
        yield "verifier: is not the reward function that ships"
    for name in ("ability", "agent_name"):
        if getattr(row, name) != type(row).model_fields[name].default:
            yield f"{name}: {getattr(row, name)}"


def _rl(row: RlRow, known: Known) -> Iterator[str]:
    if [message.role for message in row.prompt] != ["system", "user"]:
        yield "prompt: is not a system prompt and a question"
        return
    truth = row.reward_model.ground_truth.model_dump(mode="json")
    yield from _hashed(row, digest("rl", row.task_id, row.prompt[0].content, row.tools, truth))
    if not known.same(("version", row.provenance.dataset, row.environment), row.environment_version):
        yield f"environment_version: {row.environment_version}, but runs are of another"


def _hashed(row: Any, wanted: str) -> Iterator[str]:
    kind, _, own = row.id.rpartition("-")
    if len(own) == 16 and own != wanted[:16]:
        yield f"id: is not the hash of what the row is: {kind}-{wanted[:16]}"


def _run(row: TrajectoryRow, known: Known) -> Iterator[str]:
    if row.environment == RECORDED:  # an import: ids, tools and models are those of its files, run by run
        return
    body = [item.model_dump(mode="json") for item in row.content]
    if row.provenance.backend not in (None, RECORDED):  # ours: an import keeps the ids of its file
        yield from _hashed(row, digest("trajectory", row.task_id, row.role, row.model, row.rollout, body))
    about = known.origins.get(row.provenance.dataset)
    of = next((role for role in about.roles if role.role == row.role), None) if about else None
    if of is not None:
        for name, held in (("privileged", row.privileged), ("backend", row.provenance.backend)):
            if held != getattr(of, name):
                yield f"{name}: {held}, but the report says of the {row.role}: {getattr(of, name)}"
        if (row.model is None) != (of.model is None):
            yield f"model: {row.model}, but the report says of the {row.role}: {of.model}"
    dataset = row.provenance.dataset
    if not known.same(("version", dataset, row.environment), row.environment_version):
        yield f"environment_version: {row.environment_version}, but other rows are of another"
    if not known.same(("tools", dataset, row.role, row.environment), row.tool_schemas):
        yield f"tool_schemas: are not those of the other runs of the {row.role}"
    own = row.retry_of is not None or Shown.stand_in(row.details)
    if not own and not known.same(("system", dataset, row.role, row.environment), row.system_prompt):
        yield f"system_prompt: is not that of the other runs of the {row.role}"


def _branch(row: ContinuationRow, known: Known) -> Iterator[str]:
    body = [item.model_dump(mode="json") for item in row.content]
    yield from _hashed(row, digest("branch", row.trajectory_id, row.step, row.side, row.alternative, row.sample, body))


def _pair(row: PreferenceRow, known: Known) -> Iterator[str]:
    sides = [[item.model_dump(mode="json") for item in side] for side in (row.prompt, row.chosen, row.rejected)]
    yield from _hashed(row, digest("preference", row.kind, row.family, row.trajectory_id, row.step, sides))


def _duplicate(row: DuplicateRow, known: Known) -> Iterator[str]:
    yield from _hashed(row, digest(row.level, row.kind, row.one, row.other))


def _verdict(row: JudgmentRow, known: Known) -> Iterator[str]:
    about: tuple[Any, ...] = {
        JudgmentKind.ACTION: (row.trajectory_id, row.step, row.alternative),
        JudgmentKind.PAIR: (row.pair_id,),
    }.get(row.kind, (row.trajectory_id,))
    yield from _hashed(row, digest("verdict", row.kind, *about))
    if row.provenance.model is None and row.calls:
        yield "calls: there are some, and no model was called"


def _difficulty(row: DifficultyRow, known: Known) -> Iterator[str]:
    about: Mapping[str, Any] = known.recipe.get("difficulty") or {}
    if "folds" in about and row.fold != fold_of(row.task_id, about["folds"]):
        yield f"fold: {row.fold}, but the task's is {fold_of(row.task_id, about['folds'])}"
    if not 0 <= row.closed_book_successes <= row.closed_book_rollouts <= about.get("closed_book", 100):
        yield f"closed_book_rollouts: {row.closed_book_successes} of {row.closed_book_rollouts} were right"


def _context(row: ContextRow, known: Known) -> Iterator[str]:
    task = known.tasks.get(row.task_id)
    body = [[item.document_id, item.start, item.end] for item in row.documents]
    content = row.prompt[-1].content
    yield from _hashed(row, digest("context", row.task_id, row.budget, row.tokenizer, body, content))
    question = row.reward_model.ground_truth.question
    if task is not None and row.preview != preview_of(question, task.answer, row.documents, row.tokens):
        yield "preview: is not that of the row"
    for place, item in enumerate(row.documents):
        if item.tier != _TIERS[item.kind]:
            yield f"documents[{place}].tier: {item.tier}, but the kind is {item.kind}"
        if not known.same(("title", item.document_id), item.title):
            yield f"documents[{place}].title: {item.title!r}, but another context gives {item.document_id} another"
        if item.names_answer and item.kind == "gold":
            yield f"documents[{place}].names_answer: it is gold"


_TIERS = {"gold": 0, "opened_not_cited": 1, "retrieved_not_opened": 2, "bm25": 3, "embedding": 3, "random": 4}


def _distractor(row: Distractor, known: Known) -> Iterator[str]:
    yield from _hashed(row, digest("distractor", row.task_id, row.document_id, row.kind))
    near = row.tier == 3
    if (row.role is None, row.step is None, row.runs == 0) != (near, near, near):
        yield f"role, step, runs: {row.role}, {row.step}, {row.runs} in tier {row.tier}"
    if (row.score is None) == (row.tier == 3):
        yield f"score: {row.score} in tier {row.tier}"
    if row.rank is not None and row.rank < 1:
        yield f"rank: {row.rank} is no place"
    if not known.same(("method", row.provenance.fingerprint, row.kind), row.method):
        yield f"method: {row.method}, but others of kind {row.kind} have another"


_LEVELS = {
    "lookalike": ("perception", "other_thing"),
    "stale": ("perception", "dated"),
    "partial": ("perception", "illegible"),
    "contradiction": ("cognition", "hearsay"),
    "wrong_chain": ("cognition", "retraction"),
    "inference": ("cognition", "supposition"),
}


def _falsehood(row: PlantedMisinformation, known: Known) -> Iterator[str]:
    if (row.level, row.cue) != _LEVELS[row.kind]:
        yield f"level, cue: {row.level}, {row.cue}, but the kind is {row.kind}"
    if not known.same(("value kind", row.relation), row.value_kind):
        yield f"value_kind: {row.value_kind}, but other values of {row.relation} are of another"
    known.settings[("falsehood", row.document_id)] = row.partition


def _page(row: Document, known: Known) -> Iterator[str]:
    for place, part in enumerate(row.sections):
        above = row.text[: part.start].rstrip("\n").rpartition("\n")[2]
        if known.world and above != f"{'#' * part.level} {part.heading}":
            yield f"sections[{place}]: no heading {part.heading!r} of level {part.level} stands above it"
        edges = row.text[part.start - 1 : part.start], row.text[part.end : part.end + 1]
        if known.world and (edges[0] != "\n" or edges[1] not in ("", "\n")):
            yield f"sections[{place}]: does not begin and end with a line"
    for place, link in enumerate(row.links):
        if known.world and not _whole(row.text, link.start, link.end):
            yield f"links[{place}]: begins or ends within a word"
    about = next(iter(known.origins.values()), None)
    if about is not None and row.source != about.source:
        yield f"source: {row.source}, but the report says {about.source}"
    if not known.same(("title", row.id), row.title):
        yield f"title: {row.title!r}, but contexts call it {known.settings['title', row.id]!r}"
    if known.world:
        known.titles[row.id] = row.title, row.kind, row.aliases, row.partition
        if not row.text.startswith(f"# {row.title}\n"):
            yield "title: does not stand above the text"
        if (row.path, row.url, row.date) != (None, None, None) or any(link.fragment for link in row.links):
            yield "path, url, date: a generated page has none"


def _whole(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() or after.isalnum()) and text[start:end] == text[start:end].strip()


def _entity(row: EntityRow, known: Known) -> Iterator[str]:
    known.names[row.id] = (row.name, *row.aliases)
    held = known.titles.get(row.document_id or "")
    if held is not None and held != (row.name, row.kind, row.aliases, row.partition):
        yield f"name, kind, aliases, partition: are not those of the page {row.document_id}"
    if not known.same(("home", row.document_id), row.id):
        yield f"document_id: another entity has the page {row.document_id} too"


def _fact(row: FactRow, known: Known) -> Iterator[str]:
    if not known.same(("relation", row.relation), (row.inverse, row.value_kind)):
        yield f"inverse, value_kind: {row.inverse}, {row.value_kind}, but other facts of {row.relation} have others"


RULES: tuple[Rule, ...] = (
    Rule(
        "task facts",
        "tasks",
        ("candidate_index", "shape", "difficulty.hops", "difficulty.documents"),
        "A candidate gives one task, and its difficulty counts its own walk.",
        _tasks,
        text=False,
    ),
    Rule(
        "run",
        "trajectories",
        (
            "id",
            "content[]",
            "rollout",
            "model",
            "privileged",
            "environment_version",
            "system_prompt",
            "tool_schemas",
        ),
        "The id is the hash of task, role, model, number and content; who acted is as the report says of the role, and "
        "all runs of a role have the same prompt and tools.",
        _run,
    ),
    Rule(
        "run of the task",
        "trajectories",
        ("licence", "environment"),
        "Licence and environment are those of the task.",
        _of_task("licence", "environment"),
        text=False,
    ),
    Rule("branch", "continuations", ("id", "content[]"), "The id is the hash of place and content.", _branch),
    Rule(
        "pair",
        "preferences",
        ("id", "prompt[]", "chosen[]", "rejected[]"),
        "The id is the hash of place and sides.",
        _pair,
    ),
    Rule("duplicate", "duplicates", ("id", "kind", "one", "other"), "The id is the hash of what is alike.", _duplicate),
    Rule(
        "verdict", "judgments", ("id", "calls"), "The id is the hash of what is judged; rules call no model.", _verdict
    ),
    Rule(
        "difficulty of the task",
        "difficulty",
        ("shape", "obfuscation"),
        "Shape and obfuscation are those of the task.",
        _of_task("shape", "obfuscation"),
        text=False,
    ),
    Rule(
        "fold",
        "difficulty",
        ("fold", "closed_book_rollouts"),
        "The fold follows from the id, and no task was asked more often than the recipe says.",
        _difficulty,
        text=False,
    ),
    *(
        Rule(
            "trained on",
            name,
            ("data_source", "verifier", "ability", "agent_name"),
            "The dataset's name, the reward function that ships, and the agent of the table.",
            _trained,
            text=False,
        )
        for name in ("rl", "contexts")
    ),
    Rule(
        "rl of the task",
        "rl",
        ("extra_info.index", "shape", "obfuscation", "licence", "environment"),
        "What is repeated of the task is the task's.",
        _of_task("candidate_index", "shape", "obfuscation", "licence", "environment"),
        text=False,
    ),
    Rule(
        "rl prompt",
        "rl",
        ("id", "prompt[]", "tools", "environment_version"),
        "The id is the hash of task, system prompt, tools and ground truth; the environment is that of the runs.",
        _rl,
    ),
    Rule(
        "context of the task",
        "contexts",
        ("extra_info.index", "shape", "obfuscation"),
        "What is repeated of the task is the task's.",
        _of_task("candidate_index", "shape", "obfuscation"),
        text=False,
    ),
    Rule(
        "context",
        "contexts",
        ("id", "preview", "prompt[]", "budget", "tokenizer", "documents[].title", "documents[].tier"),
        "The id is the hash of budget, tokenizer and message; preview and titles are those of row and documents.",
        _context,
    ),
    Rule(
        "distractor",
        "distractors",
        ("id", "method"),
        "The id is the hash of task, page and kind; tiers have what they can have.",
        _distractor,
        text=False,
    ),
    Rule(
        "falsehood",
        "planted_misinformation",
        ("level", "kind", "cue"),
        "A kind of falsehood has one level and one hint.",
        _falsehood,
        text=False,
    ),
    Rule(
        "page",
        "documents",
        ("source", "title", "sections[]", "links[]", "path", "url", "date"),
        "The source is that of the report; in a generated world headings and titles stand where the page says so, and "
        "links are whole words.",
        _page,
    ),
    Rule(
        "entity",
        "entities",
        ("name", "kind", "aliases", "partition"),
        "Name, kind, other names and split are those of the page about it.",
        _entity,
        world=True,
    ),
    Rule(
        "relation",
        "facts",
        ("inverse",),
        "A relation has one inverse and one kind of value.",
        _fact,
        world=True,
    ),
)


def _made(row_type: type[Row], table: str) -> tuple[Rule, ...]:
    if "provenance" not in row_type.model_fields:
        return ()
    return (
        Rule(
            "origin",
            table,
            tuple(f"provenance.{name}" for name in _ORIGIN),
            "Dataset, stage, seed and source are those of the report, alike in all rows of a stage run.",
            _origin,
            text=False,
        ),
        Rule(
            "actor",
            table,
            tuple(f"provenance.{name}" for name in (*_ACTOR, "model_revision")),
            "All rows of a stage run were made by the same backend, model, prompt and sampling.",
            _actor,
            text=False,
        ),
    )


def rules_of(table: str, row_type: type[Row]) -> tuple[Rule, ...]:
    """The rules of one table; those on its provenance follow from its row type."""
    return (*(rule for rule in RULES if rule.table == table), *_made(row_type, table))
