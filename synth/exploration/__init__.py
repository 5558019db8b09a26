"""Tasks derived from explored environments: explore, reduce, word, audit by replay (METHODS 5)."""
