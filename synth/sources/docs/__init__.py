"""A folder of HTML or Markdown with hyperlinks: documents, and the graph that they state."""
