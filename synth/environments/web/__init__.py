"""A real browser on local pages as an environment (extra ``web``)."""
