"""Distractors of tasks: pages that runs met and did not need, and neighbours of the evidence (METHODS 3)."""
