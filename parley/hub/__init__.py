"""The way to the Hub and back: a repository, publishing into it, and reading back what is there."""
