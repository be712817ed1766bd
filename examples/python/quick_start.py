"""The log that ships with slateval, from a file to a decision.

pip install ./python && python examples/python/quick_start.py
"""

from pathlib import Path

import slateval

LOG = Path(__file__).parent.parent / "slates.parquet"

ev = slateval.evaluate(LOG, target={"new": "pi_new", "bolder": "pi_bolder"}, by="device")
print(ev)

# Numbers, with their intervals.
bolder = ev["bolder"]
print(f"\nbolder: mean {bolder.mean:.3f}, worst tenth {bolder.cvar(0.1):.3f}, median {bolder.quantile(0.5):.3f}")

# Differences are paired: both policies are judged by the same rows.
against = ev.comparison("bolder")
print(f"bolder minus logging: mean {against.mean:+.3f}, worst tenth {against.cvar(0.1):+.3f}")
tail = against.cvar(0.1)
if tail.upper is not None and tail.upper < 0:
    print("The worst tenth of slates gets worse: do not ship it for its mean alone.")

# The whole distribution, as NumPy or for any Arrow library.
cdf = bolder.cdf
print(f"P(reward <= 0.1) is about {cdf['estimate'][cdf['reward'] <= 0.1][-1]:.3f}")
