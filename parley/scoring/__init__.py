"""From predictions to a score: read a file strictly, score it, compare with references.

Its arrows run down, to `folder` for the build; it knows no dataset's metrics and no terminal.
"""
