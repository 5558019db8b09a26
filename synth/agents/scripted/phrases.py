"""How a scripted agent puts its thoughts: several phrasings per intention, chosen by the turn's generator.

Each question has its own voice: half of the phrasings of every intention, picked by a hash of the question, so that one
trajectory is of one piece and two trajectories are not of one mould. Notes (``NOTES``) are
what the agent later reads back from its own thoughts: ``read_notes`` inverts exactly what ``Thoughts`` wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from synth.agents.scripted.phrases_graph import GRAPH_PHRASES
from synth.agents.scripted.phrases_plans import PLAN_PHRASES
from synth.agents.scripted.phrases_sets import SET_NOTES, SET_PHRASES
from synth.identity import digest

__all__ = ["NOTES", "PHRASES", "Thoughts", "read_notes"]

PHRASES: dict[str, tuple[str, ...]] = (
    {
        # The start.
        "plan": (
            "The question gives me {name} to start from.",
            "What I know at the start is {name}; the rest hangs on it.",
            "I have one firm point here: {name}.",
            "First things first: who or what is {name}?",
            "Everything begins with {name}, so that comes first.",
            "{name} is named outright, so I begin there and work my way to what is asked.",
            "Working from the inside out, the fixed point is {name}.",
            "Step one is to learn about {name}.",
        ),
        "plan_many": (
            "There are several conditions on one and the same answer. I take {name} first and check the others later.",
            "More than one thing must hold for the answer. {name} looks like a good place to begin.",
            "The answer has to fit every condition, so I collect what fits {name} and test it on the rest.",
            "I need something that meets all conditions at once; starting with {name} narrows it down.",
            "Each condition alone leaves many possibilities. I begin with {name}.",
            "The conditions have to be met together. Let me begin with the one about {name}.",
        ),
        "plan_described": (
            'Nothing is named outright here; all I have to go by is "{cue}".',
            'I have to find the page from its description: "{cue}".',
            'The starting point is only described: "{cue}". Its own words should find it.',
            'No name is given, so I search with what the question says: "{cue}".',
            'The question does not name the page. The words "{cue}" are what I can search for.',
            'First I must work out which page is meant by "{cue}".',
        ),
        "next_clue": (
            'Next comes this part: "{cue}".',
            'Now for "{cue}".',
            'What is left is "{cue}".',
            'With that in hand I turn to "{cue}".',
            'The next link is "{cue}".',
            'That leaves "{cue}" to settle.',
            'On to the next piece, "{cue}".',
            'Now "{cue}" has to be worked out.',
        ),
        "next_plain": (
            "Now I need to know more about {name}.",
            "With {name} known, I can go on.",
            "{name} is where the next part of the question starts.",
            "So what about {name}?",
            "Next I look into {name}.",
            "From here the way leads through {name}.",
            "One step further: {name}.",
            "The rest of the question hangs on {name}.",
        ),
        # Searching.
        "search_name": (
            "I search for {name}.",
            "A search for {name} should bring up the page.",
            "Let me look up {name}.",
            "I need the page on {name}, so I look for it.",
            "Let me see what there is on {name}.",
            "Searching for the name {name} is the direct way.",
            "I will look for {name} by name.",
            "Time to find out more about {name}.",
        ),
        "search_more": (
            "The results so far do not show a page on {name}. I ask for more of them.",
            "None of those results is {name} itself; a longer list may have it.",
            "I do not see {name} among the results, so I widen the search.",
            "Not there yet. I try again for {name}, with other words.",
            "{name} did not come up as I hoped, so I try once more.",
            "The page on {name} is not in that list. Let me search differently.",
        ),
        "search_reverse": (
            "Maybe another page says this about {name}; I search with the words of the question.",
            "If the page on {name} is silent, the page at the other end may tell. I search for both together.",
            "I look for a page that mentions {name} in this connection.",
            "It may be written down elsewhere. I combine {name} with what the question says.",
            "Looked at from the other end: which page speaks of {name} in this way?",
            "Someone else's page may mention {name}. Let me search for that.",
            "The link may be stated from the other side, so I search for pages that speak of {name}.",
        ),
        "search_again": (
            "That did not lead anywhere, so I put the search differently.",
            "I try other words.",
            "Let me rephrase the search.",
            "Those results are used up. A different query may do better.",
            "No luck with that wording; I try another one.",
            "I change the words of the search and see what comes up.",
        ),
        "search_described": (
            "I search with the words of the description.",
            "Let me see which pages fit this description.",
            "The description itself makes a good query.",
            "I use those words as the query.",
            "A search for that wording should show likely pages.",
        ),
        # Results.
        "hit_named": (
            "{title} is among the results, and that is the name I want.",
            "The result {title} has the right name.",
            "I see {title} in the list, so I open it.",
            "{title} is there. I open that page.",
            "The list has {title}; that should be the one.",
            "One result is {title}, which matches.",
            "Good, {title} came up. Let me read it.",
        ),
        "hit_among": (
            "The results are {titles}. The name matches {title}, so I open that one.",
            "I get {titles}. Of these, {title} is the one in question.",
            "Out of {titles}, I go for {title}.",
            "Among {titles} the name that fits is {title}.",
            "Results: {titles}. {title} is what I was looking for.",
            "The list shows {titles}; {title} is the closest to what I need.",
        ),
        "hit_alike": (
            "{title} is close to {name}. I look at it first.",
            "Is {title} what the question calls {name}? I open it to see.",
            "{title} sounds much like {name}, so I check that one.",
            "The name {title} is near enough to {name} for a look.",
            "I open {title}, which could be meant by {name}.",
            "{title} comes close to {name}.",
        ),
        "hit_snippet": (
            'The snippet of {title} reads "{quote}" and that sounds promising.',
            '{title} looks worth a read: "{quote}"',
            'I want to check {title}, because its snippet says "{quote}"',
            'In the results, {title} comes with "{quote}" and I want to see the rest.',
            'One snippet catches my eye, from {title}: "{quote}"',
            '{title} might be it. Its snippet: "{quote}"',
        ),
        "hit_try": (
            "{title} might be it, so I have a look.",
            "I am not sure about {title}, but it is worth checking.",
            "Let me check {title}.",
            "{title} could fit. I open it to see.",
            "Next I try {title}.",
            "I give {title} a try.",
        ),
        # Pages.
        "open_link": (
            "There is a link to {name}, so I follow it.",
            "The page links to {name}. I open that.",
            "I can go straight to {name} through the link.",
            "{name} is linked there, which saves me a search.",
            "I follow the link to {name}.",
            "Let me open the page on {name} from here.",
        ),
        "next_page": (
            "Page {page} of {title} does not say it, but the document goes on. I read page {next}.",
            "Not on this page. There are {total} pages, so I turn to page {next}.",
            "I have not seen it yet; page {next} may have it.",
            "Nothing on page {page} settles this, so I go on to page {next}.",
            "The text continues on page {next}. Let me read that before I look elsewhere.",
            "So far nothing fits. On to page {next} of {total}.",
        ),
        "find_word": (
            "{title} has {total} pages. I look for {pattern} in it rather than read them all.",
            "That is a long document, so I look for {pattern} in it.",
            "With {total} pages, finding {pattern} is quicker than reading on.",
            "Where on these {total} pages does it speak of {pattern}? I let the tool look.",
            "I search within the document for {pattern}.",
            "Rather than turn {total} pages I find {pattern}.",
        ),
        "leaf": (
            "No match that helps, so I leaf through {title} and try page {page}.",
            "I turn to page {page} of {total} and look there.",
            "Let me try page {page}.",
            "I leaf on to page {page}.",
            "Perhaps page {page} of {title} has it.",
        ),
        "found_page": (
            "The match is on page {page}, so I turn to it.",
            "Page {page} of {title} is where that stands. I read it.",
            "I want to see page {page} in full.",
            "That points to page {page}.",
            "Page {page} has it, so I open that page.",
        ),
        "quote": (
            'The page says: "{quote}"',
            'Here it is: "{quote}"',
            'I read: "{quote}"',
            'This is the passage that matters: "{quote}"',
            '{title} has this: "{quote}"',
            'On {title} it says: "{quote}"',
            'The relevant line is "{quote}"',
            '"{quote}" - that is what I was after.',
        ),
        "candidates": (
            "Several come into question here: {titles}.",
            "There is more than one possibility: {titles}.",
            "The page offers {titles}.",
            "I have to choose between {titles}.",
            "Possible are {titles}.",
        ),
        "return": (
            "Back to {title}.",
            "I return to what {title} said.",
            "I go back to {title}.",
            "Looking again at {title}:",
            "So, once more to {title}.",
        ),
        "silent": (
            "{title} does not say anything about that.",
            "I find nothing of the kind on {title}.",
            "The page on {title} is silent on this.",
            "{title} has nothing that answers this.",
            "Having read {title}, I still do not know.",
            "That part is not answered on {title}.",
        ),
        # Notes: what was settled. The name must stand between fixed words.
        "found": (
            "That gives me {found}.",
            "So this part comes out as {found}.",
            "I take from this: {found}.",
            "So the one I need here is {found}.",
            "Then it must be {found}.",
            "This settles it as {found}.",
            "In other words, {found}.",
            "I note down {found}.",
            "Which means {found}.",
            "So I have {found}.",
        ),
        "candidate": (
            "I take {found} first.",
            "My first candidate is {found}.",
            "I try my luck with {found}.",
            "I begin by testing {found}.",
            "I start with {found}.",
            "The first to look into is {found}.",
        ),
        "candidate_next": (
            "The next one to look into is {found}.",
            "I follow up on {found} instead.",
            "Let me test {found} then.",
            "Another possibility is {found}.",
            "That brings me to {found}.",
            "I move on to {found}.",
        ),
        "confirm": (
            "So this condition holds for {found} too.",
            "That confirms {found}.",
            "The condition is met by {found}.",
            "Here, too, the answer is {found}.",
            "This agrees with {found}.",
            "It all fits with {found}.",
            "That check speaks for {found}.",
            "Both ways I end up with {found}.",
        ),
        "dismiss": (
            "I can rule out {found}.",
            "It is not {found}, then.",
            "I drop {found}.",
            "This is not what I want, so I put aside {found}.",
            "So much for {found}.",
            "I have to let go of {found}.",
            "That speaks against {found}.",
            "I no longer consider {found}.",
        ),
        "dismiss_why_name": (
            "The question is about {name}, and this is the page of {title}.",
            "This page is about {title}, not about {name}.",
            "{title} is not the same as {name}, however alike the names are.",
            "I wanted {name} but this is {title}.",
            "The title says {title}; the one that is meant is {name}.",
        ),
        "dismiss_why_silent": (
            "I see nothing here that ties {title} to {name}.",
            "{title} does not mention {name} in the way the question says.",
            "The page of {title} says nothing of the kind about {name}.",
            "There is no trace of {name} here that would fit the question.",
            "What {title} says does not match the condition with {name}.",
        ),
        "dismiss_why_described": (
            "The description does not fit {title}.",
            "{title} is about something else than what the question describes.",
            "What I read on {title} is not what is described.",
            "The words of the question do not match {title}.",
        ),
        "doubt_claim": (
            '{title} says: "{quote}"',
            'I read on {title}: "{quote}"',
            'Here it says: "{quote}"',
            'This page has: "{quote}"',
        ),
        "doubt_mark": (
            'But the same page also says: "{quote}" That is not enough to go by.',
            'Then it says this: "{quote}" So I can not be sure of it.',
            'What makes me doubt this page: "{quote}"',
            'But there is this as well: "{quote}" It does not settle the question.',
        ),
        "doubt_check": (
            "I check it on the page about {name} itself.",
            "I need the page on {name} itself to be sure.",
            "What does the page of {name} say for itself?",
            "Let me see what the page of {name} says.",
        ),
        "corrected": (
            "{title} says something else. The page itself says {value}, so I go by that.",
            "So it is {value}, and not what {title} says.",
            "That does not match {title}; I take {value}, from the page itself.",
            "I have {value} from the page itself, so what {title} says does not stand.",
        ),
        "dead_end": (
            "From {name} there seems to be no way on. Perhaps it was a wrong turn.",
            "I am stuck with {name}; I may have taken the wrong one before.",
            "Nothing leads on from {name}, so I doubt that it is right.",
            "This leads nowhere. I should go back to the point before {name}.",
            "If {name} were right, something here would continue. I go back a step.",
        ),
        # Checks.
        "check_condition": (
            "But does it meet the other condition? I check.",
            "There is another condition to test before I answer.",
            "I do not want to jump to it: the other condition has to hold as well.",
            "Now the rest of the question has to hold too.",
            "One condition down; the next one has to be tested.",
            "Before I believe it I want to see the other part confirmed.",
        ),
        "verify_open": (
            "Before I answer I open the page of {name} to make sure that it is the right one.",
            "I want to see the page of {name} itself before I commit.",
            "A quick look at {name} will tell me if I have the right one.",
            "Let me double-check on the page of {name}.",
            "To be safe I read what {name} has to say for itself.",
            "One more check: the page of {name}.",
        ),
        "verify_find": (
            "I check that this is the only place that could be meant, by finding {name} in the text.",
            "Let me make sure by looking for {name} in the document.",
            "To be sure that I did not misread it, I look for {name} again.",
            "A last check: where else does {name} stand on this page?",
            "I look for {name} once more, so that I do not mix it up with something else.",
            "Before answering I verify {name} in the text.",
        ),
        "verified_says": (
            'It agrees: "{quote}"',
            'The page itself bears it out: "{quote}"',
            'That matches what I read before: "{quote}"',
            'Seen from this side it is the same: "{quote}"',
            'Good, this fits: "{quote}"',
        ),
        "verified_once": (
            "There is one match, the passage that I read.",
            "It stands in one place only, so there is nothing to mix up.",
            "One match, and it is the line that I had seen.",
            "A single match: no other passage could be meant.",
        ),
        "verified_often": (
            "It comes up {count} times, and each time it agrees with what I had.",
            "There are {count} matches; none of them changes anything.",
            "With {count} matches I look at each: they go together.",
            "{count} matches, and they all fit.",
        ),
        "verified_plain": (
            "I see nothing that speaks against it.",
            "Nothing here contradicts it.",
            "That looks consistent with what I read before.",
            "The check turned up no surprise.",
            "Nothing new there; what I had stands.",
        ),
        "answer": (
            "So the answer is {answer}.",
            "I can answer now: {answer}.",
            "All parts of the question are settled, and the answer is {answer}.",
            "That was the last piece. My answer: {answer}.",
            "Everything fits together; I answer {answer}.",
            "I am confident enough to answer {answer}.",
            "What was asked for is {answer}.",
            "Done: {answer}.",
        ),
        "answer_early": (
            "This should be enough: {answer}.",
            "I think that I have what I need. The answer should be {answer}.",
            "That looks like what the question wants: {answer}.",
            "No need to go on; it has to be {answer}.",
            "I go with {answer}.",
        ),
        "answer_guess": (
            "I can't settle it for certain. My best guess is {answer}.",
            "I have run out of ideas; {answer} is the most likely.",
            "It is not proven, but {answer} is the best that I have.",
            "I will not find more, so I answer {answer}.",
        ),
        "give_up": (
            "I have tried the ways that I can think of, and none leads to an answer.",
            "Nothing that I found answers this, and I will not make something up.",
            "I can't find it with these tools.",
            "All my searches came to nothing, so I have to stop here.",
        ),
        # Failures.
        "failed": (
            "That call did not work.",
            "The tool refused that one.",
            "That was a wrong call on my side.",
            "An error. I look at what it says and do it properly.",
            "I made a mistake in the call, so I correct it.",
            "That was not accepted, so I do it over.",
        ),
    }
    | SET_PHRASES
    | GRAPH_PHRASES
    | PLAN_PHRASES
)

NOTES = ("found", "candidate", "candidate_next", "confirm", "dismiss", *SET_NOTES)


@lru_cache(maxsize=4096)
def _voice(question: str, intent: str) -> tuple[str, ...]:
    """The half of an intention's phrasings that this question's agent uses."""
    phrases = PHRASES[intent]
    ranked = sorted(phrases, key=lambda phrase: digest("voice", question, intent, phrase))
    return tuple(ranked[: max(3, (len(phrases) + 1) // 2)])


class Thoughts:
    """Collects what is thought in one turn."""

    def __init__(self, question: str, generator: np.random.Generator) -> None:
        self._question = question
        self._generator = generator
        self._parts: list[str] = []

    def add(self, intent: str, **slots: object) -> None:
        options = _voice(self._question, intent)
        if intent not in NOTES and len(self._parts) > 0:
            options = tuple(option for option in options if option.format(**slots) not in self._parts) or options
        phrase = options[int(self._generator.integers(len(options)))]
        self._parts.append(phrase.format(**slots))  # a name keeps its spelling at the start of a sentence, too

    def __bool__(self) -> bool:
        return bool(self._parts)

    @property
    def said(self) -> str:
        """All that was added, as it was added."""
        return " ".join(self._parts)

    def text(self) -> str:
        """The whole thought."""
        return self.said


def _patterns(intent: str) -> Iterator[tuple[str, str]]:
    for phrase in PHRASES[intent]:
        before, after = phrase.split("{found}")
        yield before, after


def read_notes(thought: str, seen: Sequence[str]) -> list[tuple[str, str]]:
    """The notes in ``thought`` as (intent, name), in order.

    A name may hold full stops, so of all places where the phrase could end the last one counts that leaves a name that
    stands in one of the texts ``seen`` (the question, earlier observations).
    """
    found: list[tuple[int, str, str]] = []
    for intent in NOTES:
        for before, after in _patterns(intent):
            if before not in thought:  # most of them: far cheaper than a pattern that does not match
                continue
            for match in re.finditer(rf"(?:(?<=\s)|\A){re.escape(before)}", thought):
                names = [
                    thought[match.end() : end.start()]
                    for end in re.finditer(rf"{re.escape(after)}(?=\s|\Z)", thought[: match.end() + 240])
                    if end.start() > match.end()
                ]
                name = next((name for name in reversed(names) if any(name in text for text in seen)), None)
                if name is not None:
                    found.append((match.start(), intent, name))
    return [(intent, name) for _, intent, name in sorted(found)]
