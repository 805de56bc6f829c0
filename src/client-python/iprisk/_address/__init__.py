"""Addresses as the API takes them, and whose address it is behind proxies."""
