"""How fast NumPy arrays are evaluated, beside the same estimator in vectorised NumPy and beside OBP.

NumPy computes the additive estimator's mean and CDF: weights, a stable sort of the rewards, a cumulative sum. slateval
does the same from the same arrays, with checks of every value and quantiles. Both run in turns, and the best of the
turns counts; the two means agree to 1e-12, and the CDFs at the edges of the bins.

OBP's slate estimators are timed on fewer slates, for they build a frame; figures are per slate. They are skipped where
OBP cannot be installed.

    python3 -m venv .venv && .venv/bin/pip install -r benches/requirements.txt ./python
    .venv/bin/python benches/numpy_speed.py
"""

from __future__ import annotations

import argparse
import sys
import time
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import slateval

SLOTS = 5
ITEMS = 20


def make_log(rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rewards, logging and target propensities: two softmax policies over twenty items, continuous rewards."""
    random = np.random.default_rng(1)
    scores = np.exp(0.5 * random.standard_normal((2, SLOTS, ITEMS)))
    policies = scores / scores.sum(axis=2, keepdims=True)
    mu, pi = np.empty((rows, SLOTS)), np.empty((rows, SLOTS))
    for slot in range(SLOTS):
        items = np.minimum(np.searchsorted(policies[0, slot].cumsum(), random.random(rows)), ITEMS - 1)
        mu[:, slot], pi[:, slot] = policies[0, slot, items], policies[1, slot, items]
    return random.random(rows), mu, pi


def with_numpy(reward: np.ndarray, mu: np.ndarray, pi: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """The additive estimator: the mean, and the CDF at every reward."""
    weight = 1 + (pi / mu - 1).sum(axis=1)
    order = np.argsort(reward, kind="stable")
    cdf = np.cumsum(weight[order]) / len(reward)
    return float((weight * reward).mean()), reward[order], cdf


def with_slateval(reward: np.ndarray, mu: np.ndarray, pi: np.ndarray) -> slateval.Evaluation:
    return slateval.evaluate(reward=reward, logging=mu, target=pi, structure="additive", correction="none", band="none")


def best(turns: int, *runs: Callable[[], Any]) -> list[tuple[float, Any]]:
    """The best time of each, run in turns, and what it returned."""
    found: list[tuple[float, Any]] = [(float("inf"), None)] * len(runs)
    for _ in range(turns):
        for i, run in enumerate(runs):
            start = time.perf_counter()
            result = run()
            seconds = time.perf_counter() - start
            found[i] = (min(seconds, found[i][0]), result)
    return found


def check(evaluation: slateval.Evaluation, expected: tuple[float, np.ndarray, np.ndarray]) -> None:
    """The same answers: the mean, and the CDF at the largest reward of each bin."""
    mean, rewards, cdf = expected
    policy = evaluation["target"]
    assert abs(float(policy.mean) - mean) <= 1e-12 * abs(mean), (float(policy.mean), mean)
    at = np.searchsorted(rewards, policy.cdf["reward"], side="right") - 1
    difference = np.abs(policy.cdf["raw"] - cdf[at]).max()
    assert difference < 1e-10, difference
    print(f"the means differ by {abs(float(policy.mean) - mean):.1e}, the CDFs by at most {difference:.1e}")


def load_obp() -> Any:
    """OBP's estimators, without the deep-learning library that they have no use for."""
    try:
        import torch  # noqa: F401
    except ImportError:
        for name in ("torch", "torch.nn", "torch.nn.functional", "torch.optim", "torch.utils", "torch.utils.data"):
            module = types.ModuleType(name)
            module.__getattr__ = lambda attribute: type(attribute, (), {})  # type: ignore[method-assign]
            sys.modules[name] = module
            parent, _, own = name.rpartition(".")
            if parent:
                setattr(sys.modules[parent], own, module)
    try:
        from obp.ope import SlateIndependentIPS, SlateStandardIPS
    except ImportError as error:
        print(f"OBP is skipped: {error} (pip install --no-deps obp==0.4.1, and what it imports but torch)")
        return None
    return SlateStandardIPS(len_list=SLOTS), SlateIndependentIPS(len_list=SLOTS)


def beside_obp(seconds_per_slate: float, slates: int) -> None:
    estimators = load_obp()
    if estimators is None:
        return
    reward, mu, pi = make_log(slates)
    common = {
        "slate_id": np.repeat(np.arange(slates), SLOTS),
        "position": np.tile(np.arange(SLOTS), slates),
        "reward": (np.repeat(reward, SLOTS) / SLOTS),
    }
    product = np.repeat(mu.prod(axis=1), SLOTS), np.repeat(pi.prod(axis=1), SLOTS)
    runs: list[tuple[str, Callable[[], float]]] = [
        (
            "SlateStandardIPS",
            lambda: estimators[0].estimate_policy_value(
                **common, pscore=product[0], evaluation_policy_pscore=product[1]
            ),
        ),
        (
            "SlateIndependentIPS",
            lambda: estimators[1].estimate_policy_value(
                **common,
                pscore_item_position=mu.reshape(-1),
                evaluation_policy_pscore_item_position=pi.reshape(-1),
            ),
        ),
    ]
    for name, run in runs:
        [(seconds, _)] = best(3, run)
        ratio = seconds / slates / seconds_per_slate
        print(
            f"OBP {name}, point estimate of the mean: {1e9 * seconds / slates:,.0f} ns a slate, {ratio:,.0f} times ours"
        )
    interval = {"alpha": 0.05, "n_bootstrap_samples": 100, "random_state": 1}
    [(seconds, _)] = best(
        1,
        lambda: estimators[0].estimate_interval(
            **common, pscore=product[0], evaluation_policy_pscore=product[1], **interval
        ),
    )
    print(f"OBP SlateStandardIPS, its interval (100 draws): {1e9 * seconds / slates:,.0f} ns a slate")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--obp-slates", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=3)
    arguments = parser.parse_args()
    log = make_log(arguments.rows)
    (theirs, expected), (ours, evaluation) = best(
        arguments.turns, lambda: with_numpy(*log), lambda: with_slateval(*log)
    )
    check(evaluation, expected)
    rate = arguments.rows / 1e6
    print(f"{arguments.rows:,} slates of {SLOTS} slots, float64, best of {arguments.turns}")
    print(f"NumPy {np.__version__}: {theirs:6.2f} s  {rate / theirs:7.1f} million slates/s")
    print(f"slateval:    {ours:6.2f} s  {rate / ours:7.1f} million slates/s, {theirs / ours:.1f} times as fast")
    beside_obp(ours / arguments.rows, arguments.obp_slates)


if __name__ == "__main__":
    main()
