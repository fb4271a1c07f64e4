"""From predictions to a score: a file read strictly, scored, and laid beside what is documented.

Its arrows run down, to `folder` for the build; it knows no dataset's metrics and no terminal.
"""
