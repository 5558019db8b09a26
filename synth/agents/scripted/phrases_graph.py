"""How a scripted agent puts its thoughts about a graph: entities, relations, facts. Notes are those of all agents."""

from __future__ import annotations

__all__ = ["GRAPH_PHRASES"]

GRAPH_PHRASES: dict[str, tuple[str, ...]] = {
    # Entities.
    "g_find": (
        "I look up {name}.",
        "Let me find {name} in the graph.",
        "First I need the entity that {name} stands for.",
        "Which entity is {name}? I look it up by name.",
        "I look for {name} by name.",
        "Let me see what goes by the name of {name}.",
    ),
    "g_find_more": (
        "None of these is {name} itself, so I ask for more results.",
        "I do not see {name} among them; a longer list may have it.",
        "{name} did not come up as I hoped, so I look further.",
        "Not there yet. I ask for more entities of that name: {name}.",
    ),
    "g_same_name": (
        "More than one thing is called {name}. I try the one that is {kind}.",
        "There are several by the name of {name}; I take {kind}.",
        "{name} is not the only one here, so I go with the one that is {kind}.",
        "Of those called {name} I pick {kind}.",
    ),
    "g_other": (
        "This is {title}, and the question says {name}.",
        "{title} is not the same as {name}, however alike the names are.",
        "I wanted {name} but this is {title}.",
        "The name here is {title}; the one that is meant is {name}.",
    ),
    # Relations.
    "g_relations": (
        "What is known of {name}? I list the relations.",
        "Let me see which relations {name} stands in.",
        "I look at the relations of {name}.",
        "Which relations does {name} have?",
        "Next I list what there is on {name}.",
        "I need to know what the graph has on {name}.",
    ),
    "g_relations_each": (
        "I list the relations of {names}.",
        "Which relations do {names} have?",
        "Let me see what there is on {names}.",
        "I look at what is known of {names}.",
    ),
    "g_relations_next": (
        "The right relation is not on this page, so I turn to page {page}.",
        "There are more relations; I go on to page {page}.",
        "Nothing fits so far. Page {page} of the relations may have it.",
        "None of these is what I need, but the list goes on: page {page}.",
    ),
    "g_triples": (
        "The relation {relation} of {name} should tell.",
        "I read the facts of {name} by {relation}.",
        "{relation} looks like what the question means, so I read that of {name}.",
        "Of these relations {relation} fits best. I read what it says of {name}.",
        "I follow {relation} from {name}.",
        "Let me see where {relation} leads from {name}.",
    ),
    "g_triples_each": (
        "I read {relation} for {names}.",
        "The relation is {relation}, so I ask for it at {names}.",
        "Let me see what {relation} says of {names}.",
        "Now {relation} for {names}.",
    ),
    "g_triples_next": (
        "There are {total} pages of {relation}, so I read page {page} as well.",
        "The list goes on: page {page} of {total}.",
        "That is not all of {relation}. On to page {page}.",
        "I want the rest of it, so I turn to page {page} of {total}.",
    ),
    "g_triples_next_each": (
        "The lists go on, so I read page {page} of {relation} for {names}.",
        "There is more by {relation} for {names}: page {page} of {total}.",
        "I read on at page {page}: {relation} of {names}.",
        "Page {page} of {total} has more of {relation} for {names}.",
    ),
    # Facts.
    "g_quote": (
        'The fact is there: "{quote}"',
        'I read: "{quote}"',
        'Here it is: "{quote}"',
        'The graph says: "{quote}"',
        'This is the fact that matters: "{quote}"',
        '"{quote}" - that is what I was after.',
    ),
    "g_candidates": (
        "Several come into question here: {titles}.",
        "There is more than one possibility: {titles}.",
        "The relation leads to {titles}.",
        "I have to choose between {titles}.",
        "Possible are {titles}.",
    ),
    "g_common": (
        "What both conditions have in common is {names}.",
        "Side by side the lists share {names}.",
        "Only {names} comes up under both conditions.",
        "Both ways lead to {names}.",
    ),
    # Wrong turns.
    "g_wrong_relation": (
        'By {relation} I get {names}; that is not what "{cue}" asks for. I took the wrong relation.',
        '{relation} gives {names}, and the question says "{cue}". That was the wrong relation.',
        'What {relation} shows is {names}. That does not answer "{cue}", so I go back to the list of relations.',
        'I see {names} under {relation}, which is something else than "{cue}".',
    ),
    "g_wrong_plain": (
        "By {relation} I get {names}; that is not what the question asks for here. I took the wrong relation.",
        "{relation} gives {names}. That was the wrong relation, so I go back to the list.",
        "What {relation} shows is {names}, which is something else than the question wants here.",
        "{relation} leads to {names}, and that answers another question. I go back to the list of relations.",
    ),
    "g_none": (
        "None of the relations of {name} fits the question. Perhaps another one of that name is meant.",
        "{name} has no relation that would fit, so it can't be the one that is meant.",
        "Nothing in the list of {name} leads on; I may have the wrong one.",
        "What the question asks for does not stand in the list of {name}. There may be another of that name.",
    ),
    "g_dead_end": (
        'From {name} nothing leads on to "{cue}". Perhaps it was a wrong turn.',
        'I see no fact of {name} for "{cue}", so I may have taken the wrong one before.',
        'If {name} were right, there would be something for "{cue}". I go back a step.',
        '{name} has nothing on "{cue}". I should go back to the point before.',
    ),
    "g_instead": (
        'What it says is "{quote}"',
        'The graph has something else: "{quote}"',
        'I read: "{quote}"',
        'But here it says "{quote}"',
    ),
    "g_fails": (
        "The facts do not tie {title} to {name}.",
        "I see no fact that holds for {title} and {name}.",
        "{title} does not meet the condition with {name}.",
        "What the graph says of {title} does not match {name}.",
    ),
    "g_fails_value": (
        '{title} does not fit "{cue}".',
        'That is not what "{cue}" says, so {title} does not fit.',
        'The question says "{cue}", and that does not hold for {title}.',
        'For {title} the condition "{cue}" is not met.',
    ),
    "g_verify": (
        "Before I answer I look at what else is known of {name}, to make sure that it is the right kind of thing.",
        "A quick look at {name} itself will tell me if I have the right one.",
        "One more check: the relations of {name}.",
        "To be safe I see what the graph has on {name}.",
    ),
}
