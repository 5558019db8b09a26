"""Runs that somebody recorded elsewhere: their files, object by object, and the questions that they answer."""
