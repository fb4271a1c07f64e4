"""What a person sees: tables, progress, reports, a dialogue laid out.

Its arrows run down to whatever is printed; nothing but the command line imports it.
"""
