"""Views of rows: the files that policy asks for, written and taken away again."""
