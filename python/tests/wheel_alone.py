"""What a wheel must do in an environment that has NumPy and nothing else: be imported, and evaluate."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import slateval

EXAMPLES = Path(__file__).parent.parent.parent / "examples"

listed = subprocess.run([sys.executable, "-m", "pip", "list", "--format", "freeze"], capture_output=True, text=True)
names = {line.partition("==")[0].lower() for line in listed.stdout.splitlines()}
assert names <= {"numpy", "slateval", "pip", "setuptools"}, names

ev = slateval.evaluate(EXAMPLES / "slates.parquet", target={"new": "pi_new"})
assert ev.log["rows"] == 12_000
mu, pi = np.full((4, 2), 0.5), np.array([[0.9, 0.1], [0.1, 0.9], [0.9, 0.9], [0.1, 0.1]])
uncorrected = {"structure": "additive", "correction": "none", "band": "none"}
# The weights pi/mu summed over slots, minus one: 1, 1, 2.6 and -0.6.
by_hand = (1 + 1 + 2 * 2.6 - 0 * 0.6) / 4
mean = slateval.evaluate(reward=[1, 1, 2, 0], logging=mu, target=pi, **uncorrected)["target"].mean
assert abs(mean.estimate - by_hand) < 1e-12
assert len(ev["new"].cdf["reward"]) == len(ev["new"].cdf)
assert pickle.loads(pickle.dumps(ev))["new"].cvar(0.02) == ev["new"].cvar(0.02)
assert ev.plot("tails").svg.startswith("<svg") and "12,000 slates" in repr(ev)
print(f"slateval {slateval.__version__}: {ev['new'].mean}")
