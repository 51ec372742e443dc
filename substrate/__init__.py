"""Rows, documents, access, graph, recall and requests over one embedded file."""
