"""From a build to right answers and questions, and from predictions to a score."""
