"""Applications on SQLite: declared in YAML, driven by tools, compared by state."""
