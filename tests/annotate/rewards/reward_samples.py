"""Ground truths over the small collection, and responses to them."""

from __future__ import annotations

from synth.annotate.rewards import ground_truth
from synth.schemas.rl import GroundTruth
from synth.schemas.tasks import AnswerPart
from synth.testing.corpus import small_tasks

BIRTHDAY = ground_truth(small_tasks()[1])
"""When was the first director (Ilse Brandt) of the company (Korvan Works) that Arvel Torrin founded born?"""
ANSWER = "Answer: 30 January 1868"
FULL = f"Arvel Torrin founded the Korvan Works. Its first director was Ilse Brandt.\n{ANSWER}"
HALF = f"It must be Ilse Brandt.\n{ANSWER}"
BARE = ANSWER
WRONG = "Arvel Torrin founded the Korvan Works. Its first director was Ilse Brandt.\nAnswer: 9 June 1874"

GIVEN = GroundTruth(question="Who?", answer="Ann Lee", answer_kind="entity")
"""A given question: no walk, no rubric."""
PARTS = GroundTruth(
    question="Which towns?",
    answer="Mosk, Velden and Dessau Ferry",
    answer_kind="entity",
    answer_parts=tuple(AnswerPart(answer=name, kind="entity") for name in ("Mosk", "Velden", "Dessau Ferry")),
)
