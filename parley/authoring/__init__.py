"""From upstream files to a dataset folder; from a dataset folder to its broken rules."""
