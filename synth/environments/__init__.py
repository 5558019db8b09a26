"""Where agents act: search, graph, applications, MCP servers, web sites, recordings."""
