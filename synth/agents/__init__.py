"""Who acts: scripted agents, agents that a language model plays, and what all of them share."""
