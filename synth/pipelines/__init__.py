"""From recipes to datasets: plans, builds, imports, annotations."""
