"""Tasks on a web site, derived from walks through it in a real browser (OS-Genesis, arXiv 2412.19723)."""
