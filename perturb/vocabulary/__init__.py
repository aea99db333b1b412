"""The public word list V, its embeddings and its word counts."""
