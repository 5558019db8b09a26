"""Who failed a run, and at which step."""
