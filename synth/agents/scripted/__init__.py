"""Scripted agents: planners that see only what the environment returns (METHODS 6). All state is the history."""
