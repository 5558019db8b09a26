"""What a user asks for: the recipe, its keys and what they may be."""
