"""Generate, check and read personas."""
