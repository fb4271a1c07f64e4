"""From a dataset to a build; a build, opened."""
