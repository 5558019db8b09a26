"""Any server of the Model Context Protocol as an environment. The SDK (extra ``mcp``) is imported where it is used."""
