"""From raw actions and two policies to a decision.

A log often holds what was shown and what came of it, and no propensities. Whoever has both policies can compute them.

    pip install ./python && python examples/python/raw_actions.py
"""

import numpy as np
import slateval

SLATES, SLOTS, ITEMS = 50_000, 3, 5
random = np.random.default_rng(7)


def softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores)
    return weights / weights.sum(axis=-1, keepdims=True)


# Two policies: the probability of each item in each slot, for each of two kinds of users.
taste = random.normal(size=(2, SLOTS, ITEMS))
deployed, candidate = softmax(0.3 * taste), softmax(0.9 * taste)

# The deployed policy fills slates; users click on what they like.
users = random.integers(0, 2, SLATES)
draw = random.random((SLATES, SLOTS, 1))
actions = (deployed[users].cumsum(axis=2) < draw).sum(axis=2).clip(max=ITEMS - 1)
liking = np.take_along_axis(taste[users], actions[..., None], axis=2)[..., 0]
clicks = (random.random((SLATES, SLOTS)) < 1 / (1 + np.exp(2 - liking))).sum(axis=1)

# Raw actions and whole policies in, propensities and chi out; then evaluate.
p = slateval.propensities(actions, logging=deployed[users], target={"candidate": candidate[users]})
ev = slateval.evaluate(reward=clicks, by=users, **p.arguments())
difference = ev.comparison("candidate")
print(ev)
print(f"\ncandidate minus logging: {difference.mean:+.4f} clicks per slate")
for segment in ev.segments:
    print(f"users of kind {segment.value}: {segment.comparisons[0].mean:+.4f}")

# Here the truth is known.
truth = (candidate[users] / (1 + np.exp(2 - taste[users]))).sum(axis=(1, 2)).mean()
print(f"the truth is {truth:.4f}, the estimate {ev['candidate'].mean:.4f}")
gain = difference.mean
# Without an interval that stands by itself, nothing is shown.
ship = gain.lower is not None and gain.lower > 0 and difference.dominance != "baseline"
print("ship it" if ship else "keep the deployed policy")
