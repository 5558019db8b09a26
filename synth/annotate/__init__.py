"""Judges of what agents did: evidence, labels, critical steps, pairs, rewards, distractors and contexts."""
