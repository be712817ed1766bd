"""Propensities from whole policies: what an evaluation needs to know of two policies and the slates that were shown.

A log that holds only contexts, slates and rewards becomes one that can be evaluated::

    p = slateval.propensities(actions, logging=old_policy, target=new_policy, contexts=contexts)
    slateval.evaluate(reward=reward, **p.arguments())

As the policies are known in full, so is `chi_k(x) = sum_a pi_k(a|x)^2 / mu_k(a|x) - 1`, which lets the weights be
calibrated, and so is whether the target does anything that logging never does.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np

from ._actions import Items, as_matrix, item_list, read_actions
from ._columns import Array, Floats, collected, factorize, has_missing, is_frame
from ._errors import DataTypeError, InputError, SlatevalWarning
from ._estimated import EstimatedPropensities
from ._options import PropensitySource, TargetSlots, slots_argument, source_argument, whole
from ._over_slates import OVER_SLATES, of_slates
from ._policies import Dense, Keyed, Keys, Reader, Table
from ._rows_of_pandas import in_one_order_with_labels, labelled
from ._shown_propensities import Shown, Tally, dense, keyed
from ._slates import rows_of, with_rows
from ._text import shown

__all__ = ["Propensities", "Support", "Table", "propensities"]

Unsupported = Literal["error", "warn"]


@dataclass(frozen=True)
class Support:
    """How much of a target lies where logging never goes.

    `mass` is the target's probability of actions that logging never shows, summed over the slots and averaged over the
    slates; `slots` has the same for each slot. Without a correction, the estimated CDF lies at most `mass` below the
    target's. `worst` tells the action with the largest such probability, None if there is none.
    """

    mass: float
    slots: tuple[float, ...]
    worst: str | None

    @property
    def full(self) -> bool:
        """Whether logging shows everything that the target shows."""
        return self.worst is None


@dataclass(frozen=True, eq=False)
class Propensities:
    """Probabilities of what was shown, under logging (`mu`) and under each target (`pi`), with each target's `chi`.

    All arrays are (n, K). A slot that a slate does not have is NaN in `mu` and `pi`, and 0 in `chi`. `target_slots` is
    `"joint"` if the slots of any target depend on each other given the context, otherwise `"independent"`.

    If actions were of pandas, their index is remembered: `arguments()` and `to_pandas()` have it.
    """

    mu: Floats
    pi: dict[str, Floats]
    chi: dict[str, Floats]
    support: dict[str, Support]
    target_slots: TargetSlots = "independent"
    source: PropensitySource = "known"
    """`"estimated"` if logging's probabilities came from `slateval.estimate_propensities`."""
    _labels: Any = None
    """The pandas index of the rows, if they have one."""

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments for `slateval.evaluate(reward=reward, **p.arguments())`.

        `target_slots="joint"` is among them if any target's slots depend on each other. To say otherwise, replace it:
        `**p.arguments() | {"target_slots": "independent"}`.

        If actions were of pandas, `mu`, `pi` and `chi` are handed on as frames with the index of the actions.
        `evaluate` then matches rows with the labels of `reward`, or refuses labels that differ.

        >>> import pandas as pd
        >>> shown = pd.DataFrame({"first": [0, 1], "second": [1, 1]}, index=["a", "b"])
        >>> p = propensities(shown, logging=[0.5, 0.5], target={"new": [0.2, 0.8]})
        >>> p.arguments()["target"]["new"]
             0    1
        a  0.2  0.8
        b  0.8  0.8
        """
        pi, chi = (self._with_labels(values) for values in (self.pi, self.chi))
        given = {"logging": labelled(self.mu, self._labels), "target": pi, "chi": chi}
        return given | slots_argument(self.target_slots) | source_argument(self.source)

    def _with_labels(self, arrays: dict[str, Floats]) -> dict[str, Any]:
        return {name: labelled(values, self._labels) for name, values in arrays.items()}

    def to_columns(self) -> dict[str, Floats]:
        """Columns of a log: `mu_1 …`, `pi_NAME_1 …`, `chi_NAME_1 …`; without a name for a target that was given none.

        Slots that are not there are NaN. Files need nulls in their place: pandas writes them so by itself, with Polars
        say `frame.fill_nan(None)`. Columns cannot tell of slots that depend on each other: give `target_slots` to
        `evaluate` with them. They are arrays without an index, in the order of the actions.

        >>> p = propensities([[0, 1]], logging=[0.5, 0.5], target={"new": [0.2, 0.8]})
        >>> list(p.to_columns())
        ['mu_1', 'mu_2', 'pi_new_1', 'pi_new_2', 'chi_new_1', 'chi_new_2']
        """
        columns = _numbered("mu", self.mu)
        for kind, arrays in (("pi", self.pi), ("chi", self.chi)):
            for name, values in arrays.items():
                columns |= _numbered(kind if name == "target" else f"{kind}_{name}", values)
        return columns

    def to_pandas(self) -> Any:
        """`to_columns()` as a pandas DataFrame, with the index of the actions if they were of pandas.

        >>> p = propensities([[0, 1]], logging=[0.5, 0.5], target={"new": [0.2, 0.8]})
        >>> p.to_pandas()[["mu_1", "pi_new_1"]]
           mu_1  pi_new_1
        0   0.5       0.2
        """
        return import_module("pandas").DataFrame(self.to_columns(), index=self._labels)

    def __repr__(self) -> str:
        """A line for the log, and one for each target.

        >>> propensities([[0, 1]], logging=[0.5, 0.5], target={"new": [0.2, 0.8]})
        <Propensities: 1 slates of up to 2 slots, logging 0.5 to 0.5
          new: 0.2 to 0.8, logging shows all of it>
        """
        rows, slots = self.mu.shape
        logging = "logging" if self.source == "known" else "estimated logging"
        lines = [f"<Propensities: {rows:,} slates of up to {slots} slots, {logging} {_range(self.mu)}"]
        for name, values in self.pi.items():
            support = self.support[name]
            reach = "all of it" if support.full else f"all but {support.mass:.3%} of it"
            lines.append(f"  {shown(name)}: {_range(values)}, logging shows {reach}")
        return "\n".join(lines) + ">"


def propensities(
    actions: Any,
    *,
    logging: Any,
    target: Any,
    contexts: Any = None,
    items: Sequence[Any] | Array | None = None,
    target_slots: TargetSlots | None = None,
    on_unsupported: Unsupported = "error",
    batch_size: int = 4096,
) -> Propensities:
    """The probabilities of the slates shown, and each target's chi, from whole policies.

    A policy is one of

    - an array (n, K, N) of probabilities of each of N items in each slot; (K, N) if it is the same in every context,
      (N,) if it is the same in every slot as well; of slates of one slot also (n, N);
    - a dataframe, or dict of arrays, with columns `context, slot, item, probability`, joined with `contexts` (n,).
      Slots count from 1; what is not in the table has probability 0. `Table` takes other column names, `slot=None` and
      `context=None`. A dict is a table if it has keys `item` and `probability`;
    - for logging, the result of `slateval.estimate_propensities`, where the log has no propensities;
    - a function of a batch of at most `batch_size` of the `contexts`, which gives an array (b, K, N).

    Such a policy is taken to fill its slots independently given the context. A target may also be a policy over whole
    slates of `slateval.weights`: `PlackettLuce`, `UniformRanking` or `Slates`. Its slots depend on each other, unless
    its probabilities are products of its slots', and `p.arguments()` then has `target_slots="joint"`. `evaluate` has
    one such setting for all targets: if one of several is joint, all are evaluated as such, and a warning says so. For
    other targets whose slots depend on each other, give the probabilities for each slot and say `target_slots="joint"`
    here. (See `slateval.weights.pseudo_inverse` if it is logging whose slots depend on each other.)

    A target that shows what logging never shows cannot be evaluated: an error says where. With `on_unsupported="warn"`
    that part of the target is left out, chi is taken over the rest, and `support` tells how much it is. What is
    left is no policy: without a correction an estimate counts the part left out as reward 0, and corrections, which
    make weights add up to 1, extrapolate from the rest. The check `propensities` then fails, and says so.

    Parameters
    ----------
    actions : array (n, K) or (n,), or frame
        What was shown, (n,) for slates of one slot: item numbers from 0, or items of any kind with the list `items` of
        all of them; a frame has one column for each slot. Shorter slates are filled with -1 (None among items that are
        no numbers), or masked (`numpy.ma`). Every frame may be a Polars lazy frame: actions, contexts and tables.
    logging : policy
        The policy that wrote the log.
    target : policy or dict
        The new policy, or several by name.
    contexts : array (n,) or frame, optional
        What policies look at: what tables are joined with, and functions are given.
    items : sequence, optional
        All items, in the order of the policies' arrays.
    target_slots : {"independent", "joint"}, optional
        Whether the targets' slots depend on each other, where the policies do not tell.
    on_unsupported : {"error", "warn"}
        What to do with a target that shows what logging never shows.
    batch_size : int
        At most so many contexts are given to a function at once.

    Returns
    -------
    Propensities
        `mu`, `pi` and `chi`; `slateval.evaluate(reward=reward, **p.arguments())` takes them, and matches rows by label
        if actions and reward are of pandas.

    Raises
    ------
    InputError
        For values and shapes that cannot be right, and for a target that shows what logging never shows.

    Examples
    --------
    >>> import numpy as np
    >>> actions = np.array([[0, 2], [1, 0]])
    >>> mu = [1 / 3, 1 / 3, 1 / 3]
    >>> pi = np.array([[0.8, 0.1, 0.1], [0.2, 0.2, 0.6]])
    >>> p = propensities(actions, logging=mu, target=pi)
    >>> p.pi["target"]
    array([[0.8, 0.6],
           [0.1, 0.2]])
    >>> p.chi["target"].round(6)
    array([[0.98, 0.32],
           [0.98, 0.32]])

    As a table, by context:

    >>> table = {
    ...     "context": ["a", "a", "b"],
    ...     "slot": [1, 1, 1],
    ...     "item": ["x", "y", "x"],
    ...     "probability": [0.25, 0.75, 1.0],
    ... }
    >>> p = propensities([["y"], ["x"]], contexts=["a", "b"], logging=table, target=table)
    >>> p.mu.ravel()
    array([0.75, 1.  ])

    A ranker without repeats:

    >>> from slateval.weights import PlackettLuce
    >>> p = propensities(actions, logging=mu, target=PlackettLuce([1.0, 0.0, 0.0]))
    >>> p.target_slots
    'joint'
    """
    if on_unsupported not in ("error", "warn"):
        raise InputError(f"on_unsupported must be 'error' or 'warn', not {on_unsupported!r}")
    batch_size = whole("batch_size", batch_size, 1)
    actions, contexts = collected(actions), collected(contexts)
    policies = {"logging": _as_policy(logging)} | _targets(target)
    given = {"actions": actions, "contexts": contexts}
    in_order, labels = in_one_order_with_labels(
        given | {_label(name): _rows_of(policy) for name, policy in policies.items()}
    )
    actions, contexts, *by_row = in_order.values()
    policies = {name: _with_rows(policy, rows) for (name, policy), rows in zip(policies.items(), by_row, strict=True)}
    item_names = _resolve_items(actions, items, list(policies.values()))
    shown = _shown(actions, item_names, contexts)
    reader = Reader(shown.actions.shape[0], shown.actions.shape[1], item_names, contexts, shown.keys)
    over_slates = {name: policy for name, policy in policies.items() if isinstance(policy, OVER_SLATES)}
    read = {name: reader.read(_label(name), policy) for name, policy in policies.items() if name not in over_slates}
    joint = {name: False for name in policies if name != "logging"}
    for name, policy in over_slates.items():
        read[name], joint[name] = of_slates(reader, _label(name), policy, shown)
    if isinstance(logging, EstimatedPropensities):
        read["logging"] = policies["logging"].in_order_of(item_names.universe, reader.item_count)
    read = {name: read[name] for name in policies}
    if reader.item_count is not None:
        shown.check_items(reader.item_count)
    mu, tallies = _compute(shown, read, batch_size, reader.item_count)
    pi = {name: tally.pi for name, tally in tallies.items()}
    chi = {name: tally.chi for name, tally in tallies.items()}
    support = {name: _support(name, tally, shown, on_unsupported) for name, tally in tallies.items()}
    source: PropensitySource = "estimated" if isinstance(logging, EstimatedPropensities) else "known"
    return Propensities(mu, pi, chi, support, _target_slots(target_slots, joint), source, labels)


def _target_slots(given: TargetSlots | None, joint: dict[str, bool]) -> TargetSlots:
    """The one setting for all targets."""
    if given not in (None, "independent", "joint"):
        raise InputError(f"target_slots must be 'independent' or 'joint', not {given!r}")
    if given is not None:
        return given
    if len(set(joint.values())) > 1:
        names = {
            are: ", ".join(repr(name) for name, is_joint in joint.items() if is_joint is are) for are in (True, False)
        }
        warnings.warn(
            f"the slots of {names[True]} depend on each other, so all targets are evaluated with "
            f'target_slots="joint": evaluate {names[False]} apart for orders above the additive one',
            SlatevalWarning,
            stacklevel=3,
        )
    return "joint" if any(joint.values()) else "independent"


def _compute(
    shown: Shown, read: dict[str, Keyed | Dense], batch_size: int, item_count: int | None
) -> tuple[Floats, dict[str, Tally]]:
    by_key = {name: policy for name, policy in read.items() if isinstance(policy, Keyed)}
    if len(by_key) == len(read):
        return keyed(shown, by_key)
    known = item_count if shown.items.universe is None else int(shown.items.universe.size)
    return dense(shown, read, batch_size, known)


def _shown(actions: Any, items: Items, contexts: Any) -> Shown:
    numbers = read_actions(actions, items)
    rows = numbers.shape[0]
    if contexts is None:
        return Shown(numbers, Keys(None, np.zeros(rows, dtype=np.int64)), items)
    if not hasattr(contexts, "__len__"):
        raise DataTypeError(f"contexts must be an array or a frame, one for each row, not a {type(contexts).__name__}")
    if len(contexts) != rows:
        raise InputError(f"{len(contexts)} contexts for {rows} rows of actions; there must be one for each row")
    return Shown(numbers, _context_keys(contexts, rows), items)


def _context_keys(contexts: Any, rows: int) -> Keys:
    # Features and the like are for functions only: tables have one key.
    if is_frame(contexts) and not hasattr(contexts, "to_numpy"):
        return Keys(None, np.zeros(rows, dtype=np.int64))
    try:
        values = np.asarray(contexts)
    except ValueError:
        return Keys(None, np.zeros(rows, dtype=np.int64))
    if values.ndim != 1:
        return Keys(None, np.zeros(rows, dtype=np.int64))
    if has_missing(values):
        raise InputError("contexts has nulls; each row needs one")
    try:
        return Keys(*factorize(values))
    except TypeError:
        return Keys(None, np.zeros(rows, dtype=np.int64))


def _rows_of(policy: Any) -> Any:
    """What a policy has for each row of the log, if rows may have labels."""
    return policy.places() if isinstance(policy, EstimatedPropensities) else rows_of(policy)


def _with_rows(policy: Any, rows: Any) -> Any:
    """The policy with these rows, if it has rows of its own."""
    if isinstance(policy, EstimatedPropensities):
        return policy if rows is None else policy.at(rows)
    return with_rows(policy, rows)


def _as_policy(policy: Any) -> Any:
    if isinstance(policy, Mapping):
        if _is_table(policy):
            return Table(policy)
        raise InputError(f"a table needs columns `item` and `probability`; this one has {sorted(policy)}")
    return Table(policy) if is_frame(policy) else policy


def _is_table(target: Mapping[str, Any]) -> bool:
    return "item" in target and "probability" in target


def _targets(target: Any) -> dict[str, Any]:
    if not isinstance(target, Mapping) or _is_table(target):
        return {"target": _as_policy(target)}
    if not target:
        raise InputError("target is an empty dict: give at least one policy")
    for name in target:
        if not isinstance(name, str) or name in ("", "logging"):
            raise InputError(f"{name!r} cannot be a target's name: names are strings, and 'logging' is taken")
    return {name: _as_policy(policy) for name, policy in target.items()}


def _label(name: str) -> str:
    return name if name in ("logging", "target") else f"target {name!r}"


def _resolve_items(actions: Any, items: Sequence[Any] | Array | None, policies: list[Any]) -> Items:
    given = item_list(items)
    if given.universe is not None or as_matrix(actions)[0].dtype.kind in "iu":
        return given
    if not all(isinstance(policy, Table) for policy in policies):
        return given
    # Tables name their items themselves.
    named = [value for policy in policies for value in policy.column(policy.item).tolist()]
    universe = np.empty(len(set(named)), dtype=object)
    universe[:] = list(dict.fromkeys(named))
    return Items(universe)


def _support(name: str, tally: Tally, shown: Shown, on_unsupported: Unsupported) -> Support:
    slots = tuple(float(share) for share in tally.unsupported.mean(axis=0))
    worst = tally.worst
    if worst is None:
        return Support(0.0, slots, None)
    where = (
        f"{shown.where(worst.row, worst.slot)}, item {shown.items.name(worst.item)}: probability "
        f"{worst.probability:.6g} under {_label(name)}, 0 under logging"
    )
    support = Support(sum(slots), slots, where)
    message = (
        f"{_label(name)} shows what logging never shows: {where}. In all, {support.mass:.3%} of a slate's actions "
        f"under {_label(name)} (summed over its slots) are out of the log's reach"
    )
    if on_unsupported == "error":
        raise InputError(
            message + "; evaluate a target that stays within what logging shows, or leave that part out with "
            "on_unsupported='warn'"
        )
    warnings.warn(message + " and are left out", UserWarning, stacklevel=3)
    return support


def _range(values: Floats) -> str:
    return f"{np.nanmin(values):.3g} to {np.nanmax(values):.3g}"


def _numbered(name: str, values: Floats) -> dict[str, Floats]:
    return {f"{name}_{slot + 1}": values[:, slot] for slot in range(values.shape[1])}
