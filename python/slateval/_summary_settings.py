"""Settings that a summary fixes before its first row: checks them, compares two summaries, refuses later changes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from . import _slateval
from ._errors import DataTypeError, InputError
from ._options import METHOD, Options

_ROWS = [
    "reward",
    "logging",
    "target",
    "chi",
    "anywhere",
    "weight",
    "long",
    "slate",
    "by",
    "cluster",
    "target_slots",
    "propensities",
    "bins",
    "baseline",
    "interactions",
]
"""Settings that decide what is kept of each row."""


class _Understood(Exception):
    """Raised when the native code asks for rows: it has accepted the settings by then."""


def check(options: Options) -> None:
    """Refuses settings that contradict each other, before any row is read."""

    def none_yet() -> Iterator[Any]:
        raise _Understood
        yield

    try:
        _slateval.Summary.read_batches(options.request(), none_yet(), [])
    except _Understood:
        return


def of_options(options: Options) -> dict[str, str]:
    """The settings that `options` fix, as text. Settings that are found from the rows are left out."""
    columns = options.columns
    bins = "log" if options.bins == "log" else str(int(options.bins))
    found = _common(options.structure, options.target_slots, bins, columns.by, columns.cluster, options.baseline)
    found["propensities"] = options.propensities
    if columns.reward:
        found["reward"] = columns.reward
    if columns.logging:
        found["logging"] = columns.logging
    if columns.target and all(name for name, _ in columns.target):
        found["targets"] = ", ".join(str(name) for name, _ in columns.target)
    return found


def of_spec(spec: str) -> dict[str, str]:
    """The same settings of a summary that has rows."""
    facts = json.loads(spec)
    binning = facts["binning"]
    bins = "log" if binning["scale"] == "log" else str(binning["capacity"])
    found = _common(facts["structure"], facts["target_slots"], bins, facts["by"], facts["cluster"], facts["baseline"])
    found["propensities"] = facts.get("propensities", "known")
    found["targets"] = ", ".join(policy["name"] for policy in facts["policies"])
    return found | {name: column for name, column in facts["columns"].items() if name in ("reward", "logging")}


def _common(structure: str, slots: str, bins: str, by: Any, cluster: Any, baseline: Any) -> dict[str, str]:
    found = {"target_slots": slots, "bins": bins, "by": str(by), "cluster": str(cluster), "baseline": str(baseline)}
    # The same sets of slots can be written in many ways.
    return found | {"structure": "interactions" if structure.startswith("interactions:") else structure}


def refuse_differences(one: Mapping[str, str], other: Mapping[str, str]) -> None:
    different = [name for name in one if name in other and one[name] != other[name]]
    if different:
        found = "; ".join(f"{name}: {one[name]} against {other[name]}" for name in different)
        raise InputError(f"these summaries do not fit together: {found}")


def refuse_settings_of_rows(settings: Mapping[str, Any]) -> None:
    for name in settings:
        if name in _ROWS:
            raise DataTypeError(
                f"{name} is fixed when rows are added: give it to Summary or evaluate, and read them again"
            )
        if name not in METHOD:
            raise DataTypeError(f"there is no setting {name!r}; a summary is evaluated with {', '.join(METHOD)}")


def kind(value: object) -> str:
    """Describes a value that was passed in place of a summary, and says what to do instead."""
    name = type(value).__name__
    if name == "Evaluation":
        return "an Evaluation; ev.merge(other) merges evaluations, and ev.save(path) keeps a summary"
    return f"a {name}; Summary.from_bytes and Summary.load make summaries" if isinstance(value, bytes) else f"a {name}"
