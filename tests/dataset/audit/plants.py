"""Ways to break a task so that it still looks like one: each says the id of the row that must be found."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from planted import Plant, Planter, node_of, span, walk_with, with_walk, without_hops

from synth.schemas.arrow import to_arrow
from synth.schemas.distractors import Distractor
from synth.schemas.tasks import CheckResult, Task

__all__ = ["MUTATIONS", "needs_itself", "wrong_answer"]


def wrong_answer(planter: Planter) -> str:
    task = planter.chain()
    return planter.put(task, answer=task.walk.hops[0].source.name, answer_aliases=())


def wrong_answer_and_walk(planter: Planter) -> str:
    """The walk ends at another thing of the kind, answer and gold with it: only the facts know better."""
    task = planter.pick(lambda t: t.shape == "conjunction" and t.walk.hops[-1].target.document_id is not None)
    right = task.walk.hops[0].target
    wrong = node_of(next(planter.others(right.kind, right.id)))
    hops = tuple(hop.model_copy(update={"target": wrong}) for hop in task.walk.hops)
    return planter.put(
        task,
        walk=task.walk.model_copy(update={"hops": hops}),
        answer=wrong.name,
        answer_aliases=wrong.aliases,
        gold_entities=(wrong.id,),
    )


def second_answer(planter: Planter) -> str:
    """A fact is added that makes something else fit as well."""
    task = planter.chain()
    hop = task.walk.hops[-1]
    fact = planter.fact_of(hop)
    if hop.target.document_id is None:
        planter.add_fact(fact, value=f"{fact.value}9")
    elif hop.forward and fact.object == hop.target.id:
        planter.add_fact(fact, object=next(planter.others(hop.target.kind, hop.target.id)).id)
    else:
        planter.add_fact(fact, subject=next(planter.others(hop.target.kind, hop.target.id)).id)
    return task.id


def second_match(planter: Planter) -> str:
    """Another thing comes to satisfy every constraint of a conjunction."""
    task = planter.join()
    answer = task.walk.hops[0].target
    other = next(planter.others(answer.kind, answer.id)).id
    for hop in task.walk.hops:
        fact = planter.fact_of(hop)
        planter.add_fact(fact, **({"subject": other} if fact.subject == answer.id else {"object": other}))
    return task.id


def foreign_alias(planter: Planter) -> str:
    task = planter.pick(lambda t: t.walk.hops[-1].target.document_id is not None and not t.answer_parts)
    kind = task.walk.hops[-1].target.kind
    other = next(planter.others(kind, *task.gold_entities, *(hop.source.id for hop in task.walk.hops)))
    return planter.put(task, answer_aliases=(*task.answer_aliases, other.name))


def leaked_answer(planter: Planter) -> str:
    task = planter.chain()
    return planter.put(task, question=f"{task.question} Is it {task.answer.upper()}?")


def leaked_bridge(planter: Planter) -> str:
    task = planter.chain()
    return planter.put(task, question=f"{task.question} (Think of {task.walk.hops[0].target.name}.)")


def leaked_year(planter: Planter) -> str:
    """A date that is sought is written in another form."""
    task = planter.pick(lambda t: any(hop.target.kind == "date" for hop in t.walk.hops))
    date = next(hop.target for hop in task.walk.hops if hop.target.kind == "date")
    return planter.put(task, question=f"{task.question} It was in {date.id[:4]}.")


def cue_of_nothing(planter: Planter) -> str:
    return planter.hop(planter.chain(), 0, cue="the harbour that nobody mentions")


def asked_twice(planter: Planter) -> str:
    """The same question in other case and punctuation, over another walk."""
    one, two = sorted((planter.chain(), planter.join()), key=planter.tasks.index)
    return planter.put(two, question=one.question.upper().replace("?", " ?!"))


def nearly_asked_twice(planter: Planter, split: str = "train", cut: int = 0) -> str:
    """A question with a word or two more, of the same answer."""
    first = planter.pick(lambda t: t.split == "train" and len(t.question.split()) > 15)
    later = planter.pick(lambda t: t.split == split and t.id != first.id and t.candidate_index > first.candidate_index)
    same = {name: getattr(first, name) for name in ("answer", "answer_aliases", "answer_parts")}
    words = first.question.rstrip("?.").split()
    return planter.put(later, question=" ".join([*words[: len(words) - cut], *["indeed"] * (cut + 1)]), **same)


def cluster_of_two_splits(planter: Planter) -> str:
    """Alike, though not enough to be a duplicate: it must not be on the other side of a split."""
    return nearly_asked_twice(planter, "test", 2)


def walked_twice(planter: Planter) -> str:
    """The same constraints in another order and other words."""
    task = planter.join()
    twin = task.model_copy(
        update={
            "id": "task-0123456789abcdef",
            "question": f"Tell me: {task.question}",
            "walk": task.walk.model_copy(update={"hops": task.walk.hops[::-1]}),
        }
    )
    planter.change_rows("tasks", lambda rows: [*rows, twin] if rows[0].split == task.split else rows)
    return planter.put(twin)


def dropped_constraint(planter: Planter) -> str:
    task = planter.join()
    hops = task.walk.hops[1:]
    pages = tuple(dict.fromkeys(hop.evidence.document_id for hop in hops))
    return planter.put(
        task,
        walk=task.walk.model_copy(update={"hops": hops}),
        gold_documents=pages,
        difficulty=task.difficulty.model_copy(update={"hops": len(hops)}),
    )


def idle_constraint(planter: Planter) -> str:
    """A constraint too many: the others are enough."""
    task = planter.join()
    answer = task.walk.hops[0].target
    used = {hop.evidence.start for hop in task.walk.hops}
    about = (f for f in planter.facts if f.subject == answer.id and f.start not in used and f.value is not None)
    fact = next(fact for fact in about if len(str(fact.value)) > 2)
    more = task.walk.hops[0].model_copy(
        update={
            "source": task.walk.hops[0].source.model_copy(
                update={
                    "id": fact.value,
                    "name": fact.value,
                    "kind": fact.value_kind,
                    "document_id": None,
                    "aliases": (),
                }
            ),
            "relation": fact.relation,
            "forward": False,
            "needs": (),
            "evidence": span(planter, fact.document_id, fact.start, fact.end),
        }
    )
    return planter.put(task, walk=task.walk.model_copy(update={"hops": (*task.walk.hops, more)}))


def turned_round(planter: Planter) -> str:
    task = planter.pick(lambda t: t.shape == "composition" and t.walk.hops[-1].target.document_id is not None)
    return planter.hop(task, len(task.walk.hops) - 1, forward=not task.walk.hops[-1].forward)


def needs_itself(planter: Planter) -> str:
    return planter.hop(planter.chain(), 1, needs=(1,))


def failed_check(planter: Planter) -> str:
    return planter.put(planter.chain(), checks=(CheckResult(check="unique_answer", outcome="abstained"),))


def renamed(planter: Planter) -> str:
    task = planter.pick(lambda t: any(hop.source.document_id is not None and not hop.needs for hop in t.walk.hops))
    number = next(n for n, hop in enumerate(task.walk.hops) if hop.source.document_id is not None and not hop.needs)
    return planter.hop(task, number, source=task.walk.hops[number].source.model_copy(update={"name": "Nobody Ever"}))


def member_left_out(planter: Planter) -> str:
    """One member, with its measure, is missing from a superlative that does not hang on it."""
    task = planter.pick(lambda t: t.shape == "superlative" and len(t.walk.operations[0].over) > 2)
    result = task.walk.operations[0].result[0].id
    number = next(n for n in task.walk.operations[0].over if task.walk.hops[n].source.id != result)
    member = task.walk.hops[number].source.id
    gone = {n for n, hop in enumerate(task.walk.hops) if member in (hop.source.id, hop.target.id)}
    return planter.put(task, **with_walk(task, without_hops(task, gone)))


def counted_without_one(planter: Planter) -> str:
    """A member and one of the count are missing: walk and answer agree, the facts do not."""
    task = planter.pick(lambda t: t.shape == "count" and int(t.answer) > 1)
    walk = without_hops(task, {task.walk.operations[0].over[-1]})
    less = str(int(task.answer) - 1)
    node = task.walk.operations[0].result[0].model_copy(update={"id": less, "name": less})
    walk = walk.model_copy(update={"operations": (walk.operations[0].model_copy(update={"result": (node,)}),)})
    return planter.put(task, **with_walk(task, walk, answer=less, answer_aliases=()))


def another_member(planter: Planter) -> str:
    """The facts come to know one more member."""
    task = planter.pick(lambda t: t.shape == "count")
    fact = planter.fact_of(task.walk.hops[task.walk.operations[0].over[0]])
    hop = task.walk.hops[task.walk.operations[0].over[0]]
    members = {task.walk.hops[n].target.id for n in task.walk.operations[0].over}
    other = next(planter.others(hop.target.kind, *members)).id
    planter.add_fact(fact, **({"subject": other} if fact.subject == hop.target.id else {"object": other}))
    return task.id


def counted_wrong(planter: Planter) -> str:
    task = planter.pick(lambda t: t.shape == "count")
    more = str(int(task.answer) + 1)
    node = task.walk.operations[0].result[0].model_copy(update={"id": more, "name": more})
    return planter.operation(task, 0, result=(node,))


def computed_wrong(planter: Planter) -> str:
    """A difference or sum that is one off."""
    task, number = planter.with_operation("difference", "sum")
    node = task.walk.operations[number].result[0]
    amount, *unit = node.id.split(" ")
    off = " ".join([str(int(amount) + 1), *unit])
    name = " ".join([f"{int(amount) + 1:,}", *unit])
    return planter.operation(task, number, result=(node.model_copy(update={"id": off, "name": name}),))


def other_extreme(planter: Planter) -> str:
    """The first instead of the last."""
    task, number = planter.with_operation("argmax", "argmin")
    operation = task.walk.operations[number]
    wrong = {"argmax": "argmin", "argmin": "argmax"}[operation.kind]
    return planter.operation(task, number, kind=wrong)


def listed_what_follows(planter: Planter) -> str:
    """Measures are listed as if they were a set that the question speaks of."""
    return planter.operation(planter.pick(lambda t: t.shape == "superlative"), 0, kind="list")


def wrong_one_compared(planter: Planter) -> str:
    task = planter.pick(lambda t: t.shape == "comparison")
    right = task.walk.operations[-1].result[0].id
    other = next(hop.source for n in task.walk.operations[-1].over if (hop := task.walk.hops[n]).source.id != right)
    return planter.operation(task, len(task.walk.operations) - 1, result=(other,))


def measured_twice(planter: Planter) -> str:
    """A second value of what is compared."""
    task, number = planter.with_operation("argmax", "argmin")
    fact = planter.fact_of(task.walk.hops[task.walk.operations[number].over[0]])
    planter.add_fact(fact, value=f"{fact.value}1" if "-" not in str(fact.value) else "1999-01-01")
    return task.id


def bound_moved(planter: Planter) -> str:
    """The bound that the members are sifted by excludes what it kept."""
    task, number = planter.with_operation("filter")
    bound = task.walk.operations[number].bound
    assert bound is not None
    return planter.operation(task, number, bound=bound.model_copy(update={"id": "0002/0003"}))


def bound_idle(planter: Planter) -> str:
    """The bound lets everything pass, and the stated result follows it."""
    task = planter.pick(lambda t: t.shape == "temporal" and t.walk.operations[-1].kind == "filter")
    operation = task.walk.operations[-1]
    bound = operation.bound.model_copy(update={"id": "0001/9999"}) if operation.bound else None
    everything = tuple(task.walk.hops[n].source for n in operation.over)
    return planter.operation(task, len(task.walk.operations) - 1, bound=bound, result=everything)


def range_holds_two(planter: Planter) -> str:
    """A blurred value is so blurred that something else lies in it too."""
    task = planter.pick(
        lambda t: t.shape == "conjunction" and any(hop.source.kind == "range" and not hop.needs for hop in t.walk.hops)
    )
    number = next(n for n, hop in enumerate(task.walk.hops) if hop.source.kind == "range")
    wide = task.walk.hops[number].source.model_copy(update={"id": "0001-01-01/"})
    if not task.walk.hops[number].source.id[:5].count("-"):
        wide = wide.model_copy(update={"id": "0/"})
    return planter.hop(task, number, source=wide)


def part_missing(planter: Planter) -> str:
    task = planter.pick(lambda t: len(t.answer_parts) > 1)
    return planter.put(task, answer_parts=task.answer_parts[1:])


def parts_swapped(planter: Planter) -> str:
    task = planter.pick(lambda t: t.answer_ordered)
    return planter.put(task, answer_parts=task.answer_parts[::-1])


def moved_span(planter: Planter) -> str:
    evidence = planter.chain().walk.hops[1].evidence
    return planter.evidence(planter.chain(), 1, start=evidence.start + 3, end=evidence.end + 3)


def other_sentence(planter: Planter) -> str:
    """A true quote of the right page that says something else."""
    task = planter.chain()
    evidence = task.walk.hops[0].evidence
    page = evidence.document_id
    other = next(
        fact
        for fact in planter.facts
        if (fact.document_id == page and fact.end < evidence.start)
        or (fact.document_id == page and fact.start > evidence.end)
    )
    return planter.hop(task, 0, evidence=span(planter, page, other.start, other.end))


def other_page(planter: Planter) -> str:
    """A true quote of another page."""
    task = planter.chain()
    ends = {node.document_id for hop in task.walk.hops for node in (hop.source, hop.target)}
    other = next(fact for fact in planter.facts if fact.document_id not in ends)
    walk = walk_with(task, 0, evidence=span(planter, other.document_id, other.start, other.end))
    return planter.put(task, walk=walk, gold_documents=tuple(dict.fromkeys(h.evidence.document_id for h in walk.hops)))


def unstated(planter: Planter) -> str:
    """The fact behind a hop is no longer among the facts."""
    task = planter.chain()
    planter.remove_fact(planter.fact_of(task.walk.hops[0]))
    return task.id


def gold_incomplete(planter: Planter) -> str:
    task = planter.chain(3)
    return planter.put(task, gold_entities=task.gold_entities[1:])


def gold_page_missing(planter: Planter) -> str:
    task = planter.pick(lambda t: len(t.gold_documents) > 1)
    return planter.put(task, gold_documents=task.gold_documents[:1])


def split_swapped(planter: Planter) -> str:
    task = planter.pick(lambda t: t.split == "test")
    return planter.put(task, split="train")


def gold_of_two_splits(planter: Planter) -> str:
    """A train task is copied into the test split, reworded."""
    task = planter.join()
    twin = task.model_copy(update={"id": "task-0123456789abcdef", "question": f"Say: {task.question}", "split": "test"})
    planter.change_rows("tasks", lambda rows: [*rows, twin] if rows[0].split == "test" else rows)
    return planter.put(twin)


def distractor_that_answers(planter: Planter) -> str:
    """A page that states a hop is called a distractor, after it was taken out of the gold."""
    task = planter.chain()
    page = task.walk.hops[0].evidence.document_id
    rest = tuple(name for name in task.gold_documents if name != page)
    row = Distractor(
        id="distractor-0123456789abcdef",
        task_id=planter.put(task, gold_documents=rest),
        document_id=page,
        tier=2,
        kind="retrieved_not_opened",
        checks=(),
        split=task.split,
        provenance=task.provenance,
    )
    return planter.new_file("distractors", to_arrow([row], Distractor), row.id)


def context_with(planter: Planter, pages: list[str], task: Task) -> str:
    table = pa.table(
        {"id": ["context-1"], "task_id": [task.id], "documents": [[{"document_id": name} for name in pages]]}
    )
    return planter.new_file("contexts", table, "context-1")


def context_without_gold(planter: Planter) -> str:
    task = planter.pick(lambda t: len(t.gold_documents) > 1)
    return context_with(planter, list(task.gold_documents[1:]), task)


def context_with_gold_twice(planter: Planter) -> str:
    task = planter.chain()
    return context_with(planter, [*task.gold_documents, task.gold_documents[0]], task)


def context_with_the_fact(planter: Planter) -> str:
    """Another page of the context comes to state a hop."""
    task = planter.chain()
    other = next(page for page in planter.texts if page not in task.gold_documents)
    planter.add_fact(planter.fact_of(task.walk.hops[0]), document_id=other)
    return context_with(planter, [*task.gold_documents, other], task)


def other_source(planter: Planter) -> str:
    task = planter.chain()
    return planter.put(task, provenance=task.provenance.model_copy(update={"source_sha256": "0" * 64}))


def id_of_another(planter: Planter) -> str:
    task = planter.chain()
    new = task.model_copy(update={"question": f"{task.question} "})
    planter.change_rows("tasks", lambda rows: [new if row.id == task.id else row for row in rows])
    return task.id


def verdict_flipped(planter: Planter) -> str:
    flipped: list[str] = []

    def flip(rows: list[Any]) -> list[Any]:
        if flipped:
            return rows
        row = rows[0]
        flipped.append(row.id)
        verdict = row.verdict.model_copy(update={"correct": not row.verdict.correct})
        return [row.model_copy(update={"verdict": verdict, "success": verdict.correct}), *rows[1:]]

    planter.change_rows("trajectories", flip)
    return flipped[0]


MUTATIONS: dict[str, tuple[Plant, str]] = {
    plant.__name__: (plant, rule)
    for plant, rule in [
        (wrong_answer, "answer"),
        (wrong_answer_and_walk, "unique"),
        (second_answer, "unique"),
        (second_match, "unique"),
        (foreign_alias, "alias"),
        (leaked_answer, "leak"),
        (leaked_bridge, "leak"),
        (leaked_year, "leak"),
        (cue_of_nothing, "cue"),
        (asked_twice, "duplicate"),
        (walked_twice, "duplicate"),
        (nearly_asked_twice, "near_duplicate"),
        (cluster_of_two_splits, "cluster"),
        (dropped_constraint, "unique"),
        (idle_constraint, "shortcut"),
        (turned_round, "unique"),
        (needs_itself, "walk"),
        (failed_check, "walk"),
        (renamed, "name"),
        (member_left_out, "members"),
        (counted_without_one, "members"),
        (another_member, "members"),
        (counted_wrong, "operation"),
        (computed_wrong, "operation"),
        (other_extreme, "operation"),
        (listed_what_follows, "operation"),
        (wrong_one_compared, "operation"),
        (measured_twice, "operation"),
        (bound_moved, "operation"),
        (bound_idle, "shortcut"),
        (range_holds_two, "unique"),
        (part_missing, "answer"),
        (parts_swapped, "answer"),
        (moved_span, "evidence"),
        (other_sentence, "stated"),
        (other_page, "evidence"),
        (unstated, "stated"),
        (gold_incomplete, "gold"),
        (gold_page_missing, "gold"),
        (split_swapped, "split"),
        (gold_of_two_splits, "overlap"),
        (distractor_that_answers, "distractor"),
        (context_without_gold, "context"),
        (context_with_gold_twice, "context"),
        (context_with_the_fact, "context"),
        (other_source, "provenance"),
        (id_of_another, "provenance"),
        (verdict_flipped, "verdict"),
    ]
}
