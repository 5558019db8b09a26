"""Calls of language models: clients, endpoints, retries, prices, and servers that we start ourselves."""
