"""What a model proposes: what holds, and every way in which a proposal is refused."""

from __future__ import annotations

from typing import Any

import pytest

from synth.schemas.rejections import Reason
from synth.schemas.tasks import Node
from synth.tasks.draft import Draft
from synth.tasks.writing.proposing import Proposal, ProposalKeys, Read, Refused, judged, locate

TEXTS = {
    "mill": ("Ash Mill", "Ash Mill was built by Ida Brandt in the valley.\n\nIt ground rye until 1931."),
    "ida": ("Ida Brandt", "Ida Brandt learned her trade in Molde. She kept bees\nand sold 212 jars a year."),
    "other": ("Elm Mill", "Elm Mill was built by Ida Brandt, too, in the hills."),
    "test": ("Oak Mill", "Oak Mill was built by Ida Brandt in a forest."),
}
SHOWN = {"mill": "Ash Mill was built by [Ida Brandt](ida) in the valley.\n\nIt ground rye until 1931."}
READ = {
    name: Read(name, title, text, "test" if name == "test" else "train", "CC0-1.0", SHOWN.get(name, text))
    for name, (title, text) in TEXTS.items()
}
NODES = {
    title.casefold(): Node(id=f"e-{name}", name=title, kind="page", document_id=name)
    for name, (title, _) in TEXTS.items()
}
QUESTION = "How many jars of honey did the woman who built Ash Mill sell a year?"
BUILT: dict[str, str] = {
    "document": "mill",
    "quote": "Ash Mill was built by [Ida Brandt](ida) in the valley.",
    "known": "Ash Mill",
    "found": "Ida Brandt",
    "cue": "the woman who built Ash Mill",
}
SOLD: dict[str, str] = {
    "document": "ida",
    "quote": "She kept bees and sold 212 jars a year.",
    "known": "Ida Brandt",
    "found": "212",
    "cue": "How many jars of honey",
}


def proposed(**changed: Any) -> Draft | Refused:
    """The draft of a good proposal, with what a test changes in it; ``keys`` are the recipe's."""
    keys = ProposalKeys(**changed.pop("keys", {}))
    first, second = ({**fact, **changed.pop(name, {})} for name, fact in (("built", BUILT), ("sold", SOLD)))
    values = {"facts": (first, second), "question": QUESTION, "answer": "212", "aliases": (), **changed}
    return judged(Proposal.model_validate(values), READ, keys, lambda name: NODES.get(name.casefold()))


def test_a_chain_of_quotes_becomes_a_walk() -> None:
    draft = proposed()
    assert isinstance(draft, Draft)
    first, second = draft.walk.hops
    assert (first.source.id, first.target.id, first.needs) == ("e-mill", "e-ida", ())
    assert (second.source, second.target.name, second.needs) == (first.target, "212", (0,))
    assert first.evidence.quote == "Ash Mill was built by Ida Brandt in the valley."
    assert second.evidence.quote == "She kept bees\nand sold 212 jars a year.", "as the document writes it"
    for hop in draft.walk.hops:
        text = TEXTS[hop.evidence.document_id][1]
        assert text[hop.evidence.start : hop.evidence.end] == hop.evidence.quote
    assert (draft.gold_entities, draft.gold_documents) == (("e-ida",), ("mill", "ida"))
    assert (draft.answer_kind, draft.split, draft.licence) == ("number", "train", "CC0-1.0")
    assert (draft.difficulty.hops, draft.difficulty.constraints) == (2, 1)


def test_aliases_count_where_they_are_forms_of_the_answer() -> None:
    draft = proposed(aliases=("212 jars", "several hundred"))
    assert isinstance(draft, Draft)
    assert draft.answer_aliases == ("212 jars",)
    capital = proposed(answer="Bees", sold={"found": "bees"})
    assert isinstance(capital, Draft)
    assert (capital.answer, capital.answer_aliases) == ("bees", ("Bees",)), "as the walk's end is called"


REFUSALS: list[tuple[dict[str, Any], Reason, str]] = [
    ({"question": None}, Reason.NO_WALK, "no question"),
    ({"answer": " "}, Reason.MALFORMED, "empty"),
    ({"answer": "a b c", "keys": {"answer_words": 2}}, Reason.UNNATURAL, "3 words"),
    ({"answer": "Yes, she did"}, Reason.UNNATURAL, "half of all guesses"),
    ({"question": QUESTION.rstrip("?")}, Reason.UNNATURAL, "ends in"),
    ({"question": f"According to this page, {QUESTION}"}, Reason.UNNATURAL, "speaks of the pages"),
    ({"question": f"212 or more? {QUESTION}"}, Reason.ANSWER_IN_QUESTION, "212"),
    ({"facts": (BUILT,)}, Reason.NO_WALK, "1 facts"),
    ({"keys": {"most_facts": 1, "facts": 1}}, Reason.NO_WALK, "2 facts"),
    ({"sold": {"document": "nowhere"}}, Reason.NO_EVIDENCE, "was not read"),
    ({"sold": {"quote": "She kept bees and sold 213 jars a year."}}, Reason.NO_EVIDENCE, "quote"),
    ({"sold": {"quote": "212 jars"}}, Reason.EVIDENCE_DOES_NOT_STATE, "fewer than 3 words"),
    ({"sold": {"found": "Molde"}}, Reason.EVIDENCE_DOES_NOT_STATE, "does not name 'Molde'"),
    ({"built": {"quote": "It ground rye until 1931.", "found": "1931", "known": "Ida Brandt"}},
     Reason.NO_WALK, "neither in the question"),
    ({"built": {"known": "the valley"}}, Reason.NO_WALK, "neither in the question"),
    ({"built": {"known": "jars of honey"}}, Reason.EVIDENCE_DOES_NOT_STATE, "neither quote nor title"),
    ({"built": {"known": "Ida Brandt"}}, Reason.EVIDENCE_DOES_NOT_STATE, "is not a step"),
    ({"sold": {"cue": "how much honey"}}, Reason.MALFORMED, "not in the question"),
    ({"answer": "bees"}, Reason.NO_WALK, "the last fact finds '212'"),
    ({"question": QUESTION.replace("the woman who", "Ida Brandt, who"), "built": {"cue": "who built Ash Mill"}},
     Reason.SHORTCUT, "already names 'Ida Brandt'"),
    ({"facts": (BUILT, {**BUILT, "found": "valley"}, SOLD)}, Reason.SHORTCUT, "nothing goes on"),
    ({"keys": {"pages": 3}}, Reason.SHORTCUT, "2 pages; 3"),
    ({"built": {"document": "test", "quote": TEXTS["test"][1], "known": "Oak Mill", "cue": "Oak Mill"},
      "question": QUESTION.replace("Ash", "Oak")}, Reason.SPLIT_CONFLICT, "test and train"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "reason", "words"), REFUSALS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_proposal_that_breaks_a_rule_is_refused_with_the_reason(
    changed: dict[str, Any], reason: Reason, words: str
) -> None:
    found = proposed(**changed)
    assert isinstance(found, Refused)
    assert (found.reason, words in found.detail) == (reason, True), found


def test_what_stands_in_the_document_but_was_not_shown_is_no_evidence() -> None:
    read = {**READ, "ida": Read("ida", *TEXTS["ida"], "train", None, "Ida Brandt learned her trade in Molde.")}
    values = {"facts": (BUILT, SOLD), "question": QUESTION, "answer": "212", "aliases": ()}
    found = judged(Proposal.model_validate(values), read, ProposalKeys(), lambda name: NODES.get(name.casefold()))
    assert isinstance(found, Refused)
    assert found.reason is Reason.NO_EVIDENCE


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("kept  bees and", "kept bees\nand"),
        ("kept [bees](x#y) and", "kept bees\nand"),
        ("kept wasps", None),
        ("", None),
    ],
)
def test_quotes_are_found_whatever_their_blanks_and_links(quote: str, found: str | None) -> None:
    text = "She kept bees\nand sold honey."
    span = locate(quote, text)
    assert (None if span is None else text[slice(*span)]) == found
