"""What a scripted policy can say without tools. It knows nothing but the question: it guesses between options that the
question itself names, and abstains where there are none."""

from __future__ import annotations

import numpy as np

from synth.agents.contract import Turn
from synth.agents.scripted.phrases import Thoughts
from synth.agents.scripted.reading import Reading

__all__ = ["closed_book"]


def closed_book(reading: Reading, generator: np.random.Generator) -> Turn:
    """A guess between the things that the question compares by name; else no answer."""
    thoughts = Thoughts(reading.question, generator)
    last = reading.deeds[-1] if reading.deeds else None
    named = [reading.clues[number].name for number in last.over] if last and last.kind in ("argmin", "argmax") else []
    options = list(dict.fromkeys(named))
    if len(options) > 1 and all(options):
        guess = options[int(generator.integers(len(options)))]
        thoughts.add("answer_guess", answer=guess)
        return Turn(thought=thoughts.text(), answer=guess)
    thoughts.add("no_result")
    return Turn(thought=thoughts.text())
