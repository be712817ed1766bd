"""Spark, on a real cluster: a master, two workers and the driver are processes of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import slateval
from slateval import _slateval

pyspark = pytest.importorskip("pyspark")
pa = pytest.importorskip("pyarrow")

import pyarrow.parquet as pq  # noqa: E402
import slateval.spark  # noqa: E402
from conftest import Log  # noqa: E402
from slateval.spark import ClusterError, _cluster, _progress, _session, _tasks, _worker  # noqa: E402
from spark_cluster import Cluster  # noqa: E402

ROWS, FILES = 5_000_000, 40
MOST_TO_THE_DRIVER = "4m"
"""What all tasks of a job may send to the driver together. Spark ends a job that sends more."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.stop()


@pytest.fixture(scope="module")
def spark(cluster: Cluster) -> Iterator[Any]:
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    session = cluster.session(**{"spark.driver.maxResultSize": MOST_TO_THE_DRIVER})
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, slateval.Evaluation]:
    """Many rows in many files, and what one process makes of them."""
    folder = tmp_path_factory.mktemp("large")
    random = np.random.default_rng(5)
    each = ROWS // FILES
    for file in range(FILES):
        items = random.integers(0, 4, (each, 3))
        clicks = (random.random((each, 3)) < 0.1 + 0.1 * items).sum(axis=1)
        reward = clicks + random.random(each)
        columns = {"reward": reward.astype("f4")}
        # Propensities that differ from row to row, so that files have a size.
        noise = random.random((each, 3)) * 0.05
        columns |= {f"mu_{k + 1}": (0.25 + 0 * noise[:, k]).astype("f4") for k in range(3)}
        columns |= {f"pi_{k + 1}": (0.1 * items[:, k] + noise[:, k] + 0.075).astype("f4") for k in range(3)}
        pq.write_table(pa.table(columns), folder / f"part-{file:02}.parquet")
    return str(folder), slateval.evaluate(str(folder))


def assert_same(found: slateval.Evaluation, wanted: slateval.Evaluation, tolerance: float = 1e-12) -> None:
    """All numbers to this tolerance, relative to themselves or to 1, and everything else exactly."""

    def compare(one: Any, other: Any, where: str) -> None:
        if isinstance(one, dict) and isinstance(other, dict):
            assert one.keys() == other.keys(), where
            for key in one:
                compare(one[key], other[key], f"{where}.{key}")
        elif isinstance(one, list) and isinstance(other, list):
            assert len(one) == len(other), where
            for i, pair in enumerate(zip(one, other, strict=True)):
                compare(*pair, f"{where}[{i}]")
        elif isinstance(one, float) and isinstance(other, float):
            assert abs(one - other) <= tolerance * max(1.0, abs(other)), f"{where}: {one} and {other}"
        else:
            assert one == other, where

    documents = [found.to_dict(), wanted.to_dict()]
    for document in documents:
        # Where the rows came from: a DataFrame has no files.
        document["settings"]["log"].pop("paths", None)
        document["log"].pop("inputs", None)
    compare(*documents, "evaluation")


class Killer(threading.Thread):
    """Kills a worker with its executor once some tasks of a job are done, and starts another."""

    def __init__(self, cluster: Cluster, spark: Any, tasks: int) -> None:
        super().__init__(daemon=True)
        self.cluster, self.tracker, self.tasks = cluster, spark.sparkContext.statusTracker(), tasks
        self.killed_at: int | None = None

    def run(self) -> None:
        while self.killed_at is None:
            for stage in self.tracker.getActiveStageIds():
                info = self.tracker.getStageInfo(stage)
                if info is not None and info.numTasks > self.tasks <= info.numCompletedTasks:
                    self.cluster.workers.pop(0).kill()
                    self.killed_at = info.numCompletedTasks
                    self.cluster.workers.append(self.cluster.start_worker())
                    break
            time.sleep(0.02)


@pytest.fixture()
def a_task_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file of the large log is worth a task. By themselves they would be read together."""
    monkeypatch.setattr(_tasks, "LEAST", 1 << 20)


@pytest.mark.usefixtures("a_task_each")
def test_files_of_a_large_log(spark: Any, large: tuple[str, slateval.Evaluation]) -> None:
    path, alone = large
    tasks = slateval.plan(path)
    assert len(_tasks.group(tasks)) == FILES
    found = slateval.spark.evaluate(path, spark=spark)
    assert_same(found, alone)
    assert found.to_dict()["settings"] == alone.to_dict()["settings"]


def test_a_frame_of_a_large_log(spark: Any, large: tuple[str, slateval.Evaluation]) -> None:
    path, alone = large
    assert_same(slateval.spark.evaluate(spark.read.parquet(path)), alone)


@pytest.mark.usefixtures("a_task_each")
@pytest.mark.parametrize("route", ["files", "frame"])
def test_a_worker_may_die_over_a_large_log(
    cluster: Cluster, spark: Any, large: tuple[str, slateval.Evaluation], route: str
) -> None:
    path, alone = large
    killer = Killer(cluster, spark, tasks=4)
    killer.start()
    spark.conf.set("spark.sql.files.maxPartitionBytes", "4m")
    source = path if route == "files" else spark.read.parquet(path)
    found = slateval.spark.evaluate(source, spark=spark)
    assert killer.killed_at is not None, "the job was over before a worker could be killed"
    assert_same(found, alone)
    killer.join()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Few rows in many files, with all that a log may have; the last file has no rows."""
    folder = tmp_path_factory.mktemp("small")
    for file in range(21):
        log = Log(rows=400 if file < 20 else 0, seed=file + 1)
        columns = log.columns() | {f"chi_{k + 1}": log.chi[:, k] for k in range(3)}
        pq.write_table(pa.table(columns), folder / f"{file:02}.parquet")
    return str(folder)


SETTINGS = [
    {"target": {"new": "pi", "old": "pi_old"}, "by": "device", "cluster": "user", "baseline": "old"},
    {"chi": "chi", "structure": "additive", "correction": "calibrated"},
    {"structure": "product", "band": "bernstein", "min_propensity": 0.1},
    {"structure": "interactions:1+2,2+3", "bins": "log", "tail": "upper", "alpha": 0.2, "at_least": 1.0},
    {"estimator": "suno", "band": "none"},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_every_method_works_on_both_routes(spark: Any, small: str, settings: dict[str, Any]) -> None:
    alone = slateval.evaluate(small, **settings)
    # Partitions without rows are nothing special.
    frame = spark.read.parquet(small).repartition(5).union(spark.read.parquet(small).where("reward < -1"))
    for source in (small, frame):
        assert_same(slateval.spark.evaluate(source, spark=spark, **settings), alone, tolerance=1e-11)


def test_small_files_are_read_by_one_task(small: str) -> None:
    assert len(slateval.plan(small)) == 21
    assert len(_tasks.group(slateval.plan(small))) == 1


def test_groups_depend_on_the_log_alone() -> None:
    def sizes(*tasks: int) -> list[int]:
        made = [slateval.Task("f", None, size, "", "") for size in tasks]
        return [len(group) for group in _tasks.group(made)]

    mega = 1 << 20
    assert sizes(0, 0, 0) == [3]
    assert sizes(*[mega] * 200) == [64, 64, 64, 8]
    assert sizes(*[60 * mega] * 40) == [1] * 40
    assert sizes(100, 400 * mega, 100) == [1, 1, 1]
    assert len(sizes(*[4 * mega] * 50_000)) == 782
    assert len(sizes(*[256 * mega] * 40_000)) <= 10_000


def test_slates_of_a_long_log_stay_together(spark: Any, tmp_path: Path) -> None:
    log = Log(rows=3000)
    slates, slots = log.mu.shape
    columns = {
        "slate_id": np.repeat(np.arange(slates), slots),
        "position": np.tile(np.arange(slots), slates),
        "reward": np.repeat(log.reward / slots, slots),
        "pscore_item_position": log.mu.ravel(),
        "evaluation_policy_pscore_item_position": log.pi.ravel(),
    }
    path = str(tmp_path / "long.parquet")
    pq.write_table(pa.table(columns), path, row_group_size=1000)
    alone = slateval.evaluate(path, long=True)
    shuffled = spark.read.parquet(path).orderBy("reward", "position")
    for source in (path, shuffled):
        assert_same(slateval.spark.evaluate(source, spark=spark, long=True), alone, tolerance=1e-11)
    renamed = shuffled.withColumnRenamed("slate_id", "slate.id")
    found = slateval.spark.evaluate(renamed, long=True, slate="slate.id")
    assert found["target"].mean.estimate == pytest.approx(alone["target"].mean.estimate, rel=1e-11)


def test_inspections_and_summaries(spark: Any, small: str) -> None:
    alone = slateval.inspect(small, interactions=True)
    for source in (small, spark.read.parquet(small)):
        found = slateval.spark.inspect(source, spark=spark, interactions=True)
        assert found.to_dict()["log"]["rows"] == alone.to_dict()["log"]["rows"]
        assert found.to_dict().keys() == alone.to_dict().keys()
    made = slateval.spark.summary(small, by="device", spark=spark)
    assert made.rows == 8000
    assert_same(made.evaluate(), slateval.evaluate(small, by="device"), tolerance=1e-11)
    # It knows its files, so that it cannot be counted twice.
    with pytest.raises(slateval.InputError, match="is counted already"):
        made.merge(slateval.spark.summary(small, by="device", spark=spark))


def test_the_same_job_gives_the_same_bytes(spark: Any, small: str) -> None:
    found = [slateval.spark.evaluate(small, spark=spark).to_json() for _ in range(2)]
    assert found[0] == found[1]


def test_parts_of_a_large_log_are_small(small: str, large: tuple[str, slateval.Evaluation]) -> None:
    few = slateval.partial(slateval.plan(small)[0])
    many = slateval.spark._log._tasks.partials(slateval.plan(large[0])).to_bytes()
    assert len(few) < 40_000
    assert len(many) < 1_500_000
    assert slateval.Summary.from_bytes(few).rows == 400


@pytest.mark.parametrize(("chi", "most"), [({}, 1_500_000), ({"chi": "chi"}, 3_000_000)])
def test_parts_of_five_slots_are_small(chi: dict[str, str], most: int) -> None:
    """All bins are filled, so that more rows do not make a larger part."""
    rows = 200_000
    random = np.random.default_rng(5)
    mu, pi, ratios = random.uniform(0.1, 0.3, (3, rows, 5))
    summary = slateval.Summary(**chi)
    summary.add({"reward": random.random(rows), "mu": mu, "pi": pi} | dict.fromkeys(chi, ratios))
    half = len(summary.to_bytes())
    summary.add({"reward": random.random(rows), "mu": mu, "pi": pi} | dict.fromkeys(chi, ratios))
    assert half <= len(summary.to_bytes()) < half + 1000
    assert len(summary.to_bytes()) < most


def test_refusals_name_the_place(spark: Any, small: str, tmp_path: Path) -> None:
    frame = spark.read.parquet(small)
    bad = pq.read_table(f"{small}/03.parquet").to_pandas()
    bad.loc[17, "mu_2"] = -0.5
    path = tmp_path / "bad.parquet"
    bad.to_parquet(path)
    cases = [
        (str(path), slateval.InputError, "executor .*bad.parquet, row 18: `mu_2` is -0.5"),
        (spark.read.parquet(str(path)), slateval.InputError, "partition 0: data, row 18: `mu_2` is -0.5"),
        (frame.drop("reward"), slateval.ColumnError, "there is no column `reward`"),
        (frame.where("reward < -1"), slateval.NoRowsError, "there are no rows"),
        (frame.select("*", frame["mu_1"].alias("mu_1")), slateval.DataTypeError, "two columns `mu_1`"),
        (str(tmp_path / "nowhere"), slateval.MissingFileError, "there is no such file"),
        ({"reward": [1.0]}, slateval.DataTypeError, "paths or a Spark DataFrame, not a dict"),
    ]
    for source, kind, message in cases:
        with pytest.raises(kind, match=message):
            slateval.spark.evaluate(source, spark=spark)
    with pytest.raises(slateval.InputError, match="confidence"):
        slateval.spark.evaluate(frame, confidence=2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nix'"):
        slateval.spark.evaluate(small, spark=spark, nix=3)


@contextmanager
def configured(spark: Any, name: str, value: str) -> Iterator[None]:
    before = spark.conf.get(name)
    spark.conf.set(name, value)
    yield
    spark.conf.set(name, before)


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_worker, "PAUSES", (0.0, 0.0))


@pytest.mark.usefixtures("no_pauses")
def test_a_file_that_executors_do_not_see(small: str, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    path.write_bytes(Path(small, "00.parquet").read_bytes())
    groups = _tasks.Groups.of(_tasks.group(slateval.plan(str(path))))
    path.unlink()
    places = pa.record_batch({"id": [0]})
    (part,) = _worker.read_files([places], groups.count, groups.packed, groups.job)
    with pytest.raises(slateval.MissingFileError, match=r"executor .*log.parquet: .*put the log where all executors"):
        _worker.raise_fault(part.fault or "")


class Reads:
    """Groups whose first reads fail."""

    def __init__(self, *failures: Exception) -> None:
        self.failures, self.count = list(failures), 0

    def read(self, place: int) -> str:
        self.count += 1
        if self.failures:
            raise self.failures.pop(0)
        return f"part {place}"


@pytest.mark.usefixtures("no_pauses")
def test_short_outages_are_waited_for_and_bad_data_are_not() -> None:
    reads = Reads(slateval.FileError("timed out"), slateval.MissingFileError("not there"))
    assert _worker._tried(reads, 7) == "part 7"  # type: ignore[arg-type, comparison-overlap]
    reads = Reads(*[slateval.FileError("timed out")] * 3)
    with pytest.raises(slateval.FileError, match="timed out"):
        _worker._tried(reads, 7)  # type: ignore[arg-type]
    assert reads.count == 1 + len(_worker.PAUSES)
    reads = Reads(slateval.InputError("row 1"))
    with pytest.raises(slateval.InputError, match="row 1"):
        _worker._tried(reads, 7)  # type: ignore[arg-type]
    assert reads.count == 1


def test_points_in_time(spark: Any, small: str) -> None:
    hours = "timestamp'2026-11-16 05:00:00Z' + make_interval(0, 0, 0, 0, cast(reward as int))"
    frame = spark.read.parquet(small).selectExpr("*", f"{hours} as hour").drop("device")
    for zone in ("America/New_York", "UTC"):
        with configured(spark, "spark.sql.session.timeZone", zone):
            found = slateval.spark.evaluate(frame, by="hour", cluster="user", band="none")
            assert "2026-11-16T05:00:00Z" in [segment.value for segment in found.segments]
            assert slateval.spark.summary(frame, cluster="hour").rows == 8000
            with pytest.raises(slateval.DataTypeError, match="column `hour` is of type Timestamp"):
                slateval.spark.evaluate(frame, reward="hour")


@pytest.mark.parametrize("kind", ["INT96", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS"])
def test_points_in_time_have_one_label_on_both_routes(spark: Any, small: str, tmp_path: Path, kind: str) -> None:
    hours = "timestamp'2026-11-16 05:00:00Z' + make_interval(0, 0, 0, 0, cast(reward as int))"
    path = str(tmp_path / "times")
    with (
        configured(spark, "spark.sql.parquet.outputTimestampType", kind),
        configured(spark, "spark.sql.session.timeZone", "America/New_York"),
    ):
        spark.read.parquet(small).selectExpr("*", f"{hours} as hour").coalesce(1).write.parquet(path)
        summaries = [
            slateval.spark.summary(source, by="hour", spark=spark) for source in (path, spark.read.parquet(path))
        ]
    labels = [[segment.value for segment in summary.evaluate(band="none").segments] for summary in summaries]
    assert labels[0] == labels[1] and "2026-11-16T05:00:00Z" in labels[0]
    both = slateval.merge(summaries)
    assert both.rows == 16000 and [s.value for s in both.evaluate(band="none").segments] == labels[0]


def test_columns_of_any_name(spark: Any, small: str) -> None:
    names = {"reward": "clicks.all", "device": "the `device`"}
    settings = {"reward": "clicks.all", "by": "the `device`", "band": "none"}
    table = pq.read_table(small)
    alone = slateval.evaluate(table.rename_columns([names.get(name, name) for name in table.column_names]), **settings)
    frame = spark.read.parquet(small).withColumnsRenamed(names)
    assert_same(slateval.spark.evaluate(frame, **settings), alone, tolerance=1e-11)


def test_columns_that_differ_in_case(spark: Any, small: str) -> None:
    with configured(spark, "spark.sql.caseSensitive", "true"):
        frame = spark.read.parquet(small).selectExpr("*", "reward * 2 as Reward")
        found = slateval.spark.evaluate(frame, band="none")
        assert_same(found, slateval.evaluate(small, band="none"), tolerance=1e-11)
    with pytest.raises(slateval.DataTypeError, match="columns `reward` and `Reward`, which are one column to Spark"):
        slateval.spark.evaluate(frame)


def test_sessions_are_found_in_threads(spark: Any, small: str) -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(_session.session_of(small, None)))
    thread.start()
    thread.join()
    assert found == [spark]


SESSIONS = """
import sys
import slateval.spark
from pyspark import SparkContext
from pyspark.sql import SparkSession

def refused(spark=None):
    try:
        slateval.spark.evaluate(sys.argv[1], spark=spark)
    except slateval.spark.ClusterError as error:
        print(error)

refused()
assert SparkContext._active_spark_context is None
refused("local[2]")
context = SparkContext("local[1]")
print(slateval.spark.summary(sys.argv[1]).rows)
spark = SparkSession.builder.getOrCreate()
spark.stop()
refused(spark)
"""


def test_sessions_that_cannot_be_used(small: str) -> None:
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", SESSIONS, small]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    none, text, rows, stopped = done.stdout.splitlines()
    assert none == "there is no active Spark session: make one, or pass it as spark="
    assert text == "spark= takes a SparkSession, not a str"
    assert rows == "8000"
    assert stopped.startswith("the Spark session was stopped: make a new one")


def test_refusals_in_merging_are_those_of_one_process(spark: Any, small: str) -> None:
    # Each partition has fewer segments than are allowed, and both together more.
    frame = spark.range(0, 1200, 1, 2).selectExpr("id", "1.0D as reward", "0.5D as mu_1", "0.5D as pi_1")
    with pytest.raises(slateval.InputError) as alone:
        slateval.evaluate(pa.Table.from_pandas(frame.toPandas()), by="id")
    with pytest.raises(slateval.InputError, match=r"1,?000") as found:
        slateval.spark.evaluate(frame, by="id")
    assert type(found.value) is type(alone.value)


def test_streams_and_files_of_frames_are_refused(spark: Any, small: str) -> None:
    stream = spark.readStream.schema(spark.read.parquet(small).schema).parquet(small)
    with pytest.raises(slateval.DataTypeError, match="a streaming DataFrame has no end"):
        slateval.spark.evaluate(stream)
    with pytest.raises(slateval.InputError, match="on_bad_file='skip': a DataFrame has no files"):
        slateval.spark.evaluate(spark.read.parquet(small), on_bad_file="skip")


def test_levels_have_few_tasks(spark: Any) -> None:
    assert list(_cluster._levels(spark, 5000)) == [(313,), (20,), (2,)]
    assert list(_cluster._levels(spark, 16)) == []
    assert list(_cluster._levels(spark, None)) == [(), ()]
    parts = spark.range(1).selectExpr("id as place", "cast(null as binary) as part", "'' as fault")
    with configured(spark, "spark.sql.adaptive.enabled", "false"):
        for count, tasks in ((None, ["8", "64"]), (1000, ["4", "63"])):
            plan = _cluster.merged(parts, count)._jdf.queryExecution().executedPlan().toString()
            assert re.findall(r"hashpartitioning\(run#\d+L?, (\d+)\)", plan) == tasks


def test_memory_bounds_both_routes(spark: Any, small: str) -> None:
    for source in (small, spark.read.parquet(small)):
        with pytest.raises(slateval.Error, match="1 MB"):
            slateval.spark.evaluate(source, memory=1000, spark=spark)


def test_executors_with_another_version(spark: Any) -> None:
    parts = spark.range(1).mapInArrow(_cluster._travelling("files", (), "9.9"), _worker.COLUMNS)
    with pytest.raises(ClusterError, match=r"it has slateval .*, and the driver 9.9: install the same"):
        _cluster.collected(spark, parts, 1, "a test", None)


def test_executors_without_slateval(tmp_path: Path) -> None:
    import cloudpickle

    travelling = cloudpickle.dumps(_cluster._travelling("files", (), _slateval.__version__))
    (tmp_path / "work").write_bytes(travelling)
    for module in ("pyarrow", "numpy", "numpy.libs", "cloudpickle"):
        source = Path(pa.__file__).parent.parent / module
        if source.exists():
            (tmp_path / module).symlink_to(source)
    code = "import pickle; print(next(pickle.load(open('work', 'rb'))(iter([]))).column('fault')[0])"
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    run = subprocess.run([sys.executable, "-S", "-c", code], cwd=tmp_path, env=environment, capture_output=True)
    fault = json.loads(run.stdout)
    assert fault["kind"] == "ClusterError"
    assert "cannot import slateval: No module named 'slateval'; install slateval" in fault["message"]
    assert "set PYSPARK_PYTHON" in fault["message"]


WITHOUT_PYARROW = """
import sys
import slateval.spark
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").getOrCreate()
try:
    slateval.spark.evaluate(sys.argv[1], spark=spark)
except slateval.spark.ClusterError as error:
    print(error)
"""


def test_executors_without_pyarrow(small: str, tmp_path: Path) -> None:
    # A Python that finds no installed packages but Spark's own.
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    python.chmod(0o755)
    environment = os.environ | {"PYSPARK_PYTHON": str(python), "PYSPARK_DRIVER_PYTHON": sys.executable}
    command = [sys.executable, "-c", WITHOUT_PYARROW, small]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "set PYSPARK_PYTHON (spark.pyspark.python) to a Python that has both" in done.stdout, done.stdout


def test_executors_that_die(spark: Any) -> None:
    def die(batches: Iterator[Any]) -> Iterator[Any]:
        os._exit(1)
        yield from batches

    parts = spark.range(1).mapInArrow(die, _worker.COLUMNS)
    with pytest.raises(ClusterError, match=r"(?s)the cluster did not finish: .*may lack memory"):
        _cluster.collected(spark, parts, 1, "a test", None)


def test_advice_is_given_where_it_helps(spark: Any, small: str) -> None:
    """Spark ends jobs that send more than this session's driver takes; a bad row is no lack of memory."""

    def noise(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"x": [os.urandom(5_000_000)] * batch.num_rows})

    with pytest.raises(Exception, match="maxResultSize") as too_much:
        spark.range(1).mapInArrow(noise, "x binary").collect()
    assert "make it large: raise that setting" in _cluster._advice(str(too_much.value))
    broken = spark.read.parquet(small).selectExpr("*", "assert_true(reward < -1) as nothing")
    broken = broken.where("nothing is null").drop("nothing")
    with pytest.raises(ClusterError) as refused:
        slateval.spark.evaluate(broken)
    assert "memory" not in str(refused.value)


def test_frames_are_sent_to_the_functions_that_take_them(spark: Any, small: str) -> None:
    with pytest.raises(slateval.DataTypeError, match=r"use the functions of slateval\.spark"):
        slateval.evaluate(spark.read.parquet(small))
    with pytest.raises(slateval.NoRowsError, match="the list of paths is empty"):
        slateval.spark.evaluate([], spark=spark)


def test_jobs_have_a_name_and_a_bar(spark: Any, small: str) -> None:
    told: list[tuple[int, int | None]] = []
    context = spark.sparkContext
    context.setJobDescription("mine")
    slateval.spark.evaluate(small, spark=spark, progress=lambda *now: told.append(now))
    assert told[-1] == (1, 1)
    assert context.getLocalProperty("spark.job.description") == "mine"
    assert context.getLocalProperty("spark.jobGroup.id") is None


def test_a_line_that_ends_once(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_progress, "PATIENCE", 0.001)
    with _progress._told(lambda: (1, 2), 2, True):
        time.sleep(0.1)
    assert capsys.readouterr().err == "\rslateval: 1 of 2 tasks\rslateval: 2 of 2 tasks\n"
    with pytest.raises(RuntimeError), _progress._told(lambda: (1, 2), None, True):
        time.sleep(0.1)
        raise RuntimeError
    assert capsys.readouterr().err == "\rslateval: 1 of 2 tasks\n"


def test_a_bar_that_fails(spark: Any, small: str, capsys: pytest.CaptureFixture[str]) -> None:
    calls: list[int] = []

    def fail(done: int, total: int | None) -> None:
        calls.append(done)
        raise RuntimeError("no bar")

    with pytest.raises(RuntimeError, match="no bar"):
        slateval.spark.evaluate(small, spark=spark, progress=fail)
    assert len(calls) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_warnings_point_at_the_caller(spark: Any, small: str) -> None:
    with pytest.warns(slateval.SlatevalWarning) as caught:
        slateval.spark.evaluate(small, spark=spark, logging="pi", target="mu")
    (own,) = [warning for warning in caught if warning.category is slateval.SlatevalWarning]
    assert own.filename == __file__


def test_help_names_the_settings() -> None:
    import inspect

    own = inspect.signature(slateval.spark.evaluate).parameters
    assert set(inspect.signature(slateval.evaluate).parameters) - {"data"} <= set(own)
    assert list(own)[:2] == ["source", "spark"]
    assert list(inspect.signature(slateval.spark.summary).parameters)[:3] == ["source", "spark", "progress"]


CONNECTED = """
import sys, warnings
warnings.simplefilter("ignore")
import slateval.spark
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote("local[2]").getOrCreate()
for source in (sys.argv[1], spark.read.parquet(sys.argv[1])):
    print(slateval.spark.evaluate(source, band="none", spark=spark)["target"].mean.estimate)
spark.stop()
"""


def test_spark_connect(small: str) -> None:
    pytest.importorskip("grpc")
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", CONNECTED, small]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    alone = float(slateval.evaluate(small, band="none")["target"].mean)
    assert [float(line) for line in done.stdout.split()] == pytest.approx([alone, alone], rel=1e-12)
