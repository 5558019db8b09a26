"""A folder of HTML, Markdown or reStructuredText with hyperlinks: documents, and the graph that they state."""
