"""The checks that ask the graph: is there one answer only, and is every part of the question needed for it?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from synth.schemas.rejections import Reason
from synth.schemas.tasks import Hop, Node, Operation, Walk
from synth.tasks.contract import CheckConfig, Facts, Finding, Pages, Surroundings, abstained, failed, passed
from synth.tasks.draft import Draft
from synth.tasks.pattern import Pattern, pattern_of, without_edge
from synth.tasks.query import expected
from synth.tasks.text import mentions
from synth.tasks.values import Measure, parse_measure, parse_range
from synth.text.numbers import NUMERALS
from synth.text.sentences import sentences
from synth.text.words import content_words, tokens

__all__ = ["check_no_shortcut", "check_unique_answer"]

_FEW = 2048
"""Nodes that a part of a question to which nothing leads begins at, at first."""
_CHOSEN = ("argmin", "argmax")


# (c) one answer only ----------------------------------------------------------------------------------------------


def check_unique_answer(draft: Draft, around: Surroundings, config: CheckConfig) -> Finding:
    """The question has exactly one result in the whole graph, and it is the answer.

    With operations, moreover: the walk lists every member of every set that there is and no other; what it says of each
    operation is what the graph gives; and values between which an operation decides are apart by more than
    ``config.margin``.
    """
    check, reason = "unique_answer", Reason.NOT_UNIQUE
    if around.facts is None:
        return abstained(check, reason, "no graph to ask")
    walk = draft.walk
    if not walk.hops:
        return abstained(check, reason, "the walk has no hops")
    pattern = pattern_of(walk)
    results = around.facts.results(walk)
    if results.undecided:
        return failed(check, reason, results.undecided)
    wanted = expected(walk)
    if results.found != (wanted,):
        others = [" and ".join(names) for names in results.found if names != wanted][:3]
        if len(results.found) <= 1:
            return failed(check, reason, f"the graph does not give the answer; it gives {others}")
        return failed(check, reason, f"{len(results.found)} answers, among them {', '.join(others)}")
    if problem := _disagreement(draft):
        return failed(check, reason, problem)
    if not walk.operations:
        return passed(check)
    if len(results.readings) != 1:
        return failed(check, reason, f"what the question describes can be read in {len(results.readings)} ways")
    reading = results.readings[0]
    for variable, members in reading.members:
        listed = {hop.target.id for hop, at in zip(walk.hops, pattern.hop_variables, strict=True) if at == variable}
        if listed != set(members):
            missing = sorted(set(members) ^ listed)[:3]
            return failed(check, reason, f"the walk lists {len(listed)} of {len(members)} members: {missing}")
    for number, (operation, ids) in enumerate(zip(walk.operations, reading.steps, strict=True)):
        if tuple(sorted(node.id for node in operation.result)) != ids:
            return failed(check, reason, f"operation {number} ({operation.kind}) gives {list(ids)[:3]}")
        if operation.kind not in ("list", "count"):
            told = sorted((walk.hops[i].source.id, walk.hops[i].target.id) for i in operation.over)
            if tuple(told) != reading.measured[number]:
                return failed(
                    check, reason, f"operation {number} ({operation.kind}) is over other values than there are"
                )
        if problem := _too_close(operation, walk, config.margin):
            return failed(check, reason, f"operation {number} ({operation.kind}): {problem}")
    sizes = ", ".join(str(len(members)) for _, members in reading.members)
    return passed(check, f"all members listed: {sizes}" if sizes else "")


def _disagreement(draft: Draft) -> str:
    """What is wrong between the draft's answer and its walk."""
    walk = draft.walk
    names = {node.id: node.name for hop in walk.hops for node in (hop.source, hop.target)}
    names |= {node.id: node.name for operation in walk.operations for node in operation.result}
    told = [names[name] for name in expected(walk)]
    if draft.answer_parts:
        parts = [part.answer for part in draft.answer_parts]
        same = parts == told if draft.answer_ordered else sorted(parts) == sorted(told)
        return "" if same else f"the parts of the answer are {parts}, the walk gives {told}"
    return "" if told == [draft.answer] else f"the answer is {draft.answer!r}, the walk gives {told}"


def _measures(operation: Operation, walk: Walk) -> list[tuple[str, Measure]]:
    """(candidate, value) of the candidates between which the operation decides."""
    within = None if operation.within is None else {node.id for node in walk.operations[operation.within].result}
    found = []
    for i in operation.over:
        hop = walk.hops[i]
        value = parse_measure(hop.target.kind, hop.target.id)
        if value is not None and (within is None or hop.source.id in within):
            found.append((hop.source.id, value))
    return found


def _too_close(operation: Operation, walk: Walk, margin: float) -> str:
    if operation.kind in _CHOSEN:
        measured = _measures(operation, walk)
        best = {node.id for node in operation.result}
        chosen = [value for name, value in measured if name in best]
        for name, value in measured:
            if name not in best and not all(value.apart(other, margin) for other in chosen):
                return f"{name!r} is too close to the one chosen"
    if operation.kind == "filter" and operation.bound is not None and operation.bound.kind == "range":
        over = {i for op in walk.operations for i in op.over}
        found = {hop.target.id: hop.target for i, hop in enumerate(walk.hops) if i not in over}
        for end in parse_range(operation.bound.id):
            # What another hop found is a bound that the reader compares with: "before it" and "until it" must agree.
            bound = parse_measure(found[end].kind, end) if end in found else None
            if bound is not None and any(not v.apart(bound, margin) for _, v in _measures(operation, walk)):
                return f"a candidate is too close to the bound {end!r}"
    return ""


# (d) no part of the question is enough ----------------------------------------------------------------------------


def check_no_shortcut(draft: Draft, around: Surroundings, config: CheckConfig) -> Finding:
    """Every part of the question is needed (graph half; :func:`synth.tasks.checks.run_checks` adds the search half).

    * A constraint that meets others: without it the question must have another result, or none for certain.
    * The only constraint on a set or candidate from which the least or greatest is chosen: the answer must not be the
      least or greatest of its whole kind, for then anybody who knows that needs no set.
    * An operation: without it there must be something left to decide.
    * No source that the question names may be joined to the answer by an edge of another relation.
    * Along a chain no node comes twice and, with ``strict_chain``, no edge of whatever relation joins two nodes that
      are not neighbours in it.
    * Comparison and computation: no page states two of the measures of different candidates, no edge joins two
      candidates (a founder is older than what he founded), and a computed value stands in no evidence.
    * Count: no page of evidence says the number in a sentence about such things.
    """
    check, reason = "no_shortcut", Reason.SHORTCUT
    if around.facts is None:
        return abstained(check, reason, "no graph to ask")
    if not draft.walk.hops:
        return abstained(check, reason, "the walk has no hops")
    if draft.shape == "count" and around.pages is None:
        return abstained(check, reason, "no pages to read")
    problem = next(_shortcuts(draft, around.facts, around.pages, config), "")
    return failed(check, reason, problem) if problem else passed(check)


def _shortcuts(draft: Draft, facts: Facts, pages: Pages | None, config: CheckConfig) -> Iterator[str]:
    walk = draft.walk
    pattern = pattern_of(walk)
    yield from _idle_constraints(walk, pattern, facts)
    yield from _joined_sources(walk, pattern, facts)
    if draft.shape == "composition":
        yield from _loops(walk.hops, facts, config)
    if walk.operations:
        yield from _idle_operations(walk)
        yield from () if config.entries else _known_extremes(walk, facts)
    if draft.shape in ("comparison", "computation"):
        yield from _near_candidates(walk, facts, config)
    if draft.shape in ("computation", "total"):
        quotes = " ".join(hop.evidence.quote for hop in walk.hops)
        if found := mentions(quotes, [draft.answer, *draft.answer_aliases]):
            yield f"the computed {found!r} stands in the evidence"
    if draft.shape == "count" and pages is not None:
        yield from _stated_count(draft, pages)


def _idle_constraints(walk: Walk, pattern: Pattern, facts: Facts) -> Iterator[str]:
    """Constraints without which the question has the same result. What describes the source of a set or a candidate is
    needed by nature: without it there would be many sets, and no one result."""
    wanted = expected(walk)
    for number, edge in enumerate(pattern.edges):
        met = sum(other.target == edge.target for other in pattern.edges) > 1
        if number in pattern.measures or (walk.operations and not met):
            continue
        rest = without_edge(pattern, number)
        if rest is None:
            continue
        left_out = f"hop {pattern.hop_edges.index(number)} ({edge.relation})"
        results = facts.results(walk, rest, _FEW)
        if not met and results.found in ((wanted,), ()) and not results.undecided:
            results = facts.results(walk, rest)  # nothing else among the first nodes: then among all
        if results.undecided.startswith("too many bindings"):
            yield f"without {left_out} there is too much to look at"
        elif not results.undecided and results.found in ((wanted,), ()):
            yield f"without {left_out} the answer is the same"


def _joined_sources(walk: Walk, pattern: Pattern, facts: Facts) -> Iterator[str]:
    wanted = set(expected(walk))
    nodes = {node.id: node for hop in walk.hops for node in (hop.source, hop.target) if node.document_id is not None}
    answers = [nodes[name] for name in sorted(wanted & set(nodes))]
    if not walk.operations:
        answers = [walk.hops[-1].target]
    ends = {at for hop, at in zip(walk.hops, pattern.hop_variables, strict=True) if hop.target.id in wanted}
    direct = {
        pattern.constants[-1 - edge.source].id for edge in pattern.edges if edge.source < 0 and edge.target in ends
    }
    for source in pattern.constants:
        if source.id in direct or source.kind == "range":
            continue
        for answer in answers:
            if source.id != answer.id and facts.connected(source, answer):
                yield f"{source.name!r} of the question is joined to the answer by one edge"


def _loops(hops: Sequence[Hop], facts: Facts, config: CheckConfig) -> Iterator[str]:
    order = [hops[0].source, *(hop.target for hop in hops if hop.source.kind != "range")]  # a range only tests
    if len({node.id for node in order}) != len(order):
        yield "the chain visits a node twice"
    if config.strict_chain:
        for i in range(len(order) - 2):
            for j in range(i + 2, len(order)):
                if facts.connected(order[i], order[j]):
                    yield f"nodes {i} and {j} of the chain are joined by one edge"


def _idle_operations(walk: Walk) -> Iterator[str]:
    for number, operation in enumerate(walk.operations):
        if operation.kind in _CHOSEN or operation.kind == "filter":
            left = {name for name, _ in _measures(operation, walk)}
            if len(left) < 2:
                yield f"operation {number} ({operation.kind}) has nothing to decide"
            elif operation.kind == "filter" and {node.id for node in operation.result} == left:
                yield f"operation {number} (filter) keeps everything"
        if operation.kind in _CHOSEN and operation.within is not None:
            # The bound must matter: over all candidates another one is chosen.
            free = operation.model_copy(update={"within": None})
            values = dict(_measures(free, walk))
            chosen = {node.id for node in operation.result}
            best = next(value for name, value in values.items() if name in chosen)
            least = operation.kind == "argmin"
            if not any((v.before(best) if least else best.before(v)) for n, v in values.items() if n not in chosen):
                yield f"operation {number} ({operation.kind}) chooses the same without the bound"


def _known_extremes(walk: Walk, facts: Facts) -> Iterator[str]:
    for operation in walk.operations:
        if operation.kind not in _CHOSEN or operation.within is not None:
            continue
        chosen = {node.id for node in operation.result}
        candidates = {walk.hops[i].source.id: walk.hops[i] for i in operation.over}
        for name, hop in candidates.items():
            first, last = facts.extremes(hop.source.kind, hop.relation)
            best, worst = (first, last) if operation.kind == "argmin" else (last, first)
            if name in chosen and name in best:
                yield f"{hop.source.name!r} is first of all of its kind"
            if name not in chosen and len(candidates) == 2 and name in worst:
                yield f"{hop.source.name!r} is last of all of its kind"


def _near_candidates(walk: Walk, facts: Facts, config: CheckConfig) -> Iterator[str]:
    over = [walk.hops[i] for operation in walk.operations for i in operation.over]
    pages: dict[str, Node] = {}
    for hop in over:
        other = pages.setdefault(hop.evidence.document_id, hop.source)
        if other.id != hop.source.id and not config.entries:
            yield f"one page states the measures of {other.name!r} and {hop.source.name!r}"
    candidates = {hop.source.id: hop.source for hop in over}
    for left, right in combinations(candidates.values(), 2):
        if facts.connected(left, right):
            yield f"{left.name!r} and {right.name!r} are joined by one edge"
    for hop in walk.hops:
        if hop.needs or hop.target.id not in candidates:
            continue
        for name, node in candidates.items():
            if name not in (hop.target.id, hop.source.id) and facts.connected(hop.source, node):
                yield f"{hop.source.name!r} describes one candidate and is joined to another"


def _stated_count(draft: Draft, pages: Pages) -> Iterator[str]:
    count = int(draft.answer)
    forms = {str(count), *(NUMERALS[count : count + 1])}
    kinds = {word for hop in draft.walk.hops for word in content_words(hop.target.kind)}
    stems = tuple(word.removesuffix("y") for word in kinds)
    sources = {hop.source.document_id for hop in draft.walk.hops}
    for name in sorted({*draft.gold_documents, *(source for source in sources if source)}):
        page = pages.document(name)
        for sentence in sentences(page.text) if page is not None else ():
            words = tokens(sentence)
            if forms & set(words) and any(word.startswith(stems) for word in words):
                yield f"page {name!r} says {count} in a sentence about such things"
