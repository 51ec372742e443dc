"""Open the doors: everything a person or a program calls from outside."""
