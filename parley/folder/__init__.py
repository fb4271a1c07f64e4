"""What a build leaves, and everything that looks at it: card, checks, verify, diff."""
