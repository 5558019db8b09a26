"""What written distractors say around a false statement. Every frame holds the words that let a reader find out.

Slots: ``{e}`` the entity, linked, with its type where that reads better; ``{see}`` its name,
linked; ``{n}`` its bare name; ``{claim}`` the false
statement as a clause; ``{premise}`` and ``{step}`` true statements as clauses; ``{year}``; ``{noun}`` what a namesake
is, ``{of}`` the noun of the entity's type. A frame is a list of sentences; the one that misleads holds ``{claim}``, and
the one that begins with ``!`` is the cue.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from synth.schemas.distractors import CueKind, WrittenKind, WrittenLevel

__all__ = ["FRAMES", "LEVELS", "NAMESAKES", "REMARKS", "TIME_VARYING", "Frame"]


@dataclass(frozen=True)
class Frame:
    """How a page of one kind is worded."""

    title: str
    sentences: tuple[str, ...]
    heading: str
    """Of the section with the sentences behind the first; the first stands as the opening."""


LEVELS: Mapping[WrittenKind, tuple[WrittenLevel, CueKind]] = {
    "lookalike": ("perception", "other_thing"),
    "stale": ("perception", "dated"),
    "partial": ("perception", "illegible"),
    "contradiction": ("cognition", "hearsay"),
    "wrong_chain": ("cognition", "retraction"),
    "inference": ("cognition", "supposition"),
}

TIME_VARYING: frozenset[str] = frozenset(
    """mayor population speakers rector curator editor owned_by student_count employee_count circulation coach
    home_ground sponsored_by capacity parent_company headquartered_in seat displayed_in""".split()
)
"""Relations whose object may have been another in an earlier year: only these have stale values."""

NAMESAKES: Mapping[str, str] = {
    "region": "parish",
    "city": "hamlet",
    "river": "mill race",
    "mountain": "spoil heap",
    "lake": "village pond",
    "person": "character",
    "university": "evening school",
    "company": "savings club",
    "laboratory": "study circle",
    "newspaper": "theatre programme",
    "museum": "private collection",
    "team": "supporters' club",
    "stadium": "training ground",
    "bridge": "ferry",
    "festival": "village fair",
    "book": "song",
    "film": "radio play",
    "artwork": "postage stamp",
}
"""Type -> what a thing of the same name is: of no type that questions ask for, so it is nobody's second answer."""

REMARKS: tuple[str, ...] = (
    "Letters meant for one have been known to reach the other.",
    "Older directories list the two under one heading.",
    "Visitors who ask for directions are often sent to the wrong place.",
    "An index that was printed later keeps the two apart.",
    "Little has been written about it, and most of that in passing.",
    "A short notice about it hangs in the reading room of the local archive.",
    "It is seldom mentioned outside the district.",
    "Collectors of curiosities have a soft spot for such doubles.",
)
"""What is said about namesakes besides. Nothing here is a fact of the graph."""

PEOPLE_REMARKS: tuple[str, ...] = (
    "The scripts were never printed in full.",
    "Reference works keep the two under separate headings.",
    "Listeners sent in suggestions for how the story should go on.",
    "The part was recast several times.",
    "A short notice in the programme guide says little more.",
    "Library catalogues have mixed the two up more than once.",
)
"""The same for a character that bears a person's name."""

FRAMES: Mapping[WrittenKind, tuple[Frame, ...]] = {
    "lookalike": (
        Frame(
            "{n} ({noun})",
            ("!{n} is {a_noun}; the {of} of the same name has an entry of its own: {see}.", "{claim}."),
            "Particulars",
        ),
        Frame(
            "{n} ({noun})",
            ("!What is meant here is {a_noun}, and not the {of} of that name, {see}.", "{claim}."),
            "Overview",
        ),
        Frame(
            "{n} ({noun})",
            ("!This page is about {a_noun}; for the {of} of the same name, see {see}.", "{claim}."),
            "Description",
        ),
    ),
    "stale": (
        Frame(
            "{n} (edition of {year})",
            ("!The entry on {e} as it stood in the edition of {year}, kept without changes.", "{claim}."),
            "As printed",
        ),
        Frame(
            "{n} ({year} handbook)",
            ("!Reprinted from the handbook of {year}: {e}.", "{claim}."),
            "Entry",
        ),
        Frame(
            "{n} ({year} yearbook)",
            (
                "!What the yearbook of {year} had to say about {e}; figures and offices are those of that year.",
                "{claim}.",
            ),
            "Entry",
        ),
    ),
    "partial": (
        Frame(
            "{n} (fragment)",
            ("A fragment of an entry on {e}; the lower half of the sheet is torn off.", "!{claim}."),
            "Text",
        ),
        Frame(
            "{n} (damaged copy)",
            (
                "A water-stained copy of a page about {e}.",
                "!{claim}.",
                "Words in square brackets could not be made out.",
            ),
            "Transcript",
        ),
        Frame(
            "{n} (scanned sheet)",
            ("A scan of a sheet on {e}, faded in places.", "!{claim}.", "The sheet breaks off here."),
            "Transcript",
        ),
    ),
    "contradiction": (
        Frame(
            "Letters to the editor: {n}",
            (
                "Several readers wrote in after the feature on {e}.",
                "One of them sets the record straight, as she puts it: {claim}.",
                "!She has it from her late grandfather and names no other source.",
            ),
            "From the postbag",
        ),
        Frame(
            "A visitor's notes on {n}",
            (
                "These notes were made on a walking tour and deal mostly with {e}.",
                "Over supper it came up that {claim}.",
                "!The writer heard it from a fellow guest and did not look it up.",
            ),
            "From the notebook",
        ),
        Frame(
            "Recollections: {n}",
            (
                "A retired schoolmaster looks back, and much of what he tells turns on {e}.",
                "As every pupil knew in those days, he says, {claim}.",
                "!He quotes nobody, and admits that he is telling it from memory.",
            ),
            "An evening's talk",
        ),
        Frame(
            "Overheard: {n}",
            (
                "The column that collects what people say has turned to {e}.",
                "At the next table it was taken for granted that {claim}.",
                "!So the talk goes; nobody at the table could say where it came from.",
            ),
            "This week",
        ),
        Frame(
            "{n} in conversation",
            (
                "A broadcast about {e} drew a good many calls.",
                "A caller was quite sure that {claim}.",
                "!The host remarked that the station had not been able to confirm this.",
            ),
            "From the broadcast",
        ),
    ),
    "wrong_chain": (
        Frame(
            "Quiz night: {n}",
            (
                "One round of the quiz dealt with {e}.",
                "The winning table argued in two steps: {claim}, and {step}.",
                "!The point was withdrawn a week later, since the first of the two steps is wrong.",
            ),
            "The answer that was given",
        ),
        Frame(
            "Treasure hunt: {n}",
            (
                "The trail of the last hunt started from {e}.",
                "The sheet led on as follows: {claim}; and {step}.",
                "!A slip handed out afterwards apologises: the trail went wrong at its very first station.",
            ),
            "The trail",
        ),
        Frame(
            "School project: {n}",
            (
                "A class put together a wall chart about {e}.",
                "On the chart it says that {claim}, and in the line below that {step}.",
                "!The teacher's note below asks for a correction of the first of these, which does not hold.",
            ),
            "The chart",
        ),
        Frame(
            "Corrections: {n}",
            (
                "The paper returns to its piece on {e}.",
                "The piece had said that {claim}, and further on that {step}.",
                "!The first half was a mix-up, for which the editors ask to be excused.",
            ),
            "What was printed",
        ),
    ),
    "inference": (
        Frame(
            "A theory about {n}",
            (
                "An essay in a small review sets out to explain {e}.",
                "It starts from what is known: {premise}; and {step}.",
                "Put the two together, it goes on, and one sees that {claim}.",
                "!No document that says so is given, and the essay calls it a conjecture itself.",
            ),
            "The argument",
        ),
        Frame(
            "Thoughts on {n}",
            (
                "A diarist returns several times to {e}.",
                "He notes that {premise}, and that {step}.",
                "It stands to reason, then, that {claim}.",
                "!He leaves a blank for the proof, and the blank was never filled.",
            ),
            "From the diary",
        ),
        Frame(
            "Reading between the lines: {n}",
            (
                "A lecture on {e} was long remembered for its boldness.",
                "The speaker recalled that {premise}, and that {step}.",
                "From there it was but a short way to the claim that {claim}.",
                "!Asked for a source, the speaker said that it was a guess.",
            ),
            "The lecture",
        ),
    ),
}
