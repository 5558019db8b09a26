"""A fictional world: a typed knowledge graph of invented entities and a page for each (METHODS 1)."""
