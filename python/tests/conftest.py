"""One log, in whatever form a test wants it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent.parent
SLOTS = 3


class Log:
    """Slates of three slots with two targets, clicks as rewards, a device and a user."""

    def __init__(self, rows: int = 5000, seed: int = 1) -> None:
        random = np.random.default_rng(seed)
        logging = np.array([0.4, 0.3, 0.2, 0.1])
        items = random.choice(4, size=(rows, SLOTS), p=logging)
        new, old = np.array([0.2, 0.3, 0.2, 0.3]), np.array([0.5, 0.2, 0.2, 0.1])
        self.mu, self.pi, self.pi_old = logging[items], new[items], old[items]
        chi = (new**2 / logging).sum() - 1
        self.chi = np.full((rows, SLOTS), chi)
        clicks = random.random((rows, SLOTS)) < 0.1 + 0.15 * items
        # Few different rewards: tests are not to wait for bands over thousands of bins.
        self.reward = clicks.sum(axis=1) + random.integers(0, 20, rows) / 20
        self.device = np.array(["phone", "desktop", "tablet"])[random.integers(0, 3, rows)]
        self.user = random.integers(0, 500, rows)

    def columns(self) -> dict[str, np.ndarray]:
        columns = {"reward": self.reward}
        for base, values in (("mu", self.mu), ("pi", self.pi), ("pi_old", self.pi_old)):
            columns |= {f"{base}_{k + 1}": np.ascontiguousarray(values[:, k]) for k in range(SLOTS)}
        return columns | {"device": self.device, "user": self.user, "note": np.full(len(self.reward), "x")}


@pytest.fixture(scope="session")
def log() -> Log:
    return Log()


@pytest.fixture(scope="session")
def parquet(log: Log, tmp_path_factory: pytest.TempPathFactory) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path_factory.mktemp("log") / "log.parquet"
    pq.write_table(pa.table(log.columns()), path, row_group_size=1000)
    return str(path)


@pytest.fixture(scope="session")
def binary() -> Path:
    path = Path(os.environ.get("SLATEVAL", ROOT / "target" / "debug" / "slateval"))
    if not path.exists():
        pytest.fail(f"{path} is missing: `cargo build -p slateval-cli`, or set SLATEVAL")
    return path
