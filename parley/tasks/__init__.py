"""Words of tasks: what is predicted, asked of a model, played and scored."""

from parley.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
