"""Tasks from explored applications: walk, cut down, worded, audited, proved by replay (METHODS 5).

A candidate walks through a fresh state of its application and keeps the calls that changed it, cuts them down until
none can be left out, words what was done as a person would ask for it, and finds the reading calls by which somebody
who hears those words comes to every id. Nothing is a task that does not replay to its goal, or that can be read in two
ways. What people ask of an application, and in what words, stands in its definition
(:mod:`synth.environments.app.requests`); agents that solve these tasks need ``open_app(..., user=True)``, for some of
them leave something open that the person says when asked.
"""
