"""What there is to know: a fictional world, documents, triples, tables, records, recorded runs."""
