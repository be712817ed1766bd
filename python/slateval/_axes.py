"""Pictures on axes of matplotlib, which is loaded only by those who pass one of its axes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ._errors import DataTypeError, InputError

if TYPE_CHECKING:
    from ._evaluation import Evaluation

COLOURS = ("#5b6470", "#0072b2", "#d55e00", "#00805d", "#a8488a", "#9a6700", "#2a7fb8")
"""Those of the pages: logging, then targets."""


def draw(ev: Evaluation, names: list[str], ax: Any) -> Any:
    """Draws one picture on axes, and returns them. Without a name, the CDFs."""
    if not hasattr(ax, "plot") or not hasattr(ax, "fill_between"):
        raise DataTypeError(f"ax must be axes of matplotlib, not a {type(ax).__name__}")
    if names == ["cdf", "difference"]:
        names = ["cdf"]
    if len(names) != 1:
        raise InputError(f"one axis takes one plot, not {len(names)}: call plot for each with an axis of its own")
    _DRAWN[names[0]](ev, ax)
    return ax


def _colour(ev: Evaluation, policy: str) -> str:
    place = ev._names.index(policy)
    return COLOURS[0 if place == 0 else 1 + (place - 1) % (len(COLOURS) - 1)]


def _ends(facts: dict[str, Any]) -> tuple[float, float]:
    """The ends to show; those of a conditional interval hold under its condition."""
    held = facts.get("if_order_holds") if facts.get("conditional") else facts
    held = held or {"lower": None, "upper": None}
    nan = float("nan")
    return tuple(nan if held[end] is None else held[end] for end in ("lower", "upper"))  # type: ignore[return-value]


def _cdf(ev: Evaluation, ax: Any) -> None:
    for name, policy in ev.items():
        cdf = policy.cdf.to_numpy()
        colour = _colour(ev, name)
        ax.step(cdf["reward"], cdf["estimate"], where="post", color=colour, label=name)
        ax.fill_between(cdf["reward"], cdf["lower"], cdf["upper"], step="post", color=colour, alpha=0.16, linewidth=0)
    ax.set(xlabel="reward", ylabel="share of slates with at most this reward")
    ax.legend()


def _curves(ev: Evaluation, ax: Any, series: list[tuple[str, list[dict[str, Any]]]], levels: list[float]) -> None:
    percent = [100 * level for level in levels]
    for name, intervals in series:
        nan = float("nan")
        estimate = [nan if i["estimate"] is None else i["estimate"] for i in intervals]
        lower, upper = zip(*map(_ends, intervals), strict=True)
        colour = _colour(ev, name)
        ax.plot(percent, estimate, color=colour, label=name)
        ax.fill_between(percent, lower, upper, color=colour, alpha=0.16, linewidth=0)
    ax.legend()


def _difference(ev: Evaluation, ax: Any) -> None:
    profile = json.loads(ev._core.profile_json())
    against = [c for c in profile["comparisons"] if c["baseline"] == "logging"]
    ax.axhline(0, color="#4a4f57", linewidth=1)
    _curves(ev, ax, [(c["policy"], c["quantile_band"]) for c in against], profile["levels"])
    ax.set(xlabel="level of the quantile, in percent", ylabel="quantile minus logging's")


def _tails(ev: Evaluation, ax: Any) -> None:
    profile = json.loads(ev._core.profile_json())
    _curves(ev, ax, [(p["name"], p["cvar"]) for p in profile["policies"]], profile["levels"])
    side = "best" if ev.settings["tail"] == "upper" else "worst"
    ax.set(xlabel="share of slates in the tail, in percent", ylabel=f"mean reward of the {side} slates")


def _segments(ev: Evaluation, ax: Any) -> None:
    targets = ev._names[1:]
    for i, segment in enumerate(ev.segments):
        for k, name in enumerate(targets):
            difference = segment.comparison(name).to_dict()["mean"]
            y = -i - 0.6 * (k + 0.5) / len(targets)
            label, colour = (name if i == 0 else None), _colour(ev, name)
            ax.hlines(y, *_ends(difference), color=colour, linewidth=3, alpha=0.5)
            ax.plot(difference["estimate"], y, "o", color=colour, label=label)
    ax.axvline(0, color="#4a4f57", linewidth=1)
    ax.set_yticks([-i - 0.3 for i in range(len(ev.segments))], [str(s.value) for s in ev.segments])
    ax.set(xlabel="mean minus logging's")
    ax.legend()


def _weights(ev: Evaluation, ax: Any) -> None:
    for name in ev._names[1:]:
        histogram = ev[name].diagnostics["weight_histogram"]
        if histogram is not None:
            ax.stairs(histogram["counts"], histogram["edges"], color=_colour(ev, name), label=name)
    ax.set(xlabel="weight of a slate", ylabel="slates", yscale="log")
    ax.set_xscale("symlog")
    ax.legend()


_DRAWN = {"cdf": _cdf, "difference": _difference, "tails": _tails, "segments": _segments, "weights": _weights}
