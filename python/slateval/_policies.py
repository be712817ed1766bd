"""Policies in the two forms that the computations need: by key (context, slot, item), or dense for a batch of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ._actions import Items
from ._columns import Array, Flags, Floats, Ints, has_missing, is_lazy, places, read_columns, slice_rows
from ._errors import InputError
from ._estimated import EstimatedPropensities
from ._rows_of_pandas import in_one_order
from ._text import shown


@dataclass(frozen=True)
class Table:
    """A policy as a table with one row per (context, slot, item) and its probability.

    `frame` is a dataframe (pandas, Polars, pyarrow, or anything that streams Arrow) or a dict of arrays. Slots count
    from 1. A combination that is not in the table has probability 0. `context=None` says that the policy is the same
    in every context, `slot=None` that it is the same in every slot; other strings rename the columns.

    >>> from slateval.propensities import propensities
    >>> table = Table({"item": [0, 1], "p": [0.25, 0.75]}, context=None, slot=None, probability="p")
    >>> propensities([[0, 1]], logging=table, target=table).mu
    array([[0.25, 0.75]])
    """

    frame: Any
    context: str | None = "context"
    slot: str | None = "slot"
    item: str = "item"
    probability: str = "probability"

    def __post_init__(self) -> None:
        if is_lazy(self.frame):
            object.__setattr__(self, "frame", self.frame.collect())
        if isinstance(self.frame, Mapping):
            object.__setattr__(self, "frame", in_one_order(self.frame))

    def column(self, name: str) -> Array:
        """One of the table's columns."""
        found = read_columns(self.frame, [name])
        if name not in found:
            raise InputError(
                f"the table has no column {name!r}; Table(frame, item=…, probability=…) reads others in its place"
            )
        if found[name].ndim != 1:
            raise InputError(f"column {name!r} of the table must be one-dimensional, not {found[name].shape}")
        return found[name]


@dataclass(frozen=True)
class Keys:
    """What tables are joined with: the different contexts of the log, and each row's place among them."""

    universe: Array | None
    rows: Ints

    @property
    def count(self) -> int:
        """The number of different contexts."""
        return 1 if self.universe is None else int(self.universe.size)


@dataclass(frozen=True)
class Entries:
    """Probabilities above 0, one by one."""

    context: Ints
    slot: Ints
    item: Ints
    probability: Floats


@dataclass(frozen=True)
class Keyed:
    """Probabilities by (context, slot, item), in ascending order of that key.

    Where the context or the slot makes no difference, there is but one of them.
    """

    name: str
    keys: Ints
    probability: Floats
    contexts: int
    slots: int
    items: int
    tolerance: float

    def lookup(self, context: Ints, slot: Ints, item: Ints) -> Floats:
        """The probability of each combination, 0 where there is none."""
        wanted = self._key(context, slot, item)
        if self.keys.size == 0:
            return np.zeros(wanted.shape)
        at = np.minimum(np.searchsorted(self.keys, wanted), self.keys.size - 1)
        return np.where(self.keys[at] == wanted, self.probability[at], 0.0)

    def entries(self, start: int, stop: int, slots: int) -> Entries:
        """What the contexts from `start` to `stop` have, in all `slots` slots."""
        size = self.slots * self.items
        first, last = (start, stop) if self.contexts > 1 else (0, 1)
        part = slice(*np.searchsorted(self.keys, [first * size, last * size]))
        context, rest = np.divmod(self.keys[part], size)
        slot, item = np.divmod(rest, self.items)
        entries = Entries(context, slot, item, self.probability[part])
        if self.slots == 1 and slots > 1:
            entries = _repeat(entries, "slot", np.arange(slots))
        if self.contexts == 1 and (start, stop) != (0, 1):
            entries = _repeat(entries, "context", np.arange(start, stop))
        return entries

    def size(self, slots: int) -> float:
        """Entries in a context, on average."""
        return max(1.0, float(self.keys.size) / self.contexts * (slots if self.slots == 1 else 1))

    def block(self, context: Ints, slots: int, items: int) -> Floats:
        """The probabilities `(b, K, N)` in each of `b` contexts."""
        grid = np.broadcast_arrays(context[:, None, None], np.arange(slots)[:, None], np.arange(items))
        return self.lookup(*grid)

    def _key(self, context: Ints, slot: Ints, item: Ints) -> Ints:
        context = context if self.contexts > 1 else np.zeros_like(context)
        slot = slot if self.slots > 1 else np.zeros_like(slot)
        key: Ints = (context * self.slots + slot) * self.items + item
        # An item that the policy does not know would otherwise read its neighbour's probability.
        return np.where((item >= 0) & (item < self.items), key, -1)


def _repeat(entries: Entries, part: str, values: Ints) -> Entries:
    size = entries.item.size
    repeated = {name: np.tile(getattr(entries, name), values.size) for name in ("context", "slot", "item")}
    repeated[part] = np.repeat(values, size)
    return Entries(**repeated, probability=np.tile(entries.probability, values.size))


class Dense(Protocol):
    """A policy that gives the probabilities `(b, K, N)` of a batch of rows."""

    @property
    def name(self) -> str:
        """How messages call it."""
        ...

    def rows(self, start: int, stop: int) -> Array:
        """Those of the rows from `start` to `stop`."""
        ...


@dataclass(frozen=True)
class Whole:
    """An array `(n, K, N)`."""

    name: str
    probability: Array

    def rows(self, start: int, stop: int) -> Array:
        """Those of the rows from `start` to `stop`."""
        part: Array = self.probability[start:stop]
        return part


@dataclass(frozen=True)
class Called:
    """A function of a batch of contexts."""

    name: str
    policy: Callable[[Any], Any]
    contexts: Any
    slots: int

    def rows(self, start: int, stop: int) -> Array:
        """Those of the rows from `start` to `stop`."""
        part = np.asarray(self.policy(slice_rows(self.contexts, start, stop)))
        if part.ndim != 3 or part.shape[:2] != (stop - start, self.slots):
            raise InputError(
                f"{self.name}: the policy must give probabilities of shape ({stop - start}, {self.slots}, items) for "
                f"{stop - start} contexts, not {part.shape}"
            )
        return part


def tolerance(values: Array) -> float:
    """How far a sum of probabilities may be from 1: rounding differs by precision."""
    return 1e-6 if values.dtype.itemsize >= 8 or values.dtype.kind != "f" else 1e-4


@dataclass
class Reader:
    """Brings policies as users give them into the two forms."""

    rows: int
    slots: int
    items: Items
    contexts: Any
    keys: Keys
    item_count: int | None = field(default=None)

    def read(self, name: str, policy: Any) -> Keyed | Dense:
        """One policy."""
        if isinstance(policy, Table):
            return self._table(name, policy)
        if isinstance(policy, EstimatedPropensities):
            return self._estimated(name, policy)
        if callable(policy) and not hasattr(policy, "__array__"):
            if self.contexts is None:
                raise InputError(f"{name}: a policy that is a function needs `contexts`, one for each row")
            return Called(name, policy, self.contexts, self.slots)
        return self._array(name, policy)

    def _array(self, name: str, policy: Any) -> Keyed | Dense:
        values = np.asarray(policy)
        if values.dtype.kind not in "biuf":
            raise InputError(f"{name}: probabilities must be numbers, not {values.dtype}")
        if self.slots == 1 and values.ndim == 2 and values.shape[0] == self.rows:
            # Of one slot, as the actions may be.
            values = values[:, None, :]
        shapes = {1: (), 2: (self.slots,), 3: (self.rows, self.slots)}
        if values.ndim not in shapes or values.shape[:-1] != shapes[values.ndim]:
            raise InputError(
                f"{name}: probabilities must be ({self.rows}, {self.slots}, items), ({self.slots}, items) or (items,) "
                f"for {self.rows} slates of {self.slots} slots, not {values.shape}"
            )
        self._count(name, values.shape[-1])
        if values.ndim == 3:
            return Whole(name, values)
        flat = values.reshape(-1, values.shape[-1])
        place = "slot {}" if values.ndim == 2 else "every slot"
        everywhere = np.ones((1, flat.shape[0]), dtype=bool)
        check(flat[None], everywhere, name, lambda _, slot: place.format(slot + 1), self.items)
        flat64 = np.minimum(flat.astype(np.float64), 1.0)
        keys = np.flatnonzero(flat64).astype(np.int64)
        return Keyed(name, keys, flat64.ravel()[keys], 1, flat.shape[0], flat.shape[1], tolerance(values))

    def _estimated(self, name: str, policy: EstimatedPropensities) -> Dense:
        if name != "logging":
            raise InputError(f"{name}: a target's probabilities must be known; only logging's can be estimated")
        if policy.mu.shape != (self.rows, self.slots):
            raise InputError(
                f"logging was estimated from {policy.mu.shape[0]} slates of {policy.mu.shape[1]} slots, there are "
                f"{self.rows} of {self.slots}: give the same actions to both"
            )
        return policy

    def _count(self, name: str, items: int) -> None:
        if self.items.universe is not None and items != self.items.universe.size:
            raise InputError(f"{name}: probabilities of {items} items, but `items` has {self.items.universe.size}")
        if self.item_count is not None and items != self.item_count:
            raise InputError(f"{name}: probabilities of {items} items, another policy's are of {self.item_count}")
        self.item_count = items

    def _table(self, name: str, table: Table) -> Keyed:
        raw = table.column(table.probability)
        if raw.dtype.kind not in "biuf":
            raise InputError(f"{name}: column {table.probability!r} must hold numbers, not {raw.dtype}")
        item = self._items(name, table, raw.size)
        slot, slots = self._slots(name, table, raw.size)
        context, contexts = self._contexts(name, table, raw.size)
        _check_probabilities(name, table, raw)
        return _keyed(name, (context, slot, item), raw, (contexts, slots), tolerance(raw))

    def _items(self, name: str, table: Table, rows: int) -> Ints:
        item = _key_column(name, table, table.item, rows)
        numbers = self.items.encode(item, f"{name}: the items of column {table.item!r}")
        wrong = np.flatnonzero(numbers < 0)
        if wrong.size:
            raise InputError(
                f"{name}: row {wrong[0] + 1} of the table: item {_value(item, wrong[0])} is not one of `items`"
            )
        return numbers

    def _slots(self, name: str, table: Table, rows: int) -> tuple[Ints, int]:
        if table.slot is None or (self.slots == 1 and table.slot not in read_columns(table.frame, [table.slot])):
            return np.zeros(rows, dtype=np.int64), 1
        if table.slot not in read_columns(table.frame, [table.slot]):
            raise InputError(
                f"{name}: the table has no column {table.slot!r}; if the policy is the same in every slot, say "
                "Table(frame, slot=None)"
            )
        slot = _key_column(name, table, table.slot, rows)
        if slot.dtype.kind not in "iu":
            raise InputError(f"{name}: column {table.slot!r} must hold whole numbers, not {slot.dtype}")
        wrong = np.flatnonzero((slot < 1) | (slot > self.slots))
        if wrong.size:
            raise InputError(
                f"{name}: row {wrong[0] + 1} of the table: slot {_value(slot, wrong[0])}; slots count from 1 to "
                f"{self.slots}"
            )
        return slot.astype(np.int64) - 1, self.slots

    def _contexts(self, name: str, table: Table, rows: int) -> tuple[Ints, int]:
        if table.context is None:
            return np.zeros(rows, dtype=np.int64), 1
        found = table.context in read_columns(table.frame, [table.context])
        if not found and self.contexts is None:
            return np.zeros(rows, dtype=np.int64), 1
        if not found:
            raise InputError(
                f"{name}: the table has no column {table.context!r}; if the policy is the same in every context, say "
                "Table(frame, context=None)"
            )
        if self.keys.universe is None:
            raise InputError(
                f"{name}: the table has a column {table.context!r}: give `contexts` (n,), one for each row"
            )
        return places(_key_column(name, table, table.context, rows), self.keys.universe), self.keys.count


def _key_column(name: str, table: Table, column: str, rows: int) -> Array:
    values = table.column(column)
    if values.size != rows:
        raise InputError(f"{name}: column {column!r} has {values.size} rows, column {table.probability!r} {rows}")
    if has_missing(values):
        raise InputError(f"{name}: column {column!r} of the table has nulls; each row needs one")
    return values


def _check_probabilities(name: str, table: Table, values: Array) -> None:
    slack = tolerance(values)
    wrong = np.flatnonzero(~((values >= 0) & (values <= 1 + slack)))
    if wrong.size:
        raise InputError(
            f"{name}: row {wrong[0] + 1} of the table: {shown(table.probability)} is {_value(values, wrong[0])}; it "
            "must lie in [0, 1]"
        )


def _keyed(name: str, key: tuple[Ints, Ints, Ints], p: Array, counts: tuple[int, int], slack: float) -> Keyed:
    context, slot, item = key
    contexts, slots = counts
    items = int(item.max(initial=0)) + 1
    if contexts * slots * items >= 2**63:
        raise InputError(f"{name}: too many contexts and items to join on; number the items from 0 without gaps")
    # Contexts that are not in the log play no role.
    known = context >= 0
    keys = ((context * slots + slot) * items + item)[known]
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    twice = np.flatnonzero(np.diff(keys) == 0)
    if twice.size:
        row = np.flatnonzero(known)[order[twice[0] + 1]]
        raise InputError(f"{name}: row {row + 1} of the table repeats the context, slot and item of another row")
    probability = np.minimum(p[known][order].astype(np.float64), 1.0)
    shown = probability > 0
    return Keyed(name, keys[shown], probability[shown], contexts, slots, items, slack)


def check(block: Array, present: Flags, name: str, where: Callable[[int, int], str], items: Items) -> None:
    """Whether `(b, K, N)` numbers are probabilities in each slot that is there."""
    slack = tolerance(block)
    inside = (block >= 0) & (block <= 1 + slack)
    wrong = np.argwhere(~inside.all(axis=-1) & present)
    if wrong.size:
        row, slot = wrong[0]
        item = int(np.flatnonzero(~inside[row, slot])[0])
        raise InputError(
            f"{name}: {where(row, slot)}, item {items.name(item)}: probability {_value(block[row, slot], item)}; "
            "it must lie in [0, 1]"
        )
    total = block.sum(axis=-1, dtype=np.float64)
    wrong = np.argwhere((np.abs(total - 1) > slack) & present)
    if wrong.size:
        row, slot = wrong[0]
        raise InputError(f"{name}: {where(row, slot)}: the probabilities sum to {total[row, slot]:.9g}, not 1")


def _value(values: Array, at: int | np.int64) -> str:
    return repr(values[at : at + 1].tolist()[0])
