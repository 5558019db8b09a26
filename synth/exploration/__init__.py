"""Reverse task synthesis: explore an environment, derive the task afterwards, prove it by replay (METHODS 5)."""
