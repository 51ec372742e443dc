"""The rows and the one engine that keeps them."""
