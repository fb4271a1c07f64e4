"""From predictions to a score: read a file strictly, score it, compare with references."""
