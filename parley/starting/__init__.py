"""The first folder of a new dataset: a skeleton, or a draft from upstream's files (`parley new`).

Its arrows run down, to `build`, `folder`, `rows` and `source`.
"""
