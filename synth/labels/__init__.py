"""Labels of steps: what helped, what harmed, what may be a target."""
