"""Any server of the Model Context Protocol as an environment (extra ``mcp``)."""
