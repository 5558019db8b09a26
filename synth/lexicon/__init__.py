"""Words as data: what a relation is called on a page, in a question and in a comparison is one entry of a YAML file."""
