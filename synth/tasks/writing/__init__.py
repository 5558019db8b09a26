"""What models do before any rollout: read documents, word questions, check tasks. Nothing of it is trusted."""
