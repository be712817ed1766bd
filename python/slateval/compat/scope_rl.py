"""SCOPE-RL: its logged trajectories as slates, a trajectory for a slate, a step for a slot.

What carries over, and what does not:

- The product of a trajectory's step ratios is its importance weight, whatever states depend on: with
  `structure="product"` and no correction an evaluation has the weights of SCOPE-RL's trajectory-wise importance
  sampling, and gives the distribution of returns under them. Self-normalising and control variates are as valid.
- The additive weight and those of lower order are not meant for this. They take the other slots' circumstances as
  given, but here a step's state follows from earlier actions; use them only where states do not depend on actions.
- Continuous actions have densities, not probabilities, and are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._columns import Array, Floats, Ints
from .._errors import InputError
from .._policies import tolerance
from .._rows_of_pandas import in_one_order
from ._feedback import needed

__all__ = ["Trajectories", "from_logged_dataset"]


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Returns (n,), and propensities (n, T) of each step's action under logging and under each evaluation policy."""

    reward: Floats
    logging: Floats
    target: dict[str, Floats]

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments for `slateval.evaluate(**trajectories.arguments())`, with the product weight."""
        return {"reward": self.reward, "logging": self.logging, "target": dict(self.target), "structure": "product"}


def from_logged_dataset(
    logged_dataset: Mapping[str, Any], evaluation_policy_action_dist: Any, *, gamma: float = 1.0
) -> Trajectories:
    """SCOPE-RL's logged dataset and evaluation policies as arrays with one row per trajectory.

    A return is the sum of `gamma**t` times the reward of step t, t from 0. (SCOPE-RL 0.2.1 counts from 1 in its
    distributional estimators, which makes every return smaller by the factor `gamma`.) A trajectory has all its
    `step_per_trajectory` steps, as there; `done` is not looked at.

    Parameters
    ----------
    logged_dataset : mapping
        Has `step_per_trajectory`, `action`, `reward` and `pscore`, one row per step, trajectories one after the other.
    evaluation_policy_action_dist : array or dict
        Probabilities (steps, actions), a dict of such by name, or SCOPE-RL's `input_dict`.
    gamma : float
        The discount.

    Returns
    -------
    Trajectories
        Arrays, whose `arguments()` `evaluate` takes.

    Raises
    ------
    InputError
        For propensities and shapes that cannot be right.
    ColumnError
        For a dataset that lacks a part.

    Examples
    --------
    >>> dataset = {
    ...     "step_per_trajectory": 2,
    ...     "action": [0, 1, 1, 1],
    ...     "reward": [1.0, 2.0, 0.0, 4.0],
    ...     "pscore": [0.5, 0.5, 0.5, 0.25],
    ... }
    >>> trajectories = from_logged_dataset(dataset, [[0.9, 0.1], [0.2, 0.8], [0.9, 0.1], [0.2, 0.8]], gamma=0.5)
    >>> trajectories.reward
    array([2., 2.])
    >>> trajectories.target["target"]
    array([[0.9, 0.8],
           [0.1, 0.8]])
    """
    needed(logged_dataset, "the dataset", ("step_per_trajectory", "action", "reward", "pscore"), "SCOPE-RL's datasets")
    if logged_dataset.get("action_type", "discrete") != "discrete":
        raise InputError("only discrete actions have probabilities; this dataset's action_type is not 'discrete'")
    if not 0 < gamma <= 1:
        raise InputError(f"gamma must lie in (0, 1], not {gamma}")
    steps = int(logged_dataset["step_per_trajectory"])
    columns = {name: logged_dataset[name] for name in ("action", "reward", "pscore")}
    given = in_one_order(columns | {"evaluation_policy_action_dist": _policies(evaluation_policy_action_dist)})
    action = np.asarray(given["action"])
    reward = np.asarray(given["reward"], dtype=np.float64)
    pscore = np.asarray(given["pscore"], dtype=np.float64)
    _check_lengths(steps, {"action": action, "reward": reward, "pscore": pscore})
    _check_values(reward, pscore)
    chosen = _whole(action)
    discount = gamma ** np.arange(steps)
    policies = given["evaluation_policy_action_dist"]
    return Trajectories(
        reward=(reward.reshape(-1, steps) * discount).sum(axis=1),
        logging=np.minimum(pscore, 1.0).reshape(-1, steps),
        target={name: _chosen(name, dist, chosen).reshape(-1, steps) for name, dist in policies.items()},
    )


def _policies(given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        return {"target": given}
    if not given:
        raise InputError("give at least one evaluation policy")
    return {
        str(name): policy["evaluation_policy_action_dist"] if isinstance(policy, Mapping) else policy
        for name, policy in given.items()
    }


def _check_lengths(steps: int, columns: dict[str, Array]) -> None:
    size = columns["action"].shape[0] if columns["action"].ndim else 0
    for name, values in columns.items():
        if values.ndim != 1 or values.size != size:
            raise InputError(f"{name} must have one row for each of {size} steps, its shape is {values.shape}")
    if steps < 1 or size == 0 or size % steps:
        raise InputError(f"{size} steps are not whole trajectories of {steps}")


def _check_values(reward: Floats, pscore: Floats) -> None:
    wrong = ~np.isfinite(reward)
    if wrong.any():
        raise InputError(f"reward: row {int(wrong.argmax()) + 1} is not a finite number")
    wrong = ~((pscore > 0) & (pscore <= 1 + 1e-6))
    if wrong.any():
        at = int(wrong.argmax())
        raise InputError(f"pscore: row {at + 1} is {pscore[at]}; it must lie in (0, 1]")


def _whole(action: Array) -> Ints:
    # Some datasets keep whole numbers as floats.
    numbers = action.astype(np.int64)
    if (numbers != action).any() or (numbers < 0).any():
        raise InputError("action must be whole numbers from 0")
    return numbers


def _chosen(name: str, dist: Any, action: Ints) -> Floats:
    values = np.asarray(dist)
    if values.ndim != 2 or values.shape[0] != action.size or values.dtype.kind not in "biuf":
        raise InputError(f"{name}: the action distribution must be ({action.size}, actions), not {values.shape}")
    if action.max() >= values.shape[1]:
        at = int(action.argmax())
        raise InputError(f"{name}: row {at + 1} took action {action[at]}, but it has only {values.shape[1]} actions")
    slack = tolerance(values)
    wrong = ~((values >= 0) & (values <= 1 + slack)).all(axis=1)
    wrong |= ~(np.abs(values.sum(axis=1, dtype=np.float64) - 1) <= slack)
    if wrong.any():
        raise InputError(f"{name}: row {int(wrong.argmax()) + 1}: not probabilities in [0, 1] that sum to 1")
    chosen: Floats = np.minimum(values[np.arange(action.size), action].astype(np.float64), 1.0)
    return chosen
