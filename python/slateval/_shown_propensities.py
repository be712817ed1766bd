"""Propensities of the slates that were shown, with each target's chi and the part of it that logging never shows.

`keyed` joins policies that are tables; `dense` computes whole distributions, one batch of rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ._actions import MISSING, Items
from ._columns import Array, Flags, Floats, Ints
from ._errors import InputError
from ._policies import Dense, Entries, Keyed, Keys, check

ENTRIES_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Shown:
    """The slates shown, `(n, K)`, each with its context."""

    actions: Ints
    keys: Keys
    items: Items

    @property
    def present(self) -> Flags:
        """Which slots are there."""
        flags: Flags = self.actions != MISSING
        return flags

    def where(self, row: int, slot: int) -> str:
        """A slot as the user knows it."""
        context = "" if self.keys.universe is None else f" (context {self._context(row)})"
        return f"row {row + 1}{context}, slot {slot + 1}"

    def _context(self, row: int) -> str:
        at = int(self.keys.rows[row])
        assert self.keys.universe is not None
        return repr(self.keys.universe[at : at + 1].tolist()[0])

    def check_items(self, count: int) -> None:
        """Whether every item shown is one of `count`."""
        wrong = np.argwhere(self.actions >= count)
        if wrong.size:
            row, slot = wrong[0]
            raise InputError(
                f"actions: row {row + 1}, slot {slot + 1}: item {self.actions[row, slot]}, but the policies know only "
                f"items 0 to {count - 1}"
            )


@dataclass(frozen=True)
class Worst:
    """The likeliest action of a target that logging never shows."""

    row: int
    slot: int
    item: int
    probability: float


@dataclass
class Tally:
    """What one target comes to, `(n, K)` each."""

    pi: Floats
    chi: Floats
    unsupported: Floats
    worst: Worst | None = None

    @staticmethod
    def of_shape(shape: tuple[int, int]) -> Tally:
        """Nothing yet: missing slots stay as they are."""
        return Tally(np.full(shape, np.nan), np.zeros(shape), np.zeros(shape))

    def note(self, row: int, slot: int, item: int, probability: float) -> None:
        """Remembers an action out of logging's reach, if it is the likeliest so far."""
        if self.worst is None or probability > self.worst.probability:
            self.worst = Worst(int(row), int(slot), int(item), float(probability))


def keyed(shown: Shown, policies: dict[str, Keyed]) -> tuple[Floats, dict[str, Tally]]:
    """By key: costs as much as the tables are long, whatever the number of rows and items."""
    rows, slots = np.nonzero(shown.present)
    contexts = shown.keys.rows[rows]
    group = contexts * shown.actions.shape[1] + slots
    first = _first_rows(group, shown)
    for policy in policies.values():
        _check_sums(policy, shown, first)
    logging = policies["logging"]
    mu = np.full(shown.actions.shape, np.nan)
    mu[rows, slots] = logging.lookup(contexts, slots, shown.actions[rows, slots])
    _check_shown(mu, shown)
    tallies = {}
    for name, target in policies.items():
        if name == "logging":
            continue
        tally = Tally.of_shape(shown.actions.shape)
        tally.pi[rows, slots] = target.lookup(contexts, slots, shown.actions[rows, slots])
        squares, beyond = _by_group(logging, target, shown, first, tally)
        tally.chi[rows, slots] = np.maximum(squares[group] - 1, 0)
        tally.unsupported[rows, slots] = beyond[group]
        tallies[name] = tally
    return mu, tallies


def _first_rows(group: Ints, shown: Shown) -> Ints:
    """For each (context, slot) the first row that has it, -1 where none has."""
    first = np.full(shown.keys.count * shown.actions.shape[1], -1, dtype=np.int64)
    rows = np.nonzero(shown.present)[0]
    first[group[::-1]] = rows[::-1]
    return first


def _chunks(policy: Keyed, shown: Shown) -> Iterator[Entries]:
    slots = shown.actions.shape[1]
    step = max(1, int(ENTRIES_AT_ONCE / policy.size(slots)))
    for start in range(0, shown.keys.count, step):
        yield policy.entries(start, min(start + step, shown.keys.count), slots)


def _check_sums(policy: Keyed, shown: Shown, first: Ints) -> None:
    slots = shown.actions.shape[1]
    total = np.zeros(first.size)
    for entries in _chunks(policy, shown):
        total += np.bincount(entries.context * slots + entries.slot, entries.probability, first.size)
    wrong = np.flatnonzero((np.abs(total - 1) > policy.tolerance) & (first >= 0))
    if wrong.size:
        where = shown.where(int(first[wrong[0]]), int(wrong[0] % slots))
        problem = (
            "no probabilities" if total[wrong[0]] == 0 else f"the probabilities sum to {total[wrong[0]]:.9g}, not 1"
        )
        raise InputError(f"{policy.name}: {where}: {problem}")


def _by_group(logging: Keyed, target: Keyed, shown: Shown, first: Ints, tally: Tally) -> tuple[Floats, Floats]:
    """For each (context, slot) the sum of pi^2/mu, and of pi where mu is 0."""
    slots = shown.actions.shape[1]
    squares, beyond = np.zeros(first.size), np.zeros(first.size)
    for entries in _chunks(target, shown):
        mu = logging.lookup(entries.context, entries.slot, entries.item)
        group = entries.context * slots + entries.slot
        reached = mu > 0
        ratio = np.divide(entries.probability**2, mu, out=np.zeros_like(mu), where=reached)
        squares += np.bincount(group, ratio, first.size)
        out = np.where(reached | (first[group] < 0), 0.0, entries.probability)
        beyond += np.bincount(group, out, first.size)
        if out.any():
            at = int(out.argmax())
            tally.note(first[group[at]], entries.slot[at], entries.item[at], out[at])
    return squares, beyond


def dense(
    shown: Shown, policies: dict[str, Keyed | Dense], batch_size: int, items: int | None
) -> tuple[Floats, dict[str, Tally]]:
    """Batch by batch: holds the whole distributions of one batch of rows at a time."""
    shape = shown.actions.shape
    mu = np.full(shape, np.nan)
    tallies = {name: Tally.of_shape(shape) for name in policies if name != "logging"}
    for start in range(0, shape[0], batch_size):
        rows = slice(start, min(start + batch_size, shape[0]))
        blocks, items = _blocks(shown, policies, rows, items)
        shown.check_items(items)
        present = shown.present[rows]
        chosen = np.where(present, shown.actions[rows], 0)[..., None]
        mu[rows] = np.where(present, np.take_along_axis(blocks["logging"], chosen, -1)[..., 0], np.nan)
        for name, tally in tallies.items():
            _add_block(tally, blocks["logging"], blocks[name], (rows, present, chosen))
    _check_shown(mu, shown)
    return mu, tallies


def _blocks(
    shown: Shown, policies: dict[str, Keyed | Dense], rows: slice, items: int | None
) -> tuple[dict[str, Floats], int]:
    raw: dict[str, Array] = {}
    for name, policy in policies.items():
        if isinstance(policy, Keyed):
            continue
        block = policy.rows(rows.start, rows.stop)
        if items is not None and block.shape[-1] != items:
            raise InputError(f"{policy.name}: probabilities of {block.shape[-1]} items, where {items} are known")
        items = block.shape[-1]
        raw[name] = block
    assert items is not None
    blocks = {}
    for name, policy in policies.items():
        if isinstance(policy, Keyed):
            if policy.items > items:
                raise InputError(
                    f"{policy.name}: item {policy.items - 1}, but another policy knows only 0 to {items - 1}"
                )
            raw[name] = policy.block(shown.keys.rows[rows], shown.actions.shape[1], items)
        where = lambda row, slot: shown.where(rows.start + int(row), int(slot))  # noqa: E731
        check(raw[name], shown.present[rows], policy.name, where, shown.items)
        blocks[name] = np.minimum(raw[name].astype(np.float64), 1.0)
    return blocks, items


def _add_block(tally: Tally, mu: Floats, pi: Floats, at: tuple[slice, Flags, Ints]) -> None:
    rows, present, chosen = at
    reached = mu > 0
    squares = np.divide(pi**2, mu, out=np.zeros_like(pi), where=reached).sum(axis=-1)
    out = np.where(reached | ~present[..., None], 0.0, pi)
    tally.pi[rows] = np.where(present, np.take_along_axis(pi, chosen, -1)[..., 0], np.nan)
    # Rounding can leave a chi of 0 a little below it.
    tally.chi[rows] = np.where(present, np.maximum(squares - 1, 0), 0)
    tally.unsupported[rows] = out.sum(axis=-1)
    if out.any():
        row, slot, item = np.unravel_index(int(out.argmax()), out.shape)
        tally.note(rows.start + int(row), int(slot), int(item), out[row, slot, item])


def _check_shown(mu: Floats, shown: Shown) -> None:
    wrong = np.argwhere(shown.present & ~(mu > 0))
    if wrong.size:
        row, slot = (int(part) for part in wrong[0])
        raise InputError(
            f"logging: {shown.where(row, slot)}: item {shown.items.name(int(shown.actions[row, slot]))} was shown, but "
            "its probability is 0: these are not the probabilities that the log was made with"
        )
