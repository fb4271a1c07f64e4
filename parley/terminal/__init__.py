"""Terminal output: tables, progress, reports, dialogues.

Its arrows run down to whatever is printed; nothing but the command line imports it.
"""
