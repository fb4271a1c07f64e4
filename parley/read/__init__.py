"""Words of a dialogue's transcript, its charts, and exports for ConvoKit."""

from parley.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
