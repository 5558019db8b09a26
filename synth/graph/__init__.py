"""The graph of what documents state, and constrained random walks on it."""
