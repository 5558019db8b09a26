"""Questions over real documents, worded without a model."""
