"""Scripted agents that walk a graph: teacher and policy of the graph environment."""
