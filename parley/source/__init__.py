"""From a URL to checked files on disk: pins, downloads, archives, and where a build finds them.

Its arrows run down, to errors and the collection; it knows no field of a record.
"""
