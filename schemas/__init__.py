"""The rows of every table, and nothing else. Imports pydantic and pyarrow only."""
