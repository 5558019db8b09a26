"""Facts that the user gives: triples in a table or a file of statements."""
