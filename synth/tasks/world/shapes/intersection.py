"""All members that satisfy two constraints: "Which films were directed by X and star Y?" The answer is the list.

Unique because the list is complete: every node of the graph that satisfies both, and neither constraint says as much
alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from synth.graph.ranges import expand
from synth.graph.walks import WalkStep
from synth.schemas.row import Split
from synth.tasks.draft import Draft
from synth.tasks.world.grammar import NAME, Phrase, mark
from synth.tasks.world.links import Link, choose
from synth.tasks.world.plurals import plural_does, set_phrases
from synth.tasks.world.registers import Core, put
from synth.tasks.world.shapes.sets import Weighted, remember
from synth.tasks.world.shapes.sketch import Sketch, pick
from synth.tasks.world.view import WorldView

__all__ = ["propose_intersection"]

Ints = NDArray[Any]
_WIDEST = 64
"""The first constraint leads to at most so many nodes; the second may lead to any number."""
_LONGEST = 4
"""Parts of an answer at most."""


def propose_intersection(view: WorldView, split: Split, rng: np.random.Generator) -> Draft | None:
    """See :data:`synth.tasks.world.shapes.ShapeMaker`."""
    found = _sets(view, split).draw(rng)
    if found is None:
        return None
    group = found[1]
    graph = view.graph
    source = int(np.searchsorted(graph.group_start, group, side="right")) - 1
    steps = {step.target: step for step in view.group_steps(group, source)}
    second = _second(view, split, rng, source, np.array(sorted(steps), dtype=np.int64), int(graph.group_port[group]))
    if second is None:
        return None
    # The narrower constraint comes first: it is where a solver starts.
    firsts = [steps[step.target] for step in second]
    pairs = [firsts, second] if firsts[0].fanout <= second[0].fanout else [second, firsts]
    sketch = Sketch(view)
    hops = [sketch.hop(step, slot) for slot, side in enumerate(pairs) for step in side]
    answers = [view.node(step.target) for step in second]
    sketch.operation("list", hops[-len(second) :], answers, 2)
    links = [view.link(slot, side[0], known=True) for slot, side in enumerate(pairs)]
    worded = pick(_families(links, rng), None, rng)
    if worded is None:
        return None
    return sketch.draft("intersection", split, worded[0], view.answers(answers), f"intersection+{worded[1]}")


def _sets(view: WorldView, split: Split) -> Weighted:
    """Groups of the graph with 3 to 64 members of one kind, by port, whose source the split may name."""

    def make() -> Weighted:
        graph = view.graph
        sizes = np.diff(graph.group_step)
        owners = np.repeat(np.arange(graph.n_nodes, dtype=np.int64), np.diff(graph.group_start))
        ports = np.repeat(np.array([n not in view.blocked for n in graph.relations]), 2)
        names = view.sources(split)
        chosen = np.flatnonzero((sizes >= 3) & (sizes <= _WIDEST) & ports[graph.group_port] & names[owners])
        # Only sets of which at least two members may be gold can come to anything.
        owner, position = expand(graph.group_step[chosen], sizes[chosen])
        members = graph.step_target[position].astype(np.int64)
        gold = members < graph.n_entities
        gold[gold] &= view.gold(split)[members[gold]]
        chosen = chosen[np.bincount(owner, weights=gold, minlength=len(chosen)) >= 2]
        found = np.asarray(graph.group_port[chosen])
        return Weighted({int(port): chosen[found == port] for port in np.unique(found)})

    made: Weighted = remember(view, ("intersection", split), make)
    return made


def _second(
    view: WorldView, split: Split, rng: np.random.Generator, source: int, members: Ints, port: int
) -> list[WalkStep] | None:
    """Steps of another constraint that two to four of the members share, and some do not; all of those gold."""
    graph = view.graph
    first = graph.group_start[members]
    of, groups = expand(first, graph.group_start[members + 1] - first)
    start = graph.group_step[groups]
    inner, steps = expand(start, graph.group_step[groups + 1] - start)
    ports = np.asarray(graph.group_port[groups])[inner].astype(np.int64)
    targets = graph.step_target[steps].astype(np.int64)
    member = members[of[inner]]
    keys, which, counts = np.unique(ports * graph.n_nodes + targets, return_inverse=True, return_counts=True)
    shared = np.flatnonzero((counts >= 2) & (counts <= min(_LONGEST, len(members) - 1)))
    gold = view.gold(split)
    names = view.sources(split)
    options: dict[str, list[int]] = {}
    for key in shared.tolist():
        back, target = divmod(int(keys[key]), graph.n_nodes)
        relation = graph.relations[back >> 1]
        if target == source or not names[target] or relation in view.blocked:
            continue
        if back >> 1 == port >> 1:
            continue
        mine = member[which == key]
        kinds = {view.kind(int(node)) for node in mine}
        if len(kinds) > 1 or not gold[mine].all() or target in mine:
            continue
        options.setdefault(relation, []).append(key)
    if not options:
        return None
    key = choose(rng, options[choose(rng, sorted(options))])
    back, target = divmod(int(keys[key]), graph.n_nodes)
    # Seen from the other constraint's source the same facts lead to the members.
    forward = bool(graph.symmetric[back >> 1]) or back & 1 == 1
    group = int(graph.groups(np.array([target]), np.array([graph.port(graph.relations[back >> 1], forward)]))[0])
    size = int(graph.group_step[group + 1]) - int(graph.group_step[group])
    if size <= int(counts[key]):
        return None  # the second constraint alone would do
    relation = graph.relations[back >> 1]
    chosen = np.flatnonzero(which == key)
    found = [
        WalkStep(target, int(member[at]), relation, forward, int(graph.step_fact[steps[at]]), size)
        for at in chosen.tolist()
    ]
    return sorted(found, key=lambda step: step.target)


def _families(links: list[Link], rng: np.random.Generator) -> dict[str, list[str]]:
    operation = len(links)
    noun = links[0].noun
    plural = choose(rng, noun.plurals)
    who = "who" if noun.person else "that"
    order = [links[int(i)] for i in rng.permutation(len(links))]
    knowns = [Phrase(link.known, NAME) for link in order]
    finite = [plural_does(link, known) for link, known in zip(order, knowns, strict=True)]
    if not all(finite):
        return {}
    told = [choose(rng, texts) for texts in finite]
    verbs = [mark(link.number, text) for link, text in zip(order, told, strict=True)]
    again = told[1].removeprefix("were ") if told[0].startswith("were ") else told[1]  # "were made by X and sold by Y"
    joined = f"{verbs[0]} and {mark(order[1].number, again)}"
    which = mark(operation, f"which {plural}")
    direct = [f"{which} {joined}"]
    inline = [f"{which} {joined}"]
    everything = [
        f"{mark(operation, words)} {who} {joined}" for words in (f"all the {plural}", f"all {plural}", f"the {plural}")
    ]
    sets = set_phrases(order[0], knowns[0], plural)
    if sets:
        members = choose(rng, sets)
        direct += [
            f"{mark(operation, 'which')} of the {members} {verbs[1]}",
            f"{mark(operation, 'which')} {members} {verbs[1]}",
        ]
        inline += [f"{mark(operation, 'which')} of the {members} {verbs[1]}"]
        if f" {who} " not in members:
            everything.append(f"{mark(operation, 'all')} {members} {who} {verbs[1]}")
    families = put(Core(noun, noun.heads[0], tuple(direct), tuple(inline)))
    families["list"] = [
        f"{opener} {text}."
        for text in everything[:2] + everything[3:]
        for opener in ("List", "Please list", "Name", "Give me the names of", "Find")
    ]
    families["looking for all"] = [
        f"{opener} {text}. {end}?"
        for text in everything
        for opener in ("I am looking for", "I'm trying to find", "I need the names of")
        for end in ("Which ones are they", "What are their names", "Can you list them")
    ]
    families["several"] = [
        f"{mark(operation, f'several {plural}')} {joined}. {end}?"
        for end in ("Which ones are they", "What are they called", "Can you name them all")
    ]
    return families
