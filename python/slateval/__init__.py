"""The whole reward distribution of a new slate policy, from logs of the deployed one.

>>> import slateval
>>> ev = slateval.evaluate("examples/slates.parquet", target={"new": "pi_new"})
>>> print(f"{ev['new'].mean:.4f}")
0.6654 [0.6552, 0.6705]
>>> print(f"{ev['new'].cvar(0.1):.4f}")
0.0518 [0.0406, 0.0582]
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ._cdf import Cdf
from ._checks import Check
from ._comparison import Comparison
from ._errors import (
    ColumnError,
    DataTypeError,
    Error,
    FileError,
    InputError,
    MissingFileError,
    NoRowsError,
    SlatevalWarning,
)
from ._evaluate import evaluate, inspect
from ._evaluation import Evaluation
from ._inspection import Inspection
from ._interval import Interval
from ._plot import Plot
from ._policy import Policy
from ._segment import Disparity, Segment
from ._slateval import Table, __version__
from ._summary import Summary, load
from ._tasks import Task, merge, partial, plan

if TYPE_CHECKING:
    from . import compat, sim, weights
    from ._estimate_propensities import estimate_propensities
    from .propensities import propensities

__all__ = [
    "Cdf",
    "Check",
    "ColumnError",
    "Comparison",
    "DataTypeError",
    "Disparity",
    "Error",
    "Evaluation",
    "FileError",
    "InputError",
    "Inspection",
    "Interval",
    "MissingFileError",
    "NoRowsError",
    "Plot",
    "Policy",
    "Segment",
    "SlatevalWarning",
    "Summary",
    "Table",
    "Task",
    "__version__",
    "compat",
    "estimate_propensities",
    "evaluate",
    "inspect",
    "load",
    "merge",
    "partial",
    "plan",
    "propensities",
    "sim",
    "weights",
]

_MODULES = {"compat", "propensities", "sim", "weights"}
"""Loaded when they are first used, so that importing slateval is quick."""


class _Package(ModuleType):
    """This package, whose `propensities` is the function of the module of that name, whoever imports the module."""

    def __setattr__(self, name: str, value: Any) -> None:
        is_module = name == "propensities" and isinstance(value, ModuleType)
        super().__setattr__(name, value.propensities if is_module else value)

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        # cloudpickle knows modules by their exact class, and would take this one for an object to be copied.
        return importlib.import_module, (self.__name__,)


def __getattr__(name: str) -> Any:
    if name == "estimate_propensities":
        return importlib.import_module("._estimate_propensities", __name__).estimate_propensities
    if name in _MODULES:
        importlib.import_module(f".{name}", __name__)
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, "estimate_propensities"})


sys.modules[__name__].__class__ = _Package
