"""The Python call that repeats an evaluation, as text: reports show it to their readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DEFAULTS: dict[str, Any] = {
    "structure": "auto",
    "target_slots": "independent",
    "propensities": "known",
    "bins": "4096",
    "by": None,
    "baseline": None,
    "cluster": None,
    "correction": "auto",
    "alpha": [0.05, 0.1, 0.25],
    "tail": "lower",
    "quantile": [0.25, 0.5, 0.75],
    "at_least": [],
    "band": "multiplier",
    "min_propensity": None,
    "confidence": 0.95,
    "draws": 2000,
    "seed": 0,
    "debias_cvar": False,
}

_OF_LOG = {"target_slots", "propensities", "bins", "by", "cluster"}
"""Settings that are stored in the summary, so that `load` does not take them."""


def call(settings: Mapping[str, Any]) -> str:
    """Writes the call that gives the same evaluation.

    >>> call({"summary": "week.slateval", "confidence": 0.9, "seed": 0})
    "slateval.load('week.slateval', confidence=0.9)"
    """
    log = settings.get("log")
    if log is None:
        given = _arguments(settings, without=_OF_LOG | {"structure", "baseline"})
        return f"slateval.load({', '.join([repr(settings.get('summary') or 'SAVED.slateval'), *given])})"
    paths = log["paths"]
    data = "data" if not paths else repr(paths[0] if len(paths) == 1 else paths)
    return f"slateval.evaluate({', '.join([data, *_columns(log), *_arguments(settings, without=set())])})"


def _columns(log: Mapping[str, Any]) -> list[str]:
    targets = {target["name"]: target["target"] for target in log["targets"]}
    chi = {target["name"]: target["chi"] for target in log["targets"] if target["chi"]}
    named = {"reward": log["reward"], "logging": log["logging"], "target": targets} | ({"chi": chi} if chi else {})
    if log["long"]:
        named |= {"long": True, "slate": log["slate"]}
    named |= {name: log[name] for name in ("on_bad_row", "on_bad_file", "allow_unended") if name in log}
    return [f"{name}={value!r}" for name, value in named.items()]


def _arguments(settings: Mapping[str, Any], without: set[str]) -> list[str]:
    """Arguments whose value is not the default."""
    given = {name: settings[name] for name in _DEFAULTS if name in settings and name not in without}
    return [f"{name}={value!r}" for name, value in given.items() if value != _DEFAULTS[name]]
