"""Find memories again: derived indexes and their fusion."""
