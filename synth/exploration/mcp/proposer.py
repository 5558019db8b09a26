"""Tasks on servers, explored, made minimal, replayed and put into words: what the registry calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from synth.environments.mcp.environment import McpEnvironment
from synth.errors import InputError
from synth.exploration.mcp.book import load_book
from synth.exploration.mcp.config import McpTasksConfig
from synth.exploration.mcp.described import described_book
from synth.exploration.mcp.propose import McpProposer, book_for
from synth.exploration.mcp.survey import survey
from synth.exploration.proposer import TaskProposer
from synth.identity import versioned
from synth.tasks.draft import same_question
from synth.tasks.writing.requests import values_of

__all__ = ["mcp_proposer"]


@versioned(1)
def mcp_proposer(
    *,
    environment: McpEnvironment,
    fractions: Mapping[str, float],
    kinds: Mapping[str, float],
    writes: Mapping[str, float],
    tries: int,
    book: str | None = None,
    hints: Mapping[str, Sequence[str]] | None = None,
) -> TaskProposer:
    """
    Args:
        fractions: Share of the names of things that each split owns.
        kinds: Weights of ``done`` and ``answered``.
        writes: Weights of how many calls that change something a candidate begins with.
        tries: Calls that an exploration may try.
        book: Text of a book; None = the one that goes with the server, else what its schemas give.
        hints: Argument -> values, for servers without a book.

    Raises:
        InputError: the servers, the book or the kinds can't be used.
    """
    known = load_book(book, "questions.book") if book is not None else book_for(environment)
    if known is None:
        given = {name: tuple(values) for name, values in (hints or {}).items()}
        words = [word for values in given.values() for word in values]
        known = described_book(environment, survey(environment, hints=words), given)
    done, answered = (kinds.get(kind, 0.0) for kind in ("done", "answered"))
    if done + answered <= 0:
        raise InputError("of servers there are the kinds done and answered", where="questions.kinds")
    values = {"fractions": fractions, "answered": answered / (done + answered), "writes": writes, "calls": tries}
    proposer = McpProposer(environment, known, McpTasksConfig.model_validate(values))
    changing = tuple(sorted({move.tool for move in known.moves if move.tool is not None}))
    others = values_of(proposer.values())
    return TaskProposer(proposer.propose, changing, lambda draft: others, same_question)
