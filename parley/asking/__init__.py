"""From a task to a model's logged answers, and from a log to a score."""
