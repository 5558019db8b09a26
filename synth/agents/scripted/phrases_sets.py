"""How a scripted agent puts its thoughts about lists, comparisons and sums. Notes have one slot, ``{found}``.

What is computed is said in a few fixed forms that ``synth.agents.computed`` reads and recomputes.
"""

from __future__ import annotations

__all__ = ["SET_NOTES", "SET_PHRASES"]

SET_NOTES = ("postpone", "member", "complete", "about", "told", "untold", "keep", "strike")
"""Leaves a condition for later; put on the list; no more of them; whom it looks at; what it read of that one; what it
could not find of one; meets a further condition; does not."""

SET_PHRASES: dict[str, tuple[str, ...]] = {
    # The list.
    "plan_list": (
        "I need the whole list before I can answer, and {name} is where it begins.",
        "This asks about all that fit, not just one. I begin with {name} and collect them.",
        "There may be several. I gather them one by one, starting from {name}.",
        "One match is not enough here: I have to find all of them. First, {name}.",
        "Before anything can be compared or counted I have to list them; {name} is the place to start.",
        "I collect all that belong to {name} as the question says.",
    ),
    "search_list": (
        "There may be others that this page does not name, so I search for them.",
        "I search for pages that speak of {name} in this way.",
        "Other pages may mention {name}, too. I look for them.",
        "To get the full list I search with the words of the question.",
        "The others may stand on pages of their own; I look for those that mention {name}.",
        "Let me see which pages name {name} in this connection.",
    ),
    "search_rest": (
        "I look once more, with other words, in case one is missing.",
        "Is that all? I search again to be sure that none is left out.",
        "Before I close the list I try another search.",
        "One more search, so that I do not miss any.",
        "I want to be sure of the list, so I ask for more results.",
        "There may be more, so I widen the search.",
    ),
    "open_these": (
        "I open {titles}.",
        "{titles} could belong here, so I read on there.",
        "Worth a look: {titles}.",
        "From these results I pick {titles}.",
        "Let me read {titles}.",
        "The ones to look at are {titles}.",
    ),
    "all_listed": (
        "The list is {names}.",
        "So far that is {names}.",
        "What I have is {names}.",
        "On my list stand {names}.",
        "That makes the list {names}.",
    ),
    # What is asked of each.
    "each": (
        'Now for each of them: "{cue}".',
        'For each one on the list I need this: "{cue}".',
        'What is left is to look up "{cue}" for each of these.',
        'Next, "{cue}", one after the other.',
        'The list is there, so now "{cue}" for each.',
    ),
    "each_plain": (
        "Now I look at each of them.",
        "Next I have to read what is said of each one.",
        "I go through them one by one.",
        "What I need now stands on their own pages.",
        "Now the details, one after the other.",
    ),
    # Notes.
    "postpone": (
        "I leave {found} for later and try the other condition.",
        "No way on from {found}, so I turn to the other condition first.",
        "That does not work with {found}; the other condition may.",
        "I come back to {found} later. Perhaps the rest of the question leads there.",
    ),
    "member": (
        "I add {found}.",
        "One of them is {found}.",
        "That puts {found} on the list.",
        "Onto the list goes {found}.",
        "So I can list {found}.",
        "I count {found} in.",
        "Among them is {found}.",
        "That is one more: {found}.",
    ),
    "complete": (
        "I find no others for {found}.",
        "Nothing else turns up about {found}.",
        "I see no more that belong to {found}.",
        "No more of them come up for {found}.",
        "That is all that I can find on {found}.",
    ),
    "about": (
        "As for {found}:",
        "Now to {found}:",
        "Let me see about {found}:",
        "Here is what is said of {found}:",
        "Looking at {found}:",
    ),
    "told": (
        "I write down {found}.",
        "That makes it {found}.",
        "I put down {found}.",
        "The entry here is {found}.",
        "So for this one it is {found}.",
    ),
    "untold": (
        "Nothing is said about this for {found}.",
        "I can't find it for {found}.",
        "There is nothing to go by for {found}.",
        "What I need is not given for {found}.",
    ),
    "keep": (
        "That keeps {found} on the list.",
        "So I keep {found}.",
        "On the list remains {found}.",
        "The condition holds, and so it stays with {found}.",
        "With this I can keep {found}.",
    ),
    "strike": (
        "I cross off {found}.",
        "That takes {found} off the list.",
        "Off the list goes {found}.",
        "I have to take out {found}.",
        "So it can't be {found}.",
    ),
    # What is done with what was found.
    "is_first": (
        "{told}. The earliest of these is {value}, so it is {answer}.",
        "{told}. Of these dates {value} comes first, which speaks for {answer}.",
        "Side by side: {told}. The first is {answer}.",
        "I compare: {told}. So {answer} came first.",
        "{told}, so {answer} is the earliest.",
    ),
    "is_last": (
        "{told}. The latest of these is {value}, so it is {answer}.",
        "{told}. Of these dates {value} comes last, which speaks for {answer}.",
        "Side by side: {told}. The last is {answer}.",
        "I compare: {told}. So {answer} came last.",
        "{told}, so {answer} is the latest.",
    ),
    "is_least": (
        "{told}. The smallest of these is {value}, so it is {answer}.",
        "{told}. {value} is the least, which speaks for {answer}.",
        "Side by side: {told}. The smallest number belongs to {answer}.",
        "I compare: {told}. So {answer} has the least.",
    ),
    "is_most": (
        "{told}. The greatest of these is {value}, so it is {answer}.",
        "{told}. {value} is the most, which speaks for {answer}.",
        "Side by side: {told}. The greatest number belongs to {answer}.",
        "I compare: {told}. So {answer} has the most.",
    ),
    "fits_bound": (
        '{told}. To "{cue}" this leaves {names}.',
        'By "{cue}" I am left with {names}: {told}.',
        '{told}. What meets "{cue}" is {names}.',
        'I go through them for "{cue}": {told}. That leaves {names}.',
    ),
    "fits_none": (
        '{told}. None of them meets "{cue}".',
        'None is left by "{cue}": {told}.',
        'I go through them for "{cue}": {told}. That leaves none.',
        '{told}. For "{cue}" that is no match.',
    ),
    "counted": (
        "Counting {names} gives {number}.",
        "I count them. Counting {names} gives {number}.",
        "Now to the number. Counting {names} gives {number}.",
        "What is left to do is count. Counting {names} gives {number}.",
    ),
    "apart_years": (
        "From {early} to {late} makes {number}.",
        "I work it out: from {early} to {late} makes {number}.",
        "Now the difference: from {early} to {late} makes {number}.",
        "The time between them: from {early} to {late} makes {number}.",
    ),
    "apart": (
        "{sum}.",
        "I take one from the other: {sum}.",
        "Now the difference: {sum}.",
        "That leaves {sum}.",
    ),
    "added": (
        "Together: {sum}.",
        "I add them up: {sum}.",
        "Now the total: {sum}.",
        "All in all {sum}.",
    ),
    "no_result": (
        "With what I have I can't work this out.",
        "That is not enough to work it out.",
        "Too little is known to compare them.",
        "I lack what I would need to work it out.",
    ),
}
