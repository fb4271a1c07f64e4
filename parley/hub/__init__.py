"""From a verified build to a Hub repository, and back."""
