"""JSON over HTTP, for whatever this package serves to programs that run elsewhere."""
