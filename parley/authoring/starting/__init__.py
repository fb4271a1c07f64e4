"""Start a dataset folder: the skeleton (`parley new`), and the pins of its files (`parley pin`)."""
