"""Rows that nobody can change, as all who open a build share them."""

from typing import Any, NoReturn


def frozen(value: Any) -> Any:
    """Return a value whose dicts and lists, at every depth, raise TypeError on a change.

    They equal the given ones. `copy.deepcopy` and pickle make dicts and lists of them that change.
    """
    if type(value) is dict:
        return _FrozenDict({key: frozen(inner) for key, inner in value.items()})
    return _FrozenList(map(frozen, value)) if type(value) is list else value


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError("it is shared and cannot be changed: change a copy, copy.deepcopy(it)")


class _FrozenDict(dict[Any, Any]):
    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


class _FrozenList(list[Any]):
    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> Any:
        return list, (list(self),)
