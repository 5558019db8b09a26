"""Verified critical steps: branch from a recorded trajectory, try alternatives, measure what they are worth."""
