"""Data synthesis for agent post-training."""
