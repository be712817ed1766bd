"""What a wheel must do in an environment that has NumPy and nothing else: import quickly, and evaluate."""

import pickle
import subprocess
import sys
import time
from pathlib import Path

start = time.perf_counter()
import slateval  # noqa: E402

seconds = time.perf_counter() - start

import numpy as np  # noqa: E402

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def quickest() -> float:
    """A busy machine may be slow once; three times it is not."""
    code = "import time; t = time.perf_counter(); import slateval; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    return min(float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(3))


listed = subprocess.run([sys.executable, "-m", "pip", "list", "--format", "freeze"], capture_output=True, text=True)
names = {line.partition("==")[0].lower() for line in listed.stdout.splitlines()}
assert names <= {"numpy", "slateval", "pip", "setuptools"}, names
assert min(seconds, quickest()) < 0.3, f"importing slateval took {seconds:.2f} s"

ev = slateval.evaluate(EXAMPLES / "slates.parquet", target={"new": "pi_new"})
assert ev.log["rows"] == 12_000
mu, pi = np.full((4, 2), 0.5), np.array([[0.9, 0.1], [0.1, 0.9], [0.9, 0.9], [0.1, 0.1]])
assert slateval.evaluate(reward=[1, 1, 2, 0], logging=mu, target=pi, band="none")["target"].mean.estimate is not None
assert len(ev["new"].cdf["reward"]) == len(ev["new"].cdf)
assert pickle.loads(pickle.dumps(ev))["new"].cvar(0.02) == ev["new"].cvar(0.02)
assert ev.plot("tails").svg.startswith("<svg") and "12,000 slates" in repr(ev)
print(f"slateval {slateval.__version__}: imported in {seconds:.2f} s, {ev['new'].mean}")
