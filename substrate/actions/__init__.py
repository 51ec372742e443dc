"""What a principal can ask for, declared once and called by every door."""
