"""Tasks: right answers and questions, rules of games, files of predictions, scores."""
