"""Turn memories into cited personas, with a model or without one."""
