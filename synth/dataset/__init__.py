"""A finished dataset: layout, reader, card, what is shown of it, and the rules and the audit that prove it."""
