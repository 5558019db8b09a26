"""What a rejected turn thinks: the run's own words, changed no more than the deed is changed.

If only rejected sides had no thought, or spoke in set phrases of ours, a student would learn the phrase and not the
deed. So nothing here writes a sentence: sentences are taken from the good run and names in them exchanged. Where the
run's words can't be made to fit, the functions give None, and no pair is made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from synth.text.sentences import spans

__all__ = [
    "answering",
    "deed",
    "lead",
    "leaves",
    "names",
    "quotes",
    "renamed",
    "sentences",
    "stands_alone",
    "unquoted",
    "up_to_quote",
]

_QUOTE = re.compile(r"\"([^\"]+)\"|“([^”]+)”")


def sentences(text: str | None) -> list[str]:
    """The sentences of a thought, in order; a quotation is never cut."""
    if not text:
        return []
    # Within quotation marks nothing ends a sentence; a closing mark does where a capital follows.
    masked = _QUOTE.sub(lambda match: f'"{"X" * (len(match.group()) - 3)}!"', text)
    return [text[start:end] for start, end in spans(masked, capital=True)]


def quotes(text: str | None) -> list[str]:
    """What stands in quotation marks."""
    return [match.group(1) or match.group(2) for match in _QUOTE.finditer(text or "")]


def names(text: str, name: str) -> bool:
    """Whether ``name`` stands in ``text`` as whole words."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def renamed(text: str, old: str, new: str) -> str:
    """``old`` as whole words exchanged for ``new``."""
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, text)


def lead(thought: str | None, question: str) -> list[str]:
    """What a thought says about what was read: up to its last quotation and the sentence that draws the conclusion.
    Quoting the question is not reading."""
    parts = sentences(thought)
    read = [at for at, part in enumerate(parts) if any(text not in question for text in quotes(part))]
    last = max(read, default=None)
    return [] if last is None else parts[: last + 2]


def deed(thought: str | None) -> list[str]:
    """What a thought says of the deed: its last sentence, unless that quotes."""
    parts = sentences(thought)
    return [parts[-1]] if parts and not quotes(parts[-1]) else []


def unquoted(thought: str | None) -> str | None:
    """The thought with every quotation left out."""
    return None if thought is None else _QUOTE.sub("this", thought)


def up_to_quote(part: str) -> str:
    """A sentence without what it means to do about what it quotes (``"..." and I want to see the rest.``)."""
    last = max((match.end() for match in _QUOTE.finditer(part)), default=None)
    return part if last is None or not part[last:].startswith(" and ") else part[:last]


def answering(run_thought: str | None, given: str, answer: str) -> str | None:
    """The sentence with which the run announces its answer ``given``, for another ``answer``."""
    for part in reversed(sentences(run_thought)):
        if names(part, given) and not quotes(part):
            return renamed(part, given, answer)
    return None


def leaves(text: str, old: str, new: str) -> bool:
    """Whether ``text``, in which ``old`` was exchanged for ``new``, still holds a part of the old name."""
    kept = set(re.findall(r"\w{4,}", new))
    return any(names(text, word) for word in re.findall(r"\w{4,}", old) if word not in kept and word[0].isupper())


def stands_alone(parts: Sequence[str]) -> str | None:
    """Sentences as a thought; None when there are none."""
    text = " ".join(dict.fromkeys(parts))
    return text or None
