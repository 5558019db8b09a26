"""Finding documents: tokens, BM25 over bm25s, passages, exact mentions."""
