"""Decide who may do what: principals, namespaces and the one access function."""
