"""Read English sentences as far as judging a claim needs it: clauses, who does what, and which words mean the same."""
