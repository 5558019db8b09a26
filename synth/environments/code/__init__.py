"""The environment ``code``: a folder of Python with tests, in a sandbox."""
