"""Rows that cannot be changed, since readers share them."""

from typing import Any, NoReturn

_KINDS = (dict, list)


def frozen(value: Any) -> Any:
    """Return a value whose dicts and lists, at every depth, raise TypeError on a change.

    They equal the given ones. `copy.deepcopy` and pickle make dicts and lists of them that change.
    """
    if type(value) is dict:
        made = _Dict(value)
        for key, each in value.items():
            if type(each) in _KINDS:
                dict.__setitem__(made, key, frozen(each))
        return made
    if type(value) is list:
        return _List([frozen(each) if type(each) in _KINDS else each for each in value])
    return value


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError("a row is shared and cannot be changed: change a copy, copy.deepcopy(row)")


class _Dict(dict[Any, Any]):
    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


class _List(list[Any]):
    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> Any:
        return list, (list(self),)
