"""Reflect on observations: find what they say about an entity, and write it down with its sources."""
