"""Rules of documents and the graph, of what leads astray from them, and of what was rejected."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from synth.dataset.references import escaped, reference, whole_in
from synth.dataset.rules.rules import Known, Place, rule
from synth.dataset.rules.tasks import Quotes
from synth.dataset.rules.training import TIERS
from synth.schemas.distractors import Distractor, PlantedMisinformation
from synth.schemas.documents import Document, Evidence
from synth.schemas.facts import EntityRow, FactRow
from synth.schemas.rejections import Rejection

__all__ = ["PAGE_RULES", "Pages"]


@dataclass
class Pages:
    """What documents say, for the rules of later tables."""

    lengths: dict[str, int] = field(default_factory=dict)
    """Code points of every document's text, by id."""
    about: dict[str, tuple[str, str, tuple[str, ...], str]] = field(default_factory=dict)
    """Document -> title, kind, aliases, partition, of a world."""


@rule("documents", "anchors[] sections[].start sections[].level sections[].heading links[].start")
def spans(row: Document, known: Known) -> Iterator[str]:
    """Sections, links and anchors lie in the text, and what is quoted of a document stands there."""
    stands_for = whole_in(row.text, row.id)
    length = len(row.text) if stands_for is None else stands_for.end
    known.of(Pages).lengths[row.id] = length
    for name in ("sections", "links", "anchors"):
        for number, span in enumerate(getattr(row, name)):
            if not 0 <= span.start <= span.end <= length:
                yield f"{name}[{number}]: span {span.start} to {span.end} is not in the text (0 to {length})"
    for where, path, evidence in known.of(Quotes).open.pop(row.id, ()):
        stated = _stated(row, evidence, known)
        if stated != evidence.quote:
            known.found.add(*where, f"{path}: {row.id} says {stated[:80]!r} there, not {evidence.quote[:80]!r}")


def _stated(page: Document, at: Evidence, known: Known) -> str:
    """What evidence that names this place must quote: the words, or a reference where they are redacted."""
    if known.redacted and whole_in(page.text, page.id) is not None:
        return reference(page.id, at.start, at.end)
    text = page.text[at.start : at.end]
    return escaped(text) if known.redacted else text


@rule("documents", "source title path url date kind aliases partition links[].fragment", text=True)
def page(row: Document, known: Known) -> Iterator[str]:
    """The source is that of the report; in a generated world headings and titles stand where the page says so, and
    links are whole words."""
    for place, part in enumerate(row.sections if known.world else ()):
        above = row.text[: part.start].rstrip("\n").rpartition("\n")[2]
        if above != f"{'#' * part.level} {part.heading}":
            yield f"sections[{place}]: no heading {part.heading!r} of level {part.level} above it"
        edges = row.text[part.start - 1 : part.start], row.text[part.end : part.end + 1]
        if edges[0] != "\n" or edges[1] not in ("", "\n"):
            yield f"sections[{place}]: does not begin and end with a line"
    for place, link in enumerate(row.links if known.world else ()):
        if not _whole(row.text, link.start, link.end):
            yield f"links[{place}]: begins or ends within a word"
    about = next(iter(known.origins.values()), None)
    if about is not None and row.source != about.source:
        yield f"source: {row.source}, but the report says {about.source}"
    if not known.same(("title", row.id), row.title):
        yield f"title: {row.title!r}, but contexts call it {known.first(('title', row.id))!r}"
    if known.world:
        known.of(Pages).about[row.id] = row.title, row.kind, row.aliases, row.partition
        if not row.text.startswith(f"# {row.title}\n"):
            yield "title: is not above the text"
        if (row.path, row.url, row.date) != (None, None, None) or any(link.fragment for link in row.links):
            yield "path, url, date: a generated page has none"


def _whole(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() or after.isalnum()) and text[start:end] == text[start:end].strip()


# -- the graph --------------------------------------------------------------------------------------------------------


@rule("entities", "name kind aliases partition", world=True, text=True)
def entity(row: EntityRow, known: Known) -> Iterator[str]:
    """Name, kind, other names and split are those of the page about it."""
    held = known.of(Pages).about.get(row.document_id or "")
    if held is not None and held != (row.name, row.kind, row.aliases, row.partition):
        yield f"name, kind, aliases, partition: are not those of the page {row.document_id}"
    if not known.same(("home", row.document_id), row.id):
        yield f"document_id: another entity has the page {row.document_id} too"


@rule("facts", "value_kind")
def fact(row: FactRow, known: Known) -> Iterator[str]:
    """A fact ends at an entity or at a value, and its span lies in the document."""
    if (row.object is None) == (row.value is None):
        yield "object: a fact has either an object or a value, not both"
    elif (row.object is not None) != (row.value_kind == "entity"):
        yield f"value_kind: {row.value_kind}, but the object is {'an entity' if row.object else 'a value'}"
    length = known.of(Pages).lengths.get(row.document_id)
    if length is not None and not 0 <= row.start < row.end <= length:
        yield f"start: span {row.start} to {row.end} is not in the text (0 to {length})"


@rule("facts", "inverse", world=True, text=True)
def relation(row: FactRow, known: Known) -> Iterator[str]:
    """A relation has one inverse and one kind of value."""
    if not known.same(("relation", row.relation), (row.inverse, row.value_kind)):
        yield f"inverse, value_kind: {row.inverse}, {row.value_kind}, but other facts of {row.relation} differ"


# -- what leads astray ------------------------------------------------------------------------------------------------

_LEVELS = {
    "lookalike": ("perception", "other_thing"),
    "stale": ("perception", "dated"),
    "partial": ("perception", "illegible"),
    "contradiction": ("cognition", "hearsay"),
    "wrong_chain": ("cognition", "retraction"),
    "inference": ("cognition", "supposition"),
}


@dataclass
class _Misinformation:
    written: dict[str, str] = field(default_factory=dict)
    """Page -> what was written there to mislead."""
    claims: dict[tuple[str, str], list[tuple[Place, PlantedMisinformation]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    proved: set[str] = field(default_factory=set)


@rule(
    "planted_misinformation",
    "level kind cue relation true_object statement.start statement.end statement.quote cue_words.start cue_words.end "
    "value_kind cue_words.quote truth.start truth.end truth.quote",
)
def misinformation(row: PlantedMisinformation, known: Known) -> Iterator[str]:
    """A kind has one level and one hint; what misleads stands on its own page, and what is true on another, where
    a fact states it."""
    state = known.of(_Misinformation)
    state.written[row.document_id] = row.id
    state.claims[row.subject, row.relation].append((known.place, row))
    for name in ("statement", "cue_words", "truth"):
        evidence: Evidence = getattr(row, name)
        known.of(Quotes).open[evidence.document_id].append((known.place, name, evidence))
    for name in ("statement", "cue_words"):
        if getattr(row, name).document_id != row.document_id:
            yield f"{name}: it is not on the page {row.document_id}"
    if row.truth.document_id == row.document_id:
        yield "truth: the page that misleads can't state it"
    if row.stated_object == row.true_object:
        yield f"stated_object: {row.stated_object} is what is true"
    if (row.stated_object is None) != (row.kind == "partial"):
        yield f"stated_object: {row.stated_object}, and the kind is {row.kind}"
    if (row.level, row.cue) != _LEVELS[row.kind]:
        yield f"level, cue: {row.level}, {row.cue}, but the kind is {row.kind}"


def _unproved(known: Known) -> Iterator[tuple[Place, str]]:
    state = known.of(_Misinformation)
    for claims in state.claims.values():
        for place, claim in claims:
            if claim.id not in state.proved:
                said = f"{claim.subject} {claim.relation} {claim.true_object} ({claim.value_kind})"
                words = f"no fact at that span says {said}"
                yield place, f"truth: {words}"


@rule("facts", close=_unproved)
def contradicts_misinformation(row: FactRow, known: Known) -> Iterator[str]:
    """What misinformation states is not a fact, and what it hides is one, at the span that it names."""
    state = known.of(_Misinformation)
    ends = [(row.subject, row.relation, row.object or row.value)]
    if row.inverse is not None and row.object is not None:
        ends.append((row.object, row.inverse, row.subject))
    for number, (subject, relation, target) in enumerate(ends):
        for place, claim in state.claims.get((subject, relation), ()):
            if target == claim.stated_object:
                words = f"{target} is a fact: {row.document_id} states it at {row.start}"
                known.found.add(*place, f"stated_object: {words}")
            span = (claim.truth.document_id, claim.truth.start, claim.truth.end)
            is_it = target == claim.true_object and row.value_kind == claim.value_kind
            if not number and is_it and (row.document_id, row.start, row.end) == span:
                state.proved.add(claim.id)
    yield from ()


@rule("distractors", "tier kind method checks[].check checks[].outcome")
def distractor(row: Distractor, known: Known) -> Iterator[str]:
    """It is not gold, and the checks passed; tiers have what they can have; a page that misleads names what it says."""
    task, near, written = known.tasks.get(row.task_id), row.tier == 3, known.of(_Misinformation).written
    if task is not None and row.document_id in task.gold_documents:
        yield f"document_id: {row.document_id} is a gold document of {row.task_id}"
    if TIERS[row.kind] != row.tier:
        yield f"tier: {row.tier}, and the kind is {row.kind}"
    if (row.trajectory_id is None, row.method is not None) != (near, near):
        yield f"tier: {row.tier} with trajectory_id {row.trajectory_id} and method {row.method}"
    if (row.role is None, row.step is None, row.runs == 0, row.score is not None) != (near,) * 4:
        yield f"role, step, runs, score: {row.role}, {row.step}, {row.runs}, {row.score} in tier {row.tier}"
    if row.rank is not None and row.rank < 1:
        yield f"rank: {row.rank} is not a rank"
    if not known.same(("method", row.provenance.fingerprint, row.kind), row.method):
        yield f"method: {row.method}, but others of kind {row.kind} have another"
    yield from (f"checks: {one.check} {one.outcome}" for one in row.checks if one.outcome != "passed")
    if not {"not_gold", "does_not_answer"} <= {one.check for one in row.checks}:
        yield "checks: not_gold and does_not_answer must both be there"
    if written.get(row.document_id) != row.misinformation_id:
        wanted = written.get(row.document_id)
        yield f"misinformation_id: {row.misinformation_id}; the page was written for {wanted}"


# -- what was rejected ------------------------------------------------------------------------------------------------


@dataclass
class _Rejected:
    rows: Counter[str] = field(default_factory=Counter)
    units: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def _rejected_counts(known: Known) -> Iterator[tuple[Place, str]]:
    state = known.of(_Rejected)
    stated: Counter[str] = Counter()
    for stage in known.report.stages if known.report is not None else ():
        stated[stage.stage] += sum(stage.rejected.values())
    for name in sorted({*stated, *state.rows}) if known.report is not None else ():
        # Two runs of one kind of stage (teacher, policy) may each reject the same unit.
        if not len(state.units[name]) <= stated[name] <= state.rows[name]:
            what = f"stage {name}: {stated[name]:,} rejected by the report, {state.rows[name]:,} listed"
            known.found.add("rejected", None, what)
    yield from ()


@rule("rejected", "stage", close=_rejected_counts)
def rejection(row: Rejection, known: Known) -> Iterator[str]:
    """The report counts rejected units by stage; each of them stands in the table, with one row at least."""
    known.of(_Rejected).rows[row.stage] += 1
    if row.part is None:  # a row may be kept without a sample
        known.of(_Rejected).units[row.stage].add(row.row_id)
    yield from ()


PAGE_RULES = (
    misinformation,
    spans,
    page,
    entity,
    fact,
    contradicts_misinformation,
    relation,
    distractor,
    rejection,
)
