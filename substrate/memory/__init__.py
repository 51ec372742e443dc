"""Memories, the links between them and the entities they speak of: written, found, walked and forgotten."""
