"""Keep memories, entities and the links between them."""
