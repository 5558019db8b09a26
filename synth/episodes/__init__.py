"""Environments for others: episodes in sessions, over HTTP and over the Model Context Protocol."""
