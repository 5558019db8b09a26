"""Questions over the fictional world: wording, proposing."""
