"""Source: a folder of Python with its tests."""
