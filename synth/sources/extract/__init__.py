"""A graph out of plain documents: triples, each with the span of the text that states it."""
