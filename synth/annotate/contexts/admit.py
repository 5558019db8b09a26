"""Which pages may stand beside the gold ones: none that says what the question asks for, none of a split to come."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

from synth.annotate.contexts.sentences import sentence_ends
from synth.schemas.row import Split
from synth.schemas.tasks import Hop, Node, Task
from synth.tasks.text import value_forms
from synth.text.words import tokens

__all__ = ["Admission", "PageWords", "may_hold"]


def may_hold(split: Split, partition: Split) -> bool:
    """Whether a context of ``split`` may hold a page of ``partition`` that is not its gold.

    A train context holds train pages only, a validation context no test page: what is asked about in an exam is not
    read in training, neither as evidence nor in passing.
    """
    order = ("train", "validation", "test")
    return order.index(partition) <= order.index(split)


class _Text(Protocol):
    @property
    def title(self) -> str: ...

    @property
    def text(self) -> str: ...


class PageWords:
    """The words of a page, in the form in which mentions are looked for."""

    __slots__ = ("sentences", "text", "title", "words")

    def __init__(self, document: _Text) -> None:
        self.text = document.text
        self.title = _padded(document.title)
        self.words = _padded(document.text)
        self.sentences: tuple[str, ...] | None = None

    def names(self, forms: Sequence[str]) -> bool:
        """Whether title or text hold one of ``forms`` (padded words)."""
        for form in forms:  # noqa: SIM110 - said of every page of a corpus: a generator would be half of the cost
            if form in self.words or form in self.title:
                return True
        return False

    def says(self, one: Sequence[str], other: Sequence[str]) -> bool:
        """Whether one sentence, taken with the title, names both."""
        if self.sentences is None:
            cuts = [0, *sentence_ends(self.text), len(self.text)]
            pieces = (self.text[a:b] for a, b in pairwise(cuts))
            self.sentences = tuple(_padded(piece) for piece in pieces if piece.strip())
        left, right = any(form in self.title for form in one), any(form in self.title for form in other)
        return any(
            (left or any(form in sentence for form in one)) and (right or any(form in sentence for form in other))
            for sentence in self.sentences
        )


class Admission:
    """Says of any page whether it may stand in a context of ``task`` as a distractor.

    It may not when a sentence of it, taken with its title, names both ends of a hop of the walk: then it states the
    hop, as the evidence does, or so a reader must believe. That is stricter than the answer alone: no page may do the
    work of a gold one. Of a hop that begins at a range of values, the other end must be named with a value out of the
    evidence's own sentence. Where there is no walk (given questions), no page may name the answer at all.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self._gold = frozenset(task.gold_documents)
        self._hops = [(_forms(hop.source, hop), _forms(hop.target, hop)) for hop in task.walk.hops]
        answers = [(task.answer, *task.answer_aliases)]
        if task.answer_parts:
            answers = [(part.answer, *part.aliases) for part in task.answer_parts]
        self._answers = [forms for forms in map(_all_padded, answers) if forms]

    def refusal(self, document_id: str, page: PageWords) -> str | None:
        """Why the page may not stand there; None when it may."""
        if document_id in self._gold:
            return "it is a gold document"
        if not self._hops:
            return "it names the answer" if self.names_answer(page) else None
        for number, (source, target) in enumerate(self._hops):
            if page.names(target) and page.names(source) and page.says(source, target):
                return f"it says what hop {number} says"
        return None

    def names_answer(self, page: PageWords) -> bool:
        """Whether the page names the answer, or all of its parts."""
        return bool(self._answers) and all(page.names(forms) for forms in self._answers)


def _forms(node: Node, hop: Hop) -> tuple[str, ...]:
    if node.kind == "range":
        # What the evidence says beside the other end: its numbers and dates.
        numbers = [word for word in tokens(hop.evidence.quote) if word[:1].isdigit()]
        telling = [word for word in numbers if len(word) > 2] or numbers
        return tuple(dict.fromkeys(f" {word} " for word in telling))
    names: tuple[str, ...] = (node.name, *node.aliases)
    if node.document_id is None:
        names = (*names, *value_forms(node.id, "date" if node.kind == "date" else "text", node.name))
    return _all_padded(names)


def _all_padded(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(form for form in (_padded(name, article=False) for name in names) if form.strip()))


def _padded(text: str, *, article: bool = True) -> str:
    words = tokens(text)
    if not article and len(words) > 1 and words[0] in ("the", "a", "an"):
        words = words[1:]
    return f" {' '.join(words)} "
