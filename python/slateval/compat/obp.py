"""Open Bandit Pipeline: slateval's estimators within its `SlateOffPolicyEvaluation`, its feedback as our arrays.

The estimators take and give what those of `obp.ope` do (obp 0.4.1)::

    from obp.ope import SlateOffPolicyEvaluation, SlateStandardIPS
    from slateval.compat.obp import SlateAuto, SlateSUnO

    ope = SlateOffPolicyEvaluation(bandit_feedback=feedback, ope_estimators=[SlateStandardIPS(len_list=3), SlateSUnO()])
    ope.estimate_intervals(evaluation_policy_pscore=…, evaluation_policy_pscore_item_position=…)

They estimate the mean of a slate's summed reward, as OBP's do. The rest of its distribution is one call away:
`slateval.evaluate(**from_bandit_feedback(feedback, …).arguments())`. OBP itself need not be installed.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from .._errors import InputError
from .._options import slots_argument
from ._feedback import Feedback, needed, read_feedback

__all__ = ["Feedback", "SlateAuto", "SlateOrder", "SlateSUnO", "SlateUnO", "from_bandit_feedback"]


def from_bandit_feedback(
    bandit_feedback: Mapping[str, Any],
    *,
    evaluation_policy_pscore: Any = None,
    evaluation_policy_pscore_item_position: Any = None,
) -> Feedback:
    """OBP's long arrays, one row per slot, as arrays with one row per slate.

    Parameters
    ----------
    bandit_feedback : mapping
        What OBP's slate datasets give: `slate_id`, `position`, `reward`, and `pscore_item_position`, `pscore` or both.
        The rewards of a slate's slots are summed.
    evaluation_policy_pscore, evaluation_policy_pscore_item_position : array, optional
        The evaluation policy's, beside the `pscore` and the `pscore_item_position` of the feedback.

    Returns
    -------
    Feedback
        Arrays, whose `arguments()` `evaluate` takes.

    Raises
    ------
    InputError
        For propensities that cannot be right.
    ColumnError
        For feedback that lacks a part.

    Examples
    --------
    >>> feedback = {
    ...     "slate_id": [0, 0, 1, 1],
    ...     "position": [0, 1, 0, 1],
    ...     "reward": [1, 0, 1, 1],
    ...     "pscore_item_position": [0.5, 0.5, 0.5, 0.25],
    ... }
    >>> slates = from_bandit_feedback(feedback, evaluation_policy_pscore_item_position=[0.2, 0.5, 0.8, 0.5])
    >>> slates.reward
    array([1., 2.])
    >>> slates.logging
    array([[0.5 , 0.5 ],
           [0.5 , 0.25]])
    """
    needed(bandit_feedback, "bandit_feedback", ("slate_id", "position", "reward"), "OBP's slate datasets")
    return read_feedback(
        slate_id=bandit_feedback["slate_id"],
        position=bandit_feedback["position"],
        reward=bandit_feedback["reward"],
        slots=(bandit_feedback.get("pscore_item_position"), evaluation_policy_pscore_item_position),
        slates=(bandit_feedback.get("pscore"), evaluation_policy_pscore),
    )


@dataclass
class _SlateEstimator:
    """What all estimators share.

    `len_list` is there because OBP's estimators have it; the number of slots is seen in the data. `on_joint` says what
    to do where slot propensities do not multiply to those of the slate, though the weight needs it: `"error"`, or
    `"warn"` and go on with a biased weight. It takes `pscore` to see that.
    """

    len_list: int | None = None
    correction: str = "none"
    on_joint: Literal["error", "warn"] = "error"
    estimator_name: str = ""

    def _structure(self, feedback: Feedback) -> dict[str, Any]:
        raise NotImplementedError

    def estimate_policy_value(
        self,
        slate_id: Any,
        reward: Any,
        position: Any,
        pscore: Any = None,
        evaluation_policy_pscore: Any = None,
        pscore_item_position: Any = None,
        evaluation_policy_pscore_item_position: Any = None,
        **kwargs: Any,
    ) -> float:
        """The evaluation policy's mean reward of a slate."""
        slots = (pscore_item_position, evaluation_policy_pscore_item_position)
        slates = (pscore, evaluation_policy_pscore)
        feedback = self._read(slate_id, reward, position, slots, slates)
        return float(self._mean(feedback, band="none").estimate)

    def estimate_interval(
        self,
        slate_id: Any,
        reward: Any,
        position: Any,
        pscore: Any = None,
        evaluation_policy_pscore: Any = None,
        pscore_item_position: Any = None,
        evaluation_policy_pscore_item_position: Any = None,
        alpha: float = 0.05,
        n_bootstrap_samples: int = 10000,
        random_state: int | None = None,
        **kwargs: Any,
    ) -> dict[str, float]:
        """The mean with an interval, under OBP's keys.

        The interval comes from the weights' influence function, not from a bootstrap: `n_bootstrap_samples` is not
        used, and `"mean"` is the estimate itself, not the mean of bootstrap draws. Where the log is not worth enough
        rows to carry an interval, its bounds are NaN, with a warning.
        """
        slots = (pscore_item_position, evaluation_policy_pscore_item_position)
        slates = (pscore, evaluation_policy_pscore)
        feedback = self._read(slate_id, reward, position, slots, slates)
        mean = self._mean(feedback, band="multiplier", confidence=1 - alpha, seed=random_state or 0)
        if mean.lower is None or mean.upper is None:
            reason = getattr(mean, "reason", None) or "the log is not worth enough rows"
            warnings.warn(f"{self.estimator_name}: no interval: {reason}", UserWarning, stacklevel=2)
        level = f"{100 * (1.0 - alpha)}% CI"
        return {
            "mean": float(mean.estimate),
            f"{level} (lower)": float("nan") if mean.lower is None else float(mean.lower),
            f"{level} (upper)": float("nan") if mean.upper is None else float(mean.upper),
        }

    def _read(self, slate_id: Any, reward: Any, position: Any, slots: Any, slates: Any) -> Feedback:
        feedback = read_feedback(slate_id=slate_id, position=position, reward=reward, slots=slots, slates=slates)
        if self.len_list is not None and feedback.slots > self.len_list:
            raise InputError(f"{feedback.slots} different positions, but len_list is {self.len_list}")
        return feedback

    def _mean(self, feedback: Feedback, **settings: Any) -> Any:
        evaluate = import_module("slateval").evaluate
        arguments = {"reward": feedback.reward, "correction": self.correction} | self._structure(feedback)
        return evaluate(**arguments, **settings)["target"].mean

    def _slot_arguments(self, feedback: Feedback) -> dict[str, Any]:
        if feedback.logging is None or feedback.target is None:
            raise InputError(
                f"{self.estimator_name} needs pscore_item_position and evaluation_policy_pscore_item_position"
            )
        self._refuse(
            feedback.logging_is_joint,
            "the logging policy's slots depend on each other: pscore is not the product of pscore_item_position. Use "
            "SlateUnO, or slateval.weights.pseudo_inverse with the logging policy",
        )
        return {"logging": feedback.logging, "target": feedback.target}

    def _refuse(self, joint: bool, why: str) -> None:
        if not joint:
            return
        if self.on_joint == "error":
            raise InputError(f"{self.estimator_name}: {why}; on_joint='warn' goes on regardless")
        warnings.warn(f"{self.estimator_name} is biased: {why}", UserWarning, stacklevel=5)


@dataclass
class SlateSUnO(_SlateEstimator):
    """The additive weight: right if each slot acts on the reward by itself.

    Needs `pscore_item_position` of a logging policy with independent slots; the evaluation policy's slots may depend on
    each other.
    """

    estimator_name: str = "suno"

    def _structure(self, feedback: Feedback) -> dict[str, Any]:
        return self._slot_arguments(feedback) | {"structure": "additive"}


@dataclass
class SlateUnO(_SlateEstimator):
    """The product weight: assumes nothing, and varies the most. Without correction, it is OBP's `SlateStandardIPS`.

    Takes `pscore`, the probability of whole slates, where both policies have it, and the product of
    `pscore_item_position` otherwise, which is the same if slots are independent.
    """

    estimator_name: str = "uno"

    def _structure(self, feedback: Feedback) -> dict[str, Any]:
        if feedback.weight is not None:
            return {"weight": feedback.weight, "structure": "given"}
        return self._slot_arguments(feedback) | {"structure": "product"}


@dataclass
class SlateOrder(_SlateEstimator):
    """The weight of a given order: up to `order` slots at a time act together. Both policies' slots are independent."""

    estimator_name: str = ""
    order: int = 2

    def __post_init__(self) -> None:
        if self.order < 1:
            raise InputError(f"order must be at least 1, not {self.order}")
        self.estimator_name = self.estimator_name or f"order:{self.order}"

    def _structure(self, feedback: Feedback) -> dict[str, Any]:
        arguments = self._slot_arguments(feedback)
        self._refuse(
            feedback.target_is_joint and self.order > 1,
            "the evaluation policy's slots depend on each other: its pscore is not the product of its "
            "pscore_item_position. Use SlateSUnO or SlateUnO",
        )
        return arguments | {"structure": f"order:{self.order}"}


@dataclass
class SlateAuto(_SlateEstimator):
    """slateval's defaults: the order chosen from the data, weights corrected.

    Stays at the additive weight if the evaluation policy's slots are seen to depend on each other. Its interval would
    then hold only if slots do not interact, which cannot be tested: its bounds are NaN, with a warning.
    """

    estimator_name: str = "slateval"
    correction: str = "auto"

    def _structure(self, feedback: Feedback) -> dict[str, Any]:
        slots = slots_argument("joint" if feedback.target_is_joint else "independent")
        return self._slot_arguments(feedback) | {"structure": "auto"} | slots


def _register() -> None:
    """Lets `isinstance(estimator, BaseSlateOffPolicyEstimator)` hold, where OBP can be imported."""
    if find_spec("obp") is None:
        return
    try:
        base = import_module("obp.ope.estimators_slate").BaseSlateOffPolicyEstimator
    except Exception:
        # OBP 0.4.1 pins old versions of much, and fails in many ways beside new ones. It does not check the type.
        return
    base.register(_SlateEstimator)


_register()
