"""What models do with tasks before any rollout: word the question anew, and check it. Nothing of it is trusted."""
