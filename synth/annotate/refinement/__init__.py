"""Failed runs made into good ones."""
