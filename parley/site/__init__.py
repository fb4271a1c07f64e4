"""The page: built folders as static files in which a browser reads, searches and filters.

`describe` and `data` read a built folder, `write` lays out what they found, `serve` shows it.
"""
