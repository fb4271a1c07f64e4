"""What a build leaves, and everything that looks at it: card, checks, verify, diff.

Its arrows run down, to `rows` and `source`; it knows no Hub and no terminal.
"""
