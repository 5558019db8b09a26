"""Stand-ins for tests: runs with planted errors, an MCP server that misbehaves, a Hub that goes wrong on a plan."""
