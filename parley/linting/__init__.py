"""What must hold of a dataset folder before and beside its real data: `parley check`, `parley new`.

Its arrows run down, to `folder`, `rows` and `source`; it knows no Hub and prints nothing.
"""
