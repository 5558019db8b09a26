"""What recorded steps did, measured by the task's evidence: the ground on which every judge of this wing stands."""
