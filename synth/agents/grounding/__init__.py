"""Whether turns name only what they had seen: a fail-closed check that agents and judges share."""
