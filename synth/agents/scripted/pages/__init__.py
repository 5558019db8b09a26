"""Questions over pages: which to search for, open and read, and what on them answers."""
