"""Keyword arguments, checked and written down for the native part."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ._errors import DataTypeError, InputError

Named = list[tuple[str | None, str]]
"""Columns, each with the target it is of."""

ESTIMATORS = {"suno": "additive", "uno": "product"}

PropensitySource = Literal["known", "estimated"]
"""Whether the logging policy wrote its propensities down, or they were estimated from the log."""

TargetSlots = Literal["independent", "joint"]
"""Whether a target's slots depend on each other, given the context."""

Estimator = Literal["suno", "uno"]
"""The paper's estimators."""

Correction = Literal["auto", "none", "self-normalized", "control-variate", "calibrated"]
"""What makes weights less noisy."""

Band = Literal["multiplier", "bernstein", "none"]
"""Where bands and intervals come from."""

OnBad = Literal["fail", "skip"]
"""What is done about rows or files that cannot be used."""

OnUnknown = Literal["warn", "fail", "skip"]
"""What is done about files in a directory that are no logs."""

Tail = Literal["lower", "upper"]
"""The tail that VaR and CVaR look at."""


def slots_argument(slots: TargetSlots) -> dict[str, TargetSlots]:
    """The argument that tells `evaluate` of slots that depend on each other; none where it assumes what is so."""
    return {"target_slots": slots} if slots == "joint" else {}


def source_argument(source: PropensitySource) -> dict[str, PropensitySource]:
    """The argument that tells `evaluate` of propensities that were estimated; none where they are known."""
    return {"propensities": source} if source == "estimated" else {}


def text(name: str, value: Any, what: str = "a column's name") -> str:
    """A string, or a refusal that names the argument."""
    if isinstance(value, str):
        return value
    raise DataTypeError(f"{name} must be {what}, not {_kind(value)}")


def optional_text(name: str, value: Any, what: str = "a column's name") -> str | None:
    return None if value is None else text(name, value, what)


def several(name: str, value: Any) -> str | None:
    """One column's name, or several with commas between them."""
    if isinstance(value, (list, tuple)):
        names = [text(name, column) for column in value]
        if not names:
            raise InputError(f"{name} is empty: name at least one column, or leave it out")
        return ", ".join(names)
    return optional_text(name, value)


def number(name: str, value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise DataTypeError(f"{name} must be a number, not {_kind(value)}") from None
    if not math.isfinite(found):
        raise InputError(f"{name} `{found}`: must be a finite number")
    return found


def fraction(name: str, value: Any) -> float:
    """A number between 0 and 1."""
    found = number(name, value)
    if not 0 < found < 1:
        raise InputError(f"{name} `{found}`: must lie between 0 and 1")
    return found


def whole(name: str, value: Any, least: int = 0) -> int:
    try:
        found = operator.index(value)
    except TypeError:
        raise DataTypeError(f"{name} must be a whole number, not {_kind(value)}") from None
    if not least <= found < 2**63:
        raise InputError(
            f"{name} `{found}`: must be at least {least}" if found < least else f"{name} `{found}`: too large"
        )
    return found


def numbers(name: str, values: Any) -> list[float]:
    """One number or several."""
    if isinstance(values, Iterable) and not isinstance(values, str):
        return [number(name, value) for value in values]
    return [number(name, values)]


def named(name: str, value: Any) -> Named:
    """`"pi"`, `"new=pi_new"`, `{"new": "pi_new"}`, or several of the first two."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        return [
            (text(f"a name in {name}", key, "text"), text(f"{name}[{key!r}]", column)) for key, column in value.items()
        ]
    if isinstance(value, str):
        return [_split(name, value)]
    if isinstance(value, (list, tuple)):
        return [_split(name, text(name, column)) for column in value]
    raise DataTypeError(f"{name} must be a column's name or a dict of names and columns, not {_kind(value)}")


def _split(name: str, value: str) -> tuple[str | None, str]:
    target, equals, column = value.rpartition("=")
    if not column or (equals and not target):
        raise InputError(f"{name} `{value}`: write a column, NAME=COLUMN, or a dict of names and columns")
    return (target if equals else None), column


def _kind(value: Any) -> str:
    return f"{type(value).__name__} {value!r}" if isinstance(value, (int, float)) else f"a {type(value).__name__}"


def threads(value: int | None) -> int | None:
    return None if value is None else whole("threads", value, 1)


@dataclass
class Columns:
    """Which columns hold what."""

    reward: str | None = None
    logging: str | None = None
    target: Named = field(default_factory=list)
    chi: Named = field(default_factory=list)
    anywhere: Named = field(default_factory=list)
    weight: Named = field(default_factory=list)
    long: bool = False
    slate: str | None = None
    by: str | None = None
    cluster: str | None = None

    @classmethod
    def of_names(
        cls,
        *,
        reward: Any,
        logging: Any,
        target: Any,
        chi: Any,
        anywhere: Any,
        weight: Any,
        long: bool,
        slate: Any,
        by: Any,
        cluster: Any,
    ) -> Columns:
        if slate is not None and not long:
            raise InputError("slate is for logs of one row per slot: say long=True as well")
        return cls(
            reward=optional_text("reward", reward),
            logging=optional_text("logging", logging),
            target=named("target", target),
            chi=named("chi", chi),
            anywhere=named("anywhere", anywhere),
            weight=named("weight", weight),
            long=bool(long),
            slate=optional_text("slate", slate),
            by=several("by", by),
            cluster=optional_text("cluster", cluster),
        )

    def bases(self, structure: str) -> set[str]:
        """Every name that the log may be searched for; `mu` stands for `mu_1`, `mu_2`, … too."""
        given = [self.reward, self.logging, self.slate, self.by, self.cluster]
        given += [name.strip() for name in (self.by or "").split(",")]
        bases = {"reward", "mu", "pi", "chi", "any", "weight", *(name for name in given if name)}
        if self.long:
            bases |= {"slate_id", "position", "pscore_item_position", "evaluation_policy_pscore_item_position"}
        for name, column in self.target:
            suffixes = [name] if name else []
            suffixes += [column[3:]] if column.startswith("pi_") else []
            bases |= {column} | {f"{what}_{suffix}" for what in ("chi", "any", "weight") for suffix in suffixes}
        bases |= {column for columns in (self.chi, self.anywhere, self.weight) for _, column in columns}
        kind, _, column = structure.partition(":")
        return bases | {column} if kind == "ranking" else bases


@dataclass
class Options:
    """Everything but the data: what to keep of them, and how to evaluate it."""

    columns: Columns
    structure: str
    target_slots: str
    bins: str
    baseline: str | None
    interactions: bool = False
    propensities: str = "known"
    allow_duplicates: bool = False
    on_bad_row: str = "fail"
    on_bad_file: str = "fail"
    on_unknown_file: str = "warn"
    allow_unended: bool = False
    memory: int | None = None

    def request(self) -> str:
        columns = {name: getattr(self.columns, name) for name in Columns.__dataclass_fields__}
        own = {name: getattr(self, name) for name in Options.__dataclass_fields__ if name != "columns"}
        return json.dumps({**columns, **own})

    def bases(self) -> set[str]:
        return self.columns.bases(self.structure)


def structure_of(estimator: Any, structure: Any, correction: Any) -> tuple[str, str]:
    """The structure and the correction, where an estimator may stand for both."""
    structure = text("structure", structure, "the name of a structure")
    correction = text("correction", correction, "the name of a correction")
    if estimator is None:
        return structure, correction
    if estimator not in ESTIMATORS:
        raise InputError(f'estimator `{estimator}`: use "suno" or "uno", or say structure and correction')
    if (structure, correction) != ("auto", "auto"):
        raise InputError("estimator stands for a structure and a correction: leave those two out")
    return ESTIMATORS[estimator], "none"


METHOD = [
    "correction",
    "structure",
    "band",
    "min_propensity",
    "confidence",
    "alpha",
    "tail",
    "quantile",
    "at_least",
    "draws",
    "debias_cvar",
    "seed",
    "threads",
]
"""What can be decided after the log has been read."""


def method(
    *,
    correction: str,
    band: Any = "multiplier",
    min_propensity: Any = None,
    confidence: Any = 0.95,
    alpha: Any = (0.05, 0.1, 0.25),
    tail: Any = "lower",
    quantile: Any = (0.25, 0.5, 0.75),
    at_least: Any = (),
    draws: Any = 2000,
    debias_cvar: Any = False,
    seed: Any = 0,
    threads: int | None = None,
    structure: str | None = None,
) -> str:
    """How to evaluate, written down."""
    return json.dumps(
        {
            "correction": correction,
            "structure": structure,
            "band": text("band", "none" if band is None else band, "the name of a band"),
            "min_propensity": None if min_propensity is None else number("min_propensity", min_propensity),
            "confidence": number("confidence", confidence),
            "alpha": numbers("alpha", alpha),
            "tail": text("tail", tail, '"lower" or "upper"'),
            "quantile": numbers("quantile", quantile),
            "at_least": numbers("at_least", at_least),
            "draws": whole("draws", draws),
            "debias_cvar": bool(debias_cvar),
            "seed": whole("seed", seed),
            "threads": threads,
        }
    )


def tolerance(
    on_bad_row: Any, on_bad_file: Any, on_unknown_file: Any, allow_unended: Any, memory: Any = None
) -> dict[str, Any]:
    """What is done about bad rows and files, and how much memory sums may take, as arguments of `Options`."""
    for name, value in (("on_bad_row", on_bad_row), ("on_bad_file", on_bad_file)):
        if value not in ("fail", "skip"):
            raise InputError(f'{name} {value!r}: use "fail" or "skip"')
    if on_unknown_file not in ("warn", "fail", "skip"):
        raise InputError(f'on_unknown_file {on_unknown_file!r}: use "warn", "fail" or "skip"')
    return {
        "on_bad_row": on_bad_row,
        "on_bad_file": on_bad_file,
        "on_unknown_file": on_unknown_file,
        "allow_unended": bool(allow_unended),
        "memory": None if memory is None else whole("memory", memory, 1),
    }


def bins_text(value: Any) -> str:
    return value if isinstance(value, str) else str(whole("bins", value))
