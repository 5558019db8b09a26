"""What keeps rows out of a dataset: duplicates of other rows, and overlap with benchmarks."""
