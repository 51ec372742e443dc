"""Who may do what, written once: principals, namespaces, and the one access function."""
