"""The checks of a task that need no model, all fail-closed: whatever is not a pass keeps the task out.

A check that lacks its collaborator abstains, and an abstention rejects. None of them trusts what the proposer says:
evidence is re-read from the document, answers are asked for again from the graph, and pages are searched for.
(Checks after ASearcher 2508.07976, GraphWalker 2603.28533 and SearchGym 2601.14615; SSP 2510.18821 passes on
exceptions, and substring matches let "Ann" stand in "annual": both are defects that these do not repeat.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from synth.schemas.documents import ValueKind
from synth.schemas.rejections import Reason
from synth.schemas.tasks import CheckResult, Hop, Node
from synth.tasks.contract import CheckConfig, Checked, Failed, Finding, Surroundings, abstained, failed, passed
from synth.tasks.draft import Draft
from synth.tasks.graph_checks import check_no_shortcut, check_unique_answer
from synth.tasks.query import expected
from synth.tasks.ranges import stated_forms
from synth.tasks.text import distinctive_words, gives_away, mentions, value_forms
from synth.text.words import content_words, tokens

__all__ = [
    "CHECKS",
    "check_answer_not_in_question",
    "check_evidence",
    "check_retrievable",
    "check_split",
    "hop_queries",
    "run_checks",
]

_VALUE_KINDS: dict[str, ValueKind] = {
    "date": "date",
    "year": "year",
    "number": "number",
    "quantity": "quantity",
    "text": "text",
}


def _forms(node: Node) -> tuple[str, ...]:
    """Every way a text may write a node."""
    if node.kind in _VALUE_KINDS:
        return value_forms(node.id, _VALUE_KINDS[node.kind], node.name)
    return (node.name, *node.aliases)


# (a) the question gives nothing away ------------------------------------------------------------------------------


def check_answer_not_in_question(draft: Draft, around: Surroundings, config: CheckConfig) -> Finding:
    """Neither the answer nor a bridge nor a member of a set, nor an alias of one, nor the part of the answer that would
    give it away, stands in the question. Words are compared, not substrings: "annual" does not hold "Ann", "Tarn
    Vale's" does hold "Vale". A choice between things that the question names is exempt, and its result says so.
    """
    check, reason = "answer_not_in_question", Reason.ANSWER_IN_QUESTION
    walk = draft.walk
    named = {hop.source.id for hop in walk.hops if not hop.needs}
    # To choose between things that the question names, it must name them; what tells them apart is still sought.
    choice = draft.shape == "comparison" and set(expected(walk)) <= named
    forms: list[str] = []
    if not choice:
        forms += [draft.answer, *draft.answer_aliases]
        if draft.answer_kind != "entity":
            forms += value_forms(draft.answer, draft.answer_kind)
    for part in draft.answer_parts:
        forms += [part.answer, *part.aliases]
    for node in (hop.target for hop in walk.hops):
        forms += _forms(node)
        if node.kind == "date" and (found := mentions(draft.question, [node.id[:4]])):
            return failed(check, reason, f"the question holds the year {found} of a date that is sought")
    if found := mentions(draft.question, forms):
        return failed(check, reason, f"the question holds {found!r}")
    if choice:
        return passed(check, "a choice between things that the question names: the answer is one of them")
    sought = set(expected(walk)) if walk.hops else set()
    answers = {node.id: node for hop in walk.hops for node in (hop.source, hop.target) if node.id in sought}
    told = [(draft.answer, *draft.answer_aliases)] if not draft.answer_parts else []
    told += [(part.answer, *part.aliases) for part in draft.answer_parts]
    if draft.answer_kind == "entity":
        kinds = {node.kind for node in answers.values()}
        person = bool(kinds & set(config.person_kinds))
        generic = around.generic.union(*(tokens(kind) for kind in kinds))  # "lake" does not give "Lake Brun" away
        for name in dict.fromkeys(name for names in told for name in names):
            if word := gives_away(draft.question, distinctive_words(name, generic, person=person)):
                return failed(check, reason, f"the question holds {word!r}, which gives {name!r} away")
    return passed(check)


# (b) the evidence states every hop --------------------------------------------------------------------------------


def check_evidence(draft: Draft, around: Surroundings, config: CheckConfig) -> Finding:
    """Each hop's quote stands in its document where the span says, and names both ends of the hop.

    A page's sentence may call the page's own subject "he", "the bridge" or by a short name; then the page's title
    must name that end. At most one end may be left to the title.
    """
    check, reason = "evidence", Reason.EVIDENCE_DOES_NOT_STATE
    if around.pages is None:
        return abstained(check, reason, "no pages to read")
    for number, hop in enumerate(draft.walk.hops):
        evidence = hop.evidence
        document = around.pages.document(evidence.document_id)
        if document is None:
            return failed(check, reason, f"hop {number}: there is no document {evidence.document_id!r}")
        if not 0 <= evidence.start < evidence.end <= len(document.text):
            return failed(check, reason, f"hop {number}: span {evidence.start}:{evidence.end} is not in the document")
        if document.text[evidence.start : evidence.end] != evidence.quote:
            return failed(check, reason, f"hop {number}: the quote is not what the document says there")
        left_to_title = 0
        for node in (hop.source, hop.target):
            if node.kind == "range":
                if around.facts is None:
                    return abstained(check, reason, "no graph to ask for the value in a range")
                forms = stated_forms(hop, around.facts)  # the page states the value, the question the range it lies in
            else:
                forms = _forms(node)
            if mentions(evidence.quote, forms):
                continue
            if node.document_id == document.id and mentions(document.title, forms):
                left_to_title += 1
                continue
            return failed(check, reason, f"hop {number}: the quote does not name {node.name!r}")
        if left_to_title > 1:
            return failed(check, reason, f"hop {number}: the quote names neither end")
    if not draft.walk.hops:
        return abstained(check, reason, "the walk has no hops")
    return passed(check, f"{len(draft.walk.hops)} spans")


# (e) search finds every hop ---------------------------------------------------------------------------------------


def hop_queries(hop: Hop) -> tuple[str, ...]:
    """What a solver who knows the hop's source, and no other name, would search for.

    The page about the source is found by the source's name. Where another page states the hop, the words that the
    question uses for it are added.
    """
    name = hop.source.name
    if hop.source.document_id == hop.evidence.document_id:
        return (name,)
    known = set(content_words(name))
    words = [word for word in content_words(hop.cue) if word not in known]
    return (" ".join([name, *words]), name)


def check_retrievable(
    draft: Draft, around: Surroundings, config: CheckConfig, results: dict[str, Sequence[str]] | None = None
) -> Finding:
    """Each hop's evidence is among the ``k`` best results of a query made only of what is known at that hop.

    The constraints of a conjunction are all named in the question: with ``join_names``, a constraint's page may have
    been found by an earlier constraint already (proposers put the narrowest first), and then it need only be read.

    ``results``: results by query, when the caller searched for many drafts at once (all of :func:`_all_queries`, or the
    first ones where they are enough).
    """
    check, reason = "retrievable", Reason.NOT_RETRIEVABLE
    hops = draft.walk.hops
    if not hops:
        return abstained(check, reason, "the walk has no hops")
    if results is None:
        if around.search is None:
            return abstained(check, reason, "no search to ask")
        queries = _all_queries(draft, config)
        results = dict(zip(queries, around.search.ranked(queries, config.k), strict=True))
    ranks = []
    for number, hop in enumerate(hops):
        rank = next((r for q in _ways(hops, number, config) if (r := _rank(hop, results[q], config))), None)
        if rank is None:
            return failed(check, reason, f"hop {number}: {hop_queries(hop)[0]!r} does not find its page")
        ranks.append(rank)
    return passed(check, f"ranks {ranks}")


def _ways(hops: Sequence[Hop], number: int, config: CheckConfig) -> list[str]:
    """Queries that may find the evidence of a hop, in the order in which they are tried: the first that does counts."""
    hop = hops[number]
    together = [hop]
    if config.join_names and not hop.needs:
        together += [other for other in hops[:number] if other.target.id == hop.target.id]
    queries = [query for hop in together for query in hop_queries(hop)]
    if hop.source.kind == "range" and len(together) > 1:
        queries.append(hop.target.name)  # a range is not a name to search by: it tests what another hop has found
    return queries


def _rank(hop: Hop, found: Sequence[str], config: CheckConfig) -> int | None:
    best = list(found[: config.k])
    return best.index(hop.evidence.document_id) + 1 if hop.evidence.document_id in best else None


def _tested(hops: Sequence[Hop]) -> list[str]:
    """Names of what is found by one hop and tested by a range."""
    return [hop.target.name for hop in hops if hop.source.kind == "range"]


def _first_queries(draft: Draft, config: CheckConfig) -> list[str]:
    """What nearly every draft needs: the first query of each hop, and the question where that must not be enough."""
    queries = [hop_queries(hop)[0] for hop in draft.walk.hops]
    return list(dict.fromkeys(queries + ([draft.question] if _is_searched_whole(draft, config) else [])))


def _all_queries(draft: Draft, config: CheckConfig) -> list[str]:
    return list(
        dict.fromkeys(
            [
                *_first_queries(draft, config),
                *(q for hop in draft.walk.hops for q in hop_queries(hop)),
                *_tested(draft.walk.hops),
            ]
        )
    )


def _is_searched_whole(draft: Draft, config: CheckConfig) -> bool:
    if config.shortcut_rank == 0 or len(draft.walk.hops) < 2:
        return False
    return draft.shape in ("composition", "superlative", "temporal")


def _check_not_found_at_once(draft: Draft, config: CheckConfig, results: dict[str, Sequence[str]]) -> Finding:
    """The search half of "no shortcut": the whole question, searched as it stands, must not lead a solver past the
    bridges of a chain to the answer's page, and the member of a set that comes first must not be the one that is asked
    for."""
    check, reason = "no_direct_hit", Reason.SHORTCUT
    if not _is_searched_whole(draft, config):
        return passed(check, "does not apply")
    hops, found = draft.walk.hops, results[draft.question]
    if draft.shape == "composition":
        last = hops[-1]
        pages = {last.evidence.document_id, last.target.document_id} - {None, hops[0].evidence.document_id}
        for rank, name in enumerate(found[: config.shortcut_rank], start=1):
            if name in pages:
                return failed(check, reason, f"the question itself finds {name!r} at rank {rank}")
        return passed(check)
    answers = set(expected(draft.walk))
    over = draft.walk.operations[-1].over
    members = {hops[i].source.document_id: hops[i].source.id for i in over if hops[i].source.document_id}
    ranked = [members[name] for name in found if name in members]
    if ranked and ranked[0] in answers:
        return failed(check, reason, f"of all members the question itself finds {ranked[0]!r} first")
    return passed(check, f"{len(ranked)} of {len(members)} members found at once")


# (f) one split owns the gold --------------------------------------------------------------------------------------


def check_split(draft: Draft, around: Surroundings, config: CheckConfig) -> Finding:
    """The answer, every bridge and every page of evidence belong to the task's split; declared hubs are exempt."""
    check, reason = "split", Reason.SPLIT_CONFLICT
    if around.facts is None:
        return abstained(check, reason, "no graph to ask")
    expected = {hop.target.id for hop in draft.walk.hops if hop.target.document_id is not None}
    if not expected <= set(draft.gold_entities):
        return failed(check, reason, "an entity that must be found is not among the gold entities")
    if not {hop.evidence.document_id for hop in draft.walk.hops} <= set(draft.gold_documents):
        return failed(check, reason, "a page of evidence is not among the gold documents")
    exempt = 0
    for entity in draft.gold_entities:
        if around.facts.hub(entity):
            exempt += 1
            continue
        owner = around.facts.partition(entity)
        if owner is None:
            return abstained(check, reason, f"nobody owns {entity!r}")
        if owner != draft.split:
            return failed(check, reason, f"{entity!r} belongs to {owner}, the task to {draft.split}")
    if around.pages is not None:
        hubs = {
            node.document_id
            for hop in draft.walk.hops
            for node in (hop.source, hop.target)
            if around.facts.hub(node.id)
        }
        for name in draft.gold_documents:
            document = around.pages.document(name)
            if document is None:
                return failed(check, reason, f"there is no document {name!r}")
            if document.partition != draft.split and name not in hubs:
                return failed(
                    check, reason, f"page {name!r} belongs to {document.partition}, the task to {draft.split}"
                )
    return passed(check, f"{exempt} hubs exempt" if exempt else "")


Check = Callable[[Draft, Surroundings, CheckConfig], Finding]

CHECKS: dict[str, Check] = {
    "answer_not_in_question": check_answer_not_in_question,
    "split": check_split,
    "evidence": check_evidence,
    "unique_answer": check_unique_answer,
    "no_shortcut": check_no_shortcut,
    "retrievable": check_retrievable,
}
"""All checks, cheap ones first. ``retrievable`` stands for both searches (each hop, and the question as a whole)."""


def run_checks(
    drafts: Sequence[Draft],
    around: Surroundings,
    config: CheckConfig,
    names: Sequence[str] = tuple(CHECKS),
) -> list[Checked | Failed]:
    """Every draft through the named checks, in the table's order. Drafts that get as far as the searches are searched
    for together, in two rounds: first what is usually enough, then more for those that still lack a page. What a draft
    gets does not depend on the others.

    Raises:
        KeyError: an unknown name.
    """
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        raise KeyError(f"no check named {unknown[0]!r}; there are {', '.join(CHECKS)}")
    done: list[Checked | Failed] = []
    for draft in drafts:
        results: list[CheckResult] = []
        verdict: Checked | Failed | None = None
        for name, check in CHECKS.items():
            if name not in names or name == "retrievable":
                continue
            finding = check(draft, around, config)
            results.append(finding.result)
            if finding.reason is not None:
                verdict = Failed(draft, tuple(results), finding.reason)
                break
        done.append(verdict or Checked(draft, tuple(results)))
    if "retrievable" not in names:
        return done
    alive = [item.draft for item in done if isinstance(item, Checked)]
    found: dict[str, Sequence[str]] = {}

    def look_up(wanted: list[str]) -> None:
        queries = [query for query in dict.fromkeys(wanted) if query not in found]
        if around.search is not None and queries:
            found.update(zip(queries, around.search.ranked(queries, config.k), strict=True))

    if around.search is not None:
        look_up([query for draft in alive for query in _first_queries(draft, config)])
        lacking = [
            draft for draft in alive if not all(_rank(h, found[hop_queries(h)[0]], config) for h in draft.walk.hops)
        ]
        look_up([query for draft in lacking for query in _all_queries(draft, config)])
    return [_with_search(item, around, config, found) if isinstance(item, Checked) else item for item in done]


def _with_search(
    item: Checked, around: Surroundings, config: CheckConfig, found: dict[str, Sequence[str]]
) -> Checked | Failed:
    checks = item.checks
    findings: list[Callable[[], Finding]] = [
        lambda: check_retrievable(item.draft, around, config, None if around.search is None else found),
        lambda: _check_not_found_at_once(item.draft, config, found),
    ]
    for run in findings:
        finding = run()
        checks = (*checks, finding.result)
        if finding.reason is not None:
            return Failed(item.draft, checks, finding.reason)
    return Checked(item.draft, checks)
