"""Scripted agents for any environment whose tasks have a plan: they look up, ask, act, refuse, and try again."""
