"""Scripted agents that mend code: they run the tests, look where the failure leads, try an edit, and test again."""
