"""Long contexts: gold documents among distractors, up to a budget of tokens."""
