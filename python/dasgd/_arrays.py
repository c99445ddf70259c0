"""Arrays of numpy, and what looks like them, as data of a run."""

from __future__ import annotations

import numbers
import os
from typing import Any

import numpy

from . import _core
from ._core import InputError

__all__ = ["is_arrays", "is_rows", "to_arrays"]


def is_arrays(value: Any) -> bool:
    """Whether data is in memory rather than the name of some."""
    return value is not None and not isinstance(value, (str, bytes, os.PathLike, numbers.Real))


def is_rows(value: Any) -> bool:
    """Whether a list is one of rows, not [X, y]."""
    if not isinstance(value, list):
        return False
    try:
        return len(value) != 2 or numpy.ndim(value[0]) == numpy.ndim(value[1])
    except ValueError:  # rows of different lengths inside
        return False


def to_arrays(keyword: str, value: Any) -> "_core.Arrays":
    """(X, y), or one table with a column for the label. Copies only what cannot be read where it lies: other
    orders and other types than 32 and 64 bit floats, integers, booleans and texts."""
    pair = tuple(value) if isinstance(value, (tuple, list)) else (value, None)
    if len(pair) != 2:
        raise InputError(f"{keyword}: give (X, y), or one table with a column for the label")
    x = _readable(f"{keyword} X", pair[0])
    if x.dtype.kind in "US" or not 1 <= x.ndim <= 4:
        raise InputError(
            f"{keyword} X has shape {x.shape} and dtype {x.dtype}; samples are rows or images of numbers: "
            "(samples, numbers), (samples, height, width) or (samples, channels, height, width)"
        )
    y = None if pair[1] is None else _readable(f"{keyword} y", pair[1])
    return _core.Arrays(keyword, (x, x.dtype.kind), None if y is None else (y, y.dtype.kind))


def _readable(name: str, value: Any) -> numpy.ndarray:
    if hasattr(value, "detach"):  # a tensor that takes part in gradients
        value = value.detach()
    if numpy.ma.is_masked(value):
        what = name.split()[-1]
        raise InputError(f"{name} has masked values, and arrays carry no mask: give {what}.filled(...), or leave these rows out")
    try:
        array = numpy.asarray(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is not an array: {error}") from None
    if array.size == 0:
        raise InputError(f"{name} has shape {array.shape}: it is empty")
    if array.dtype.kind == "O":
        array = _texts(name, array)
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        array = array.astype(numpy.float32 if array.dtype.itemsize < 4 else numpy.float64)
    if array.dtype.kind not in "fiubUS":
        raise InputError(f"{name} has dtype {array.dtype}; give numbers or texts")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return numpy.ascontiguousarray(array)


def _texts(name: str, array: numpy.ndarray) -> numpy.ndarray:
    if all(isinstance(item, str) for item in array.flat):
        return array.astype(str)
    other = next(item for item in array.flat if not isinstance(item, str))
    of_one_kind = all(isinstance(item, numbers.Real) for item in array.flat)
    advice = f"{name.split()[-1]}.astype(float)" if of_one_kind else "numbers or texts of one kind"
    raise InputError(f"{name} has dtype object and holds {type(other).__name__}; give {advice}")
