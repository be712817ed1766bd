"""The pages on clusters and tables: every piece of code in them runs, and gives what one process gives."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import slateval

ROOT = Path(__file__).parent.parent.parent.parent
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def code(page: str, heading: str, language: str = "python") -> str:
    """The code below a heading, or of the whole page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    if heading:
        text = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    found = "".join(piece for kind, piece in FENCE.findall(text) if kind == language)
    assert found, heading
    return found


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pa.Table:
    """A folder with `logs/`: the sample log in forty files."""
    table = pq.read_table(ROOT / "examples" / "slates.parquet")
    table = table.append_column("clicks", table["reward"]).append_column("day", pa.array([16] * table.num_rows))
    (tmp_path / "logs").mkdir()
    for file in range(40):
        pq.write_table(table.slice(file * 300, 300), tmp_path / "logs" / f"{file:02}.parquet")
    monkeypatch.chdir(tmp_path)
    return table


def run(source: str, **known: Any) -> dict[str, Any]:
    names = {"slateval": slateval, **known}
    exec(compile(source, "snippet", "exec"), names)
    return names


def assert_whole_log(ev: slateval.Evaluation) -> None:
    alone = slateval.evaluate("logs/*.parquet", target={"new": "pi_new"})
    assert ev.log["rows"] == 12_000
    assert float(ev["new"].mean) == pytest.approx(float(alone["new"].mean), rel=1e-12)
    assert float(ev["new"].cvar(0.1)) == pytest.approx(float(alone["new"].cvar(0.1)), rel=1e-12)


def test_dask_on_a_cluster(logs: pa.Table) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
        assert_whole_log(run(code("scaling.md", "Dask"))["ev"])


@pytest.fixture
def ray() -> Iterator[Any]:
    os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    module = pytest.importorskip("ray")
    module.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield module
    module.shutdown()


def test_ray(logs: pa.Table, ray: Any) -> None:
    assert_whole_log(run(code("scaling.md", "Ray"))["ev"])


def test_a_shell(logs: pa.Table, binary: Path) -> None:
    path = os.pathsep.join([str(binary.parent), os.environ["PATH"]])
    script = "set -e\n" + code("scaling.md", "A shell, Airflow, Slurm", "sh")
    # A second run must not merge the first one's result.
    for _ in range(2):
        done = subprocess.run(["sh", "-c", script], env=os.environ | {"PATH": path}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert "12,000 slates" in done.stdout
    assert_whole_log(slateval.load("all.slateval"))


def test_spark(logs: pa.Table) -> None:
    import sys

    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        known = run(code("scaling.md", "Spark"), spark=spark)
        assert known["ev"].log["rows"] == 12_000
        assert known["ev"].segments
    finally:
        spark.stop()


def test_tables(logs: pa.Table) -> None:
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake("slates-delta", logs)
    # Rows of another day, written and deleted again: they are in the folder, and not in the table.
    other = logs.set_column(logs.schema.get_field_index("day"), "day", pc.add(logs["day"], 1))
    deltalake.write_deltalake("slates-delta", other, mode="append")
    deltalake.DeltaTable("slates-delta").delete("day = 17")
    pieces = code("tables.md", "").split("import duckdb")
    assert_whole_log(run(pieces[0])["ev"])
    assert_whole_log(run("import duckdb" + pieces[1])["ev"])
