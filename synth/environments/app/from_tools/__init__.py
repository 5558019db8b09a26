"""From tools that a user has (OpenAI's ``tools``, an MCP ``tools/list``, an OpenAPI document) to an application."""
