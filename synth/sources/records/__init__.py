"""JSONL and Parquet documents with optional links or triples."""
