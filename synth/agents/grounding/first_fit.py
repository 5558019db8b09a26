"""Whether a run answers with the first of a list that fits, and leaves the others unread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synth.agents.grounding.said import SaidRun, SaidTurn, found_in, named_in, says

__all__ = ["unread_rivals"]

_SAID = ("candidates", "g_candidates")
"""What is said by who names the possibilities."""
_CUT = "and others"
"""How a long list ends whose names were not all said."""
_MOST = 8
"""A list that leaves more than this many names need not be read to its end."""
_FEW_STARTS = 4
"""As :data:`_MOST`, where each of them leads to a list of its own."""
_LONG = 18
"""After this many turns a run need not start on another of them."""


def unread_rivals(run: SaidRun, turn: SaidTurn) -> Iterator[str]:
    """At the answer: what was named as a possibility beside something that a further condition confirmed, and was not
    put aside by then."""
    end = run.history[turn.number].turn
    if end.calls or not end.answer or says(("answer_guess",), turn.thought) is not None:
        return
    turns = run.turns[: turn.number + 1]
    gone = {name for one in turns for intent, name in one.notes if intent in ("dismiss", "strike")}
    kinds = " ".join(found.group() for one in turns for found in found_in("of_kind", one.thought))
    for one in turns:
        after = [note for later in turns[one.number :] for note in later.notes]
        confirmed = {name for note, name in after if note == "confirm"} - gone
        for said in (match.group() for intent in _SAID for match in found_in(intent, one.thought)):
            for names in run.listings(one):
                named = [name for name in names if named_in(said, name)]
                listed = names if named[1:] and _CUT in said else named
                right = confirmed & set(listed)
                if right:
                    known = (*confirmed, *gone, *_unshared(turns[one.number :], listed, right))
                    left = [name for name in listed if name not in known and not named_in(kinds, name)]
                    left = [name for name in left if not named_in(run.question, name)]
                    yield from left if len(left) <= _MOST else ()
                elif confirmed and turn.number < _LONG:
                    yield from _unseen(run, one, listed, gone, kinds)


def _unseen(run: SaidRun, turn: SaidTurn, listed: Sequence[str], gone: set[str], kinds: str) -> list[str]:
    """Of a list from which one was taken on trust, to go on from, those of which nothing more was ever said."""
    onward = {name for one in run.turns[turn.number :] for note, name in one.notes if note.startswith("candidate")}
    if not (onward - gone) & set(listed):
        return []
    left = [name for name in listed if name not in gone | onward and not named_in(kinds, name)]
    left = [name for name in left if not (named_in(run.question, name) or run.spoken_of(name, turn.number + 1))]
    return left if len(left) <= _FEW_STARTS else []


def _unshared(turns: Sequence[SaidTurn], listed: Sequence[str], right: set[str]) -> list[str]:
    """Of a list what is not among that which two lists were said to share, where something right is."""
    found = [match.group() for one in turns for match in found_in("g_common", one.thought)]
    told = [text for text in found if _CUT not in text and any(named_in(text, name) for name in right)]
    return [name for name in listed if any(not named_in(text, name) for text in told)]
