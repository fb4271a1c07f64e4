"""From predictions to a score."""
