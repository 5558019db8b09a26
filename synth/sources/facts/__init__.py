"""Facts that the user gives, as triples or as tables, and the graph that they make."""
