"""Ask models the questions of a task: endpoint, log, batch files, scores of a log."""
