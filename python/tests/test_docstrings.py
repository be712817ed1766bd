"""Docstrings: every example runs, and everything that users call has one."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import slateval

ROOT = Path(__file__).parent.parent.parent

MODULES = ["slateval", *(found.name for found in pkgutil.walk_packages(slateval.__path__, "slateval."))]

RETURNED = {"Disparity", "Table", "Task"}
"""Functions return these, and their examples are with those functions."""


@pytest.mark.parametrize("name", [name for name in MODULES if name != "slateval._slateval"])
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Examples name files as one does at the root of the repository.
    monkeypatch.chdir(ROOT)
    importlib.import_module(name)
    # `slateval.propensities` is a function as well as a module.
    assert doctest.testmod(sys.modules[name]).failed == 0


def called() -> dict[str, Any]:
    """The functions and classes that users call, by name."""
    found = {name: getattr(slateval, name) for name in slateval.__all__ if name not in RETURNED}
    found |= {name: getattr(slateval.weights, name) for name in slateval.weights.__all__ if name != "PseudoInverse"}
    found |= {f"sim.{name}": getattr(slateval.sim, name) for name in ("additive", "pairwise", "cascade")}
    for module, function in (("obp", "from_bandit_feedback"), ("scope_rl", "from_logged_dataset")):
        found[function] = getattr(importlib.import_module(f"slateval.compat.{module}"), function)
    return {
        name: value
        for name, value in found.items()
        if callable(value) and not (isinstance(value, type) and issubclass(value, Exception))
    }


@pytest.mark.parametrize("name", sorted(called()))
def test_has_an_example(name: str) -> None:
    assert ">>> " in (called()[name].__doc__ or "")


@pytest.mark.parametrize("name", [name for name in slateval.__all__ if name != "__version__"])
def test_is_documented(name: str) -> None:
    assert getattr(slateval, name).__doc__


def public() -> dict[str, Any]:
    """Every function, class and method that users call, by its full name."""
    found: dict[str, Any] = {}
    for name, value in called().items():
        found[name] = value
        if isinstance(value, type):
            for method, function in vars(value).items():
                function = getattr(function, "__func__", function)
                if not method.startswith("_") and inspect.isfunction(function):
                    found[f"{name}.{method}"] = function
    return found


@pytest.mark.parametrize("name", sorted(public()))
def test_has_the_sections_of_numpydoc(name: str) -> None:
    value = public()[name]
    document = inspect.getdoc(value) or ""
    parameters = [p for p in inspect.signature(value).parameters if p not in ("self", "cls")]
    wanted = ["Parameters"] if parameters else []
    if not isinstance(value, type):
        wanted += [] if inspect.signature(value).return_annotation in (None, "None") else ["Returns"]
        wanted += ["Raises", "Examples"] if "." not in name.removeprefix("sim.") else []
    for section in wanted:
        assert f"\n{section}\n{'-' * len(section)}\n" in f"\n{document}", f"{name} has no section {section}"
    if "Parameters" in wanted:
        described = document.partition("Parameters\n")[2].partition("\n\n")[0]
        assert [p for p in parameters if not re.search(rf"\b{p}\b", described)] == [], f"{name}: not described"
